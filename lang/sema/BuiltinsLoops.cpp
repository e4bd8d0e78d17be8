// Iterators, facts for the optimiser, printing and assertions.
#include "dialects/tt/Facts.h"
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"

namespace tk::lang {

// ---- iterators ----
static std::shared_ptr<RangeValue> makeRange(Elaborator &e, const BoundCall &call) {
  auto range = std::make_shared<RangeValue>();
  bool single = call[1].isNone();
  range->lower = single ? Value::integer(0) : call[0];
  range->upper = single ? call[0] : call[1];
  range->step = call[2].isNone() ? Value::integer(1) : call[2];
  return range;
}

Value BuiltinHandlers::tlRange(Elaborator &e, const BoundCall &call) {
  std::shared_ptr<RangeValue> range = makeRange(e, call);
  struct Hint {
    size_t index;
    const char *attribute;
    bool isNumber;
  };
  static const Hint hints[] = {{3, "tt.num_stages", true}, {4, "tt.loop_unroll_factor", true}, {5, "tt.disallow_acc_multi_buffer", false},
                               {6, "tt.flatten", false},   {7, "tt.warp_specialize", false},   {8, "tt.disable_licm", false}};
  for (const Hint &hint : hints) {
    if (!call.given[hint.index] || call[hint.index].isNone())
      continue;
    if (hint.isNumber) {
      std::optional<int64_t> number = constantInteger(e, call, hint.index);
      if (!number)
        return Value();
      if (*number < 0 || *number > 1024)
        return e.error(call.values[hint.index].range, Diag::HintOutOfRange, *number, call.info->params[hint.index].name);
      range->attributes.emplace_back(hint.attribute, *number);
    } else {
      std::optional<bool> flag = constantBool(e, call, hint.index);
      if (!flag)
        return Value();
      if (*flag)
        range->attributes.emplace_back(hint.attribute, 1);
    }
  }
  return Value(std::shared_ptr<const RangeValue>(std::move(range)));
}

Value BuiltinHandlers::pythonRange(Elaborator &e, const BoundCall &call) { return tlRange(e, call); }

Value BuiltinHandlers::staticRange(Elaborator &e, const BoundCall &call) {
  std::shared_ptr<RangeValue> range = makeRange(e, call);
  range->isStatic = true;
  return Value(std::shared_ptr<const RangeValue>(std::move(range)));
}

Value BuiltinHandlers::condition(Elaborator &e, const BoundCall &call) { return call[0]; }

// ---- facts ----
Value BuiltinHandlers::assume(Elaborator &e, const BoundCall &call) {
  if (auto *c = call[0].asConst())
    return c->truth() ? Value::none() : e.error(call.range, Diag::AssumeFalse);
  mlir::Value holds = e.condition(call[0], call.values[0].range);
  if (holds)
    tt::AssumeOp::create(e.builder, e.loc(call.range), holds);
  return holds ? Value::none() : Value();
}

/// Notes a fact on the operation that defines the value. Arguments of functions and loops, and results of branches and loops, are given an operation that
/// changes nothing to hold it: the fact is about what is computed from here on.
static Value fact(Elaborator &e, const BoundCall &call, llvm::StringRef attribute) {
  std::optional<llvm::SmallVector<int64_t>> values = constantIntegers(e, {call.values[1]}, call, "values");
  if (!values)
    return Value();
  auto *runtime = call[0].asRuntime();
  if (!runtime) // a compile-time value knows better
    return call[0];
  size_t rank = std::max<size_t>(1, runtime->shape().size());
  if (values->size() != rank)
    return e.error(call.values[1].range, Diag::FactCount, call.info->display, values->size(), typeText(*runtime));
  llvm::SmallVector<int32_t> numbers;
  for (int64_t value : *values) {
    if (value < 1 || value > INT32_MAX)
      return e.error(call.values[1].range, Diag::HintOutOfRange, value, std::string("values"));
    numbers.push_back(static_cast<int32_t>(value));
  }
  mlir::Operation *op = runtime->ssa.getDefiningOp();
  Value result = call[0];
  if (!op || op->getNumResults() != 1 || op->getNumRegions() != 0) {
    op = tt::BitcastOp::create(e.builder, e.loc(call.range), runtime->ssa.getType(), runtime->ssa);
    result.data = Runtime{op->getResult(0), runtime->type};
  }
  op->setAttr(attribute, e.builder.getDenseI32ArrayAttr(numbers));
  return result;
}

Value BuiltinHandlers::multipleOf(Elaborator &e, const BoundCall &call) { return fact(e, call, tt::kDivisibility); }
Value BuiltinHandlers::maxContiguous(Elaborator &e, const BoundCall &call) { return fact(e, call, tt::kContiguity); }
Value BuiltinHandlers::maxConstancy(Elaborator &e, const BoundCall &call) { return fact(e, call, tt::kConstancy); }

// ---- at compile time ----
static std::string shown(const Value &value) { return value.asConst() ? strOf(*value.asConst()) : value.describe(); }

Value BuiltinHandlers::staticPrint(Elaborator &e, const BoundCall &call) {
  std::optional<std::string> separator = constantString(e, call, 1);
  if (!separator)
    return Value();
  std::string line;
  for (size_t i = 0; i < call.rest.size(); ++i)
    line += (i ? *separator : "") + shown(call.rest[i].value);
  e.printed.push_back(std::move(line));
  return Value::none();
}

Value BuiltinHandlers::staticAssert(Elaborator &e, const BoundCall &call) {
  auto *c = call[0].asConst();
  if (!c)
    return e.error(call.values[0].range, Diag::NotConstant, std::string("the condition of `tl.static_assert`"), call[0].describe());
  if (c->truth())
    return Value::none();
  std::string message = shown(call[1]);
  return message.empty() ? e.error(call.range, Diag::StaticAssert) : e.error(call.range, Diag::StaticAssertMessage, message);
}

// ---- at run time ----
static Value print(Elaborator &e, const std::string &prefix, const std::vector<Argument> &arguments, bool hex, SourceRange range) {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<int32_t> signs;
  for (const Argument &argument : arguments) {
    std::optional<Runtime> value = e.toRuntime(argument.value, argument.range);
    if (!value)
      return Value();
    if (value->type == TypeValue{DType::F8E4B15, 0, false})
      value = e.convert(*value, DType::F32, e.loc(range));
    values.push_back(value->ssa);
    signs.push_back(!value->isPointer() && isSigned(value->type.dtype));
  }
  tt::PrintOp::create(e.builder, e.loc(range), prefix, hex, values, signs);
  return Value::none();
}

Value BuiltinHandlers::devicePrint(Elaborator &e, const BoundCall &call) {
  auto *c = call[0].asConst();
  if (!c || !c->asString())
    return e.error(call.values[0].range, Diag::PrintPrefix, call[0].describe());
  std::optional<bool> hex = constantBool(e, call, 2);
  return hex ? print(e, *c->asString(), call.rest, *hex, call.range) : Value();
}

Value BuiltinHandlers::pythonPrint(Elaborator &e, const BoundCall &call) {
  std::string prefix;
  std::vector<Argument> values;
  for (const Argument &argument : call.rest) {
    bool text = argument.value.asConst() && (argument.value.asConst()->asString() || !argument.value.asConst()->asDouble());
    if (text && values.empty())
      prefix += (prefix.empty() ? "" : " ") + shown(argument.value);
    else if (text)
      return e.error(argument.range, Diag::PrintTextAfterValue);
    else
      values.push_back(argument);
  }
  std::optional<bool> hex = constantBool(e, call, 3);
  return hex ? print(e, prefix, values, *hex, call.range) : Value();
}

Value BuiltinHandlers::deviceAssert(Elaborator &e, const BoundCall &call) {
  auto *message = call[1].asConst();
  if (!message || !(message->asString() || message->isNone()))
    return e.error(call.values[1].range, Diag::NotConstantString, std::string("msg"), call.info->display, call[1].describe());
  if (!e.options.debug)
    return Value::none();
  std::optional<Runtime> condition = runtimeOperand(e, call, 0);
  if (!condition)
    return Value();
  Runtime holds = e.toBool(*condition, call.values[0].range);
  if (!call[2].isNone()) { // only where the mask is set
    Value off = e.unary(ast::UnaryOp::Not, call[2], call.values[2].range);
    Value either = e.logical(false, off, holds, call.range);
    if (!either.asRuntime())
      return either;
    holds = *either.asRuntime();
  }
  tt::AssertOp::create(e.builder, e.loc(call.range), holds.ssa, message->isNone() ? std::string() : *message->asString());
  return Value::none();
}

} // namespace tk::lang
