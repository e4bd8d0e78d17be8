// Between the arguments of a launch and the values of the host evaluator.
#pragma once
#include "lang/sema/ConstValue.h"
#include "runtime/ModuleDescription.h"
#include <optional>
#include <string>
#include <vector>

namespace tk::lang {

/// A compile-time value as an argument: None, numbers of 64 bits, strings, dtypes and functions of the scope's own file. Empty for all others.
std::optional<runtime::StoredArgument> argumentOf(const ModuleScope &scope, const ConstValue &value);

/// An argument as the evaluator sees it; an array has no shape. Empty with `error`, worded to follow the parameter's name, for a function that the file does not have.
std::optional<ConstValue> valueOf(const ModuleScope &scope, const Argument &argument, const std::string &parameter, std::string &error);

/// A kernel's arguments by name, in the order of the parameters; what is not given has its default, or is left out.
using NamedArguments = std::vector<std::pair<std::string, ConstValue>>;
std::optional<NamedArguments> namedArguments(const ModuleScope &scope, const ast::Function &kernel, const Argument *const *arguments, size_t count, Diagnostics &diagnostics);

/// The value of a decorator's expression on these arguments. A function is called with all of them in a dict, as launchers of grids and heuristics do it.
std::optional<ConstValue> evaluateHost(const ModuleScope &scope, const ast::Expr &expr, const NamedArguments &arguments, Diagnostics &diagnostics);

} // namespace tk::lang
