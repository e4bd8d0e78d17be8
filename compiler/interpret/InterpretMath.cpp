// Elementary functions, through libm in a wider type (double for up to fp32, long double for fp64), rounded once.
//
// Another execution may be off by the allowance (Tolerances::mathUlp, in ulp of fp32 also for 16-bit types, whose functions are computed there) on top of what an error of the
// operand does. Roundings to integers and sign operations are exact.
#include "compiler/interpret/ErrorBound.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"
#include <bit>

using namespace mlir;

namespace tk::interpret {
namespace {

// ---- functions of one operand ----

enum Propagation { Monotone, Lipschitz, Even, Tangent };

#define TK_MATH(op, expression, propagation, ulps)                                                                                                                                 \
  struct op##Function {                                                                                                                                                            \
    static constexpr Propagation kind = propagation;                                                                                                                               \
    static constexpr double allowance = ulps;                                                                                                                                      \
    template <typename T> static T at(T x) { return expression; }                                                                                                                  \
  };
#include "compiler/interpret/MathFunctions.def"

/// The function's value before its rounding; for fp64 rounded already.
template <typename Function> double valueAt(Format format, double x) {
  return format == Format::F64 ? double(Function::template at<long double>(x)) : Function::template at<double>(x);
}

template <typename Function> double radiusAt(Format format, double x, double e, double value) {
  if (e == infinity())
    return infinity();
  double below = valueAt<Function>(format, x - e), above = valueAt<Function>(format, x + e);
  double ends = std::fmax(distanceOf(value, below), distanceOf(value, above));
  switch (Function::kind) {
  case Monotone:
    return ends;
  case Lipschitz:
    return std::fmin(e, 2);
  case Even:
    return std::fabs(x) <= e ? std::fmax(ends, distanceOf(value, valueAt<Function>(format, 0))) : ends;
  case Tangent: {
    double period = std::acos(-1.0);
    return std::floor((x - e) / period + 0.5) == std::floor((x + e) / period + 0.5) ? ends : infinity();
  }
  }
}

/// What an implementation may be off by at `x`.
template <typename Function> double allowanceAt(const Tolerances &tolerances, Format format, double x, double value) {
  if (!isFinite(value) || isInfinite(x))
    return 0;
  double ulp = ulpOf(format == Format::F64 ? Format::F64 : Format::F32, value);
  double allowance = tolerances.mathUlp * Function::allowance * ulp;
  if (std::is_same_v<Function, ExpFunction> && tolerances.hardwareExp)
    allowance += std::fabs(x) * 0x1p-23 * std::fabs(value);
  return allowance;
}

template <typename Function> void mathUnary(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  Format format = r.type.format;
  r.addErrors();
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    double x = a[k].f, e = a.error(k), value = valueAt<Function>(format, x);
    r[k].f = value;
    if (isNan(value)) {
      r.errors[k] = e == 0 || isCertainNan(x, e) ? 0 : infinity();
      continue;
    }
    r.errors[k] = (e == 0 ? 0 : radiusAt<Function>(format, x, e, value)) + allowanceAt<Function>(m.launch.tolerances, format, x, value);
    // Just above the largest finite value the allowance decides between it and infinity.
    if (isFinite(value) && r.errors[k] != 0 && std::fabs(value) > infoOf(format).maxFinite && std::fabs(value) - r.errors[k] <= infoOf(format).maxFinite)
      r.errors[k] = infinity();
  }
  settle(m, r);
}

/// Correctly rounded; the launch may allow ulps on top.
template <bool exact> void squareRoot(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  double ulps = exact ? 0 : m.launch.tolerances.divUlp;
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = std::sqrt(a[k].f);
  if (!a.inexact() && ulps == 0 && !m.freeRounding) {
    roundResults(r.type.format, &r.elements.data()->f, r.size());
    return;
  }
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    double x = a[k].f, e = a.error(k), value = r[k].f;
    if (e != 0)
      r.errors[k] = isCertainNan(x, e) ? 0 : !(x >= e) || e == infinity() ? infinity() : std::fmax(value - std::sqrt(x - e), std::sqrt(x + e) - value);
    if (isFinite(value))
      r.errors[k] += ulps * ulpOf(r.type.format, value);
  }
  settle(m, r);
}

// ---- exact functions of one operand ----

/// A monotone step function (rounding to integers): exact for exact operands.
template <double (*function)(double)> void stepFunction(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = function(a[k].f);
  if (!a.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    double x = a[k].f, e = a.error(k);
    if (e == 0)
      continue;
    r.errors[k] = e == infinity() ? e : std::fmax(distanceOf(r[k].f, function(x - e)), distanceOf(r[k].f, function(x + e)));
  }
  r.dropZeroErrors();
}
double floorOf(double x) { return std::floor(x); }
double ceilOf(double x) { return std::ceil(x); }
double truncOf(double x) { return std::trunc(x); }
double roundAway(double x) { return std::round(x); }
double roundEven(double x) {
  double down = std::floor(x), rest = x - down;
  double result = rest < 0.5 || (rest == 0.5 && std::fmod(down, 2) == 0) ? down : down + 1;
  return isFinite(x) ? std::copysign(result, x) : x;
}

void absoluteF(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  bool isUnsignedZero = infoOf(r.type.format).isUnsignedZero;
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = isUnsignedZero && isNan(a[k].f) ? a[k].f : clearSign(a[k].f);
  r.errors = a.errors;
}

enum class Class { Nan, Infinite, Finite, Normal };
template <Class wanted> void classify(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  double smallest = powerOfTwo(infoOf(a.type.format).minExponent());
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    double x = a[k].f;
    r[k].i = wanted == Class::Nan ? isNan(x) : wanted == Class::Infinite ? isInfinite(x) : wanted == Class::Finite ? isFinite(x) : isFinite(x) && std::fabs(x) >= smallest;
    if (a.error(k) == infinity()) {
      r.addErrors();
      r.errors[k] = infinity();
    }
  }
}

// ---- functions of two and three operands ----

void copySign(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = signOf(b[k].f) == signOf(a[k].f) ? a[k].f : flipSign(a[k].f);
  if (!a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    bool certain = b.error(k) == 0 || std::fabs(b[k].f) > b.error(k);
    r.errors[k] = a.error(k) + (certain ? 0 : 2 * std::fabs(a[k].f));
  }
  r.dropZeroErrors();
}

/// Op::value in double or long double; the radius from the corners of the box around the operands, where the function is monotone in each on it.
template <typename Op> void mathBinary(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  Format format = r.type.format;
  auto at = [&](double x, double y) { return format == Format::F64 ? double(Op::template value<long double>(x, y)) : Op::template value<double>(x, y); };
  r.addErrors();
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    double x = a[k].f, y = b[k].f, ex = a.error(k), ey = b.error(k), value = at(x, y);
    r[k].f = value;
    double radius = 0;
    if (ex != 0 || ey != 0) {
      if (isNan(value) && (isCertainNan(x, ex) || isCertainNan(y, ey)))
        continue;
      if (ex == infinity() || ey == infinity() || !Op::monotoneOn(x, ex, y, ey))
        radius = infinity();
      else
        for (double cornerX : {x - ex, x + ex})
          for (double cornerY : {y - ey, y + ey})
            radius = std::fmax(radius, distanceOf(value, at(cornerX, cornerY)));
    }
    if (isFinite(value))
      radius += m.launch.tolerances.mathUlp * ulpOf(format == Format::F64 ? Format::F64 : Format::F32, value);
    r.errors[k] = radius;
  }
  settle(m, r);
}

struct Power {
  template <typename T> static T value(T x, T y) { return std::pow(x, y); }
  static bool monotoneOn(double x, double ex, double y, double ey) {
    // x^y with x > 0, or an integral y away from 0.
    return x > ex || (ey == 0 && std::trunc(y) == y && std::fabs(x) > ex);
  }
};
struct Arctangent2 {
  template <typename T> static T value(T y, T x) { return std::atan2(y, x); }
  static bool monotoneOn(double y, double ey, double x, double ex) { return std::fabs(y) > ey || x > ex; }
};

/// One rounding in fp32 and fp64. For 16-bit types an execution may compute in fp32 first: the bound covers the difference, where there is one.
void fusedMultiply(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1), &c = m.in(i, 2);
  Tile &r = m.out(i);
  Format format = r.type.format;
  bool inexact = a.inexact() || b.inexact() || c.inexact() || m.freeRounding;
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    double x = a[k].f, y = b[k].f, z = c[k].f;
    double value = format == Format::F64 ? std::fma(x, y, z) : fusedMultiplyAdd(format, x, y, z);
    r[k].f = value;
    double bound = 0;
    if (format != Format::F32 && format != Format::F64)
      bound = isNan(value) ? 0 : distanceOf(value, roundTo(format, fusedMultiplyAdd(Format::F32, x, y, z)));
    if (inexact) {
      double ea = a.error(k), eb = b.error(k), ec = c.error(k);
      double radius = (ea == 0 && eb == 0 ? 0 : std::fabs(x) * eb + std::fabs(y) * ea + ea * eb) + ec;
      if (m.freeRounding && isFinite(value))
        radius = withFreeRounding(format, value, radius);
      if (isNan(value) && (isCertainNan(x, ea) || isCertainNan(y, eb) || isCertainNan(z, ec)))
        radius = 0;
      // The value is rounded already, so another rounding error of it is possible at both ends.
      bound += radius == 0 ? 0 : boundAfterRounding(format, value, radius + ulpOf(format, value));
    }
    if (bound != 0) {
      r.addErrors();
      r.errors[k] = bound;
    }
  }
}

// ---- integers ----

template <uint64_t (*function)(uint64_t, unsigned)> void intUnary(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].i = function(a[k].i, r.type.bits) & r.type.mask();
  r.errors = a.errors;
}
uint64_t absoluteI(uint64_t x, unsigned bits) { return signExtend(x, bits) < 0 ? 0 - x : x; }
uint64_t leadingZeros(uint64_t x, unsigned bits) { return uint64_t(std::countl_zero(x)) - (64 - bits); }
uint64_t trailingZeros(uint64_t x, unsigned bits) { return x ? uint64_t(std::countr_zero(x)) : bits; }
uint64_t populationCount(uint64_t x, unsigned) { return uint64_t(std::popcount(x)); }

} // namespace

Handler selectMath(Operation *op, Instruction &instruction) {
  return llvm::TypeSwitch<Operation *, Handler>(op)
#define HANDLER(Op, handler) .Case<Op>([](auto) -> Handler { return handler; })
#define TK_MATH(op, expression, propagation, ulps) HANDLER(math::op##Op, mathUnary<op##Function>)
#include "compiler/interpret/MathFunctions.def"
      HANDLER(math::SqrtOp, squareRoot<false>) HANDLER(tt::PreciseSqrtOp, squareRoot<true>)
      HANDLER(math::FloorOp, stepFunction<floorOf>) HANDLER(math::CeilOp, stepFunction<ceilOf>) HANDLER(math::TruncOp, stepFunction<truncOf>)
      HANDLER(math::RoundOp, stepFunction<roundAway>) HANDLER(math::RoundEvenOp, stepFunction<roundEven>)
      HANDLER(math::AbsFOp, absoluteF) HANDLER(math::CopySignOp, copySign) HANDLER(math::PowFOp, mathBinary<Power>) HANDLER(math::Atan2Op, mathBinary<Arctangent2>)
      HANDLER(math::FmaOp, fusedMultiply) HANDLER(math::IsNaNOp, classify<Class::Nan>) HANDLER(math::IsInfOp, classify<Class::Infinite>)
      HANDLER(math::IsFiniteOp, classify<Class::Finite>) HANDLER(math::IsNormalOp, classify<Class::Normal>)
      HANDLER(math::AbsIOp, intUnary<absoluteI>) HANDLER(math::CountLeadingZerosOp, intUnary<leadingZeros>)
      HANDLER(math::CountTrailingZerosOp, intUnary<trailingZeros>) HANDLER(math::CtPopOp, intUnary<populationCount>)
#undef HANDLER
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
