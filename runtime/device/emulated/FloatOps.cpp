// Arithmetic of .f32 and .f64: PTX ISA 9.7.3.
//
// Results are rounded correctly, those of the approximate instructions too (computed in double precision and rounded once: at least as near as the documented
// error). As on the hardware a NaN result of .f32 is 0x7FFFFFFF; of .f64 it is what the host gives.
#include "runtime/device/emulated/FloatOps.h"
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/NumberFormats.h"

namespace tk::emulated {

namespace {

inline float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
template <bool Ftz, bool Sat> inline float finish(float x) {
  if constexpr (Ftz)
    x = flushed(x);
  if constexpr (Sat)
    x = x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; // NaN gives 0
  return x != x ? std::bit_cast<float>(0x7FFFFFFFu) : x;
}
template <bool Ftz> inline float input(float x) { return Ftz ? flushed(x) : x; }

template <bool Ftz, bool Sat, auto Op> float unaryOf(float a) { return finish<Ftz, Sat>(Op(input<Ftz>(a))); }
template <bool Ftz, bool Sat, auto Op> float binaryOf(float a, float b) { return finish<Ftz, Sat>(Op(input<Ftz>(a), input<Ftz>(b))); }
template <bool Ftz, bool Sat, auto Op> float ternaryOf(float a, float b, float c) { return finish<Ftz, Sat>(Op(input<Ftz>(a), input<Ftz>(b), input<Ftz>(c))); }

template <auto Op> Handler unaryF32(bool ftz) { return ftz ? &unary<float, float, unaryOf<true, false, Op>> : &unary<float, float, unaryOf<false, false, Op>>; }
template <auto Op> Handler binaryF32(bool ftz, bool sat) {
  if (sat)
    return ftz ? &binary<float, float, float, binaryOf<true, true, Op>> : &binary<float, float, float, binaryOf<false, true, Op>>;
  return ftz ? &binary<float, float, float, binaryOf<true, false, Op>> : &binary<float, float, float, binaryOf<false, false, Op>>;
}
template <auto Op> Handler ternaryF32(bool ftz, bool sat) {
  if (sat)
    return ftz ? &ternary<float, float, float, float, ternaryOf<true, true, Op>> : &ternary<float, float, float, float, ternaryOf<false, true, Op>>;
  return ftz ? &ternary<float, float, float, float, ternaryOf<true, false, Op>> : &ternary<float, float, float, float, ternaryOf<false, false, Op>>;
}

// The directed modes: one handler for all, told by flags.
enum RoundedFlags : uint32_t { flushes = 8, saturates = 16, operationShift = 8 };
enum class Operation : uint8_t { Add, Sub, Mul, Fma, Div, Sqrt, Rcp };

template <typename T> T roundedResult(Operation operation, T a, T b, T c, Rounding rounding) {
  switch (operation) {
  case Operation::Add: return addRounded(a, b, rounding);
  case Operation::Sub: return addRounded(a, -b, rounding);
  case Operation::Mul: return mulRounded(a, b, rounding);
  case Operation::Fma: return fmaRounded(a, b, c, rounding);
  case Operation::Div: return divRounded(a, b, rounding);
  case Operation::Sqrt: return sqrtRounded(a, rounding);
  case Operation::Rcp: return divRounded(T(1), a, rounding);
  }
  return a;
}

template <typename T> void rounded(Warp &warp, const Instr &i, uint32_t mask) {
  Word<T> *d = warp.at<Word<T>>(i.d);
  const Word<T> *a = warp.at<Word<T>>(i.a), *b = i.b < 0 ? a : warp.at<Word<T>>(i.b), *c = i.c < 0 ? a : warp.at<Word<T>>(i.c);
  Rounding rounding = Rounding(i.flags & 7);
  Operation operation = Operation(i.flags >> operationShift);
  forEachLane(mask, [&](int lane) {
    T x = fromWord<T>(a[lane]), y = fromWord<T>(b[lane]), z = fromWord<T>(c[lane]);
    if constexpr (std::is_same_v<T, float>)
      if (i.flags & flushes)
        x = flushed(x), y = flushed(y), z = flushed(z);
    T result = roundedResult(operation, x, y, z, rounding);
    if constexpr (std::is_same_v<T, float>) {
      if (i.flags & flushes)
        result = flushed(result);
      result = i.flags & saturates ? finish<false, true>(result) : finish<false, false>(result);
    }
    d[lane] = toWord<T>(result);
  });
}

struct FloatModifiers {
  Rounding rounding = Rounding::NearestEven;
  bool isRounded = false, ftz = false, sat = false, approx = false, full = false;
};
FloatModifiers takeModifiers(Decoding &d) {
  FloatModifiers m;
  int mode = d.takeOneOf({"rn", "rz", "rm", "rp"});
  m.isRounded = mode >= 0;
  m.rounding = mode < 0 ? Rounding::NearestEven : Rounding(mode);
  m.ftz = d.take("ftz");
  m.sat = d.take("sat");
  m.approx = d.take("approx");
  m.full = d.take("full");
  return m;
}

bool useRounded(Decoding &d, Type type, const FloatModifiers &m, Operation operation) {
  if (m.rounding == Rounding::NearestEven)
    return false;
  d.i.flags = uint32_t(m.rounding) | (m.ftz ? flushes : 0u) | (m.sat ? saturates : 0u) | uint32_t(operation) << operationShift;
  d.i.run = type == Type::F64 ? &rounded<double> : &rounded<float>;
  return true;
}

template <auto F32, auto F64> void decodeBinary(Decoding &d, Type type, FloatModifiers m, Operation operation) {
  d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 2);
  if (useRounded(d, type, m, operation))
    return;
  if (type == Type::F32)
    d.i.run = binaryF32<F32>(m.ftz, m.sat);
  else if (type == Type::F64 && !m.ftz && !m.sat)
    d.i.run = &binary<double, double, double, F64>;
}

// Two .f32 in 64 bits (sm_100 and later).
template <bool Ftz, auto Op> uint64_t pairOf(uint64_t a, uint64_t b, uint64_t c) {
  auto part = [](uint64_t x, int k) { return input<Ftz>(std::bit_cast<float>(uint32_t(x >> (32 * k)))); };
  uint64_t result = 0;
  for (int k = 0; k < 2; ++k)
    result |= uint64_t(std::bit_cast<uint32_t>(finish<Ftz, false>(Op(part(a, k), part(b, k), part(c, k))))) << (32 * k);
  return result;
}
template <auto Op> void decodePair(Decoding &d, FloatModifiers m, size_t count) {
  if (m.rounding != Rounding::NearestEven || m.sat)
    d.fail("only .rn of .f32x2 is supported");
  d.takeOperands(Class::Float, Type::F32x2, count);
  if (count == 2)
    d.i.c = d.i.a;
  d.i.run = m.ftz ? &ternary<uint64_t, uint64_t, uint64_t, uint64_t, pairOf<true, Op>> : &ternary<uint64_t, uint64_t, uint64_t, uint64_t, pairOf<false, Op>>;
}

template <typename T> T fused(T a, T b, T c) { return std::fma(a, b, c); }

} // namespace

void decodeFloatAdd(Decoding &d, Type type, bool saturates, bool subtracts) {
  if (isHalf(type))
    return decodeHalfBinary(d, type, subtracts, saturates);
  FloatModifiers m = takeModifiers(d);
  m.sat = saturates;
  if (type == Type::F32x2)
    return subtracts ? decodePair<[](float a, float b, float) { return a - b; }>(d, m, 2) : decodePair<[](float a, float b, float) { return a + b; }>(d, m, 2);
  if (subtracts)
    decodeBinary<[](float a, float b) { return a - b; }, [](double a, double b) { return a - b; }>(d, type, m, Operation::Sub);
  else
    decodeBinary<[](float a, float b) { return a + b; }, [](double a, double b) { return a + b; }>(d, type, m, Operation::Add);
}

void decodeFloatMul(Decoding &d, Type type) {
  if (isHalf(type))
    return decodeHalfBinary(d, type, 2, d.take("sat"));
  FloatModifiers m = takeModifiers(d);
  if (type == Type::F32x2)
    return decodePair<[](float a, float b, float) { return a * b; }>(d, m, 2);
  decodeBinary<[](float a, float b) { return a * b; }, [](double a, double b) { return a * b; }>(d, type, m, Operation::Mul);
}

void decodeFloatFma(Decoding &d, Type type) {
  if (isHalf(type))
    return decodeHalfFma(d, type, d.take("sat"));
  FloatModifiers m = takeModifiers(d);
  if (type == Type::F32x2)
    return decodePair<fused<float>>(d, m, 3);
  d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 3);
  if (useRounded(d, type, m, Operation::Fma))
    return;
  if (type == Type::F32)
    d.i.run = ternaryF32<fused<float>>(m.ftz, m.sat);
  else if (type == Type::F64 && !m.ftz && !m.sat)
    d.i.run = &ternary<double, double, double, double, fused<double>>;
}
void decodeFma(Decoding &d) { decodeFloatFma(d, d.takeType()); }

void decodeFloatDiv(Decoding &d, Type type) {
  FloatModifiers m = takeModifiers(d);
  if (m.approx || m.full)
    d.i.kind = Class::Special;
  decodeBinary<[](float a, float b) { return a / b; }, [](double a, double b) { return a / b; }>(d, type, m, Operation::Div);
  d.i.kind = type == Type::F64 ? Class::Double : Class::Special;
}

void decodeFloatSign(Decoding &d, Type type, bool absolute) {
  if (isHalf(type))
    return decodeHalfSign(d, type, absolute);
  bool ftz = d.take("ftz");
  d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 1);
  // Signs change in NaNs too: these are not arithmetic.
  if (type == Type::F64)
    d.i.run = absolute ? &unary<uint64_t, uint64_t, [](uint64_t a) { return a & ~(uint64_t(1) << 63); }>
                       : &unary<uint64_t, uint64_t, [](uint64_t a) { return a ^ uint64_t(1) << 63; }>;
  else if (type == Type::F32 && ftz)
    d.i.run = absolute ? &unary<float, float, [](float a) { return std::fabs(flushed(a)); }> : &unary<float, float, [](float a) { return -flushed(a); }>;
  else if (type == Type::F32)
    d.i.run = absolute ? &unary<uint32_t, uint32_t, [](uint32_t a) { return a & 0x7FFFFFFFu; }>
                       : &unary<uint32_t, uint32_t, [](uint32_t a) { return a ^ 0x80000000u; }>;
}

// +0 is larger than -0; with one NaN the other operand wins, or NaN with .NaN; .xorsign.abs compares magnitudes and takes the product's sign.
template <typename T> static T minOf(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }
template <typename T> static T maxOf(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
template <auto Op> static float propagating(float a, float b) { return a != a || b != b ? NAN : Op(a, b); }
template <auto Op> static float crossSign(float a, float b) {
  float result = Op(std::fabs(a), std::fabs(b));
  return result != result ? result : std::copysign(result, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
}

template <auto Op> static Handler extremeF32(bool ftz, bool nan, bool cross) {
  if (nan)
    return cross ? binaryF32<crossSign<propagating<Op>>>(ftz, false) : binaryF32<propagating<Op>>(ftz, false);
  return cross ? binaryF32<crossSign<Op>>(ftz, false) : binaryF32<Op>(ftz, false);
}

template <auto Op> static Handler extreme3F32(bool ftz, bool nan) {
  auto three = [](float a, float b, float c) { return Op(Op(a, b), c); };
  auto threeNan = [](float a, float b, float c) { return a != a || b != b || c != c ? NAN : Op(Op(a, b), c); };
  return nan ? ternaryF32<threeNan>(ftz, false) : ternaryF32<three>(ftz, false);
}

void decodeFloatExtreme(Decoding &d, Type type, bool wantsMax) {
  if (isHalf(type))
    return decodeHalfExtreme(d, type, wantsMax);
  bool ftz = d.take("ftz"), nan = d.take("NaN"), cross = d.take("xorsign");
  if (cross && !d.take("abs"))
    d.fail(".xorsign stands with .abs");
  if (d.operands() == 4 && type == Type::F32 && !cross) { // three inputs, PTX 8.8
    d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 3);
    d.i.run = wantsMax ? extreme3F32<maxOf<float>>(ftz, nan) : extreme3F32<minOf<float>>(ftz, nan);
    return;
  }
  d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 2);
  if (type == Type::F32)
    d.i.run = wantsMax ? extremeF32<maxOf<float>>(ftz, nan, cross) : extremeF32<minOf<float>>(ftz, nan, cross);
  else if (type == Type::F64 && !nan && !cross)
    d.i.run = wantsMax ? &binary<double, double, double, maxOf<double>> : &binary<double, double, double, minOf<double>>;
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions

template <auto F32, auto F64> static void decodeFunction(Decoding &d, Type type, const FloatModifiers &m, Operation operation) {
  d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 1);
  d.i.kind = type == Type::F64 ? Class::Double : Class::Special;
  if (useRounded(d, type, m, operation))
    return;
  if (type == Type::F32)
    d.i.run = unaryF32<F32>(m.ftz);
  else if (type == Type::F64)
    d.i.run = &unary<double, double, F64>;
}

void decodeSqrt(Decoding &d) {
  FloatModifiers m = takeModifiers(d);
  decodeFunction<[](float a) { return std::sqrt(a); }, [](double a) { return std::sqrt(a); }>(d, d.takeType(), m, Operation::Sqrt);
}
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits alone and leave the lower ones zero.
static double upperHalf(double a) { return std::bit_cast<double>(std::bit_cast<uint64_t>(a) & 0xFFFFFFFF00000000); }
void decodeRcp(Decoding &d) {
  FloatModifiers m = takeModifiers(d);
  Type type = d.takeType();
  if (type == Type::F64 && m.approx)
    decodeFunction<[](float a) { return a; }, [](double a) { return upperHalf(1 / upperHalf(a)); }>(d, type, m, Operation::Rcp);
  else
    decodeFunction<[](float a) { return 1 / a; }, [](double a) { return 1 / a; }>(d, type, m, Operation::Rcp);
}
void decodeRsqrt(Decoding &d) {
  FloatModifiers m = takeModifiers(d);
  Type type = d.takeType();
  if (type == Type::F64 && m.ftz)
    decodeFunction<[](float a) { return a; }, [](double a) { return upperHalf(1 / std::sqrt(upperHalf(a))); }>(d, type, m, Operation::Rcp);
  else
    decodeFunction<[](float a) { return float(1 / std::sqrt(double(a))); }, [](double a) { return 1 / std::sqrt(a); }>(d, type, m, Operation::Rcp);
}

template <auto F32> static void decodeApprox(Decoding &d, Type type) {
  FloatModifiers m = takeModifiers(d);
  if (type != Type::F32 || !m.approx)
    d.fail("only .approx.f32 exists");
  d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 1);
  d.i.kind = Class::Special;
  d.i.run = unaryF32<F32>(m.ftz);
}
void decodeEx2(Decoding &d) {
  Type type = d.takeType();
  isHalf(type) ? decodeHalfUnary(d, type, 0) : decodeApprox<[](float a) { return float(std::exp2(double(a))); }>(d, type);
}
void decodeLg2(Decoding &d) {
  decodeApprox<[](float a) { return float(std::log2(double(a))); }>(d, d.takeType());
}
void decodeSin(Decoding &d) {
  decodeApprox<[](float a) { return float(std::sin(double(a))); }>(d, d.takeType());
}
void decodeCos(Decoding &d) {
  decodeApprox<[](float a) { return float(std::cos(double(a))); }>(d, d.takeType());
}
void decodeTanh(Decoding &d) {
  Type type = d.takeType();
  isHalf(type) ? decodeHalfUnary(d, type, 1) : decodeApprox<[](float a) { return float(std::tanh(double(a))); }>(d, type);
}

void decodeCopysign(Decoding &d) {
  Type type = d.takeType();
  d.takeOperands(type == Type::F64 ? Class::Double : Class::Float, type, 2);
  // The sign of a, the magnitude of b.
  if (type == Type::F32)
    d.i.run = &binary<uint32_t, uint32_t, uint32_t, [](uint32_t a, uint32_t b) { return (a & 0x80000000u) | (b & 0x7FFFFFFFu); }>;
  else if (type == Type::F64)
    d.i.run = &binary<uint64_t, uint64_t, uint64_t, [](uint64_t a, uint64_t b) { return (a >> 63 << 63) | (b << 1 >> 1); }>;
}

template <typename T> static void testProperty(Warp &warp, const Instr &i, uint32_t mask) {
  const Word<T> *a = warp.at<Word<T>>(i.a);
  uint32_t result = 0;
  forEachLane(mask, [&](int lane) {
    T x = fromWord<T>(a[lane]);
    int kind = std::fpclassify(x);
    bool outcome = false;
    switch (i.imm) {
    case 0: outcome = std::isfinite(x); break;
    case 1: outcome = std::isinf(x); break;
    case 2: outcome = !std::isnan(x); break;
    case 3: outcome = std::isnan(x); break;
    case 4: outcome = kind == FP_NORMAL || kind == FP_ZERO; break;
    case 5: outcome = kind == FP_SUBNORMAL; break;
    }
    result |= uint32_t(outcome) << lane;
  });
  uint32_t &d = warp.predicate(i.d);
  d = (d & ~mask) | result;
}

void decodeTestp(Decoding &d) {
  d.i.imm = d.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (d.i.imm < 0)
    d.fail("what is tested is missing");
  Type type = d.takeType();
  d.i.kind = Class::Compare;
  d.i.d = d.destination(0, Type::Pred);
  d.i.a = d.source(1, type);
  d.i.run = type == Type::F32 ? &testProperty<float> : type == Type::F64 ? &testProperty<double> : nullptr;
}

} // namespace tk::emulated
