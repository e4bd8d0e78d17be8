// Statements and assignment. An error in one statement leaves error values, which silence what would follow, and the next statement is elaborated.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/Elaborator.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/SyntaxFacts.h"

namespace tk::lang {

void Elaborator::bindName(const std::string &name, const Value &value, SourceRange range, bool isConstexpr) { frame->env[name] = Binding{value, range, std::nullopt, "", isConstexpr}; }

void Elaborator::assign(const ast::Expr &target, const Value &value, bool isConstexpr) {
  if (auto *name = ast::dyn<ast::Name>(&target)) {
    auto it = frame->env.find(name->id);
    bool again = it != frame->env.end() && it->second.range.begin == target.range.begin; // the same statement in an expanded loop
    if (it != frame->env.end() && !again && it->second.isConstexpr && !it->second.undefined && !value.isError() && !sameValue(it->second.value, value)) {
      error(target.range, Diag::ConstexprReassigned, name->id);
      note(it->second.range, Diag::AssignedHere, name->id);
      return;
    }
    return bindName(name->id, value, target.range, isConstexpr);
  }
  const std::vector<ast::ExprPtr> *targets = nullptr;
  if (auto *tuple = ast::dyn<ast::Tuple>(&target))
    targets = &tuple->elements;
  else if (auto *list = ast::dyn<ast::List>(&target))
    targets = &list->elements;
  if (!targets) {
    error(target.range, target.kind == ast::ExprKind::Subscript ? Diag::ItemAssignment : target.kind == ast::ExprKind::Attribute ? Diag::AttributeAssignment : Diag::BadTarget);
    return;
  }
  auto failAll = [&] {
    for (const auto &element : *targets)
      assign(*element, Value());
  };
  if (value.isError())
    return failAll();
  std::optional<std::vector<Value>> elements = value.elements();
  if (!elements) {
    error(target.range, Diag::NotIterable, value.describe());
    return failAll();
  }
  if (elements->size() != targets->size()) {
    error(target.range, Diag::UnpackCount, elements->size(), targets->size());
    return failAll();
  }
  for (size_t i = 0; i < targets->size(); ++i)
    assign(*(*targets)[i], (*elements)[i]);
}

void Elaborator::block(const ast::Block &statements) {
  for (const ast::StmtPtr &node : statements) {
    if (!frame->strand->live() || exhausted)
      return;
    statement(*node);
  }
}

void Elaborator::ifStatement(const ast::If &node) {
  Value test = expr(*node.condition);
  if (test.isError()) { // which branch is meant is unknown, and so is what it assigns
    std::set<std::string> names = assignedIn(node.then);
    names.insert(assignedIn(node.orelse).begin(), assignedIn(node.orelse).end());
    for (const std::string &name : names)
      bindName(name, Value(), node.range);
    return;
  }
  if (std::optional<std::vector<Value>> elements = test.elements(); elements || test.asConst() || !test.asRuntime()) {
    bool truth = test.asConst() ? test.asConst()->truth() : elements ? !elements->empty() : true;
    return block(truth ? node.then : node.orelse);
  }
  mlir::Value holds = condition(test, node.condition->range);
  if (!holds)
    return;
  SourceRange where = {node.range.begin, node.condition->range.end};
  dynamicIf(holds, [&] { block(node.then); }, [&] { block(node.orelse); }, where);
}

void Elaborator::returnStatement(const ast::Return &node) {
  Value value = node.value ? expr(*node.value) : Value::none();
  if (frame->loopDepth)
    extension(node.range, "`return` in a loop");
  frame->strand->exits = Returns;
  frame->strand->code = nullptr;
  frame->strand->returned = std::move(value);
}

void Elaborator::augmented(const ast::AugAssign &node) {
  auto *name = ast::dyn<ast::Name>(node.target.get());
  if (!name) {
    error(node.target->range, node.target->kind == ast::ExprKind::Subscript ? Diag::ItemAssignment : Diag::AttributeAssignment);
    return;
  }
  frame->target = name->id;
  Value lhs = lookup(name->id, name->range), rhs = expr(*node.value);
  assign(*node.target, binary(node.op, lhs, rhs, node.range));
}

void Elaborator::annotated(const ast::AnnAssign &node) {
  if (!node.value)
    return;
  if (auto *name = ast::dyn<ast::Name>(node.target.get()))
    frame->target = name->id;
  Value value = expr(*node.value);
  std::string dotted = dottedName(*node.annotation);
  if (auto *text = ast::dyn<ast::Constant>(node.annotation.get()); text && text->type == ast::Constant::String)
    dotted = text->text;
  bool isConstexpr = dotted.substr(dotted.rfind('.') + 1) == "constexpr";
  if (isConstexpr && !value.isError() && !value.asConst()) {
    bool structural = value.as<MethodValue>() || value.as<RangeValue>() || std::holds_alternative<TileTypeValue>(value.data);
    if (!structural)
      value = error(node.value->range, Diag::NotConstant, std::string("a constexpr variable"), value.describe());
  }
  assign(*node.target, value, isConstexpr);
}

void Elaborator::expression(const ast::ExprStmt &node) {
  if (node.value->kind == ast::ExprKind::Constant) // docstrings
    return;
  Value value = expr(*node.value);
  if (auto *call = ast::dyn<ast::Call>(node.value.get()); call && value.as<BlockPointer>())
    error(node.range, Diag::ResultUnused, std::string("advance"));
}

void Elaborator::assertion(const ast::Assert &node) {
  std::vector<Argument> arguments = {{expr(*node.condition), node.condition->range, ""}};
  if (node.message)
    arguments.push_back({expr(*node.message), node.message->range, ""});
  callBuiltin(BuiltinValue{"device_assert", false}, arguments, node.range);
}

void Elaborator::statement(const ast::Stmt &node) {
  if (!step(node.range))
    return;
  frame->target.clear();
  using K = ast::StmtKind;
  switch (node.kind) {
  case K::Pass: break;
  case K::Return: returnStatement(ast::as<ast::Return>(node)); break;
  case K::Assign: {
    auto &assignment = ast::as<ast::Assign>(node);
    if (auto *name = ast::dyn<ast::Name>(assignment.targets[0].get()))
      frame->target = name->id;
    Value value = expr(*assignment.value);
    for (const auto &target : assignment.targets)
      assign(*target, value);
    break;
  }
  case K::AugAssign: augmented(ast::as<ast::AugAssign>(node)); break;
  case K::AnnAssign: annotated(ast::as<ast::AnnAssign>(node)); break;
  case K::If: ifStatement(ast::as<ast::If>(node)); break;
  case K::For: forLoop(ast::as<ast::For>(node)); break;
  case K::While: whileLoop(ast::as<ast::While>(node)); break;
  case K::ExprStmt: expression(ast::as<ast::ExprStmt>(node)); break;
  case K::Assert: assertion(ast::as<ast::Assert>(node)); break;
  case K::Break: case K::Continue:
    if (!frame->loopDepth) {
      error(node.range, Diag::OutsideLoop, std::string(node.kind == K::Break ? "break" : "continue"));
      break;
    }
    extension(node.range, node.kind == K::Break ? "`break`" : "`continue`");
    frame->strand->exits = node.kind == K::Break ? Breaks : Continues;
    frame->strand->code = nullptr;
    break;
  case K::Function: error(ast::as<ast::Function>(node).nameRange, Diag::NotInKernel, std::string("a nested function")); break;
  case K::Class: error(ast::as<ast::Class>(node).nameRange, Diag::NotInKernel, std::string("a class")); break;
  case K::With: error(node.range, Diag::NotInKernel, std::string("`with`")); break;
  case K::Import: case K::ImportFrom: error(node.range, Diag::NotInKernel, std::string("`import`")); break;
  case K::Global: error(node.range, Diag::NotInKernel, std::string("`global`")); break;
  case K::Nonlocal: error(node.range, Diag::NotInKernel, std::string("`nonlocal`")); break;
  case K::Delete: error(node.range, Diag::NotInKernel, std::string("`del`")); break;
  case K::Raise: error(node.range, Diag::NotInKernel, std::string("`raise`")); break;
  case K::Try: error(node.range, Diag::NotInKernel, std::string("`try`")); break;
  case K::Match: error(node.range, Diag::NotInKernel, std::string("`match`")); break;
  }
}

} // namespace tk::lang
