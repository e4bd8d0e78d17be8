// What can be read off a tree without evaluating it: which names a piece of code assigns or mentions.
#pragma once
#include "lang/syntax/Ast.h"
#include <functional>
#include <set>
#include <string>

namespace tk::lang {

/// Calls `visit` for every expression under `expr`, parents first; bodies of lambdas included.
void forEachExpr(const ast::Expr *expr, const std::function<void(const ast::Expr &)> &visit);
/// Likewise for every expression of the statements, in order of the text; nested functions and classes are not entered.
void forEachExpr(const ast::Block &block, const std::function<void(const ast::Expr &)> &visit);

/// Names bound by assignment, loops, walrus or `with` in the statements, not in nested functions.
void collectAssigned(const ast::Block &block, std::set<std::string> &names);
void collectAssigned(const ast::Expr *expr, std::set<std::string> &names); // walrus only
/// Names of a target: `a`, `(a, (b, *c))`.
void collectTargets(const ast::Expr &target, std::set<std::string> &names);

/// `a.b.c` as text; empty when the expression is something else.
std::string dottedName(const ast::Expr &expr);

} // namespace tk::lang
