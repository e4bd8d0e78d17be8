// The process's results of tunings, by the files that the options name.
#pragma once
#include "runtime/tune/Results.h"
#include "tk/tune.h"
#include <memory>

namespace tk::runtime {

/// The parts of a list separated by colons; empty ones don't count.
std::vector<std::string> filesOf(const std::string &list);

/// The results in the options' files, else in `defaultFile` (empty: they end with the process). The same ones as long as the files stay the same.
std::shared_ptr<TuneResults> tuneResults(const TuneOptions &options, const std::string &defaultFile);

} // namespace tk::runtime
