// One step down the tree: the children of a node, in source order.
#pragma once
#include "lang/syntax/Ast.h"

namespace tk::lang::ast {

namespace detail {
template <typename F> void visit(const ExprPtr &expr, F &&f) {
  if (expr)
    f(*expr);
}
template <typename F> void visit(const std::vector<ExprPtr> &exprs, F &&f) {
  for (const ExprPtr &expr : exprs)
    f(*expr);
}
template <typename F> void visit(const std::vector<Parameter> &params, F &&f) {
  for (const Parameter &param : params) {
    visit(param.annotation, f);
    visit(param.defaultValue, f);
  }
}
} // namespace detail

/// Calls `f(const Expr &)` for each expression directly below `expr`.
template <typename F> void forEachChild(const Expr &expr, F &&f) {
  using detail::visit;
  switch (expr.kind) {
  case ExprKind::Name:
  case ExprKind::Constant: return;
  case ExprKind::FString:
    for (const FString::Part &part : as<FString>(expr).parts)
      visit(part.field, f);
    return;
  case ExprKind::Tuple: return visit(as<Tuple>(expr).elements, f);
  case ExprKind::List: return visit(as<List>(expr).elements, f);
  case ExprKind::Set: return visit(as<Set>(expr).elements, f);
  case ExprKind::Dict:
    for (const auto &[key, value] : as<Dict>(expr).items) {
      visit(key, f);
      visit(value, f);
    }
    return;
  case ExprKind::Comprehension: {
    const auto &node = as<Comprehension>(expr);
    visit(node.element, f);
    visit(node.value, f);
    for (const Comprehension::Clause &clause : node.clauses) {
      visit(clause.target, f);
      visit(clause.iterable, f);
      visit(clause.conditions, f);
    }
    return;
  }
  case ExprKind::Binary: visit(as<Binary>(expr).lhs, f); return visit(as<Binary>(expr).rhs, f);
  case ExprKind::Unary: return visit(as<Unary>(expr).operand, f);
  case ExprKind::Bool: return visit(as<Bool>(expr).values, f);
  case ExprKind::Compare: visit(as<Compare>(expr).first, f); return visit(as<Compare>(expr).rest, f);
  case ExprKind::Conditional:
    visit(as<Conditional>(expr).then, f);
    visit(as<Conditional>(expr).condition, f);
    return visit(as<Conditional>(expr).otherwise, f);
  case ExprKind::Call: {
    const auto &node = as<Call>(expr);
    visit(node.callee, f);
    visit(node.args, f);
    for (const Keyword &keyword : node.keywords)
      visit(keyword.value, f);
    return;
  }
  case ExprKind::Attribute: return visit(as<Attribute>(expr).value, f);
  case ExprKind::Subscript: visit(as<Subscript>(expr).value, f); return visit(as<Subscript>(expr).index, f);
  case ExprKind::Slice:
    visit(as<Slice>(expr).lower, f);
    visit(as<Slice>(expr).upper, f);
    return visit(as<Slice>(expr).step, f);
  case ExprKind::Starred: return visit(as<Starred>(expr).value, f);
  case ExprKind::Lambda: visit(as<Lambda>(expr).params, f); return visit(as<Lambda>(expr).body, f);
  case ExprKind::Walrus: visit(as<Walrus>(expr).target, f); return visit(as<Walrus>(expr).value, f);
  case ExprKind::Yield: return visit(as<Yield>(expr).value, f);
  case ExprKind::Await: return visit(as<Await>(expr).value, f);
  }
}

/// Calls `f(const Expr &)` for each expression that belongs to the statement itself, not to the statements of its blocks.
template <typename F> void forEachExpr(const Stmt &stmt, F &&f) {
  using detail::visit;
  switch (stmt.kind) {
  case StmtKind::Function: {
    const auto &node = as<Function>(stmt);
    visit(node.decorators, f);
    visit(node.params, f);
    return visit(node.returns, f);
  }
  case StmtKind::Class: {
    const auto &node = as<Class>(stmt);
    visit(node.decorators, f);
    visit(node.bases, f);
    for (const Keyword &keyword : node.keywords)
      visit(keyword.value, f);
    return;
  }
  case StmtKind::Return: return visit(as<Return>(stmt).value, f);
  case StmtKind::Assign: visit(as<Assign>(stmt).targets, f); return visit(as<Assign>(stmt).value, f);
  case StmtKind::AugAssign: visit(as<AugAssign>(stmt).target, f); return visit(as<AugAssign>(stmt).value, f);
  case StmtKind::AnnAssign:
    visit(as<AnnAssign>(stmt).target, f);
    visit(as<AnnAssign>(stmt).annotation, f);
    return visit(as<AnnAssign>(stmt).value, f);
  case StmtKind::For: visit(as<For>(stmt).target, f); return visit(as<For>(stmt).iterable, f);
  case StmtKind::While: return visit(as<While>(stmt).condition, f);
  case StmtKind::If: return visit(as<If>(stmt).condition, f);
  case StmtKind::With:
    for (const auto &[context, target] : as<With>(stmt).items) {
      visit(context, f);
      visit(target, f);
    }
    return;
  case StmtKind::Assert: visit(as<Assert>(stmt).condition, f); return visit(as<Assert>(stmt).message, f);
  case StmtKind::ExprStmt: return visit(as<ExprStmt>(stmt).value, f);
  case StmtKind::Delete: return visit(as<Delete>(stmt).targets, f);
  case StmtKind::Raise: visit(as<Raise>(stmt).value, f); return visit(as<Raise>(stmt).cause, f);
  case StmtKind::Try:
    for (const Try::Handler &handler : as<Try>(stmt).handlers)
      visit(handler.type, f);
    return;
  case StmtKind::Match:
    visit(as<Match>(stmt).subject, f);
    for (const Match::Case &branch : as<Match>(stmt).cases)
      visit(branch.guard, f);
    return;
  case StmtKind::Pass:
  case StmtKind::Break:
  case StmtKind::Continue:
  case StmtKind::Import:
  case StmtKind::ImportFrom:
  case StmtKind::Global:
  case StmtKind::Nonlocal: return;
  }
}

/// Calls `f(const Block &)` for each block of the statement, empty ones too.
template <typename F> void forEachBlock(const Stmt &stmt, F &&f) {
  switch (stmt.kind) {
  case StmtKind::Function: return f(as<Function>(stmt).body);
  case StmtKind::Class: return f(as<Class>(stmt).body);
  case StmtKind::For: f(as<For>(stmt).body); return f(as<For>(stmt).orelse);
  case StmtKind::While: f(as<While>(stmt).body); return f(as<While>(stmt).orelse);
  case StmtKind::If: f(as<If>(stmt).then); return f(as<If>(stmt).orelse);
  case StmtKind::With: return f(as<With>(stmt).body);
  case StmtKind::Try:
    f(as<Try>(stmt).body);
    for (const Try::Handler &handler : as<Try>(stmt).handlers)
      f(handler.body);
    f(as<Try>(stmt).orelse);
    return f(as<Try>(stmt).finally);
  case StmtKind::Match:
    for (const Match::Case &branch : as<Match>(stmt).cases)
      f(branch.body);
    return;
  default: return;
  }
}

} // namespace tk::lang::ast
