// See HostPrograms.h.
//
// Code is emitted in the order in which HostEvaluator evaluates, so that the first error is the same one. Calls of functions are inlined: arguments and local
// variables stay on the stack, are read with `pick`, and are removed below the result with `slide`. Whatever names no parameter is evaluated here and becomes a
// constant.
#include "lang/sema/HostPrograms.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/SyntaxFacts.h"
#include "runtime/program/Program.h"
#include "llvm/ADT/StringSwitch.h"

namespace tk::lang {

namespace {
constexpr unsigned kMaxInlined = 16; // calls inside calls

/// What a name stands for while a function is inlined.
struct Local {
  bool isArguments = false; // all the arguments by name: `meta` of a grid's lambda
  unsigned slot = 0;        // else where the value is, from the bottom of the stack
};

struct Frame {
  const ModuleScope *scope = nullptr;
  bool seesParameters = false; // the kernel's parameters are names here, as in a decorator and its lambdas
  unsigned depth = 0;
  std::map<std::string, Local> locals = {};
};

using Statements = std::vector<const ast::Stmt *>;

class HostCompiler {
public:
  HostCompiler(const ModuleScope &scope, const ast::Function &kernel) : scope(scope), kernel(kernel) {}

  /// Compiles the results of an expression, or of the function that it is; all of them, or the one that `select` says.
  std::optional<std::string> compile(const ast::Expr &expr, bool single, int select);
  unsigned count = 0; // of results

private:
  bool expr(const ast::Expr &node, Frame &frame);
  bool structural(const ast::Expr &node, Frame &frame);
  bool name(const ast::Name &node, Frame &frame);
  bool binary(ast::BinaryOp which, const ast::Expr &lhs, const ast::Expr &rhs, Frame &frame);
  bool boolean(const ast::Bool &node, Frame &frame);
  bool compare(const ast::Compare &node, Frame &frame);
  bool oneOf(const ast::Compare &node, Frame &frame);
  bool conditional(const ast::Conditional &node, Frame &frame);
  bool call(const ast::Call &node, Frame &frame);
  bool builtin(const std::string &name, const ast::Call &node, Frame &frame);
  bool argumentOf(const ast::Subscript &node, Frame &frame);
  bool inlined(const FunctionValue &function, const ast::Call *node, Frame &frame, unsigned &results);
  bool bind(const std::vector<ast::Parameter> &params, const ast::Call *node, Frame &caller, Frame &inner);
  bool block(Statements statements, Frame &frame, unsigned base, unsigned &results, std::vector<size_t> &ends);
  bool assign(const ast::Expr &target, const ast::Expr &value, Frame &frame);
  bool results(const ast::Expr &node, Frame &frame, unsigned &results);

  bool isLocal(const std::string &name, const Frame &frame) const { return frame.locals.count(name) || (frame.seesParameters && parameter(name) >= 0); }
  bool isClosed(const ast::Expr &node, const Frame &frame) const;
  std::optional<ConstValue> evaluate(const ast::Expr &node, const Frame &frame);
  std::optional<FunctionValue> functionOf(const ast::Expr &node, const Frame &frame);
  bool isArguments(const ast::Expr &node, const Frame &frame) const;
  bool constant(const ConstValue &value);
  int parameter(const std::string &name) const;

  // ---- code ----
  void byte(unsigned value) { code += static_cast<char>(value); }
  void half(size_t value) { byte(value & 255), byte(value >> 8 & 255); }
  bool op(TkProgramOp op, int change) {
    byte(op);
    depth += static_cast<unsigned>(change);
    return depth <= TK_PROGRAM_STACK && code.size() + 16 <= TK_PROGRAM_CODE;
  }
  bool word(TkProgramOp op, uint64_t bits) {
    bool ok = this->op(op, 1);
    for (unsigned i = 0; i < 64; i += 8)
      byte(bits >> i & 255);
    return ok;
  }
  /// A jump whose target comes later.
  size_t jump(TkProgramOp op, int change) {
    this->op(op, change);
    half(0);
    return code.size() - 2;
  }
  void land(size_t jump) { code[jump] = static_cast<char>(code.size() & 255), code[jump + 1] = static_cast<char>(code.size() >> 8); }
  /// Removes what lies between `base` and the `kept` topmost values.
  bool slide(unsigned base, unsigned kept) {
    unsigned removed = depth - base - kept;
    if (removed == 0)
      return true;
    bool ok = op(TkOpSlide, -static_cast<int>(removed));
    byte(removed), byte(kept);
    return ok;
  }
  unsigned pushed(unsigned results) const { return select >= 0 || results == 0 ? 1 : results; }

  const ModuleScope &scope;
  const ast::Function &kernel;
  std::string code = std::string(1, TK_PROGRAM_VERSION);
  unsigned depth = 0;
  int select = -1;
  bool hopeless = false; // something could not even be evaluated
};
} // namespace

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
      if (std::optional<ConstValue> value = evaluate(*operand, frame); value && (value->get<double>() || (operand == &rhs && *value->asDouble() < 0)))
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

bool HostCompiler::call(const ast::Call &node, Frame &frame) {
  std::optional<ConstValue> callee = node.callee->kind == ast::ExprKind::Lambda
                                         ? ConstValue(FunctionValue{frame.scope, nullptr, &ast::as<ast::Lambda>(*node.callee)})
                                         : evaluate(*node.callee, frame);
  if (!callee)
    return false;
  if (auto *function = callee->get<FunctionValue>()) {
    int whole = std::exchange(select, -1); // one element of the result is not wanted here
    unsigned results = 0;
    bool ok = inlined(*function, &node, frame, results) && results == 0;
    select = whole;
    return ok;
  }
  auto *known = callee->get<BuiltinValue>();
  return known && !known->isModule && isHostBuiltin(known->name) && builtin(known->name, node, frame);
}

bool HostCompiler::builtin(const std::string &name, const ast::Call &node, Frame &frame) {
  if (!node.keywords.empty())
    return false;
  const std::vector<ast::ExprPtr> *args = &node.args;
  std::string base = name.rfind("math.", 0) == 0 ? name : name.substr(name.rfind('.') + 1);
  if ((base == "min" || base == "max") && args->size() == 1) { // max((a, b))
    auto *tuple = ast::dyn<ast::Tuple>((*args)[0].get());
    auto *list = ast::dyn<ast::List>((*args)[0].get());
    if (!tuple && !list)
      return false;
    args = tuple ? &tuple->elements : &list->elements;
  }
  if (base == "min" || base == "max" || base == "cdiv") {
    if (args->empty() || (base == "cdiv" && args->size() != 2))
      return false;
    // All of them before the first comparison, as the evaluator does it.
    unsigned start = depth;
    for (const ast::ExprPtr &arg : *args)
      if (!expr(*arg, frame))
        return false;
    if (base == "cdiv")
      return op(TkOpCdiv, -1);
    if (args->size() <= 2)
      return args->size() == 1 || op(base == "min" ? TkOpMin : TkOpMax, -1);
    for (size_t i = 0; i < args->size(); ++i) { // best = first, then better(best, next)
      if (!op(TkOpPick, 1))
        return false;
      byte(depth - 2 - (start + static_cast<unsigned>(i)));
      if (i > 0 && !op(base == "min" ? TkOpMin : TkOpMax, -1))
        return false;
    }
    return slide(start, 1);
  }
  TkProgramOp one = llvm::StringSwitch<TkProgramOp>(base)
                        .Case("abs", TkOpAbs)
                        .Case("int", TkOpToInt)
                        .Case("float", TkOpToFloat)
                        .Case("bool", TkOpToBool)
                        .Case("next_power_of_2", TkOpNextPowerOf2)
                        .Case("math.floor", TkOpFloor)
                        .Case("math.ceil", TkOpCeil)
                        .Case("math.trunc", TkOpToInt)
                        .Case("constexpr", TkOpReturn)
                        .Default(TkOpCount);
  if (one == TkOpCount || args->size() != 1 || !expr(*(*args)[0], frame))
    return false;
  return one == TkOpReturn || op(one, 0); // constexpr(x) is x
}

std::optional<FunctionValue> HostCompiler::functionOf(const ast::Expr &node, const Frame &frame) {
  if (node.kind == ast::ExprKind::Lambda)
    return FunctionValue{frame.scope, nullptr, &ast::as<ast::Lambda>(node)};
  if (node.kind != ast::ExprKind::Name && node.kind != ast::ExprKind::Attribute)
    return std::nullopt;
  std::optional<ConstValue> value = evaluate(node, frame);
  hopeless = false;
  auto *function = value ? value->get<FunctionValue>() : nullptr;
  return function ? std::optional<FunctionValue>(*function) : std::nullopt;
}

/// Arguments onto the stack and into the names of `inner`. Without a call: the one argument is all of the launch's by name.
bool HostCompiler::bind(const std::vector<ast::Parameter> &params, const ast::Call *node, Frame &caller, Frame &inner) {
  size_t next = 0, used = 0;
  auto give = [&](const std::string &name, const ast::Expr &value, Frame &from) {
    if (isArguments(value, from)) {
      inner.locals[name] = Local{true, 0};
      return true;
    }
    unsigned slot = depth;
    if (!expr(value, from))
      return false;
    inner.locals[name] = Local{false, slot};
    return true;
  };
  if (!node) {
    if (params.empty() || params[0].kind != ast::Parameter::Positional)
      return false;
    inner.locals[params[0].name] = Local{true, 0};
    next = 1;
  } else {
    for (const ast::ExprPtr &arg : node->args)
      if (next >= params.size() || params[next].kind != ast::Parameter::Positional || arg->kind == ast::ExprKind::Starred ||
          !give(params[next++].name, *arg, caller))
        return false;
    for (const ast::Keyword &keyword : node->keywords)
      for (size_t i = next; i < params.size(); ++i)
        if (params[i].name == keyword.name && !inner.locals.count(keyword.name)) {
          if (!give(keyword.name, *keyword.value, caller))
            return false;
          ++used;
          break;
        }
    if (used != node->keywords.size())
      return false;
  }
  for (const ast::Parameter &param : params) {
    if (inner.locals.count(param.name))
      continue;
    if (param.kind == ast::Parameter::VarArgs || param.kind == ast::Parameter::VarKeywords || !param.defaultValue ||
        !give(param.name, *param.defaultValue, inner))
      return false;
  }
  return true;
}

/// The results of a call on top of the stack; `results` as of `results()`.
bool HostCompiler::inlined(const FunctionValue &function, const ast::Call *node, Frame &frame, unsigned &results) {
  if (frame.depth >= kMaxInlined)
    return false;
  Frame inner{function.scope ? function.scope : frame.scope, function.lambda && frame.seesParameters, frame.depth + 1};
  unsigned base = depth;
  if (!bind(function.function ? function.function->params : function.lambda->params, node, frame, inner))
    return false;
  if (function.lambda)
    return this->results(*function.lambda->body, inner, results) && slide(base, pushed(results));
  Statements statements;
  for (const ast::StmtPtr &statement : function.function->body)
    statements.push_back(statement.get());
  std::vector<size_t> ends;
  results = ~0u;
  if (!block(std::move(statements), inner, base, results, ends))
    return false;
  for (size_t end : ends)
    land(end);
  return true;
}

bool HostCompiler::assign(const ast::Expr &target, const ast::Expr &value, Frame &frame) {
  auto *name = ast::dyn<ast::Name>(&target);
  if (!name)
    return false;
  Local local{isArguments(value, frame), depth};
  if (!local.isArguments && !expr(value, frame))
    return false;
  frame.locals[name->id] = local;
  return true;
}

/// Statements up to a return on every path; each path leaves the results on `base` and jumps to one of `ends`.
bool HostCompiler::block(Statements statements, Frame &frame, unsigned base, unsigned &results, std::vector<size_t> &ends) {
  auto finish = [&](unsigned found) {
    if ((results != ~0u && results != found) || !slide(base, pushed(found)))
      return false;
    results = found;
    ends.push_back(jump(TkOpJump, 0));
    return true;
  };
  for (size_t i = 0; i < statements.size(); ++i) {
    const ast::Stmt *node = statements[i];
    if (auto *ret = ast::dyn<ast::Return>(node)) {
      unsigned found = 0;
      bool ok = ret->value ? this->results(*ret->value, frame, found) : op(TkOpNone, 1);
      return ok && finish(found);
    }
    if (auto *branch = ast::dyn<ast::If>(node)) {
      if (!expr(*branch->condition, frame))
        return false;
      size_t otherwise = jump(TkOpJumpIfNot, -1);
      unsigned before = depth;
      for (const ast::Block *chosen : {&branch->then, &branch->orelse}) {
        Statements rest;
        for (const ast::StmtPtr &statement : *chosen)
          rest.push_back(statement.get());
        rest.insert(rest.end(), statements.begin() + static_cast<ptrdiff_t>(i) + 1, statements.end());
        Frame inner = frame;
        if (chosen == &branch->orelse)
          land(otherwise);
        depth = before;
        if (!block(std::move(rest), inner, base, results, ends))
          return false;
      }
      return true;
    }
    auto *expression = ast::dyn<ast::ExprStmt>(node);
    bool isText = expression && expression->value->kind == ast::ExprKind::Constant;
    if (isText || node->kind == ast::StmtKind::Pass)
      continue;
    if (auto *assignment = ast::dyn<ast::Assign>(node); assignment && assignment->targets.size() == 1) {
      if (!assign(*assignment->targets[0], *assignment->value, frame))
        return false;
    } else if (auto *annotated = ast::dyn<ast::AnnAssign>(node); annotated && annotated->value) {
      if (!assign(*annotated->target, *annotated->value, frame))
        return false;
    } else if (auto *augmented = ast::dyn<ast::AugAssign>(node)) {
      auto *name = ast::dyn<ast::Name>(augmented->target.get());
      unsigned slot = depth;
      if (!name || isArguments(*name, frame) || !binary(augmented->op, *name, *augmented->value, frame))
        return false;
      frame.locals[name->id] = Local{false, slot};
    } else {
      return false;
    }
  }
  return op(TkOpNone, 1) && finish(0);
}

/// `results`: 0 for a value that is no tuple, else the number of elements.
bool HostCompiler::results(const ast::Expr &node, Frame &frame, unsigned &results) {
  auto *tuple = ast::dyn<ast::Tuple>(&node);
  auto *list = ast::dyn<ast::List>(&node);
  if (tuple || list) {
    const std::vector<ast::ExprPtr> &elements = tuple ? tuple->elements : list->elements;
    results = static_cast<unsigned>(elements.size());
    for (size_t i = 0; i < elements.size(); ++i)
      if ((select < 0 || select == static_cast<int>(i)) && !expr(*elements[i], frame))
        return false;
    return select < static_cast<int>(elements.size());
  }
  if (auto *choice = ast::dyn<ast::Conditional>(&node)) {
    if (!expr(*choice->condition, frame))
      return false;
    size_t otherwise = jump(TkOpJumpIfNot, -1);
    unsigned first = 0;
    if (!this->results(*choice->then, frame, first))
      return false;
    size_t end = jump(TkOpJump, -static_cast<int>(pushed(first)));
    land(otherwise);
    if (!this->results(*choice->otherwise, frame, results) || results != first)
      return false;
    land(end);
    return true;
  }
  if (auto *call = ast::dyn<ast::Call>(&node))
    if (std::optional<FunctionValue> function = functionOf(*call->callee, frame))
      return inlined(*function, call, frame, results);
  results = 0;
  if (expr(node, frame))
    return true;
  std::optional<ConstValue> value = evaluate(node, frame);
  auto *known = value ? value->asTuple() : nullptr;
  if (!known)
    return false;
  results = static_cast<unsigned>(known->elements.size());
  for (size_t i = 0; i < known->elements.size(); ++i)
    if ((select < 0 || select == static_cast<int>(i)) && !constant(known->elements[i]))
      return false;
  return select < static_cast<int>(known->elements.size());
}

std::optional<std::string> HostCompiler::compile(const ast::Expr &expr, bool single, int element) {
  select = element;
  Frame frame{&scope, true};
  std::optional<FunctionValue> function = functionOf(expr, frame);
  bool ok = function ? inlined(*function, nullptr, frame, count) : results(expr, frame, count);
  if (!ok || (single && count) || depth != pushed(count) || (select > 0 && select >= static_cast<int>(count)))
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
