// Bounds of counting loops.
//
// scf.for always ascends and compares signed numbers. A loop with step 1, or with constant bounds that the last step does not overflow, keeps its bounds. Any other one counts 0, 1, ... n-1
// with n computed without overflow, and the range's value is lower + j * step:
//
//   up:   n = upper > lower ? (upper - lower - 1) / step + 1 : 0       down: n = lower > upper ? (lower - upper - 1) / -step + 1 : 0
//
// where the differences are unsigned. n has 32 bits when that is enough, else 64.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/LoopState.h"

namespace tk::lang {

namespace arith = mlir::arith;

namespace {
/// One bound: its value in the loop's type, and the number when it is known.
struct Bound {
  Runtime value;
  std::optional<int64_t> known;
};
} // namespace

static mlir::Value add(Elaborator &e, mlir::Value a, mlir::Value b, mlir::Location at) { return arith::AddIOp::create(e.builder, at, a, b); }
static mlir::Value sub(Elaborator &e, mlir::Value a, mlir::Value b, mlir::Location at) { return arith::SubIOp::create(e.builder, at, a, b); }

/// from + j * step, in the width of `from`.
static Runtime advanced(Elaborator &e, const Bound &from, const Bound &step, mlir::Value j, mlir::Location at) {
  mlir::Type type = from.value.ssa.getType();
  if (j.getType() != type)
    j = j.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth() ? arith::TruncIOp::create(e.builder, at, type, j).getResult() : arith::ExtSIOp::create(e.builder, at, type, j).getResult();
  if (step.known == 1 || step.known == -1)
    return {step.known == 1 ? (from.known == 0 ? j : add(e, from.value.ssa, j, at)) : sub(e, from.value.ssa, j, at), from.value.type};
  mlir::Value offset = arith::MulIOp::create(e.builder, at, j, step.value.ssa);
  return {from.known == 0 ? offset : add(e, from.value.ssa, offset, at), from.value.type};
}

/// Trip count for a step known at compile time, in `bits` bits.
static mlir::Value countKnown(Elaborator &e, const Bound &lower, const Bound &upper, int64_t step, unsigned bits, mlir::Location at) {
  DType type = lower.value.type.dtype;
  auto wide = [&](const Bound &bound) {
    if (bits == bitsOf(type))
      return bound.value.ssa;
    return e.convert(bound.value, DType::I64, at).ssa; // extended by its own signedness
  };
  bool compareSigned = isSigned(type) || bits > bitsOf(type);
  mlir::Value low = wide(step > 0 ? lower : upper), high = wide(step > 0 ? upper : lower);
  mlir::Value some = arith::CmpIOp::create(e.builder, at, compareSigned ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt, high, low);
  mlir::Value one = e.constantInt(1, bits, at), zero = e.constantInt(0, bits, at);
  mlir::Value last = sub(e, sub(e, high, low, at), one, at);
  uint64_t size = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  if (size != 1)
    last = arith::DivUIOp::create(e.builder, at, last, e.constantInt(static_cast<int64_t>(size), bits, at));
  return arith::SelectOp::create(e.builder, at, some, add(e, last, one, at), zero);
}

/// Trip count for a step of unknown sign, in 64 bits.
static mlir::Value countUnknown(Elaborator &e, const Bound &lower, const Bound &upper, const Bound &step, mlir::Location at) {
  mlir::Value low = e.convert(lower.value, DType::I64, at).ssa, high = e.convert(upper.value, DType::I64, at).ssa, by = e.convert(step.value, DType::I64, at).ssa;
  mlir::Value one = e.constantInt(1, 64, at), zero = e.constantInt(0, 64, at);
  mlir::Value up = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::sgt, by, zero);
  mlir::Value none = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::eq, by, zero);
  mlir::Value distance = arith::SelectOp::create(e.builder, at, up, sub(e, high, low, at), sub(e, low, high, at));
  mlir::Value size = arith::SelectOp::create(e.builder, at, up, by, sub(e, zero, by, at));
  mlir::Value divisor = arith::SelectOp::create(e.builder, at, none, one, size);
  mlir::Value count = add(e, arith::DivUIOp::create(e.builder, at, sub(e, distance, one, at), divisor), one, at);
  mlir::Value some = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::sgt, distance, zero);
  mlir::Value runs = arith::AndIOp::create(e.builder, at, some, arith::XOrIOp::create(e.builder, at, none, e.constantInt(1, 1, at)));
  return arith::SelectOp::create(e.builder, at, runs, count, zero);
}

/// Whether the count of a loop in a 32-bit type is sure to fit 31 bits.
static bool countFits(const Bound &lower, const Bound &upper, int64_t step) {
  if (step >= 3 || step <= -3)
    return true;
  const Bound &low = step > 0 ? lower : upper; // high - low <= 2^31 - 1 when low >= 0
  return low.known && *low.known >= 0;
}

std::optional<LoopBounds> Elaborator::loopBounds(const RangeValue &range, SourceRange where) {
  const Value *values[3] = {&range.lower, &range.upper, &range.step};
  DType type = DType::I32;
  bool first = true;
  for (const Value *value : values) {
    auto *runtime = value->asRuntime();
    auto *constant = value->asConst();
    bool integer = runtime ? !runtime->isTile() && !runtime->isPointer() && isInteger(runtime->type.dtype) : constant && (constant->get<BigInt>() || constant->get<bool>());
    if (!integer)
      return error(where, Diag::RangeBound, value->describe()), std::nullopt;
    if (constant && !constant->asInt64())
      return error(where, Diag::IntegerTooLarge, constant->repr()), std::nullopt;
    if (runtime && bitsOf(runtime->type.dtype) >= 32) {
      std::optional<DType> joint = first ? runtime->type.dtype : commonType(pattern(TypeValue{type, 0, false}, {}), pattern(TypeValue{runtime->type.dtype, 0, false}, {}), Arithmetic::Ordinary, "range", where);
      type = *joint;
      first = false;
    }
  }
  for (const Value *value : values)
    if (auto *constant = value->asConst()) {
      int64_t number = *constant->asInt64();
      bool negative = number < 0 && isUnsigned(type);
      if (negative || (bitsOf(type) == 32 && (number > (type == DType::U32 ? int64_t(UINT32_MAX) : int64_t(INT32_MAX)) || number < INT32_MIN)))
        type = DType::I64;
    }
  mlir::Location at = loc(where);
  Bound bounds[3];
  for (int i = 0; i < 3; ++i) {
    if (auto *constant = values[i]->asConst()) {
      bounds[i].known = constant->asInt64();
      bounds[i].value = materialize(ConstValue::integer(*bounds[i].known), type, where);
    } else {
      bounds[i].value = convert(*values[i]->asRuntime(), type, at);
    }
  }
  auto &[lower, upper, step] = bounds;
  if (step.known == 0)
    return error(where, Diag::RangeStepZero), std::nullopt;
  unsigned bits = bitsOf(type);
  bool direct = isSigned(type) && step.known == 1;
  if (isSigned(type) && step.known && *step.known > 1 && lower.known && upper.known)
    direct = *upper.known <= (bits == 32 ? int64_t(INT32_MAX) : INT64_MAX) - *step.known;
  if (direct)
    return LoopBounds{lower.value.ssa, upper.value.ssa, step.value.ssa, [lower](mlir::Value v) { return Runtime{v, lower.value.type}; }};
  unsigned countBits = !step.known ? 64 : bits == 32 && countFits(lower, upper, *step.known) && isSigned(type) ? 32 : 64;
  mlir::Value count = step.known ? countKnown(*this, lower, upper, *step.known, countBits, at) : countUnknown(*this, lower, upper, step, at);
  Elaborator *self = this;
  Bound from = lower, by = step;
  return LoopBounds{constantInt(0, countBits, at), count, constantInt(1, countBits, at), [self, from, by, at](mlir::Value j) { return advanced(*self, from, by, j, at); }};
}

} // namespace tk::lang
