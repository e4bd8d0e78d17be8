// Host-side statements: functions, loops and assignments at compile time (constexpr functions, grid and heuristic lambdas, config builders).
#include "lang/sema/ConstText.h"
#include "lang/sema/HostRun.h"
#include "lang/sema/ModuleScope.h"

namespace tk::lang {

using Result = HostRun::Result;
using Flow = HostRun::Flow;

/// Python's binding of arguments to parameters, into `frame`.
bool HostRun::bind(const std::vector<ast::Parameter> &params, const std::string &name, const ConstCall &call, Place place, HostRun &frame) {
  size_t next = 0;
  std::vector<bool> used(call.keywords.size());
  auto wrong = [&](const std::string &text) {
    state.diagnostics.report(Diag::ConstEvaluation, place, text);
    return false;
  };
  for (const ast::Parameter &param : params) {
    if (param.kind == ast::Parameter::VarArgs) {
      std::vector<ConstValue> rest(call.args.begin() + static_cast<ptrdiff_t>(std::min(next, call.args.size())), call.args.end());
      next = call.args.size();
      frame.variables[param.name] = ConstValue::tuple(std::move(rest));
      continue;
    }
    if (param.kind == ast::Parameter::VarKeywords) {
      ConstValue::Dict rest;
      for (size_t i = 0; i < call.keywords.size(); ++i)
        if (!used[i]) {
          rest.emplace_back(ConstValue::string(call.keywords[i].name), call.keywords[i].value);
          used[i] = true;
        }
      frame.variables[param.name] = ConstValue(std::make_shared<const ConstValue::Dict>(std::move(rest)));
      continue;
    }
    const ConstValue *value = nullptr;
    if (param.kind == ast::Parameter::Positional && next < call.args.size())
      value = &call.args[next++];
    for (size_t i = 0; i < call.keywords.size(); ++i)
      if (call.keywords[i].name == param.name) {
        if (value)
          return wrong(fmt::format("`{}` got two values for `{}`", name, param.name));
        value = &call.keywords[i].value;
        used[i] = true;
      }
    if (value) {
      frame.variables[param.name] = *value;
    } else if (param.defaultValue) {
      Result fallback = frame.expr(*param.defaultValue);
      if (!fallback)
        return false;
      frame.variables[param.name] = *fallback;
    } else {
      return wrong(fmt::format("`{}` needs a value for `{}`", name, param.name));
    }
  }
  if (next < call.args.size())
    return wrong(fmt::format("`{}` takes {} arguments, {} given", name, next, call.args.size()));
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      return wrong(fmt::format("`{}` has no parameter `{}`", name, call.keywords[i].name));
  return true;
}

Result HostRun::callFunction(const FunctionValue &function, const ConstCall &call, Place place) {
  if (!step(place.range))
    return std::nullopt;
  const SourceFile &home = function.scope ? function.scope->file() : file;
  HostLocals around = function.lambda ? outer : HostLocals();
  if (function.captured)
    around = [captured = function.captured, around](const std::string &name) -> Result {
      auto it = captured->find(name);
      return it != captured->end() ? Result(it->second) : around ? around(name) : std::nullopt;
    };
  HostRun frame(state, function.scope, home, around);
  const auto &params = function.function ? function.function->params : function.lambda->params;
  if (!bind(params, function.function ? function.function->name : "lambda", call, place, frame))
    return std::nullopt;
  ++state.depth;
  Result result;
  if (function.lambda) {
    result = frame.expr(*function.lambda->body);
  } else {
    Flow flow = frame.block(function.function->body);
    if (flow != Flow::Error)
      result = frame.returned;
  }
  --state.depth;
  return result;
}

bool HostRun::assign(const ast::Expr &target, const ConstValue &value) {
  std::string error;
  if (nestingOf(value) > kMaxConstNesting)
    return fail(target.range, fmt::format("tuples nested deeper than {}", kMaxConstNesting)), false;
  if (auto *name = ast::dyn<ast::Name>(&target)) {
    variables[name->id] = value;
    return true;
  }
  if (auto *item = ast::dyn<ast::Subscript>(&target)) {
    auto *name = ast::dyn<ast::Name>(item->value.get());
    auto it = name ? variables.find(name->id) : variables.end();
    Result index = it == variables.end() ? std::nullopt : expr(*item->index);
    if (it != variables.end() && !index)
      return false;
    if (index && it->second.asTuple() && it->second.asTuple()->isList) {
      std::vector<ConstValue> elements = it->second.asTuple()->elements;
      int64_t size = static_cast<int64_t>(elements.size()), at = index->asInt64().value_or(size);
      if (at < -size || at >= size)
        return fail(target.range, fmt::format("index {} is out of range for {} elements", index->repr(), size)), false;
      elements[static_cast<size_t>(at < 0 ? at + size : at)] = value;
      it->second = ConstValue::tuple(std::move(elements), true);
      return true;
    }
    if (index && it->second.asDict()) {
      ConstValue::Dict dict = *it->second.asDict();
      bool found = false;
      for (auto &[key, slot] : dict)
        if (evalCompare(ast::CompareOp::Eq, key, *index, error)->truth())
          slot = value, found = true;
      if (!found)
        dict.emplace_back(*index, value);
      it->second = ConstValue(std::make_shared<const ConstValue::Dict>(std::move(dict)));
      return true;
    }
  }
  const std::vector<ast::ExprPtr> *targets = nullptr;
  if (auto *tuple = ast::dyn<ast::Tuple>(&target))
    targets = &tuple->elements;
  else if (auto *list = ast::dyn<ast::List>(&target))
    targets = &list->elements;
  if (!targets)
    return fail(target.range, "this target cannot be assigned at compile time"), false;
  auto elements = constElements(value, error);
  if (!elements)
    return fail(target.range, error), false;
  if (elements->size() != targets->size())
    return fail(target.range, fmt::format("{} values for {} targets", elements->size(), targets->size())), false;
  for (size_t i = 0; i < elements->size(); ++i)
    if (!assign(*(*targets)[i], (*elements)[i]))
      return false;
  return true;
}

FunctionValue HostRun::madeHere(const ast::Function *function, const ast::Lambda *lambda) const {
  FunctionValue value{scope, function, lambda, nullptr};
  if (!variables.empty())
    value.captured = std::make_shared<const std::map<std::string, ConstValue>>(variables);
  return value;
}

Flow HostRun::block(const ast::Block &statements) {
  for (const ast::StmtPtr &node : statements) {
    Flow flow = statement(*node);
    if (flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

Flow HostRun::loop(const ast::For &node) {
  // range(...) is walked, not listed.
  Result iterable = expr(*node.iterable);
  if (!iterable)
    return Flow::Error;
  std::string error;
  auto values = constElements(*iterable, error);
  if (!values)
    return fail(node.iterable->range, error), Flow::Error;
  for (const ConstValue &value : *values) {
    if (!step(node.range) || !assign(*node.target, value))
      return Flow::Error;
    Flow flow = block(node.body);
    if (flow == Flow::Break)
      return Flow::Next;
    if (flow == Flow::Return || flow == Flow::Error)
      return flow;
  }
  return block(node.orelse);
}

Flow HostRun::loop(const ast::While &node) {
  while (true) {
    if (!step(node.range))
      return Flow::Error;
    Result condition = expr(*node.condition);
    if (!condition)
      return Flow::Error;
    if (!condition->truth())
      return block(node.orelse);
    Flow flow = block(node.body);
    if (flow == Flow::Break)
      return Flow::Next;
    if (flow == Flow::Return || flow == Flow::Error)
      return flow;
  }
}

Flow HostRun::statement(const ast::Stmt &node) {
  if (!step(node.range))
    return Flow::Error;
  using K = ast::StmtKind;
  auto done = [](bool ok) { return ok ? Flow::Next : Flow::Error; };
  switch (node.kind) {
  case K::Pass: return Flow::Next;
  case K::Break: return Flow::Break;
  case K::Continue: return Flow::Continue;
  case K::Return: {
    auto &ret = ast::as<ast::Return>(node);
    Result value = ret.value ? expr(*ret.value) : ConstValue();
    if (!value)
      return Flow::Error;
    returned = *value;
    return Flow::Return;
  }
  case K::Assign: {
    Result value = expr(*ast::as<ast::Assign>(node).value);
    bool ok = value.has_value();
    for (const auto &target : ast::as<ast::Assign>(node).targets)
      ok = ok && assign(*target, *value);
    return done(ok);
  }
  case K::AnnAssign: {
    auto &annotated = ast::as<ast::AnnAssign>(node);
    if (!annotated.value)
      return Flow::Next;
    Result value = expr(*annotated.value);
    return done(value && assign(*annotated.target, *value));
  }
  case K::AugAssign: {
    auto &augmented = ast::as<ast::AugAssign>(node);
    Result lhs = expr(*augmented.target), rhs = lhs ? expr(*augmented.value) : std::nullopt;
    std::string error;
    Result value = rhs ? evalBinary(augmented.op, *lhs, *rhs, error) : std::nullopt;
    if (rhs && !value)
      fail(node.range, error);
    return done(value && assign(*augmented.target, *value));
  }
  case K::If: {
    auto &branch = ast::as<ast::If>(node);
    Result condition = expr(*branch.condition);
    return condition ? block(condition->truth() ? branch.then : branch.orelse) : Flow::Error;
  }
  case K::Function: {
    auto &function = ast::as<ast::Function>(node);
    variables[function.name] = ConstValue(madeHere(&function, nullptr));
    return Flow::Next;
  }
  case K::For: return loop(ast::as<ast::For>(node));
  case K::While: return loop(ast::as<ast::While>(node));
  case K::ExprStmt: return done(expr(*ast::as<ast::ExprStmt>(node).value).has_value());
  case K::Assert: {
    auto &assertion = ast::as<ast::Assert>(node);
    Result condition = expr(*assertion.condition);
    if (!condition)
      return Flow::Error;
    if (condition->truth())
      return Flow::Next;
    Result message = assertion.message ? expr(*assertion.message) : ConstValue::string("");
    fail(node.range, message && !strOf(*message).empty() ? "assertion failed: " + strOf(*message) : "assertion failed");
    return Flow::Error;
  }
  case K::Raise: {
    std::string text = "an exception is raised here";
    if (auto *call = ast::dyn<ast::Call>(ast::as<ast::Raise>(node).value.get()); call && call->args.size() == 1)
      if (Result message = expr(*call->args[0]))
        text = strOf(*message);
    fail(node.range, text);
    return Flow::Error;
  }
  default: break;
  }
  fail(node.range, "this statement cannot be run at compile time");
  return Flow::Error;
}

} // namespace tk::lang
