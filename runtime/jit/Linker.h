// Object files to one object file or to a shared object, in memory: LLVM's linker as a library. No LLVM type appears here.
//
// The linker keeps its state in globals, so that links of a process take turns; a shared object of one kernel takes about a millisecond. Thread-safe. Inputs
// are files in memory where the system has them, the output is one in the folder for temporary files (TMPDIR). The same input gives the same bytes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tk::jit {

/// What `ld -r` makes of the objects, in their order: one relocatable object with the symbols of all. Throws Error(Internal) with what the linker says, such as
/// a symbol that two of them define; Error(Device) when there is no room for the files.
std::string linkRelocatable(const std::vector<std::string_view> &objects);

/// A shared object that dlopen takes: position-independent code (as the CPU target makes it), with every symbol of default visibility exported and bound to the
/// object's own definition. What the objects refer to and don't define is left to the program that loads it. `name` becomes its DT_SONAME, which debuggers and
/// profilers show; empty: none. Throws as linkRelocatable does.
///
/// To load it from memory: memfd_create, write, dlopen of /proc/self/fd/N. dlopen takes a path that is already loaded for the same object whatever the file
/// holds by now, so N must not be used again while it is loaded: keep it open, or vary the path.
std::string linkShared(const std::vector<std::string_view> &objects, const std::string &name = {});

} // namespace tk::jit
