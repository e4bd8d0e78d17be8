// See HostArguments.h.
#include "lang/sema/HostArguments.h"
#include "lang/sema/ConstText.h"

namespace tk::lang {

using Kind = Argument::Kind;

std::optional<runtime::StoredArgument> argumentOf(const ModuleScope &scope, const ConstValue &value) {
  auto stored = [](const Argument &argument) { return runtime::StoredArgument(argument); };
  if (value.isNone())
    return stored(Argument());
  if (auto *flag = value.get<bool>())
    return stored(Argument(*flag));
  if (auto *number = value.get<double>())
    return stored(Argument(*number));
  if (auto *text = value.asString())
    return text->find('\0') == std::string::npos ? std::optional(stored(Argument(*text))) : std::nullopt;
  if (auto integer = value.asInt64())
    return stored(Argument(*integer));
  if (auto *integer = value.get<BigInt>(); integer && *integer > BigInt(0) && bitLength(*integer) <= 64)
    return stored(Argument(toAPInt(*integer, 64).getZExtValue()));
  if (auto *type = value.get<TypeValue>(); type && !type->pointerDepth)
    return stored(Argument(type->dtype));
  if (auto *function = value.get<FunctionValue>(); function && function->function && scope.function(function->function->name) == function->function)
    return stored(tk::function(function->function->name.c_str()));
  return std::nullopt;
}

std::optional<ConstValue> valueOf(const ModuleScope &scope, const Argument &argument, const std::string &parameter, std::string &error) {
  switch (argument.kind) {
  case Kind::None: return ConstValue();
  case Kind::Bool: return ConstValue(argument.bits != 0);
  case Kind::Int: return ConstValue::integer(static_cast<int64_t>(argument.bits));
  case Kind::UInt: return ConstValue(fromAPInt(llvm::APInt(65, argument.bits)));
  case Kind::Float: return ConstValue(argument.number());
  case Kind::Type: return ConstValue(TypeValue{argument.type, 0, false});
  case Kind::String: return ConstValue::string(argument.text);
  case Kind::Pointer: {
    auto array = std::make_shared<ArrayValue>();
    array->dtype = argument.type, array->name = parameter, array->hasShape = false;
    return ConstValue(std::shared_ptr<const ArrayValue>(std::move(array)));
  }
  case Kind::Function: {
    Diagnostics quiet;
    std::optional<ConstValue> value = scope.lookup(argument.text, quiet);
    if (value && value->get<FunctionValue>())
      return value;
    error = fmt::format("names `{}`, which is no function of `{}`", argument.text, scope.file().name());
    return std::nullopt;
  }
  case Kind::Tuple: {
    std::vector<ConstValue> elements;
    for (uint64_t i = 0; i < argument.bits; ++i) {
      std::optional<ConstValue> element = valueOf(scope, argument.elements[i], parameter, error);
      if (!element)
        return std::nullopt;
      elements.push_back(std::move(*element));
    }
    return ConstValue::tuple(std::move(elements));
  }
  }
  return ConstValue();
}

std::optional<NamedArguments> namedArguments(const ModuleScope &scope, const ast::Function &kernel, const Argument *const *arguments, size_t count, Diagnostics &diagnostics) {
  NamedArguments named;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ast::Parameter &parameter = kernel.params[i];
    std::optional<ConstValue> value;
    std::string error;
    if (i < count && arguments[i]) {
      value = valueOf(scope, *arguments[i], parameter.name, error);
      if (!value) {
        diagnostics.report(Diag::ConstEvaluation, {&scope.file(), parameter.nameRange}, fmt::format("parameter `{}` {}", parameter.name, error));
        return std::nullopt;
      }
    } else if (parameter.defaultValue) {
      Diagnostics quiet; // only an error when it is needed
      value = HostEvaluator(&scope, quiet).evaluate(*parameter.defaultValue, scope.file());
    }
    if (value)
      named.emplace_back(parameter.name, *value);
  }
  return named;
}

std::optional<ConstValue> evaluateHost(const ModuleScope &scope, const ast::Expr &expr, const NamedArguments &arguments, Diagnostics &diagnostics) {
  HostEvaluator evaluator(&scope, diagnostics);
  evaluator.locals = [&](const std::string &name) -> std::optional<ConstValue> {
    for (const auto &[known, value] : arguments)
      if (known == name)
        return value;
    return std::nullopt;
  };
  std::optional<ConstValue> value = evaluator.evaluate(expr, scope.file());
  if (!value || !value->get<FunctionValue>())
    return value;
  ConstValue::Dict byName;
  for (const auto &[name, argument] : arguments)
    byName.emplace_back(ConstValue::string(name), argument);
  return evaluator.call(*value, {ConstValue(std::make_shared<const ConstValue::Dict>(std::move(byName)))}, {&scope.file(), expr.range});
}

} // namespace tk::lang
