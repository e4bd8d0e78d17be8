// What is compiled with tkc and written into every object and header: the launcher (runtime/aot/Launcher.c) and its types (runtime/aot/Types.h).
#pragma once
#include <string>

namespace tk::jit::aot {

/// An object file.
std::string launcherObject();
/// C source text.
std::string launcherTypes();

} // namespace tk::jit::aot
