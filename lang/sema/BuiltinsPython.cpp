// Python's builtins: at compile time as in Python, elementwise on tiles.
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/LanguageNames.h"

namespace tk::lang {

/// The host function by this name on compile-time arguments.
static std::optional<Value> atCompileTime(Elaborator &e, const BoundCall &call, const std::vector<Argument> &arguments) {
  ConstCall plain;
  for (const Argument &argument : arguments) {
    if (!argument.value.asConst())
      return std::nullopt;
    plain.args.push_back(*argument.value.asConst());
  }
  std::string message;
  std::optional<ConstValue> value = callHostBuiltin("python." + call.info->name, plain, message);
  return value ? Value(*value) : e.error(call.range, Diag::ConstEvaluation, message);
}

/// max(a, b, ...) is elementwise; max(x, axis=...) is the reduction tl.max.
static Value extremes(Elaborator &e, const BoundCall &call, bool isMax) {
  std::string function = isMax ? "maximum" : "minimum", reduction = isMax ? "max" : "min";
  bool reduces = call.given[1] || call.given[2] || call.given[3] || call.given[4];
  if (reduces) {
    std::vector<Argument> arguments = call.rest;
    for (size_t i = 1; i <= 4; ++i)
      if (call.given[i])
        arguments.push_back({call[i], call.values[i].range, call.info->params[i].name});
    return e.callLibrary(reduction, std::move(arguments), call.range);
  }
  if (std::optional<Value> value = atCompileTime(e, call, call.rest))
    return *value;
  if (call.rest.size() == 1) {
    auto *tile = call.rest[0].value.asRuntime();
    return tile ? e.error(call.range, Diag::ReductionNeedsAxis, reduction) : e.error(call.range, Diag::NotIterable, call.rest[0].value.describe());
  }
  Value result = call.rest[0].value;
  for (size_t i = 1; i < call.rest.size() && !result.isError(); ++i) {
    std::vector<Argument> pair = {{result, call.rest[0].range, ""}, call.rest[i]};
    if (call.given[5])
      pair.push_back({call[5], call.values[5].range, "propagate_nan"});
    result = e.callBuiltin(BuiltinValue{function, false}, pair, call.range);
  }
  return result;
}

Value BuiltinHandlers::pythonMax(Elaborator &e, const BoundCall &call) { return extremes(e, call, true); }
Value BuiltinHandlers::pythonMin(Elaborator &e, const BoundCall &call) { return extremes(e, call, false); }

Value BuiltinHandlers::pythonLen(Elaborator &e, const BoundCall &call) {
  if (std::optional<std::vector<Value>> elements = call[0].elements())
    return Value::integer(static_cast<int64_t>(elements->size()));
  if (auto *runtime = call[0].asRuntime(); runtime && runtime->isTile())
    return Value::integer(runtime->shape()[0]);
  if (std::optional<Value> value = atCompileTime(e, call, {call.values[0]}))
    return *value;
  return e.error(call.range, Diag::NotIterable, call[0].describe());
}

/// float(x), int(x), bool(x): Python's at compile time; of a run-time value the type to cast to has to be said.
static Value conversion(Elaborator &e, const BoundCall &call, const char *types) {
  if (std::optional<Value> value = atCompileTime(e, call, {call.values[0]}))
    return *value;
  return e.error(call.range, Diag::ConversionAtRunTime, call.info->name, call[0].describe(), std::string(types));
}

Value BuiltinHandlers::pythonFloat(Elaborator &e, const BoundCall &call) { return conversion(e, call, "tl.float32"); }
Value BuiltinHandlers::pythonInt(Elaborator &e, const BoundCall &call) { return conversion(e, call, "tl.int32"); }
Value BuiltinHandlers::pythonBool(Elaborator &e, const BoundCall &call) { return conversion(e, call, "tl.int1"); }
Value BuiltinHandlers::pythonStr(Elaborator &e, const BoundCall &call) { return call[0].asConst() ? *atCompileTime(e, call, {call.values[0]}) : Value(ConstValue::string(call[0].describe())); }

Value BuiltinHandlers::pythonTuple(Elaborator &e, const BoundCall &call) {
  std::optional<std::vector<Value>> elements = call[0].elements();
  if (auto *range = call[0].as<RangeValue>(); range && range->lower.asConst() && range->upper.asConst() && range->step.asConst()) {
    std::string message;
    std::optional<ConstValue> list = callHostBuiltin("python.range", {{*range->lower.asConst(), *range->upper.asConst(), *range->step.asConst()}, {}}, message);
    if (!list)
      return e.error(call.range, Diag::ConstEvaluation, message);
    elements = Value(*list).elements();
  }
  return elements ? Value::tuple(std::move(*elements), {}, call.info->name == "list") : e.error(call.range, Diag::NotIterable, call[0].describe());
}

static bool isInstance(const Value &value, const ConstValue &type) {
  auto *builtin = type.get<BuiltinValue>();
  if (!builtin)
    return false;
  if (value.asRuntime())
    return builtin->name == "type.tensor";
  if (value.as<SequenceValue>())
    return builtin->name == (value.as<SequenceValue>()->isList ? "python.list" : "python.tuple") || builtin->name == "type.tuple";
  std::string message;
  if (!value.asConst())
    return false;
  if (builtin->name == "constexpr")
    return true;
  std::optional<ConstValue> answer = callHostBuiltin("python.isinstance", {{*value.asConst(), type}, {}}, message);
  return answer && answer->truth();
}

Value BuiltinHandlers::pythonIsInstance(Elaborator &e, const BoundCall &call) {
  std::vector<Value> types = {call[1]};
  if (std::optional<std::vector<Value>> elements = call[1].elements())
    types = *elements;
  for (const Value &type : types)
    if (type.asConst() && isInstance(call[0], *type.asConst()))
      return Value(ConstValue(true));
  return Value(ConstValue(false));
}

Value BuiltinHandlers::pythonGetAttr(Elaborator &e, const BoundCall &call) {
  std::optional<std::string> name = constantString(e, call, 1);
  if (!name)
    return Value();
  if (!call.rest.empty() && !e.hasAttribute(call[0], *name))
    return call.rest[0].value;
  return e.attribute(call[0], *name, call.range);
}

Value BuiltinHandlers::pythonHasAttr(Elaborator &e, const BoundCall &call) {
  std::optional<std::string> name = constantString(e, call, 1);
  return name ? Value(ConstValue(e.hasAttribute(call[0], *name))) : Value();
}

Value BuiltinHandlers::pythonZip(Elaborator &e, const BoundCall &call) {
  std::vector<std::vector<Value>> columns;
  size_t length = SIZE_MAX;
  for (const Argument &argument : call.rest) {
    std::optional<std::vector<Value>> elements = argument.value.elements();
    if (!elements)
      return e.error(argument.range, Diag::NotIterable, argument.value.describe());
    length = std::min(length, elements->size());
    columns.push_back(std::move(*elements));
  }
  std::vector<Value> rows;
  for (size_t i = 0; !columns.empty() && i < length; ++i) {
    std::vector<Value> row;
    for (const auto &column : columns)
      row.push_back(column[i]);
    rows.push_back(Value::tuple(std::move(row)));
  }
  return Value::tuple(std::move(rows), {}, true);
}

Value BuiltinHandlers::pythonEnumerate(Elaborator &e, const BoundCall &call) {
  std::optional<std::vector<Value>> elements = call[0].elements();
  std::optional<int64_t> start = constantInteger(e, call, 1);
  if (!elements)
    return e.error(call.values[0].range, Diag::NotIterable, call[0].describe());
  if (!start)
    return Value();
  for (size_t i = 0; i < elements->size(); ++i)
    (*elements)[i] = Value::tuple({Value::integer(*start + static_cast<int64_t>(i)), (*elements)[i]});
  return Value::tuple(std::move(*elements), {}, true);
}

Value BuiltinHandlers::pythonReversed(Elaborator &e, const BoundCall &call) {
  std::optional<std::vector<Value>> elements = call[0].elements();
  if (!elements)
    return e.error(call.values[0].range, Diag::NotIterable, call[0].describe());
  std::reverse(elements->begin(), elements->end());
  return Value::tuple(std::move(*elements), {}, true);
}

} // namespace tk::lang
