// Arithmetic of .f16, .bf16 and their pairs: PTX ISA 9.7.4. A single operation in float and one rounding is correctly rounded, since float has more than twice
// the mantissa.
#include "runtime/device/emulated/FloatOps.h"
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/NumberFormats.h"

namespace tk::emulated {

bool isHalf(Type type) { return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 || type == Type::BF16x2; }

namespace {

bool isPair(Type type) { return type == Type::F16x2 || type == Type::BF16x2; }
bool isBrain(Type type) { return type == Type::BF16 || type == Type::BF16x2; }

enum HalfFlags : uint32_t { pair = 1, flush = 2, saturate = 4, relu = 8, nanWins = 16, crossSign = 32, absolute = 64, operationShift = 8 };

template <bool Brain> float widen(uint16_t bits) { return Brain ? bfloatToFloat(bits) : halfToFloat(bits); }
template <bool Brain> uint16_t narrow(float value) { return Brain ? floatToBfloat(value) : floatToHalf(value); }
template <bool Brain> uint16_t flushedBits(uint16_t bits) { return (bits & (Brain ? 0x7F80 : 0x7C00)) ? bits : uint16_t(bits & 0x8000); }
template <bool Brain> bool isNan(uint16_t bits) { return (bits & 0x7FFF) > (Brain ? 0x7F80 : 0x7C00); }
template <bool Brain> uint16_t finish(uint16_t bits, uint32_t flags) {
  if (flags & flush)
    bits = flushedBits<Brain>(bits);
  if (flags & saturate) {
    constexpr uint16_t one = Brain ? 0x3F80 : 0x3C00;
    bits = isNan<Brain>(bits) || (bits & 0x8000) ? 0 : std::min(bits, one);
  }
  if (flags & relu) // a negative result becomes 0, NaN stays
    bits = !isNan<Brain>(bits) && (bits & 0x8000) ? 0 : bits;
  return bits;
}

/// f on each half of the operands, or on the low one alone.
template <bool Brain, typename F> void forHalves(Warp &warp, const Instr &i, uint32_t mask, F f) {
  uint32_t *d = warp.at<uint32_t>(i.d);
  const uint32_t *a = warp.at<uint32_t>(i.a), *b = i.b < 0 ? a : warp.at<uint32_t>(i.b), *c = i.c < 0 ? a : warp.at<uint32_t>(i.c);
  uint32_t flags = i.flags;
  auto one = [&](uint32_t x, uint32_t y, uint32_t z) -> uint32_t {
    uint16_t p = uint16_t(x), q = uint16_t(y), r = uint16_t(z);
    if (flags & flush)
      p = flushedBits<Brain>(p), q = flushedBits<Brain>(q), r = flushedBits<Brain>(r);
    return finish<Brain>(f(p, q, r), flags);
  };
  if (flags & pair)
    forEachLane(mask, [&](int lane) { d[lane] = one(a[lane], b[lane], c[lane]) | one(a[lane] >> 16, b[lane] >> 16, c[lane] >> 16) << 16; });
  else
    forEachLane(mask, [&](int lane) { d[lane] = one(a[lane], b[lane], c[lane]); });
}

template <bool Brain> void halfBinary(Warp &warp, const Instr &i, uint32_t mask) {
  switch (i.flags >> operationShift) {
  case 0: return forHalves<Brain>(warp, i, mask, [](uint16_t a, uint16_t b, uint16_t) { return narrow<Brain>(widen<Brain>(a) + widen<Brain>(b)); });
  case 1: return forHalves<Brain>(warp, i, mask, [](uint16_t a, uint16_t b, uint16_t) { return narrow<Brain>(widen<Brain>(a) - widen<Brain>(b)); });
  default: return forHalves<Brain>(warp, i, mask, [](uint16_t a, uint16_t b, uint16_t) { return narrow<Brain>(widen<Brain>(a) * widen<Brain>(b)); });
  }
}

template <bool Brain> void halfFma(Warp &warp, const Instr &i, uint32_t mask) {
  forHalves<Brain>(warp, i, mask, [](uint16_t a, uint16_t b, uint16_t c) {
    double sum = oddFma(widen<Brain>(a), widen<Brain>(b), widen<Brain>(c));
    return uint16_t(encodeFloat(Brain ? formatBF16 : formatF16, sum, Rounding::NearestEven));
  });
}

template <bool Brain> void halfSign(Warp &warp, const Instr &i, uint32_t mask) {
  if (i.flags & absolute)
    forHalves<Brain>(warp, i, mask, [](uint16_t a, uint16_t, uint16_t) { return uint16_t(a & 0x7FFF); });
  else
    forHalves<Brain>(warp, i, mask, [](uint16_t a, uint16_t, uint16_t) { return uint16_t(a ^ 0x8000); });
}

template <bool Brain, bool Max> uint16_t extremeOf(uint16_t a, uint16_t b, uint32_t flags) {
  bool aNan = isNan<Brain>(a), bNan = isNan<Brain>(b);
  if (aNan && bNan)
    return 0x7FFF;
  uint16_t sign = (a ^ b) & 0x8000;
  if ((flags & nanWins) && (aNan || bNan))
    return 0x7FFF;
  if (flags & crossSign) {
    a &= 0x7FFF;
    b &= 0x7FFF;
  }
  // As integers that order like the numbers, -0 below +0.
  auto key = [](uint16_t bits) { return bits & 0x8000 ? -int(bits & 0x7FFF) - 1 : int(bits); };
  uint16_t result = aNan ? b : bNan ? a : (key(a) > key(b)) == Max ? a : b;
  return flags & crossSign ? uint16_t((result & 0x7FFF) | sign) : result;
}

template <bool Brain, bool Max> void halfExtreme(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t flags = i.flags;
  bool three = i.c >= 0;
  forHalves<Brain>(warp, i, mask, [=](uint16_t a, uint16_t b, uint16_t c) {
    uint16_t result = extremeOf<Brain, Max>(a, b, flags);
    return three ? extremeOf<Brain, Max>(result, c, flags) : result;
  });
}

template <bool Brain, int Operation> void halfUnary(Warp &warp, const Instr &i, uint32_t mask) {
  forHalves<Brain>(warp, i, mask, [](uint16_t a, uint16_t, uint16_t) {
    double x = widen<Brain>(a);
    return uint16_t(encodeFloat(Brain ? formatBF16 : formatF16, Operation == 0 ? std::exp2(x) : std::tanh(x), Rounding::NearestEven));
  });
}

void operandsOf(Decoding &d, Type type, size_t count) {
  d.takeOperands(Class::Half, type, count);
  if (isPair(type))
    d.i.flags |= pair;
}

} // namespace

void decodeHalfBinary(Decoding &d, Type type, int operation, bool saturates) {
  d.take("rn");
  d.i.flags = (d.take("ftz") ? flush : 0u) | (saturates ? saturate : 0u) | uint32_t(operation) << operationShift;
  operandsOf(d, type, 2);
  d.i.run = isBrain(type) ? &halfBinary<true> : &halfBinary<false>;
}

void decodeHalfFma(Decoding &d, Type type, bool saturates) {
  d.take("rn");
  d.i.flags = (d.take("ftz") ? flush : 0u) | (saturates ? saturate : 0u) | (d.take("relu") ? relu : 0u);
  if (d.take("oob"))
    d.fail(".oob is not supported");
  operandsOf(d, type, 3);
  d.i.run = isBrain(type) ? &halfFma<true> : &halfFma<false>;
}

void decodeHalfSign(Decoding &d, Type type, bool isAbsolute) {
  d.i.flags = (d.take("ftz") ? flush : 0u) | (isAbsolute ? absolute : 0u);
  operandsOf(d, type, 1);
  d.i.run = isBrain(type) ? &halfSign<true> : &halfSign<false>;
}

void decodeHalfExtreme(Decoding &d, Type type, bool wantsMax) {
  d.i.flags = (d.take("ftz") ? flush : 0u) | (d.take("NaN") ? nanWins : 0u);
  if (d.take("xorsign")) {
    if (!d.take("abs"))
      d.fail(".xorsign stands with .abs");
    d.i.flags |= crossSign;
  }
  operandsOf(d, type, d.operands() == 4 ? 3 : 2);
  if (isBrain(type))
    d.i.run = wantsMax ? &halfExtreme<true, true> : &halfExtreme<true, false>;
  else
    d.i.run = wantsMax ? &halfExtreme<false, true> : &halfExtreme<false, false>;
}

void decodeHalfUnary(Decoding &d, Type type, int operation) {
  if (!d.take("approx"))
    d.fail(".approx is missing");
  d.i.flags = d.take("ftz") ? flush : 0u;
  operandsOf(d, type, 1);
  d.i.kind = Class::Special;
  if (isBrain(type))
    d.i.run = operation ? &halfUnary<true, 1> : &halfUnary<true, 0>;
  else
    d.i.run = operation ? &halfUnary<false, 1> : &halfUnary<false, 0>;
}

} // namespace tk::emulated
