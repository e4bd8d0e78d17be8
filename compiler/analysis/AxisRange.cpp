// Signed ranges of integer operations. What may wrap has the full range: nothing here relies on the absence of overflow.
#include "compiler/analysis/AxisTransfer.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

using Wide = __int128;

namespace {
struct WideRange {
  Wide low, high;
};
} // namespace

SignedRange compiler::fullRange(unsigned width) {
  if (width == 1) // i1 is read as 0 or 1
    return {0, 1};
  return {INT64_MIN >> (64 - width), INT64_MAX >> (64 - width)};
}

static SignedRange fitOrFull(WideRange range, unsigned width) {
  SignedRange full = fullRange(width);
  if (range.low < full.low || range.high > full.high)
    return full;
  return {int64_t(range.low), int64_t(range.high)};
}

static WideRange hull(std::initializer_list<Wide> values) { return {std::min(values), std::max(values)}; }

/// The values as unsigned numbers of the operand's width.
static WideRange asUnsigned(SignedRange range, unsigned width) {
  if (range.nonNegative())
    return {range.low, range.high};
  Wide modulus = Wide(1) << width;
  return range.high < 0 ? WideRange{range.low + modulus, range.high + modulus} : WideRange{0, modulus - 1};
}

/// A divisor is not zero: a quotient by zero is unspecified.
static WideRange quotient(WideRange x, WideRange y) {
  if (y.low >= 0) {
    y.low = std::max<Wide>(y.low, 1);
    y.high = std::max<Wide>(y.high, 1);
    return hull({x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high});
  }
  Wide most = std::max(x.low < 0 ? -x.low : x.low, x.high < 0 ? -x.high : x.high);
  return {-most, most};
}

/// The sign is the dividend's, and the magnitude is below the divisor's.
static WideRange remainder(WideRange x, WideRange y) {
  Wide most = std::max<Wide>({y.low < 0 ? -y.low : y.low, y.high < 0 ? -y.high : y.high, 1}) - 1;
  return {std::max(std::min<Wide>(x.low, 0), -most), std::min(std::max<Wide>(x.high, 0), most)};
}

/// The least 2^n - 1 that is not less.
static int64_t onesFor(int64_t value) { return value <= 0 ? 0 : int64_t(UINT64_MAX >> llvm::countl_zero(uint64_t(value))); }

static SignedRange bitwise(Operation *op, SignedRange x, SignedRange y, unsigned width) {
  SignedRange full = fullRange(width);
  if (isa<arith::AndIOp>(op)) {
    if (x.nonNegative() && y.nonNegative())
      return {0, std::min(x.high, y.high)};
    return x.nonNegative() ? SignedRange{0, x.high} : y.nonNegative() ? SignedRange{0, y.high} : full;
  }
  if (x.nonNegative() && y.nonNegative())
    return {isa<arith::OrIOp>(op) ? std::max(x.low, y.low) : 0, onesFor(std::max(x.high, y.high))};
  return full;
}

static SignedRange shift(Operation *op, SignedRange x, SignedRange y, unsigned width) {
  if (y.low < 0 || y.high >= width)
    return isa<arith::ShLIOp>(op) || !x.nonNegative() ? fullRange(width) : SignedRange{0, x.high};
  if (isa<arith::ShLIOp>(op))
    return fitOrFull(hull({Wide(x.low) << y.low, Wide(x.low) << y.high, Wide(x.high) << y.low, Wide(x.high) << y.high}), width);
  WideRange bits = isa<arith::ShRUIOp>(op) ? asUnsigned(x, width) : WideRange{x.low, x.high};
  return fitOrFull(hull({bits.low >> y.low, bits.low >> y.high, bits.high >> y.low, bits.high >> y.high}), width);
}

static SignedRange minMax(Operation *op, SignedRange x, SignedRange y, unsigned width) {
  SignedRange least{std::min(x.low, y.low), std::min(x.high, y.high)}, most{std::max(x.low, y.low), std::max(x.high, y.high)};
  if (isa<arith::MinSIOp>(op))
    return least;
  if (isa<arith::MaxSIOp>(op))
    return most;
  if (x.nonNegative() && y.nonNegative())
    return isa<arith::MinUIOp>(op) ? least : most;
  if (isa<arith::MinUIOp>(op) && (x.nonNegative() || y.nonNegative())) // a negative number is a large one
    return {0, x.nonNegative() ? x.high : y.high};
  return {std::min(x.low, y.low), std::max(x.high, y.high)};
}

static SignedRange extension(Operation *op, SignedRange x, unsigned width) {
  unsigned from = tt::elementType(op->getOperand(0).getType()).getIntOrFloatBitWidth();
  if (isa<arith::ExtSIOp>(op))
    return from == 1 ? SignedRange{-x.high, -x.low} : x;
  return fitOrFull(asUnsigned(x, from), width);
}

SignedRange compiler::rangeOf(Operation *op, ArrayRef<SignedRange> in, unsigned width) {
  auto wide = [&](unsigned i) { return WideRange{in[i].low, in[i].high}; };
  auto fit = [&](WideRange range) { return fitOrFull(range, width); };
  return llvm::TypeSwitch<Operation *, SignedRange>(op)
      .Case([&](arith::AddIOp) { return fit({Wide(in[0].low) + in[1].low, Wide(in[0].high) + in[1].high}); })
      .Case([&](arith::SubIOp) { return fit({Wide(in[0].low) - in[1].high, Wide(in[0].high) - in[1].low}); })
      .Case([&](arith::MulIOp) {
        return fit(hull({Wide(in[0].low) * in[1].low, Wide(in[0].low) * in[1].high, Wide(in[0].high) * in[1].low, Wide(in[0].high) * in[1].high}));
      })
      .Case([&](arith::DivSIOp) { return width == 1 ? fullRange(1) : fit(quotient(wide(0), wide(1))); })
      .Case([&](arith::RemSIOp) { return width == 1 ? fullRange(1) : fit(remainder(wide(0), wide(1))); })
      .Case([&](arith::DivUIOp) { return fit(quotient(asUnsigned(in[0], width), asUnsigned(in[1], width))); })
      .Case([&](arith::RemUIOp) { return fit(remainder(asUnsigned(in[0], width), asUnsigned(in[1], width))); })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](Operation *bits) { return bitwise(bits, in[0], in[1], width); })
      .Case<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>([&](Operation *bits) { return width == 1 ? fullRange(1) : shift(bits, in[0], in[1], width); })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](Operation *choice) { return width == 1 ? fullRange(1) : minMax(choice, in[0], in[1], width); })
      .Case([&](arith::SelectOp) { return SignedRange{std::min(in[1].low, in[2].low), std::max(in[1].high, in[2].high)}; })
      .Case<arith::ExtSIOp, arith::ExtUIOp>([&](Operation *wider) { return extension(wider, in[0], width); })
      .Case([&](arith::TruncIOp) { return fit(wide(0)); })
      .Case([&](math::AbsIOp) { return fit(in[0].nonNegative() ? wide(0) : WideRange{0, std::max(-Wide(in[0].low), Wide(in[0].high))}); })
      .Default([&](Operation *) { return fullRange(width); });
}

std::optional<bool> compiler::compareRanges(arith::CmpIPredicate predicate, SignedRange left, SignedRange right) {
  using Predicate = arith::CmpIPredicate;
  bool isUnsigned = predicate >= Predicate::ult;
  if (isUnsigned && !(left.nonNegative() && right.nonNegative()))
    return std::nullopt;
  bool below = left.high < right.low, above = left.low > right.high, notAbove = left.high <= right.low, notBelow = left.low >= right.high;
  auto decide = [](bool yes, bool no) { return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt; };
  switch (predicate) {
  case Predicate::eq: return decide(notAbove && notBelow, below || above);
  case Predicate::ne: return decide(below || above, notAbove && notBelow);
  case Predicate::slt:
  case Predicate::ult: return decide(below, notBelow);
  case Predicate::sle:
  case Predicate::ule: return decide(notAbove, above);
  case Predicate::sgt:
  case Predicate::ugt: return decide(above, notAbove);
  case Predicate::sge:
  case Predicate::uge: return decide(notBelow, below);
  }
  llvm_unreachable("a predicate of arith");
}
