// Programs, creation of tiles, casts.
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"

namespace tk::lang {

static const TypeValue kI32{DType::I32, 0, false};

static std::optional<tt::ProgramDim> gridAxis(Elaborator &e, const BoundCall &call) {
  std::optional<int64_t> axis = constantInteger(e, call, 0);
  if (!axis)
    return std::nullopt;
  if (*axis < 0 || *axis > 2) {
    e.error(call.values[0].range, Diag::GridAxis, *axis);
    return std::nullopt;
  }
  return static_cast<tt::ProgramDim>(*axis);
}

Value BuiltinHandlers::programId(Elaborator &e, const BoundCall &call) {
  std::optional<tt::ProgramDim> axis = gridAxis(e, call);
  return axis ? Value(Runtime{tt::GetProgramIdOp::create(e.builder, e.loc(call.range), e.builder.getI32Type(), *axis), kI32}) : Value();
}

Value BuiltinHandlers::numPrograms(Elaborator &e, const BoundCall &call) {
  std::optional<tt::ProgramDim> axis = gridAxis(e, call);
  return axis ? Value(Runtime{tt::GetNumProgramsOp::create(e.builder, e.loc(call.range), e.builder.getI32Type(), *axis), kI32}) : Value();
}

Value BuiltinHandlers::arange(Elaborator &e, const BoundCall &call) {
  std::optional<int64_t> first = constantInteger(e, call, 0);
  std::optional<int64_t> last = call.given[1] ? constantInteger(e, call, 1) : first;
  if (!first || !last)
    return Value();
  if (!call.given[1]) // arange(n)
    first = 0;
  if (*last <= *first)
    return e.error(call.range, Diag::ArangeEmpty, *first, *last);
  if (*first < INT32_MIN || *last - 1 > INT32_MAX || *last > INT32_MAX)
    return e.error(call.range, Diag::ArangeTooLarge, *first, *last);
  int64_t extent = *last - *first;
  if (!e.checkShape({extent}, call.range))
    return Value();
  if ((extent & (extent - 1)) != 0)
    e.extension(call.range, "a tile extent that is not a power of two");
  return Runtime{tt::MakeRangeOp::create(e.builder, e.loc(call.range), e.mlirType(kI32, {extent}), static_cast<uint32_t>(*first), static_cast<uint32_t>(*last)), kI32};
}

Value BuiltinHandlers::full(Elaborator &e, const BoundCall &call) {
  std::optional<llvm::SmallVector<int64_t>> shape = constantIntegers(e, {call.values[0]}, call, "shape");
  if (!shape || !e.checkShape(*shape, call.values[0].range))
    return Value();
  std::optional<Runtime> scalar;
  if (call[2].isNone()) {
    scalar = e.toRuntime(call[1], call.values[1].range);
  } else {
    auto *type = call[2].asConst() ? call[2].asConst()->get<TypeValue>() : nullptr;
    if (!type)
      return e.error(call.values[2].range, Diag::NotADType, call[2].describe());
    scalar = e.cast(call[1], *type, call.values[1].range);
  }
  if (!scalar)
    return Value();
  if (scalar->isTile())
    return e.error(call.values[1].range, Diag::NeedsScalar, std::string("value"), call.info->display, typeText(*scalar));
  return e.broadcastTo(*scalar, *shape, e.loc(call.range));
}

Value BuiltinHandlers::toTensor(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> value = e.toRuntime(call[0], call.values[0].range);
  return value ? Value(*value) : Value();
}

Value BuiltinHandlers::cast(Elaborator &e, const BoundCall &call) {
  auto *type = call[1].asConst() ? call[1].asConst()->get<TypeValue>() : nullptr;
  if (!type)
    return e.error(call.values[1].range, Diag::NotADType, call[1].describe());
  std::optional<std::string> mode = constantString(e, call, 2);
  std::optional<bool> bitcast = constantBool(e, call, 3);
  if (!mode || !bitcast)
    return Value();
  std::optional<tt::RoundingMode> rounding;
  if (*mode == "rtne" || *mode == "rtz")
    rounding = *mode == "rtz" ? tt::RoundingMode::RTZ : tt::RoundingMode::RTNE;
  else if (!mode->empty())
    return e.error(call.values[2].range, Diag::BadChoice, *mode, std::string("fp_downcast_rounding"), std::string("`rtne` or `rtz`"));
  std::optional<Runtime> result = e.cast(call[0], *type, call.range, rounding, *bitcast);
  return result ? Value(*result) : Value();
}

Value BuiltinHandlers::constexprBox(Elaborator &e, const BoundCall &call) {
  if (call[0].asRuntime())
    return e.error(call.values[0].range, Diag::NotConstant, std::string("`value` of `tl.constexpr`"), call[0].describe());
  return call[0];
}

Value BuiltinHandlers::pointerType(Elaborator &e, const BoundCall &call) {
  auto *type = call[0].asConst() ? call[0].asConst()->get<TypeValue>() : nullptr;
  std::optional<bool> isConst = constantBool(e, call, 2);
  if (!type)
    return e.error(call.values[0].range, Diag::NotADType, call[0].describe());
  if (!isConst)
    return Value();
  TypeValue result{type->dtype, type->pointerDepth + 1, *isConst};
  return e.checkType(result, call.range) ? Value(ConstValue(result)) : Value();
}

} // namespace tk::lang
