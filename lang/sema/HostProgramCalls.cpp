// Calls in host programs: host functions become instructions, functions of the module are inlined (see HostPrograms.cpp).
#include "lang/sema/ConstOperations.h"
#include "lang/sema/HostCompiler.h"
#include "llvm/ADT/StringSwitch.h"

namespace tk::lang {

static constexpr unsigned kMaxInlined = 16; // calls inside calls

bool HostCompiler::call(const ast::Call &node, Frame &frame) {
  std::optional<ConstValue> callee = node.callee->kind == ast::ExprKind::Lambda
                                         ? ConstValue(FunctionValue{frame.scope, nullptr, &ast::as<ast::Lambda>(*node.callee), nullptr})
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
    return FunctionValue{frame.scope, nullptr, &ast::as<ast::Lambda>(node), nullptr};
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
  if (frame.depth >= kMaxInlined || function.captured)
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

} // namespace tk::lang
