// Configurations: from `Config({"BLOCK": 64}, num_warps=4)` as a value of the host evaluator to what the runtime tunes over.
#pragma once
#include "lang/sema/ConstValue.h"
#include "runtime/ModuleDescription.h"
#include <optional>
#include <string>
#include <vector>

namespace tk::lang {

struct ReadConfigs {
  std::vector<runtime::TuneConfig> configs;
  std::vector<ConstValue> values;  // the Config that each was read from
  std::vector<unsigned> zeroed;    // parameters that the configurations' hooks set to zero
  bool foreignHook = false;        // a hook does something else
};

/// Every Config of a list. Those for blocks in clusters, which don't exist yet, are left out; what is wrong in one is reported. Empty after an error.
std::optional<ReadConfigs> readConfigs(const ModuleScope &scope, const ast::Function &kernel, const ConstValue &list, Place place, Diagnostics &diagnostics);

/// The parameters that a hook zeroes, when that is all that it does: `lambda args: args["c"].zero_()`. None for no hook at all.
std::optional<std::vector<unsigned>> zeroedBy(const ModuleScope &scope, const ast::Function &kernel, const ConstValue &hook);

/// The index of a parameter, or -1.
int parameterIndex(const ast::Function &kernel, const std::string &name);
/// "; did you mean `x`?" or nothing.
std::string suggestion(const std::string &name, std::vector<std::string> candidates, const ast::Function &kernel);

} // namespace tk::lang
