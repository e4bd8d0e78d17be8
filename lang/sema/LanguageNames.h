// The names of the language: its modules (tl, triton, math, libdevice ...) and what is in them, whatever way a file imports them.
//
// Canonical names: a function of tl by its bare name ("load"); one of a library module as "libdevice.tanh"; Python's builtins as "python.max"; the functions of Python's
// math module as "math.log2"; host helpers as "triton.cdiv"; an initialiser of decorators as "init.randn". A module that is not the language's is a BuiltinValue with isModule
// and a name that starts with "?".
#pragma once
#include "lang/sema/ConstValue.h"

namespace tk::lang {

/// The canonical module for a dotted import path ("triton.language" -> "tl"); empty when the path is not the language's.
std::string languageModule(const std::string &path);

/// A member of a canonical module: a function, a type, a constant, another module.
std::optional<ConstValue> languageMember(const std::string &module, const std::string &name);
std::vector<std::string> languageMembers(const std::string &module);

/// A bare name that no import is needed for: Python's builtins, and in a .tk file the members of tl and the modules.
std::optional<ConstValue> globalName(const std::string &name, bool isPython);
std::vector<std::string> globalNames(bool isPython);

bool isMethodName(const std::string &name);
/// Where a name that is not part of the language is known from; null when it isn't.
const char *foreignOrigin(const std::string &name);
bool isUnsupportedName(const std::string &name);

/// How a canonical name is written in messages: `tl.load`, `max`, `libdevice.tanh`.
std::string displayName(const BuiltinValue &builtin);

} // namespace tk::lang
