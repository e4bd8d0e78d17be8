// Walks over trees: every expression, and the names that statements bind.
#include "lang/sema/SyntaxFacts.h"

namespace tk::lang {

using Visit = std::function<void(const ast::Expr &)>;

static void visitAll(const std::vector<ast::ExprPtr> &list, const Visit &visit) {
  for (const ast::ExprPtr &expr : list)
    forEachExpr(expr.get(), visit);
}

static void visitParams(const std::vector<ast::Parameter> &params, const Visit &visit) {
  for (const ast::Parameter &param : params) {
    forEachExpr(param.annotation.get(), visit);
    forEachExpr(param.defaultValue.get(), visit);
  }
}

void forEachExpr(const ast::Expr *expr, const Visit &visit) {
  if (!expr)
    return;
  visit(*expr);
  using K = ast::ExprKind;
  switch (expr->kind) {
  case K::Name: case K::Constant: return;
  case K::FString:
    for (const auto &part : ast::as<ast::FString>(*expr).parts)
      forEachExpr(part.field.get(), visit);
    return;
  case K::Tuple: return visitAll(ast::as<ast::Tuple>(*expr).elements, visit);
  case K::List: return visitAll(ast::as<ast::List>(*expr).elements, visit);
  case K::Set: return visitAll(ast::as<ast::Set>(*expr).elements, visit);
  case K::Dict:
    for (const auto &[key, value] : ast::as<ast::Dict>(*expr).items) {
      forEachExpr(key.get(), visit);
      forEachExpr(value.get(), visit);
    }
    return;
  case K::Comprehension: {
    auto &node = ast::as<ast::Comprehension>(*expr);
    for (const auto &clause : node.clauses) {
      forEachExpr(clause.target.get(), visit);
      forEachExpr(clause.iterable.get(), visit);
      visitAll(clause.conditions, visit);
    }
    forEachExpr(node.element.get(), visit);
    return forEachExpr(node.value.get(), visit);
  }
  case K::Binary: {
    auto &node = ast::as<ast::Binary>(*expr);
    forEachExpr(node.lhs.get(), visit);
    return forEachExpr(node.rhs.get(), visit);
  }
  case K::Unary: return forEachExpr(ast::as<ast::Unary>(*expr).operand.get(), visit);
  case K::Bool: return visitAll(ast::as<ast::Bool>(*expr).values, visit);
  case K::Compare:
    forEachExpr(ast::as<ast::Compare>(*expr).first.get(), visit);
    return visitAll(ast::as<ast::Compare>(*expr).rest, visit);
  case K::Conditional: {
    auto &node = ast::as<ast::Conditional>(*expr);
    forEachExpr(node.condition.get(), visit);
    forEachExpr(node.then.get(), visit);
    return forEachExpr(node.otherwise.get(), visit);
  }
  case K::Call: {
    auto &node = ast::as<ast::Call>(*expr);
    forEachExpr(node.callee.get(), visit);
    visitAll(node.args, visit);
    for (const ast::Keyword &keyword : node.keywords)
      forEachExpr(keyword.value.get(), visit);
    return;
  }
  case K::Attribute: return forEachExpr(ast::as<ast::Attribute>(*expr).value.get(), visit);
  case K::Subscript:
    forEachExpr(ast::as<ast::Subscript>(*expr).value.get(), visit);
    return forEachExpr(ast::as<ast::Subscript>(*expr).index.get(), visit);
  case K::Slice: {
    auto &node = ast::as<ast::Slice>(*expr);
    forEachExpr(node.lower.get(), visit);
    forEachExpr(node.upper.get(), visit);
    return forEachExpr(node.step.get(), visit);
  }
  case K::Starred: return forEachExpr(ast::as<ast::Starred>(*expr).value.get(), visit);
  case K::Lambda:
    visitParams(ast::as<ast::Lambda>(*expr).params, visit);
    return forEachExpr(ast::as<ast::Lambda>(*expr).body.get(), visit);
  case K::Walrus:
    forEachExpr(ast::as<ast::Walrus>(*expr).target.get(), visit);
    return forEachExpr(ast::as<ast::Walrus>(*expr).value.get(), visit);
  case K::Yield: return forEachExpr(ast::as<ast::Yield>(*expr).value.get(), visit);
  case K::Await: return forEachExpr(ast::as<ast::Await>(*expr).value.get(), visit);
  }
}

namespace {
/// Enters every block of a statement; `expr` sees its own expressions, `bind` its targets and names.
struct Walk {
  Visit expr;
  std::function<void(const ast::Expr &)> bind;
  std::function<void(const std::string &)> bindName;

  void one(const ast::ExprPtr &node) {
    if (node && expr)
      forEachExpr(node.get(), expr);
  }
  void target(const ast::ExprPtr &node) {
    one(node);
    if (node && bind)
      bind(*node);
  }
  void block(const ast::Block &statements) {
    for (const ast::StmtPtr &statement : statements)
      stmt(*statement);
  }
  void stmt(const ast::Stmt &node);
};
} // namespace

void Walk::stmt(const ast::Stmt &node) {
  using K = ast::StmtKind;
  switch (node.kind) {
  case K::Function: if (bindName) bindName(ast::as<ast::Function>(node).name); return;
  case K::Class: if (bindName) bindName(ast::as<ast::Class>(node).name); return;
  case K::Return: return one(ast::as<ast::Return>(node).value);
  case K::Assign:
    one(ast::as<ast::Assign>(node).value);
    for (const auto &t : ast::as<ast::Assign>(node).targets)
      target(t);
    return;
  case K::AugAssign:
    one(ast::as<ast::AugAssign>(node).value);
    return target(ast::as<ast::AugAssign>(node).target);
  case K::AnnAssign:
    one(ast::as<ast::AnnAssign>(node).value);
    if (ast::as<ast::AnnAssign>(node).value)
      target(ast::as<ast::AnnAssign>(node).target);
    return;
  case K::For: {
    auto &loop = ast::as<ast::For>(node);
    one(loop.iterable);
    target(loop.target);
    block(loop.body);
    return block(loop.orelse);
  }
  case K::While: {
    auto &loop = ast::as<ast::While>(node);
    one(loop.condition);
    block(loop.body);
    return block(loop.orelse);
  }
  case K::If: {
    auto &branch = ast::as<ast::If>(node);
    one(branch.condition);
    block(branch.then);
    return block(branch.orelse);
  }
  case K::With:
    for (const auto &[context, name] : ast::as<ast::With>(node).items) {
      one(context);
      target(name);
    }
    return block(ast::as<ast::With>(node).body);
  case K::Assert:
    one(ast::as<ast::Assert>(node).condition);
    return one(ast::as<ast::Assert>(node).message);
  case K::ExprStmt: return one(ast::as<ast::ExprStmt>(node).value);
  case K::Delete:
    for (const auto &t : ast::as<ast::Delete>(node).targets)
      one(t);
    return;
  case K::Raise: return one(ast::as<ast::Raise>(node).value);
  case K::Try: {
    auto &attempt = ast::as<ast::Try>(node);
    block(attempt.body);
    for (const auto &handler : attempt.handlers)
      block(handler.body);
    block(attempt.orelse);
    return block(attempt.finally);
  }
  case K::Match:
    one(ast::as<ast::Match>(node).subject);
    for (const auto &c : ast::as<ast::Match>(node).cases)
      block(c.body);
    return;
  case K::Pass: case K::Break: case K::Continue: case K::Import: case K::ImportFrom: case K::Global: case K::Nonlocal: return;
  }
}

void forEachExpr(const ast::Block &block, const Visit &visit) { Walk{visit, nullptr, nullptr}.block(block); }

void collectTargets(const ast::Expr &target, std::set<std::string> &names) {
  if (auto *name = ast::dyn<ast::Name>(&target))
    names.insert(name->id);
  else if (auto *tuple = ast::dyn<ast::Tuple>(&target))
    for (const auto &element : tuple->elements)
      collectTargets(*element, names);
  else if (auto *list = ast::dyn<ast::List>(&target))
    for (const auto &element : list->elements)
      collectTargets(*element, names);
  else if (auto *starred = ast::dyn<ast::Starred>(&target))
    collectTargets(*starred->value, names);
}

void collectAssigned(const ast::Expr *expr, std::set<std::string> &names) {
  forEachExpr(expr, [&](const ast::Expr &node) {
    if (auto *walrus = ast::dyn<ast::Walrus>(&node))
      collectTargets(*walrus->target, names);
  });
}

void collectAssigned(const ast::Block &block, std::set<std::string> &names) {
  Walk walk;
  walk.expr = [&](const ast::Expr &node) {
    if (auto *walrus = ast::dyn<ast::Walrus>(&node))
      collectTargets(*walrus->target, names);
  };
  walk.bind = [&](const ast::Expr &target) { collectTargets(target, names); };
  walk.bindName = [&](const std::string &name) { names.insert(name); };
  walk.block(block);
}

std::string dottedName(const ast::Expr &expr) {
  if (auto *name = ast::dyn<ast::Name>(&expr))
    return name->id;
  if (auto *attribute = ast::dyn<ast::Attribute>(&expr)) {
    std::string base = dottedName(*attribute->value);
    return base.empty() ? base : base + "." + attribute->attr;
  }
  return "";
}

} // namespace tk::lang
