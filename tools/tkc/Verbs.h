// The verbs. Each takes the arguments after its name and returns an exit status; failures are thrown (Failure, tk::Error).
#pragma once
#include "tools/tkc/CommandLine.h"
#include <string>
#include <vector>

namespace tk::tool {

int runVerb(const std::vector<std::string> &arguments);
int compileVerb(const std::vector<std::string> &arguments);
int explainVerb(const std::vector<std::string> &arguments);
int benchVerb(const std::vector<std::string> &arguments);
int tuneVerb(const std::vector<std::string> &arguments);
int checkVerb(const std::vector<std::string> &arguments);
int cacheVerb(const std::vector<std::string> &arguments);
int devicesVerb(const std::vector<std::string> &arguments);

} // namespace tk::tool
