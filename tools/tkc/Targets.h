// The names that --target takes, and which of them this version can serve.
#pragma once
#include <string>

namespace tk::tool {

/// Returns when `target` is one that code can be made for here. Throws Failure: Usage for an unknown name, Device for a GPU.
void checkTarget(const std::string &target);
/// Throws Failure(Device) when this machine can't execute code for `target`.
void checkRunnable(const std::string &target);

} // namespace tk::tool
