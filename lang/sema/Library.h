// The standard library: .tk text embedded in the binary, parsed when first needed, once per process. All functions here are thread-safe.
//
// Groups: "tl" holds the functions that belong to tl (softmax, sum, rand ...), "libdevice" those of libdevice and tl.math. A group is one or more files of
// lang/stdlib; functions whose names start with `_` are private to their file.
#pragma once
#include "lang/sema/ConstValue.h"

namespace tk::lang {

/// Names of the library's files in places begin so.
inline constexpr std::string_view kLibraryFolder = "<library>/";

/// Null when the group has no such function.
const ast::Function *findLibraryFunction(const std::string &group, const std::string &name, const ModuleScope *&scope);
/// A function, private ones included, of the file `module`.tk.
const ast::Function *findLibraryModuleFunction(const std::string &module, const std::string &name, const ModuleScope *&scope);
/// The scope of the file `module`.tk; null when there is none.
const ModuleScope *libraryModule(const std::string &module);
std::vector<std::string> libraryFunctionNames(const std::string &group);
/// Whether the scope is one of the library's.
bool isLibraryScope(const ModuleScope *scope);

} // namespace tk::lang
