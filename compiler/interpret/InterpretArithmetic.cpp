// Integer and floating-point arithmetic, comparisons and selection.
//
// Integers are bits; an element is uncertain (bound infinity) when an operand is and the result depends on it. Division by zero and INT_MIN / -1 give 0, uncertain, because
// the value is unspecified. Shifts by at least the width give 0, or the sign.
#include "compiler/interpret/ErrorBound.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tk::interpret {
namespace {

// ---- integers ----

struct Absorbing {}; // a certain 0 makes the result 0

template <typename Op> void intBinary(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  unsigned bits = r.type.bits;
  uint64_t mask = r.type.mask();
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].i = Op::value(a[k].i, b[k].i, bits) & mask;
  if (!a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    double ea = a.error(k), eb = b.error(k);
    if (ea == 0 && eb == 0)
      continue;
    if constexpr (requires { typename Op::Absorbs; }) {
      uint64_t absorbing = Op::absorbing & mask;
      if ((ea == 0 && a[k].i == absorbing) || (eb == 0 && b[k].i == absorbing))
        continue;
    }
    r.errors[k] = infinity();
  }
  r.dropZeroErrors();
}

struct AddI { static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a + b; } };
struct SubI { static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a - b; } };
struct MulI { using Absorbs = Absorbing; static constexpr uint64_t absorbing = 0; static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a * b; } };
struct AndI { using Absorbs = Absorbing; static constexpr uint64_t absorbing = 0; static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a & b; } };
struct OrI { using Absorbs = Absorbing; static constexpr uint64_t absorbing = ~uint64_t(0); static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a | b; } };
struct XorI { static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a ^ b; } };
struct ShlI { static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return b >= bits ? 0 : a << b; } };
struct ShrUI { static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return b >= bits ? 0 : a >> b; } };
struct ShrSI { static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return uint64_t(signExtend(a, bits) >> (b >= bits ? bits - 1 : b)); } };
struct MinSI { static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return signExtend(a, bits) < signExtend(b, bits) ? a : b; } };
struct MaxSI { static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return signExtend(a, bits) > signExtend(b, bits) ? a : b; } };
struct MinUI { static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a < b ? a : b; } };
struct MaxUI { static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a > b ? a : b; } };
struct MulhiUI { static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return uint64_t((unsigned __int128)(a) * b >> bits); } };

/// Division and remainder: Op::value is asked only where it is specified.
template <typename Op> void intDivision(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  unsigned bits = r.type.bits;
  uint64_t mask = r.type.mask(), lowest = uint64_t(1) << (bits - 1);
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    uint64_t x = a[k].i, y = b[k].i;
    bool unspecified = y == 0 || (Op::isSigned && x == lowest && y == mask);
    r[k].i = unspecified ? 0 : Op::value(x, y, bits) & mask;
    if (unspecified || a.error(k) != 0 || b.error(k) != 0) {
      r.addErrors();
      r.errors[k] = infinity();
    }
  }
}

int64_t floorDivision(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x % y < 0) != (y < 0)); }
struct DivSI { static constexpr bool isSigned = true; static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return uint64_t(signExtend(a, bits) / signExtend(b, bits)); } };
struct RemSI { static constexpr bool isSigned = true; static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return uint64_t(signExtend(a, bits) % signExtend(b, bits)); } };
struct DivUI { static constexpr bool isSigned = false; static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a / b; } };
struct RemUI { static constexpr bool isSigned = false; static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a % b; } };
struct FloorDivSI { static constexpr bool isSigned = true; static uint64_t value(uint64_t a, uint64_t b, unsigned bits) { return uint64_t(floorDivision(signExtend(a, bits), signExtend(b, bits))); } };
struct CeilDivSI { static constexpr bool isSigned = true; static uint64_t value(uint64_t a, uint64_t b, unsigned bits) {
    int64_t x = signExtend(a, bits), y = signExtend(b, bits);
    return uint64_t(x / y + (x % y != 0 && (x % y < 0) == (y < 0)));
  } };
struct CeilDivUI { static constexpr bool isSigned = false; static uint64_t value(uint64_t a, uint64_t b, unsigned) { return a / b + (a % b != 0); } };

/// Marks the second result of a two-result operation like the first.
void copyUncertainty(const Tile &a, const Tile &b, Tile &low, Tile &high) {
  if (!a.inexact() && !b.inexact())
    return;
  for (Tile *r : {&low, &high}) {
    r->addErrors();
    for (size_t k = 0; k < r->size(); ++k)
      r->errors[k] = a.error(k) != 0 || b.error(k) != 0 ? infinity() : 0;
  }
}

template <bool isSigned> void mulExtended(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &low = m.out(i, 0), &high = m.out(i, 1);
  unsigned bits = low.type.bits;
  for (size_t k = 0; k < low.size(); ++k) {
    unsigned __int128 product = isSigned ? (unsigned __int128)(__int128(signExtend(a[k].i, bits)) * signExtend(b[k].i, bits)) : (unsigned __int128)(a[k].i) * b[k].i;
    low[k].i = uint64_t(product) & low.type.mask();
    high[k].i = uint64_t(product >> bits) & low.type.mask();
  }
  copyUncertainty(a, b, low, high);
}

void addExtended(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &sum = m.out(i, 0), &overflow = m.out(i, 1);
  for (size_t k = 0; k < sum.size(); ++k) {
    sum[k].i = (a[k].i + b[k].i) & sum.type.mask();
    overflow[k].i = sum[k].i < a[k].i;
  }
  copyUncertainty(a, b, sum, overflow);
}

template <arith::CmpIPredicate predicate> struct CompareI {
  static bool value(uint64_t a, uint64_t b, unsigned bits) {
    using P = arith::CmpIPredicate;
    int64_t x = signExtend(a, bits), y = signExtend(b, bits);
    switch (predicate) {
    case P::eq: return a == b;
    case P::ne: return a != b;
    case P::slt: return x < y;
    case P::sle: return x <= y;
    case P::sgt: return x > y;
    case P::sge: return x >= y;
    case P::ult: return a < b;
    case P::ule: return a <= b;
    case P::ugt: return a > b;
    case P::uge: return a >= b;
    }
  }
};

template <arith::CmpIPredicate predicate> void compareI(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  unsigned bits = a.type.bits;
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].i = CompareI<predicate>::value(a[k].i, b[k].i, bits);
  if (!a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k)
    r.errors[k] = a.error(k) != 0 || b.error(k) != 0 ? infinity() : 0;
}

// ---- floats ----

struct AddF {
  static double value(double a, double b) { return a + b; }
  static double radius(double, double ea, double, double eb, double) { return ea + eb; }
};
struct SubF {
  static double value(double a, double b) { return a - b; }
  static double radius(double, double ea, double, double eb, double) { return ea + eb; }
};
struct MulF {
  static double value(double a, double b) { return a * b; }
  static double radius(double a, double ea, double b, double eb, double) {
    if (isInfinite(a))
      return ea == 0 && std::fabs(b) > eb ? 0 : infinity();
    if (isInfinite(b))
      return eb == 0 && std::fabs(a) > ea ? 0 : infinity();
    return std::fabs(a) * eb + std::fabs(b) * ea + ea * eb;
  }
};
struct DivF {
  static double value(double a, double b) { return a / b; }
  static double radius(double a, double ea, double b, double eb, double) {
    double x = std::fabs(a), y = std::fabs(b);
    if (y <= eb || ea == infinity() || eb == infinity())
      return infinity();
    if (isInfinite(a) || isInfinite(b))
      return 0;
    return (x * eb + y * ea) / y / (y - eb);
  }
};
/// C's fmod: discontinuous where the quotient passes an integer.
struct RemF {
  static double value(double a, double b) { return std::fmod(a, b); }
  static double radius(double a, double ea, double b, double eb, double) {
    double x = std::fabs(a), y = std::fabs(b);
    if (y <= eb || ea == infinity() || eb == infinity())
      return infinity();
    if (isInfinite(b))
      return ea;
    double least = x <= ea ? 0 : std::trunc((x - ea) / (y + eb)), most = std::trunc((x + ea) / (y - eb));
    return least == most ? ea + most * eb : 2 * (y + eb);
  }
};

/// Selection by size: exact, and no farther off than the worse operand.
template <double (*pick)(double, double)> void floatPick(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = pick(a[k].f, b[k].f);
  if (!a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k)
    r.errors[k] = std::fmax(a.error(k), b.error(k));
  r.dropZeroErrors();
}

template <bool exact> void divide(Machine &m, const Instruction &i) {
  floatBinary<DivF>(m, i);
  double ulps = m.launch.tolerances.divUlp;
  if (exact || ulps == 0)
    return;
  Tile &r = *m.frame->slots[i.results[0]];
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k)
    r.errors[k] += ulps * ulpOf(r.type.format, r[k].f);
}

/// With contraction allowed, a product may go on unrounded.
void multiply(Machine &m, const Instruction &i) {
  floatBinary<MulF>(m, i);
  if (!m.launch.tolerances.contraction)
    return;
  Tile &r = *m.frame->slots[i.results[0]];
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k)
    r.errors[k] += ulpOf(r.type.format, r[k].f) / 2;
}

void negate(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = flipSign(a[k].f);
  if (r.type.format == Format::F8E4M3FNUZ || r.type.format == Format::F8E5M2FNUZ)
    roundResults(r.type.format, &r.elements.data()->f, r.size());
  r.errors = a.errors;
}

/// Bits: 1 less, 2 equal, 4 greater, 8 unordered.
constexpr unsigned outcomesOf(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse: return 0;
  case P::OEQ: return 2;
  case P::OGT: return 4;
  case P::OGE: return 6;
  case P::OLT: return 1;
  case P::OLE: return 3;
  case P::ONE: return 5;
  case P::ORD: return 7;
  case P::UEQ: return 10;
  case P::UGT: return 12;
  case P::UGE: return 14;
  case P::ULT: return 9;
  case P::ULE: return 11;
  case P::UNE: return 13;
  case P::UNO: return 8;
  case P::AlwaysTrue: return 15;
  }
  return 0;
}

void compareF(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  unsigned wanted = i.detail;
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    double x = a[k].f, y = b[k].f;
    r[k].i = (wanted & (x < y ? 1 : x == y ? 2 : x > y ? 4 : 8)) != 0;
  }
  if (!a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    double x = a[k].f, y = b[k].f, radius = a.error(k) + b.error(k);
    if (radius == 0 || isCertainNan(x, a.error(k)) || isCertainNan(y, b.error(k)))
      continue;
    // Which outcomes another execution may see.
    unsigned possible = 15;
    if (radius != infinity())
      possible = isInfinite(x) || isInfinite(y) ? (x < y ? 1 : x == y ? 2 : 4) : (x - y <= radius ? 1 : 0) | (std::fabs(x - y) <= radius ? 2 : 0) | (y - x <= radius ? 4 : 0);
    bool all = (possible & wanted) == possible, never = (possible & wanted) == 0;
    r.errors[k] = all || never ? 0 : infinity();
  }
  r.dropZeroErrors();
}

void clamp(Machine &m, const Instruction &i) {
  bool propagate = false;
  if (auto op = dyn_cast<tt::ClampFOp>(i.op))
    propagate = op.getPropagateNan() == tt::PropagateNan::ALL;
  const Tile &x = m.in(i, 0), &low = m.in(i, 1), &high = m.in(i, 2);
  Tile &r = m.out(i);
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = propagate && isNan(x[k].f) ? quietNan() : minNumber(maxNumber(x[k].f, low[k].f), high[k].f);
  if (!x.inexact() && !low.inexact() && !high.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k)
    r.errors[k] = std::fmax(x.error(k), std::fmax(low.error(k), high.error(k)));
  r.dropZeroErrors();
}

/// By an uncertain condition the result may be either side.
void select(Machine &m, const Instruction &i) {
  const Tile &condition = m.in(i, 0), &a = m.in(i, 1), &b = m.in(i, 2);
  Tile &r = m.out(i);
  size_t step = condition.size() == 1 ? 0 : 1;
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k] = condition[k * step].i ? a[k] : b[k];
  if (!condition.inexact() && !a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    bool first = condition[k * step].i;
    if (condition.error(k * step) == 0)
      r.errors[k] = first ? a.error(k) : b.error(k);
    else if (a[k].i == b[k].i)
      r.errors[k] = std::fmax(a.error(k), b.error(k));
    else
      r.errors[k] = r.type.isFloat() ? distanceOf(a[k].f, b[k].f) + std::fmax(a.error(k), b.error(k)) : infinity();
  }
  r.dropZeroErrors();
}

Handler selectCompareI(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq: return compareI<P::eq>;
  case P::ne: return compareI<P::ne>;
  case P::slt: return compareI<P::slt>;
  case P::sle: return compareI<P::sle>;
  case P::sgt: return compareI<P::sgt>;
  case P::sge: return compareI<P::sge>;
  case P::ult: return compareI<P::ult>;
  case P::ule: return compareI<P::ule>;
  case P::ugt: return compareI<P::ugt>;
  case P::uge: return compareI<P::uge>;
  }
  return nullptr;
}

} // namespace

Handler selectArithmetic(Operation *op, Instruction &instruction) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return selectCompareI(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    instruction.detail = outcomesOf(compare.getPredicate());
    return compareF;
  }
  return llvm::TypeSwitch<Operation *, Handler>(op)
#define HANDLER(Op, handler) .Case<Op>([](auto) -> Handler { return handler; })
      HANDLER(arith::AddIOp, intBinary<AddI>) HANDLER(arith::SubIOp, intBinary<SubI>) HANDLER(arith::MulIOp, intBinary<MulI>)
      HANDLER(arith::AndIOp, intBinary<AndI>) HANDLER(arith::OrIOp, intBinary<OrI>) HANDLER(arith::XOrIOp, intBinary<XorI>)
      HANDLER(arith::ShLIOp, intBinary<ShlI>) HANDLER(arith::ShRUIOp, intBinary<ShrUI>) HANDLER(arith::ShRSIOp, intBinary<ShrSI>)
      HANDLER(arith::MinSIOp, intBinary<MinSI>) HANDLER(arith::MaxSIOp, intBinary<MaxSI>) HANDLER(arith::MinUIOp, intBinary<MinUI>) HANDLER(arith::MaxUIOp, intBinary<MaxUI>)
      HANDLER(arith::DivSIOp, intDivision<DivSI>) HANDLER(arith::DivUIOp, intDivision<DivUI>) HANDLER(arith::RemSIOp, intDivision<RemSI>) HANDLER(arith::RemUIOp, intDivision<RemUI>)
      HANDLER(arith::FloorDivSIOp, intDivision<FloorDivSI>) HANDLER(arith::CeilDivSIOp, intDivision<CeilDivSI>) HANDLER(arith::CeilDivUIOp, intDivision<CeilDivUI>)
      HANDLER(tt::MulhiUIOp, intBinary<MulhiUI>) HANDLER(arith::MulSIExtendedOp, mulExtended<true>) HANDLER(arith::MulUIExtendedOp, mulExtended<false>)
      HANDLER(arith::AddUIExtendedOp, addExtended) HANDLER(arith::SelectOp, select)
      HANDLER(arith::AddFOp, floatBinary<AddF>) HANDLER(arith::SubFOp, floatBinary<SubF>) HANDLER(arith::MulFOp, multiply) HANDLER(arith::DivFOp, divide<false>)
      HANDLER(tt::PreciseDivFOp, divide<true>) HANDLER(arith::RemFOp, floatBinary<RemF>) HANDLER(arith::NegFOp, negate)
      HANDLER(arith::MaximumFOp, floatPick<maximum>) HANDLER(arith::MinimumFOp, floatPick<minimum>) HANDLER(arith::MaxNumFOp, floatPick<maxNumber>)
      HANDLER(arith::MinNumFOp, floatPick<minNumber>) HANDLER(tt::ClampFOp, clamp) HANDLER(math::ClampFOp, clamp)
#undef HANDLER
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
