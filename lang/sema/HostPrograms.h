// Host expressions of a kernel file as programs of the runtime's stack machine (runtime/program/Program.h), which launches run without a front end.
//
// Where there is a program it computes what HostEvaluator does, as long as no integer leaves 64 bits, nothing but integers is raised to a power and no two
// arrays are compared: there the program reports an error. There is no program for what needs more than numbers: strings, shapes of arrays, loops. Then
// HostEvaluator has to be asked.
#pragma once
#include "lang/sema/ConstValue.h"
#include <optional>
#include <string>
#include <vector>

namespace tk::lang {

/// A program for an expression over the kernel's parameters, or for a lambda or function of all the arguments by name (`lambda meta: cdiv(meta["N"],
/// meta["BLOCK"])`). A tuple gives as many results as it has elements. Empty when there is none; nothing is reported.
std::optional<std::string> compileHostExpression(const ModuleScope &scope, const ast::Function &kernel, const ast::Expr &expr);

/// Likewise, of a value that is no tuple.
std::optional<std::string> compileHostValue(const ModuleScope &scope, const ast::Function &kernel, const ast::Expr &expr);

/// Likewise, of a function of all the arguments by name.
std::optional<std::string> compileHostFunction(const ModuleScope &scope, const ast::Function &kernel, const FunctionValue &function);

/// Likewise, one program for each result.
std::optional<std::vector<std::string>> compileHostResults(const ModuleScope &scope, const ast::Function &kernel, const ast::Expr &expr);

} // namespace tk::lang
