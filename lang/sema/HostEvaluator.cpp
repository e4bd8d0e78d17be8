// Host-side expressions: decorators, grids, defaults, heuristics, the calls in them.
#include "lang/sema/ConstText.h"
#include "lang/sema/HostRun.h"
#include "lang/sema/LanguageNames.h"

namespace tk::lang {

using Result = HostRun::Result;

bool HostRun::step(SourceRange range) {
  constexpr uintptr_t kStack = 3u << 20; // of the usual 8 MiB
  uintptr_t here = llvm::getStackPointer();
  uintptr_t used = here > state.stackBase ? here - state.stackBase : state.stackBase - here;
  if (used > kStack || state.depth > 500) {
    if (!state.stepsReported)
      state.diagnostics.report(Diag::HostRecursion, at(range));
    state.stepsReported = true;
    return false;
  }
  if (state.steps > 0) {
    --state.steps;
    return true;
  }
  if (!state.stepsReported)
    state.diagnostics.report(Diag::HostSteps, at(range));
  state.stepsReported = true;
  return false;
}

Result HostRun::fail(SourceRange range, const std::string &text) {
  state.diagnostics.report(Diag::ConstEvaluation, at(range), text);
  return std::nullopt;
}

Result HostRun::name(const ast::Name &node) {
  auto it = variables.find(node.id);
  if (it != variables.end())
    return it->second;
  if (outer)
    if (Result value = outer(node.id))
      return value;
  if (scope)
    if (Result value = scope->lookup(node.id, state.diagnostics)) {
      if (auto *builtin = value->get<BuiltinValue>(); builtin && !builtin->isModule && builtin->name[0] == '?')
        return fail(node.range, fmt::format("the value of `{}` is not known at compile time", node.id));
      return value;
    }
  if (isInitialiser(node.id))
    return ConstValue(BuiltinValue{"init." + node.id, false});
  if (node.id == "cdiv")
    return ConstValue(BuiltinValue{"triton.cdiv", false});
  if (Result value = globalName(node.id, false))
    return value;
  if (std::string known = hostLibraryName(node.id); !known.empty())
    return ConstValue(BuiltinValue{known, false});
  std::vector<std::string> candidates = globalNames(false);
  for (const auto &[known, value] : variables)
    candidates.push_back(known);
  if (scope)
    for (const std::string &known : scope->names())
      candidates.push_back(known);
  std::string near = nearest(node.id, candidates);
  if (near.empty())
    state.diagnostics.report(Diag::UnknownName, at(node.range), node.id);
  else
    state.diagnostics.report(Diag::UnknownNameNear, at(node.range), node.id, near);
  return std::nullopt;
}

Result constantValue(const ast::Constant &node, std::string &error) {
  switch (node.type) {
  case ast::Constant::None: return ConstValue();
  case ast::Constant::True: return ConstValue(true);
  case ast::Constant::False: return ConstValue(false);
  case ast::Constant::Ellipsis: return ConstValue(EllipsisValue());
  case ast::Constant::Int:
    if (node.text.size() > 1232)
      return error = "integer literal is longer than 4096 bits", std::nullopt;
    return ConstValue(parseBigInt(node.text));
  case ast::Constant::Float: return ConstValue(node.number);
  case ast::Constant::Imaginary: return error = "complex numbers are not supported", std::nullopt;
  case ast::Constant::String: return ConstValue::string(node.text);
  case ast::Constant::Bytes: return error = "bytes are not supported", std::nullopt;
  }
  return std::nullopt;
}

Result HostRun::constant(const ast::Constant &node) {
  std::string error;
  Result value = constantValue(node, error);
  return value ? value : fail(node.range, error);
}

Result HostRun::format(const ast::FString &node) {
  std::string text;
  for (const ast::FString::Part &part : node.parts) {
    text += part.text;
    if (!part.field)
      continue;
    Result value = expr(*part.field);
    if (!value)
      return std::nullopt;
    std::string error;
    bool repr = part.conversion == 'r' || part.conversion == 'a' || (part.selfDocumenting && !part.conversion && part.format.empty());
    std::optional<std::string> field = formatValue(repr ? ConstValue::string(value->repr()) : *value, part.format, error);
    if (!field)
      return fail(part.field->range, error);
    text += *field;
    if (text.size() > (1u << 20))
      return fail(node.range, "the string is longer than 1048576 bytes");
  }
  return ConstValue::string(std::move(text));
}

Result HostRun::elements(const std::vector<ast::ExprPtr> &list, bool isList) {
  std::vector<ConstValue> values;
  for (const ast::ExprPtr &element : list) {
    auto *starred = ast::dyn<ast::Starred>(element.get());
    Result value = expr(starred ? *starred->value : *element);
    if (!value)
      return std::nullopt;
    if (!starred) {
      values.push_back(*value);
      continue;
    }
    std::string error;
    auto inner = constElements(*value, error);
    if (!inner)
      return fail(element->range, error);
    values.insert(values.end(), inner->begin(), inner->end());
  }
  return ConstValue::tuple(std::move(values), isList);
}

void setItem(ConstValue::Dict &dict, const ConstValue &key, const ConstValue &value) {
  std::string error;
  for (auto &[known, slot] : dict)
    if (evalCompare(ast::CompareOp::Eq, known, key, error)->truth()) {
      slot = value;
      return;
    }
  dict.emplace_back(key, value);
}

Result HostRun::dict(const ast::Dict &node) {
  ConstValue::Dict result;
  for (const auto &[key, value] : node.items) {
    Result v = expr(*value);
    if (!v)
      return std::nullopt;
    if (!key) {
      if (!v->asDict())
        return fail(value->range, fmt::format("`**` needs a dict, found {}", v->kindName()));
      for (const auto &[innerKey, innerValue] : *v->asDict())
        setItem(result, innerKey, innerValue);
      continue;
    }
    Result k = expr(*key);
    if (!k)
      return std::nullopt;
    setItem(result, *k, *v);
  }
  return ConstValue(std::make_shared<const ConstValue::Dict>(std::move(result)));
}

bool HostRun::comprehend(const ast::Comprehension &node, size_t clause, std::vector<ConstValue> &out, ConstValue::Dict &dictOut) {
  if (clause == node.clauses.size()) {
    Result value = expr(*node.element);
    Result second = node.type == ast::Comprehension::Dict && value ? expr(*node.value) : value;
    if (!value || !second)
      return false;
    if (node.type == ast::Comprehension::Dict)
      setItem(dictOut, *value, *second);
    else
      out.push_back(*value);
    return true;
  }
  const auto &part = node.clauses[clause];
  Result iterable = expr(*part.iterable);
  if (!iterable)
    return false;
  std::string error;
  auto values = constElements(*iterable, error);
  if (!values)
    return fail(part.iterable->range, error), false;
  for (const ConstValue &value : *values) {
    if (!step(node.range) || !assign(*part.target, value))
      return false;
    bool wanted = true;
    for (const ast::ExprPtr &condition : part.conditions) {
      Result holds = expr(*condition);
      if (!holds)
        return false;
      wanted = wanted && holds->truth();
    }
    if (wanted && !comprehend(node, clause + 1, out, dictOut))
      return false;
  }
  return true;
}

Result HostRun::comprehension(const ast::Comprehension &node) {
  std::map<std::string, ConstValue> saved = variables; // a comprehension's names are its own
  std::vector<ConstValue> out;
  ConstValue::Dict dictOut;
  bool ok = comprehend(node, 0, out, dictOut);
  variables = std::move(saved);
  if (!ok)
    return std::nullopt;
  if (node.type == ast::Comprehension::Dict)
    return ConstValue(std::make_shared<const ConstValue::Dict>(std::move(dictOut)));
  return ConstValue::tuple(std::move(out), true);
}

Result HostRun::boolean(const ast::Bool &node) {
  Result value;
  for (const ast::ExprPtr &operand : node.values) {
    value = expr(*operand);
    if (!value || value->truth() != node.isAnd)
      return value;
  }
  return value;
}

Result HostRun::compare(const ast::Compare &node) {
  Result lhs = expr(*node.first), result;
  for (size_t i = 0; i < node.ops.size(); ++i) {
    Result rhs = lhs ? expr(*node.rest[i]) : std::nullopt;
    if (!rhs)
      return std::nullopt;
    std::string error;
    result = evalCompare(node.ops[i], *lhs, *rhs, error);
    if (!result)
      return fail(node.range, error);
    if (!result->truth())
      return result;
    lhs = rhs;
  }
  return result;
}

bool HostRun::arguments(const ast::Call &node, ConstCall &call) {
  for (const ast::ExprPtr &arg : node.args) {
    auto *starred = ast::dyn<ast::Starred>(arg.get());
    Result value = expr(starred ? *starred->value : *arg);
    if (!value)
      return false;
    if (!starred) {
      call.args.push_back(*value);
      continue;
    }
    std::string error;
    auto inner = constElements(*value, error);
    if (!inner)
      return fail(arg->range, error), false;
    call.args.insert(call.args.end(), inner->begin(), inner->end());
  }
  for (const ast::Keyword &keyword : node.keywords) {
    Result value = expr(*keyword.value);
    if (!value)
      return false;
    if (!keyword.name.empty()) {
      call.keywords.push_back({keyword.name, *value});
      continue;
    }
    if (!value->asDict())
      return fail(keyword.value->range, fmt::format("`**` needs a dict, found {}", value->kindName())), false;
    for (const auto &[key, inner] : *value->asDict())
      call.keywords.push_back({strOf(key), inner});
  }
  return true;
}

Result HostRun::call(const ast::Call &node) {
  bool handled = false;
  Result changed = mutate(node, handled);
  if (handled)
    return changed;
  std::string error;
  if (auto *attribute = ast::dyn<ast::Attribute>(node.callee.get())) {
    Result object = expr(*attribute->value);
    if (!object)
      return std::nullopt;
    ConstCall call;
    if (hasConstMethod(*object, attribute->attr)) {
      if (!arguments(node, call))
        return std::nullopt;
      Result value = constMethod(*object, attribute->attr, call, error);
      return value ? value : fail(node.range, error);
    }
    Result callee = constAttribute(*object, attribute->attr, error);
    if (!callee)
      return fail(attribute->attrRange, error);
    if (!arguments(node, call))
      return std::nullopt;
    return callValue(*callee, call, at(node.range));
  }
  Result callee = expr(*node.callee);
  ConstCall call;
  if (!callee || !arguments(node, call))
    return std::nullopt;
  return callValue(*callee, call, at(node.range));
}

Result HostRun::callValue(const ConstValue &callee, const ConstCall &call, Place place) {
  if (auto *function = callee.get<FunctionValue>())
    return callFunction(*function, call, place);
  std::string error;
  if (auto *builtin = callee.get<BuiltinValue>()) {
    std::string name = builtin->name;
    if (!builtin->isModule && !isHostBuiltin(name) && isInitialiser(name))
      name = "init." + name; // tl.zeros in a decorator
    if (!builtin->isModule && isHostLibrary(name))
      return library(name, call, place);
    if (!builtin->isModule && isHostBuiltin(name)) {
      if (Result value = callHostBuiltin(name, call, error))
        return value;
    } else {
      error = fmt::format("`{}` cannot be called at compile time", displayName(*builtin));
    }
  } else {
    error = fmt::format("{} cannot be called", callee.kindName());
  }
  state.diagnostics.report(Diag::ConstEvaluation, place, error);
  return std::nullopt;
}

Result HostRun::subscript(const ast::Subscript &node) {
  Result object = expr(*node.value);
  if (!object)
    return std::nullopt;
  std::string error;
  Result result;
  if (auto *slice = ast::dyn<ast::Slice>(node.index.get())) {
    ConstValue bounds[3];
    const ast::ExprPtr *parts[3] = {&slice->lower, &slice->upper, &slice->step};
    for (int i = 0; i < 3; ++i)
      if (*parts[i]) {
        Result value = expr(**parts[i]);
        if (!value)
          return std::nullopt;
        bounds[i] = *value;
      }
    result = constSlice(*object, bounds[0], bounds[1], bounds[2], error);
  } else {
    Result index = expr(*node.index);
    if (!index)
      return std::nullopt;
    result = constSubscript(*object, *index, error);
  }
  return result ? result : fail(node.range, error);
}

Result HostRun::expr(const ast::Expr &node) {
  if (!step(node.range))
    return std::nullopt;
  using K = ast::ExprKind;
  std::string error;
  Result result;
  switch (node.kind) {
  case K::Name: return name(ast::as<ast::Name>(node));
  case K::Constant: return constant(ast::as<ast::Constant>(node));
  case K::FString: return format(ast::as<ast::FString>(node));
  case K::Tuple: return elements(ast::as<ast::Tuple>(node).elements, false);
  case K::List: return elements(ast::as<ast::List>(node).elements, true);
  case K::Set: return elements(ast::as<ast::Set>(node).elements, true);
  case K::Dict: return dict(ast::as<ast::Dict>(node));
  case K::Comprehension: return comprehension(ast::as<ast::Comprehension>(node));
  case K::Bool: return boolean(ast::as<ast::Bool>(node));
  case K::Compare: return compare(ast::as<ast::Compare>(node));
  case K::Call: return call(ast::as<ast::Call>(node));
  case K::Subscript: return subscript(ast::as<ast::Subscript>(node));
  case K::Lambda: return ConstValue(madeHere(nullptr, &ast::as<ast::Lambda>(node)));
  case K::Binary: {
    auto &binary = ast::as<ast::Binary>(node);
    Result lhs = expr(*binary.lhs), rhs = lhs ? expr(*binary.rhs) : std::nullopt;
    if (!rhs)
      return std::nullopt;
    result = evalBinary(binary.op, *lhs, *rhs, error);
    break;
  }
  case K::Unary: {
    Result operand = expr(*ast::as<ast::Unary>(node).operand);
    if (!operand)
      return std::nullopt;
    result = evalUnary(ast::as<ast::Unary>(node).op, *operand, error);
    break;
  }
  case K::Conditional: {
    auto &choice = ast::as<ast::Conditional>(node);
    Result condition = expr(*choice.condition);
    return condition ? expr(condition->truth() ? *choice.then : *choice.otherwise) : std::nullopt;
  }
  case K::Attribute: {
    auto &attribute = ast::as<ast::Attribute>(node);
    Result object = expr(*attribute.value);
    if (!object)
      return std::nullopt;
    result = constAttribute(*object, attribute.attr, error);
    if (!result && hasConstMethod(*object, attribute.attr)) // x.numel without the call
      result = constMethod(*object, attribute.attr, {}, error);
    break;
  }
  case K::Walrus: {
    Result value = expr(*ast::as<ast::Walrus>(node).value);
    return value && assign(*ast::as<ast::Walrus>(node).target, *value) ? value : std::nullopt;
  }
  case K::Slice: case K::Starred: case K::Yield: case K::Await: error = "this expression cannot be evaluated at compile time"; break;
  }
  return result ? result : fail(node.range, error);
}

HostEvaluator::HostEvaluator(const ModuleScope *scope, Diagnostics &diagnostics, uint64_t steps) : scope(scope), diagnostics(diagnostics), steps(steps) {}

std::optional<ConstValue> HostEvaluator::evaluate(const ast::Expr &node, const SourceFile &file) {
  HostState state{diagnostics, steps};
  return HostRun(state, scope, file, locals).expr(node);
}

std::optional<ConstValue> HostEvaluator::call(const ConstValue &callee, const std::vector<ConstValue> &args, Place place) { return callWith(callee, {args, {}}, place); }

std::optional<ConstValue> HostEvaluator::callWith(const ConstValue &callee, const ConstCall &call, Place place) {
  HostState state{diagnostics, steps};
  static const SourceFile none("", "");
  return HostRun(state, scope, place.file ? *place.file : none, locals).callValue(callee, call, place);
}

std::optional<ConstValue> HostEvaluator::run(const std::vector<const ast::Stmt *> &statements, const std::string &name, const SourceFile &file) {
  HostState state{diagnostics, steps};
  HostRun run(state, scope, file, locals);
  for (const ast::Stmt *statement : statements)
    if (run.statement(*statement) != HostRun::Flow::Next)
      return std::nullopt;
  auto it = run.variables.find(name);
  return it == run.variables.end() ? std::nullopt : Result(it->second);
}

} // namespace tk::lang
