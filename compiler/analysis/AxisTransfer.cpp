// Facts of arithmetic and of pointers. Each rule has its reason above it; g stands for the length of an aligned run m*g, m*g + 1, ... m*g + g - 1.
#include "compiler/analysis/AxisTransfer.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

using Axis = unsigned;

static constexpr int64_t kMost = AxisInfo::kMost;

static int64_t product(int64_t left, int64_t right) { return left > kMost / right ? kMost : left * right; }
static unsigned widthOf(Type type) { return tt::elementType(type).getIntOrFloatBitWidth(); }
static bool isInteger(Type type) { return isa<IntegerType>(tt::elementType(type)); }
static SignedRange rangeIn(const AxisInfo &info) { return {info.low, info.high}; }

/// The longest run whose first element is divisible by its length: only the bits below the length change inside.
static int64_t alignedRun(const AxisInfo &x, Axis axis) { return std::min(x.contiguity[axis], x.divisibility[axis]); }

/// The same, no longer than what the numbers of a width can count in order: neither the sign nor the highest bit changes inside.
static int64_t orderedRun(const AxisInfo &x, Axis axis, unsigned width, bool isSigned) {
  unsigned bits = std::min(62u, isSigned ? width - 1 : width);
  return std::min(alignedRun(x, axis), int64_t(1) << bits);
}

/// The longest run that an extension keeps: an aligned one, or any if the range leaves out the number after which the width wraps.
static int64_t extendedRun(const AxisInfo &x, Axis axis, unsigned width, bool isSigned) {
  SignedRange full = fullRange(width);
  bool noWrap = width > 1 && (isSigned ? x.high < full.high || x.low > full.low : x.low >= 0 || x.high < 0);
  return noWrap ? x.contiguity[axis] : orderedRun(x, axis, width, isSigned);
}

static AxisInfo sum(Type type, const AxisInfo &x, const AxisInfo &y, bool subtract, int64_t scale = 1) {
  AxisInfo result = AxisInfo::unknown(type);
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    // A run plus what is equal all along it is a run.
    int64_t run = std::min(x.contiguity[axis], y.constancy[axis]);
    if (!subtract)
      run = std::max(run, std::min(x.constancy[axis], y.contiguity[axis]));
    result.contiguity[axis] = run;
    result.divisibility[axis] = std::min(x.divisibilityAt(axis, run), product(y.divisibilityAt(axis, run), scale));
    result.constancy[axis] = std::min(x.constancy[axis], y.constancy[axis]);
  }
  return result;
}

static AxisInfo times(Type type, const AxisInfo &x, const AxisInfo &y) {
  if (x.constant == 1)
    return y;
  if (y.constant == 1)
    return x;
  AxisInfo result = AxisInfo::unknown(type);
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    result.divisibility[axis] = product(x.divisibilityAt(axis, 1), y.divisibilityAt(axis, 1));
    result.constancy[axis] = std::min(x.constancy[axis], y.constancy[axis]);
  }
  return result;
}

/// Quotient and remainder. A signed dividend that may be negative keeps only what holds of each element alone.
AxisInfo AxisTransfer::division(bool isSigned, bool remainder) {
  Type type = op->getResult(0).getType();
  AxisInfo x = *operands[0];
  const AxisInfo &y = *operands[1];
  unsigned width = widthOf(type);
  if (width == 1)
    return elementwise();
  if (y.constant == 1 && !remainder)
    return x;
  bool ordered = !isSigned || x.low >= 0;
  if (!ordered && presumeNonNegative && x.high >= 0) {
    presumed = ordered = true;
    x.low = 0;
  }
  // 0 <= x < y: x / y = 0 and x % y = x.
  if (x.low >= 0 && y.low >= 0 && x.high < y.low && remainder)
    return x;
  AxisInfo result = AxisInfo::unknown(type);
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    result.constancy[axis] = std::min(x.constancy[axis], y.constancy[axis]);
    // (m*g + j) / (q*g) = m / q and (m*g + j) % (q*g) = (m % q)*g + j for 0 <= j < g, where the divisor q*g is equal all along the run.
    int64_t dividing = y.divisibilityAt(axis, 1);
    int64_t run = ordered ? std::min({orderedRun(x, axis, width, isSigned), y.constancy[axis], dividing}) : 1;
    if (remainder) {
      result.contiguity[axis] = run;
      result.divisibility[axis] = std::min(x.divisibilityAt(axis, run), dividing); // x - (x / y)*y
    } else {
      result.constancy[axis] = std::max(result.constancy[axis], run);
      // An exact quotient by a power of two.
      bool exact = y.constant && *y.constant > 0 && powerOfTwoPart(*y.constant) == *y.constant && x.divisibilityAt(axis, 1) >= *y.constant;
      result.divisibility[axis] = exact ? x.divisibilityAt(axis, 1) / *y.constant : 1;
    }
  }
  if (presumed) {
    SignedRange range = compiler::rangeOf(op, {rangeIn(x), rangeIn(y)}, width);
    result.low = range.low, result.high = range.high;
  }
  return result;
}

/// Shift to the right: a quotient by 2^s that is rounded down, of whatever sign.
static AxisInfo shiftRight(Type type, const AxisInfo &x, const AxisInfo &y, bool isSigned) {
  AxisInfo result = AxisInfo::unknown(type);
  unsigned width = widthOf(type);
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    result.constancy[axis] = std::min(x.constancy[axis], y.constancy[axis]);
    if (!y.constant || *y.constant < 0)
      continue;
    int64_t power = int64_t(1) << std::min<int64_t>(*y.constant, 62);
    result.constancy[axis] = std::max(result.constancy[axis], std::min(orderedRun(x, axis, width, isSigned), power));
    if (*y.constant < width)
      result.divisibility[axis] = std::max<int64_t>(1, x.divisibilityAt(axis, 1) / power);
  }
  return *y.constant == 0 ? x : result;
}

/// And, or, exclusive or. The low bits of an aligned run of g count from 0 to g - 1, the others are equal all along it.
static AxisInfo bitwise(Operation *op, const AxisInfo &left, const AxisInfo &right) {
  AxisInfo result = AxisInfo::unknown(op->getResult(0).getType());
  bool isAnd = isa<arith::AndIOp>(op);
  int64_t neutral = isAnd ? (widthOf(op->getResult(0).getType()) == 1 ? 1 : -1) : 0; // x & -1 = x | 0 = x ^ 0 = x
  if (left.constant == neutral)
    return right;
  if (right.constant == neutral)
    return left;
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    result.constancy[axis] = std::min(left.constancy[axis], right.constancy[axis]);
    int64_t all[2] = {left.divisibilityAt(axis, 1), right.divisibilityAt(axis, 1)};
    result.divisibility[axis] = isAnd ? std::max(all[0], all[1]) : std::min(all[0], all[1]);
    for (auto [x, y] : {std::pair(&left, &right), std::pair(&right, &left)}) {
      int64_t run = std::min(alignedRun(*x, axis), y->constancy[axis]);
      int64_t zeros = std::min(run, y->divisibilityAt(axis, 1));                                           // y's low bits are zero
      int64_t ones = y->constant ? std::min(run, powerOfTwoPart(int64_t(uint64_t(*y->constant) + 1))) : 1; // y's low bits are one
      bool exclusive = isa<arith::XOrIOp>(op);
      int64_t counting = isAnd ? ones : zeros, equal = exclusive ? 1 : isAnd ? zeros : ones;
      if (counting > result.contiguity[axis]) {
        result.contiguity[axis] = counting;
        int64_t first = x->divisibilityAt(axis, counting), other = y->divisibilityAt(axis, 1);
        result.divisibility[axis] = isAnd ? std::max(first, other) : std::min(first, other);
      }
      result.constancy[axis] = std::max(result.constancy[axis], equal);
    }
  }
  return result;
}

/// Each element is one of x's or y's: all of a run where the choice is equal all along it.
static AxisInfo choice(Type type, ArrayRef<int64_t> constancy, const AxisInfo &x, const AxisInfo &y) {
  AxisInfo result = AxisInfo::join(x, y);
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    int64_t run = std::min(result.contiguity[axis], constancy[axis]);
    result.divisibility[axis] = result.divisibilityAt(axis, run);
    result.contiguity[axis] = run;
    result.constancy[axis] = std::min(result.constancy[axis], constancy[axis]);
  }
  return result;
}

static AxisInfo select(Operation *op, const AxisInfo &condition, const AxisInfo &x, const AxisInfo &y) {
  if (condition.constant)
    return *condition.constant ? x : y;
  SmallVector<int64_t> constancy(condition.constancy.begin(), condition.constancy.end());
  if (!tt::isTile(op->getOperand(0).getType())) // one condition for all
    constancy.assign(x.contiguity.size(), kMost);
  return choice(op->getResult(0).getType(), constancy, x, y);
}

static AxisInfo minMax(Operation *op, const AxisInfo &x, const AxisInfo &y) {
  bool isSigned = isa<arith::MinSIOp, arith::MaxSIOp>(op), least = isa<arith::MinSIOp, arith::MinUIOp>(op);
  auto notAbove = compareRanges(isSigned ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule, rangeIn(x), rangeIn(y));
  auto notBelow = compareRanges(isSigned ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge, rangeIn(x), rangeIn(y));
  if (widthOf(op->getResult(0).getType()) > 1) {
    if (notAbove == true)
      return least ? x : y;
    if (notBelow == true)
      return least ? y : x;
  }
  // Any element may be either side's; elements where both sides are equal are equal.
  SmallVector<int64_t> constancy;
  for (Axis axis = 0; axis < x.constancy.size(); ++axis)
    constancy.push_back(std::min(x.constancy[axis], y.constancy[axis]));
  return choice(op->getResult(0).getType(), constancy, x, y);
}

static AxisInfo compare(arith::CmpIOp op, const AxisInfo &left, const AxisInfo &right) {
  using Predicate = arith::CmpIPredicate;
  AxisInfo result = AxisInfo::unknown(op.getType());
  unsigned width = widthOf(op.getLhs().getType());
  if (width > 1)
    if (auto known = compareRanges(op.getPredicate(), rangeIn(left), rangeIn(right)))
      result.constant = *known;
  Predicate predicate = op.getPredicate();
  bool isSigned = predicate < Predicate::ult;
  // m*g + j < n*g is m < n; with <= the first element of the run may differ from the rest.
  bool runOnLeft = llvm::is_contained({Predicate::slt, Predicate::sge, Predicate::ult, Predicate::uge}, predicate);
  bool runOnRight = llvm::is_contained({Predicate::sgt, Predicate::sle, Predicate::ugt, Predicate::ule}, predicate);
  for (Axis axis = 0; axis < result.constancy.size(); ++axis) {
    auto ordered = [&](const AxisInfo &run, const AxisInfo &limit) {
      return std::min({orderedRun(run, axis, width, isSigned), limit.constancy[axis], limit.divisibilityAt(axis, 1)});
    };
    int64_t equal = std::min(left.constancy[axis], right.constancy[axis]);
    // Two runs side by side have one difference: m*g + j against n*g + j.
    equal = std::max(equal, std::min(orderedRun(left, axis, width, isSigned), orderedRun(right, axis, width, isSigned)));
    if (runOnLeft)
      equal = std::max(equal, ordered(left, right));
    if (runOnRight)
      equal = std::max(equal, ordered(right, left));
    result.constancy[axis] = equal;
  }
  return result;
}

static AxisInfo extension(Type type, const AxisInfo &x, unsigned from, bool isSigned) {
  AxisInfo result = AxisInfo::unknown(type);
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    int64_t run = extendedRun(x, axis, from, isSigned);
    result.contiguity[axis] = run;
    result.divisibility[axis] = x.divisibilityAt(axis, run);
    result.constancy[axis] = x.constancy[axis];
  }
  return result;
}

/// An elementwise operation without effects gives equal results for equal operands.
AxisInfo AxisTransfer::elementwise() const {
  AxisInfo result = AxisInfo::unknown(op->getResult(0).getType());
  if (!op->hasTrait<OpTrait::Elementwise>() || !isMemoryEffectFree(op) || operands.empty())
    return result;
  for (Axis axis = 0; axis < result.constancy.size(); ++axis) {
    result.constancy[axis] = kMost;
    for (auto [operand, info] : llvm::zip(op->getOperands(), operands))
      if (tt::isTile(operand.getType()))
        result.constancy[axis] = std::min(result.constancy[axis], info->constancy[axis]);
  }
  return result;
}

std::optional<AxisInfo> AxisTransfer::arithmetic() {
  Type type = op->getResult(0).getType();
  auto in = [&](unsigned i) -> const AxisInfo & { return *operands[i]; };
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return sum(type, in(0), in(1), isa<arith::SubIOp>(op));
  if (isa<arith::MulIOp>(op))
    return times(type, in(0), in(1));
  if (isa<arith::ShLIOp>(op)) { // a factor of a power of two, or zero
    if (in(1).constant == 0)
      return in(0);
    AxisInfo result = elementwise();
    int64_t factor = in(1).constant && *in(1).constant > 0 ? int64_t(1) << std::min<int64_t>(*in(1).constant, 62) : 1;
    for (Axis axis = 0; axis < result.divisibility.size(); ++axis)
      result.divisibility[axis] = product(in(0).divisibilityAt(axis, 1), factor);
    return result;
  }
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return division(isa<arith::DivSIOp, arith::RemSIOp>(op), isa<arith::RemUIOp, arith::RemSIOp>(op));
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op) && in(1).constant)
    return shiftRight(type, in(0), in(1), isa<arith::ShRSIOp>(op));
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return bitwise(op, in(0), in(1));
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return minMax(op, in(0), in(1));
  if (isa<arith::SelectOp>(op))
    return select(op, in(0), in(1), in(2));
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return compare(cmp, in(0), in(1));
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op))
    return extension(type, in(0), widthOf(op->getOperand(0).getType()), isa<arith::ExtSIOp>(op));
  if (isa<arith::TruncIOp>(op)) { // modulo a power of two
    AxisInfo result = in(0);
    result.constant.reset();
    result.low = INT64_MIN, result.high = INT64_MAX;
    return result;
  }
  if (isa<math::AbsIOp>(op)) {
    if (in(0).low >= 0)
      return in(0);
    AxisInfo result = elementwise();
    for (Axis axis = 0; axis < result.divisibility.size(); ++axis)
      result.divisibility[axis] = in(0).divisibilityAt(axis, 1);
    return result;
  }
  return std::nullopt;
}

std::optional<AxisInfo> AxisTransfer::pointer() {
  Type type = op->getResult(0).getType();
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    const AxisInfo &offset = *operands[1];
    unsigned width = widthOf(add.getOffset().getType());
    auto pointee = cast<tt::PointerType>(tt::elementType(type)).getPointeeType();
    // The offset is signed, and counts elements.
    AxisInfo wide = width == 64 ? offset : extension(add.getOffset().getType(), offset, width, true);
    return sum(type, *operands[0], wide, false, tt::bytesOf(pointee));
  }
  if (!isa<tt::PtrToIntOp, tt::IntToPtrOp, tt::BitcastOp>(op))
    return std::nullopt;
  if (op->getOperand(0).getType() == type) // a carrier of facts
    return *operands[0];
  // Addresses that count up by a pointee of one size do not by another.
  AxisInfo result = AxisInfo::unknown(type);
  const AxisInfo &source = *operands[0];
  for (Axis axis = 0; axis < result.contiguity.size(); ++axis) {
    result.constancy[axis] = source.constancy[axis];
    bool known = isa<tt::PointerType>(tt::elementType(op->getOperand(0).getType())) || isa<tt::IntToPtrOp>(op);
    if (!known) // other bitcasts go to or from a floating-point type
      continue;
    result.contiguity[axis] = source.unit == result.unit ? source.contiguity[axis] : 1;
    result.divisibility[axis] = source.divisibilityAt(axis, result.contiguity[axis]);
  }
  return result;
}

SmallVector<AxisInfo> AxisTransfer::run() {
  SmallVector<AxisInfo> results;
  for (Value value : op->getResults())
    results.push_back(AxisInfo::unknown(value.getType()));
  auto isIndex = [](Type type) { return isa<IndexType>(tt::elementType(type)); };
  if (results.empty() || llvm::any_of(op->getOperandTypes(), isIndex) || llvm::any_of(op->getResultTypes(), isIndex))
    return results;
  std::optional<AxisInfo> found = shape();
  if (!found)
    found = pointer();
  if (!found)
    found = arithmetic();
  if (!found)
    found = elementwise();
  Type type = op->getResult(0).getType();
  for (AxisInfo &result : results) { // the two results of tt.split have the same facts
    if (isa<tt::SplitOp>(op) || &result == &results.front()) {
      AxisInfo unknown = result;
      result = *found;
      result.unit = unknown.unit;
      if (isInteger(type) && llvm::all_of(op->getOperandTypes(), isInteger) && !presumed) {
        SmallVector<SignedRange> ranges;
        for (const AxisInfo *operand : operands)
          ranges.push_back(rangeIn(*operand));
        SignedRange range = compiler::rangeOf(op, ranges, widthOf(type));
        result.low = std::max(result.low, range.low);
        result.high = std::min(result.high, range.high);
      }
      SignedRange full = isInteger(type) ? fullRange(widthOf(type)) : SignedRange{INT64_MIN, INT64_MAX};
      result.low = std::max(result.low, full.low);
      result.high = std::min(result.high, full.high);
    }
    result.normalise(type);
  }
  return results;
}
