// Matrix products (NUMERICS 8).
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include "llvm/ADT/StringSwitch.h"

namespace tk::lang {

/// The type of the product of two operands; empty after a report.
static std::optional<DType> productType(Elaborator &e, const BoundCall &call, const Runtime &a, const Runtime &b, const Runtime *acc) {
  DType type = a.type.dtype;
  bool eights = isFloat8(type) && isFloat8(b.type.dtype);
  if (a.isPointer() || b.isPointer() || (a.type.dtype != b.type.dtype && !eights)) {
    e.error(call.range, Diag::DotTypes, typeText(a), typeText(b));
    return std::nullopt;
  }
  bool known = eights || type == DType::I8 || type == DType::F16 || type == DType::BF16 || type == DType::F32 || type == DType::F64;
  if (!known) {
    e.error(call.range, Diag::DotElement, std::string(spelling(type)));
    return std::nullopt;
  }
  std::optional<DType> asked;
  if (!call[6].isNone()) {
    auto *out = call[6].asConst() ? call[6].asConst()->get<TypeValue>() : nullptr;
    if (!out || out->pointerDepth) {
      e.error(call.values[6].range, Diag::NotADType, call[6].describe());
      return std::nullopt;
    }
    asked = out->dtype;
  }
  if (type == DType::I8)
    return DType::I32;
  if (type == DType::F64)
    return DType::F64;
  if (asked == DType::BF16) {
    e.error(call.values[6].range, Diag::DotOutput, std::string("bf16"));
    return std::nullopt;
  }
  if (type == DType::F32 || type == DType::BF16)
    return DType::F32;
  if (!asked && acc && !acc->isPointer())
    asked = acc->type.dtype;
  if (!asked)
    return DType::F32;
  if (*asked != DType::F16 && *asked != DType::F32) {
    e.error(call.range, Diag::DotOutput, std::string(spelling(*asked)));
    return std::nullopt;
  }
  return asked;
}

static std::optional<tt::InputPrecision> inputPrecision(Elaborator &e, const BoundCall &call, DType type) {
  std::optional<std::string> text = constantString(e, call, 3);
  if (!text)
    return std::nullopt;
  if (text->empty() && !call[4].isNone()) {
    std::optional<bool> allow = constantBool(e, call, 4);
    if (!allow)
      return std::nullopt;
    text = *allow ? "tf32" : "ieee";
    if (*allow && e.options.defaultDotPrecision == "ieee")
      text = "ieee"; // allowed, not demanded
  }
  if (type != DType::F32)
    return tt::InputPrecision::IEEE; // the operands are exact as they are
  if (text->empty())
    text = e.options.defaultDotPrecision;
  using P = tt::InputPrecision;
  auto precision = llvm::StringSwitch<std::optional<P>>(*text).Case("ieee", P::IEEE).Case("tf32", P::TF32).Case("tf32x3", P::TF32x3).Case("bf16x3", P::BF16x3).Case("bf16x6", P::BF16x6).Default(std::nullopt);
  if (!precision)
    e.error(call.values[3].range, Diag::BadChoice, *text, std::string("input_precision"), std::string("`ieee`, `tf32`, `tf32x3`, `bf16x3` or `bf16x6`"));
  return precision;
}

Value BuiltinHandlers::dot(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> a = runtimeOperand(e, call, 0), b = runtimeOperand(e, call, 1), acc;
  if (!a || !b)
    return Value();
  size_t rank = a->shape().size();
  bool shapes = rank >= 2 && b->shape().size() == rank && a->shape()[rank - 1] == b->shape()[rank - 2];
  for (size_t i = 0; shapes && i + 2 < rank; ++i)
    shapes = a->shape()[i] == b->shape()[i];
  if (!shapes)
    return e.error(call.range, Diag::DotShapes, typeText(*a), typeText(*b));
  if (auto *runtime = call[2].asRuntime())
    acc = *runtime;
  if (!a->isPointer() && !b->isPointer() && (a->type.dtype == DType::F8E4B15 || b->type.dtype == DType::F8E4B15)) { // no matrix unit has it
    a = e.convert(*a, DType::F16, e.loc(call.range));
    b = e.convert(*b, DType::F16, e.loc(call.range));
  }
  std::optional<DType> type = productType(e, call, *a, *b, acc ? &*acc : nullptr);
  std::optional<tt::InputPrecision> precision = type ? inputPrecision(e, call, a->type.dtype) : std::nullopt;
  if (!precision)
    return Value();
  llvm::SmallVector<int64_t> shape(a->shape());
  shape[rank - 1] = b->shape()[rank - 1];
  if (!e.checkShape(shape, call.range))
    return Value();
  mlir::Location at = e.loc(call.range);
  TypeValue element{*type, 0, false};
  if (acc) {
    if (acc->type != element || acc->shape() != llvm::ArrayRef<int64_t>(shape))
      return e.error(call.values[2].range, Diag::DotAccumulator, typeText(element, shape), typeText(*acc));
  } else if (call[2].isNone() || (call[2].asConst() && call[2].asConst()->asDouble())) { // zeros, or a number everywhere
    ConstValue start = call[2].isNone() ? ConstValue::integer(0) : *call[2].asConst();
    acc = e.broadcastTo(e.materialize(start, *type, call.range), shape, at);
  } else {
    return e.error(call.values[2].range, Diag::DotAccumulator, typeText(element, shape), call[2].describe());
  }
  int64_t imprecise = 0;
  if (!call[5].isNone()) {
    std::optional<int64_t> number = constantInteger(e, call, 5);
    if (!number)
      return Value();
    if (*number < 0 || *number > a->shape()[rank - 1])
      return e.error(call.values[5].range, Diag::HintOutOfRange, *number, std::string("max_num_imprecise_acc"));
    imprecise = *number;
  }
  return Runtime{tt::DotOp::create(e.builder, at, acc->ssa.getType(), a->ssa, b->ssa, acc->ssa, *precision, static_cast<uint32_t>(imprecise)), element};
}

} // namespace tk::lang
