// See HostPrograms.h.
//
// Code is emitted in the order in which HostEvaluator evaluates, so that the first error is the same one. Calls of functions are inlined: arguments and local
// variables stay on the stack, are read with `pick`, and are removed below the result with `slide`. Whatever names no parameter is evaluated here and becomes a
// constant.
#include "lang/sema/HostPrograms.h"
#include "lang/sema/HostCompiler.h"
#include "lang/sema/SyntaxFacts.h"

namespace tk::lang {

int HostCompiler::parameter(const std::string &name) const {
  for (size_t i = 0; i < kernel.params.size() && i < TK_PROGRAM_ARGUMENTS; ++i)
    if (kernel.params[i].name == name)
      return static_cast<int>(i);
  return -1;
}

bool HostCompiler::isClosed(const ast::Expr &node, const Frame &frame) const {
  bool closed = true;
  forEachExpr(&node, [&](const ast::Expr &inner) {
    if (auto *name = ast::dyn<ast::Name>(&inner))
      closed &= !isLocal(name->id, frame);
  });
  return closed;
}

std::optional<ConstValue> HostCompiler::evaluate(const ast::Expr &node, const Frame &frame) {
  if (hopeless || !isClosed(node, frame))
    return std::nullopt;
  Diagnostics quiet;
  std::optional<ConstValue> value = HostEvaluator(frame.scope, quiet, 10'000).evaluate(node, frame.scope->file());
  hopeless |= !value;
  return value;
}

bool HostCompiler::constant(const ConstValue &value) {
  if (value.isNone())
    return op(TkOpNone, 1);
  if (auto *flag = value.get<bool>()) {
    bool ok = op(TkOpBool, 1);
    byte(*flag);
    return ok;
  }
  if (auto *number = value.get<double>())
    return word(TkOpFloat, llvm::bit_cast<uint64_t>(*number));
  std::optional<int64_t> integer = value.asInt64();
  return integer && word(TkOpInt, static_cast<uint64_t>(*integer));
}

bool HostCompiler::expr(const ast::Expr &node, Frame &frame) {
  size_t size = code.size();
  unsigned before = depth;
  if (structural(node, frame))
    return true;
  code.resize(size), depth = before;
  std::optional<ConstValue> value = evaluate(node, frame);
  return value && constant(*value);
}

bool HostCompiler::structural(const ast::Expr &node, Frame &frame) {
  using K = ast::ExprKind;
  switch (node.kind) {
  case K::Name: return name(ast::as<ast::Name>(node), frame);
  case K::Bool: return boolean(ast::as<ast::Bool>(node), frame);
  case K::Compare: return compare(ast::as<ast::Compare>(node), frame);
  case K::Conditional: return conditional(ast::as<ast::Conditional>(node), frame);
  case K::Call: return call(ast::as<ast::Call>(node), frame);
  case K::Subscript: return argumentOf(ast::as<ast::Subscript>(node), frame);
  case K::Binary: return binary(ast::as<ast::Binary>(node).op, *ast::as<ast::Binary>(node).lhs, *ast::as<ast::Binary>(node).rhs, frame);
  case K::Unary: {
    static constexpr TkProgramOp ops[] = {TkOpPlus, TkOpNeg, TkOpInvert, TkOpNot};
    auto &unary = ast::as<ast::Unary>(node);
    return expr(*unary.operand, frame) && op(ops[static_cast<size_t>(unary.op)], 0);
  }
  default: return false;
  }
}

bool HostCompiler::binary(ast::BinaryOp which, const ast::Expr &lhs, const ast::Expr &rhs, Frame &frame) {
  static constexpr TkProgramOp ops[] = {TkOpAdd, TkOpSub,    TkOpMul,    TkOpCount,  TkOpDiv,   TkOpFloorDiv, TkOpMod,
                                        TkOpPow, TkOpLShift, TkOpRShift, TkOpBitAnd, TkOpBitOr, TkOpBitXor};
  if (which == ast::BinaryOp::MatMul)
    return false;
  if (which == ast::BinaryOp::Pow) // one that is surely none of integers is left to the evaluator
    for (const ast::Expr *operand : {&lhs, &rhs})
      if (std::optional<ConstValue> value = evaluate(*operand, frame); value && (value->get<double>() || (operand == &rhs && value->asDouble().value_or(0) < 0)))
        return false;
  return expr(lhs, frame) && expr(rhs, frame) && op(ops[static_cast<size_t>(which)], -1);
}

bool HostCompiler::name(const ast::Name &node, Frame &frame) {
  auto it = frame.locals.find(node.id);
  if (it != frame.locals.end()) {
    if (it->second.isArguments)
      return false;
    unsigned below = depth - 1 - it->second.slot;
    bool ok = op(TkOpPick, 1);
    byte(below);
    return ok;
  }
  int index = frame.seesParameters ? parameter(node.id) : -1;
  if (index < 0)
    return false;
  bool ok = op(TkOpArgument, 1);
  half(static_cast<size_t>(index));
  return ok;
}

/// `meta["BLOCK"]`.
bool HostCompiler::argumentOf(const ast::Subscript &node, Frame &frame) {
  auto *key = ast::dyn<ast::Constant>(node.index.get());
  int index = key && key->type == ast::Constant::String && isArguments(*node.value, frame) ? parameter(key->text) : -1;
  if (index < 0)
    return false;
  bool ok = op(TkOpArgument, 1);
  half(static_cast<size_t>(index));
  return ok;
}

bool HostCompiler::isArguments(const ast::Expr &node, const Frame &frame) const {
  auto *name = ast::dyn<ast::Name>(&node);
  auto it = name ? frame.locals.find(name->id) : frame.locals.end();
  return it != frame.locals.end() && it->second.isArguments;
}

bool HostCompiler::boolean(const ast::Bool &node, Frame &frame) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < node.values.size(); ++i) {
    if (!expr(*node.values[i], frame))
      return false;
    if (i + 1 < node.values.size())
      ends.push_back(jump(node.isAnd ? TkOpJumpAnd : TkOpJumpOr, -1));
  }
  for (size_t end : ends)
    land(end);
  return true;
}

bool HostCompiler::conditional(const ast::Conditional &node, Frame &frame) {
  if (!expr(*node.condition, frame))
    return false;
  size_t otherwise = jump(TkOpJumpIfNot, -1);
  if (!expr(*node.then, frame))
    return false;
  size_t end = jump(TkOpJump, -1); // the other branch starts without this one's value
  land(otherwise);
  if (!expr(*node.otherwise, frame))
    return false;
  land(end);
  return true;
}

/// `x in (1, 2)`.
bool HostCompiler::oneOf(const ast::Compare &node, Frame &frame) {
  auto *tuple = ast::dyn<ast::Tuple>(node.rest[0].get());
  auto *list = ast::dyn<ast::List>(node.rest[0].get());
  if (!(tuple || list) || !expr(*node.first, frame) || !constant(ConstValue(false)))
    return false;
  for (const ast::ExprPtr &element : tuple ? tuple->elements : list->elements) {
    if (!op(TkOpPick, 1))
      return false;
    byte(1);
    if (!expr(*element, frame) || !op(TkOpEq, -1) || !op(TkOpBitOr, -1))
      return false;
  }
  return slide(depth - 2, 1) && (node.ops[0] == ast::CompareOp::In || op(TkOpNot, 0));
}

bool HostCompiler::compare(const ast::Compare &node, Frame &frame) {
  static constexpr TkProgramOp ops[] = {TkOpEq, TkOpNotEq, TkOpLt, TkOpLtE, TkOpGt, TkOpGtE, TkOpIs, TkOpIsNot};
  for (ast::CompareOp op : node.ops)
    if (op == ast::CompareOp::In || op == ast::CompareOp::NotIn)
      return node.ops.size() == 1 && oneOf(node, frame);
  unsigned base = depth;
  if (!expr(*node.first, frame))
    return false;
  if (node.ops.size() == 1)
    return expr(*node.rest[0], frame) && op(ops[static_cast<size_t>(node.ops[0])], -1);
  // a < b < c: the right operand stays below the result for the next one.
  std::vector<size_t> ends;
  for (size_t i = 0; i < node.ops.size(); ++i) {
    if (!expr(*node.rest[i], frame) || !op(TkOpPick, 1))
      return false;
    byte(1);
    if (!op(TkOpPick, 1))
      return false;
    byte(1);
    if (!op(ops[static_cast<size_t>(node.ops[i])], -1) || !slide(base, 2))
      return false;
    if (i + 1 < node.ops.size())
      ends.push_back(jump(TkOpJumpAnd, -1));
  }
  for (size_t end : ends)
    land(end);
  return slide(base, 1);
}

std::optional<std::string> HostCompiler::compile(const ast::Expr &expr, bool single, int element) {
  select = element;
  Frame frame{&scope, true};
  std::optional<FunctionValue> function = functionOf(expr, frame);
  bool ok = function ? inlined(*function, nullptr, frame, count) : results(expr, frame, count);
  return ok && !(single && count) ? finished() : std::nullopt;
}

std::optional<std::string> HostCompiler::compile(const FunctionValue &function) {
  Frame frame{&scope, true};
  return inlined(function, nullptr, frame, count) && !count ? finished() : std::nullopt;
}

std::optional<std::string> HostCompiler::finished() {
  if (depth != pushed(count) || (select > 0 && select >= static_cast<int>(count)))
    return std::nullopt;
  unsigned left = depth;
  if (!op(TkOpReturn, 0))
    return std::nullopt;
  byte(left);
  return code;
}

std::optional<std::string> compileHostExpression(const ModuleScope &scope, const ast::Function &kernel, const ast::Expr &expr) {
  return HostCompiler(scope, kernel).compile(expr, false, -1);
}

std::optional<std::string> compileHostValue(const ModuleScope &scope, const ast::Function &kernel, const ast::Expr &expr) {
  return HostCompiler(scope, kernel).compile(expr, true, -1);
}

std::optional<std::string> compileHostFunction(const ModuleScope &scope, const ast::Function &kernel, const FunctionValue &function) {
  return HostCompiler(scope, kernel).compile(function);
}

std::optional<std::vector<std::string>> compileHostResults(const ModuleScope &scope, const ast::Function &kernel, const ast::Expr &expr) {
  HostCompiler all(scope, kernel);
  std::optional<std::string> whole = all.compile(expr, false, -1);
  if (!whole || all.count <= 1)
    return whole ? std::optional(std::vector{*whole}) : std::nullopt;
  std::vector<std::string> programs;
  for (unsigned i = 0; i < all.count; ++i) {
    std::optional<std::string> one = HostCompiler(scope, kernel).compile(expr, false, static_cast<int>(i));
    if (!one)
      return std::nullopt;
    programs.push_back(std::move(*one));
  }
  return programs;
}

} // namespace tk::lang
