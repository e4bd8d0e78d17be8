// cvt: PTX ISA 9.7.9.21 and 9.7.9.22 (cvt.pack).
//
// Common pairs of types have a loop of their own; the rest goes through one number (a double, which holds every float exactly, or an integer) and rounds once.
#include "runtime/device/emulated/Decoder.h"
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/NumberFormats.h"
#include <limits>

namespace tk::emulated {

namespace {

enum ConvertFlags : uint32_t {
  roundingMask = 7,
  toIntegral = 8,
  flush = 16,
  saturate = 32,
  saturateFinite = 64,
  relu = 128,
  wideSource = 256,
  wideResult = 512,
  sourceShift = 16
};
Type sourceType(const Instr &i) { return Type(i.flags >> sourceShift); }

const FloatFormat *formatOf(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2: return &formatF16;
  case Type::BF16:
  case Type::BF16x2: return &formatBF16;
  case Type::F32: return &formatF32;
  case Type::TF32: return &formatTF32;
  case Type::E4M3:
  case Type::E4M3x2: return &formatE4M3;
  case Type::E5M2:
  case Type::E5M2x2: return &formatE5M2;
  case Type::E2M1x2: return &formatE2M1;
  case Type::E2M3x2: return &formatE2M3;
  case Type::E3M2x2: return &formatE3M2;
  default: return nullptr;
  }
}

double flushTiny(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }
double toNumber(Type type, uint64_t bits) {
  if (type == Type::F64)
    return std::bit_cast<double>(bits);
  if (type == Type::F32)
    return double(std::bit_cast<float>(uint32_t(bits)));
  return decodeFloat(*formatOf(type), uint32_t(bits));
}
uint64_t fromNumber(Type type, double value, Rounding rounding, bool saturates) {
  if (type == Type::F64)
    return std::bit_cast<uint64_t>(value);
  if (type == Type::TF32)
    return std::isnan(value) ? 0x7FFFFFFFu : encodeFloat(formatTF32, value, rounding, saturates) << 13;
  return encodeFloat(*formatOf(type), value, rounding, saturates);
}
double roundToIntegral(double x, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero: return std::trunc(x);
  case Rounding::Down: return std::floor(x);
  case Rounding::Up: return std::ceil(x);
  default: return std::nearbyint(x);
  }
}

int64_t signExtend(uint64_t bits, int bytes) { return int64_t(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes); }
uint64_t truncateTo(uint64_t bits, int bytes) { return bytes == 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1); }

/// The result is an integer of `type`; a NaN gives 0, or the highest bit for .f64 sources and 64-bit results.
uint64_t integerFrom(double x, Type from, Type type, Rounding rounding) {
  int bits = bytesOf(type) * 8;
  if (std::isnan(x))
    return from == Type::F64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  x = roundToIntegral(x, rounding);
  if (isSigned(type)) {
    double limit = std::ldexp(1.0, bits - 1);
    if (x >= limit)
      return (uint64_t(1) << (bits - 1)) - 1;
    if (x < -limit)
      return uint64_t(1) << (bits - 1);
    return truncateTo(uint64_t(int64_t(x)), bits / 8);
  }
  if (x <= 0)
    return 0;
  if (x >= std::ldexp(1.0, bits))
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return uint64_t(x);
}

uint64_t integerToInteger(uint64_t bits, Type from, Type to, bool saturates) {
  int bytes = bytesOf(from), toBytes = bytesOf(to);
  bool fromSigned = isSigned(from), toSigned = isSigned(to);
  __int128 value = fromSigned ? __int128(signExtend(bits, bytes)) : __int128(truncateTo(bits, bytes));
  if (saturates) {
    __int128 low = toSigned ? -(__int128(1) << (toBytes * 8 - 1)) : 0, high = (__int128(1) << (toBytes * 8 - (toSigned ? 1 : 0))) - 1;
    value = std::min(std::max(value, low), high);
  }
  // Kept extended: a wider register gets the sign or zeros.
  return toSigned ? uint64_t(signExtend(uint64_t(value), toBytes)) : truncateTo(uint64_t(value), toBytes);
}

uint64_t convertOne(const Instr &i, uint64_t bits) {
  Type from = sourceType(i), to = i.type;
  Rounding rounding = Rounding(i.flags & roundingMask);
  if (!isFloat(from) && !isFloat(to))
    return integerToInteger(bits, from, to, i.flags & saturate);
  if (isFloat(from)) {
    double x = toNumber(from, bits);
    if ((i.flags & flush) && from == Type::F32)
      x = flushTiny(x);
    if (!isFloat(to)) {
      uint64_t result = integerFrom(x, from, to, rounding);
      return isSigned(to) ? uint64_t(signExtend(result, bytesOf(to))) : result;
    }
    if (i.flags & toIntegral)
      x = roundToIntegral(x, rounding);
    if (i.flags & saturate)
      x = x > 0 ? std::min(x, 1.0) : 0.0;
    if ((i.flags & relu) && x < 0)
      x = 0;
    if ((i.flags & relu) && x == 0)
      x = 0.0;
    uint64_t result = fromNumber(to, x, rounding, i.flags & saturateFinite);
    if ((i.flags & flush) && to == Type::F32)
      result = std::bit_cast<uint32_t>(float(flushTiny(double(std::bit_cast<float>(uint32_t(result))))));
    return result;
  }
  // From an integer to a float.
  int bytes = bytesOf(from);
  bool fromSigned = isSigned(from);
  int64_t number = signExtend(bits, bytes);
  uint64_t natural = truncateTo(bits, bytes);
  uint64_t result;
  if (to == Type::F64)
    result = std::bit_cast<uint64_t>(fromSigned ? integerRounded<double>(number, rounding) : integerRounded<double>(natural, rounding));
  else if (to == Type::F32)
    result = std::bit_cast<uint32_t>(fromSigned ? integerRounded<float>(number, rounding) : integerRounded<float>(natural, rounding));
  else if (bytes < 8)
    result = fromNumber(to, fromSigned ? double(number) : double(natural), rounding, false);
  else {
    // A 64-bit integer may not fit a double; toward zero and odd keeps what the last rounding needs.
    double x = fromSigned ? integerRounded<double>(number, Rounding::Zero) : integerRounded<double>(natural, Rounding::Zero);
    if (fromSigned ? int64_t(x) != number : uint64_t(x) != natural)
      x = std::bit_cast<double>(std::bit_cast<uint64_t>(x) | 1);
    result = fromNumber(to, x, rounding, false);
  }
  if (i.flags & saturate) {
    double x = toNumber(to, result);
    result = fromNumber(to, x > 0 ? std::min(x, 1.0) : 0.0, Rounding::NearestEven, false);
  }
  return result;
}

void convert(Warp &warp, const Instr &i, uint32_t mask) {
  forEachLane(mask, [&](int lane) {
    uint64_t bits = i.flags & wideSource ? warp.at<uint64_t>(i.a)[lane] : warp.at<uint32_t>(i.a)[lane];
    if (!isFloat(sourceType(i)) || bytesOf(sourceType(i)) < 8)
      bits = truncateTo(bits, bytesOf(sourceType(i)));
    uint64_t result = convertOne(i, bits);
    // A narrow integer in a wider register is extended to it, a 16-bit register stays 16 bits.
    if (i.flags & wideResult)
      warp.at<uint64_t>(i.d)[lane] = result;
    else
      warp.at<uint32_t>(i.d)[lane] = uint32_t(truncateTo(result, int(i.imm)));
  });
}

// Two values to a pair: the first operand is the upper half. From a pair: both halves, the lower one from the low bits.
void convertToPair(Warp &warp, const Instr &i, uint32_t mask) {
  const FloatFormat &format = *formatOf(i.type);
  int width = i.type == Type::F16x2 || i.type == Type::BF16x2 ? 16 : i.type == Type::E2M1x2 ? 4 : 8;
  Type from = sourceType(i);
  auto one = [&](uint32_t bits) {
    double x = toNumber(from, bits);
    if (i.flags & flush)
      x = flushTiny(x);
    if ((i.flags & relu) && (x < 0 || x == 0))
      x = 0.0;
    uint32_t result = encodeFloat(format, x, Rounding(i.flags & roundingMask), i.flags & saturateFinite);
    return result;
  };
  forEachLane(mask, [&](int lane) {
    uint32_t high, low;
    if (i.b >= 0) {
      high = warp.at<uint32_t>(i.a)[lane];
      low = warp.at<uint32_t>(i.b)[lane];
    } else {
      high = warp.at<uint32_t>(i.a)[lane] >> 16;
      low = warp.at<uint32_t>(i.a)[lane] & 0xFFFF;
    }
    warp.at<uint32_t>(i.d)[lane] = one(high) << width | one(low);
  });
}
void convertFromPair(Warp &warp, const Instr &i, uint32_t mask) {
  Type from = sourceType(i);
  const FloatFormat &format = *formatOf(from), &to = *formatOf(i.type);
  int width = from == Type::E2M1x2 ? 4 : 8;
  auto one = [&](uint32_t bits) {
    double x = decodeFloat(format, bits & ((1u << width) - 1) & (format.signBit() * 2 - 1));
    if ((i.flags & relu) && (x < 0 || x == 0))
      x = 0.0;
    return encodeFloat(to, x, Rounding::NearestEven);
  };
  forEachLane(mask, [&](int lane) {
    uint32_t bits = warp.at<uint32_t>(i.a)[lane];
    warp.at<uint32_t>(i.d)[lane] = one(bits >> width) << 16 | one(bits);
  });
}

/// The loops for pairs of types that real code is full of.
Handler fastHandler(Type to, Type from, uint32_t flags) {
  uint32_t special = flags & (flush | saturate | saturateFinite | relu | toIntegral | wideSource | wideResult);
  Rounding rounding = Rounding(flags & roundingMask);
  if (special & ~(wideSource | wideResult))
    return nullptr;
  bool nearest = rounding == Rounding::NearestEven;
  auto is = [&](Type t, Type f) { return to == t && from == f; };
  if (!special) {
    if (is(Type::F32, Type::F16))
      return &unary<float, uint16_t, [](uint16_t a) {
        float x = halfToFloat(a);
        return x != x ? std::bit_cast<float>(0x7FFFFFFFu) : x;
      }>;
    if (is(Type::F32, Type::BF16))
      return &unary<float, uint16_t, [](uint16_t a) {
        float x = bfloatToFloat(a);
        return x != x ? std::bit_cast<float>(0x7FFFFFFFu) : x;
      }>;
    if (is(Type::F16, Type::F32) && nearest)
      return &unary<uint16_t, float, floatToHalf>;
    if (is(Type::BF16, Type::F32) && nearest)
      return &unary<uint16_t, float, floatToBfloat>;
    if (is(Type::F32, Type::S32) && nearest)
      return &unary<float, int32_t, [](int32_t a) { return float(a); }>;
    if (is(Type::F32, Type::U32) && nearest)
      return &unary<float, uint32_t, [](uint32_t a) { return float(a); }>;
    if (is(Type::S32, Type::F32) && rounding == Rounding::Zero)
      return &unary<int32_t, float, [](float a) {
        return a != a ? 0 : a >= 0x1p31f ? std::numeric_limits<int32_t>::max() : a < -0x1p31f ? std::numeric_limits<int32_t>::min() : int32_t(a);
      }>;
  }
  if (special == wideResult) {
    if ((to == Type::U64 || to == Type::S64) && from == Type::U32)
      return &unary<uint64_t, uint32_t, [](uint32_t a) { return uint64_t(a); }>;
    if ((to == Type::U64 || to == Type::S64) && from == Type::S32)
      return &unary<int64_t, int32_t, [](int32_t a) { return int64_t(a); }>;
    if (is(Type::F64, Type::F32))
      return &unary<double, float, [](float a) { return double(a); }>;
    if (is(Type::F64, Type::S32))
      return &unary<double, int32_t, [](int32_t a) { return double(a); }>;
  }
  if (special == wideSource && (to == Type::U32 || to == Type::S32) && (from == Type::U64 || from == Type::S64))
    return &unary<uint32_t, uint64_t, [](uint64_t a) { return uint32_t(a); }>;
  if (special == wideSource && is(Type::F32, Type::F64) && nearest)
    return &unary<float, double, [](double a) { return a != a ? std::bit_cast<float>(0x7FFFFFFFu) : float(a); }>;
  return nullptr;
}

// cvt.pack.sat: the two sources saturated, b in the low part; with a third operand that one's bits move up.
void packSaturated(Warp &warp, const Instr &i, uint32_t mask) {
  Type from = Type::S32, to = i.type;
  int bits = int(i.imm);
  auto one = [&](uint32_t value) -> uint32_t {
    int64_t x = int32_t(value), low = isSigned(to) ? -(int64_t(1) << (bits - 1)) : 0, high = (int64_t(1) << (bits - (isSigned(to) ? 1 : 0))) - 1;
    return uint32_t(std::min(std::max(x, low), high)) & ((1u << bits) - 1);
  };
  (void)from;
  forEachLane(mask, [&](int lane) {
    uint32_t result = one(warp.at<uint32_t>(i.a)[lane]) << bits | one(warp.at<uint32_t>(i.b)[lane]);
    if (i.c >= 0)
      result |= warp.at<uint32_t>(i.c)[lane] << (2 * bits);
    warp.at<uint32_t>(i.d)[lane] = result;
  });
}

void decodePackSaturated(Decoding &d) {
  if (!d.take("sat"))
    d.fail(".sat is missing");
  Type to = d.takeType(), from = d.takeType();
  Type rest = d.tryType();
  d.expectOperands(rest == Type::None ? 3 : 4, rest == Type::None ? 3 : 4);
  d.i.kind = Class::Convert;
  d.i.type = to;
  d.i.imm = to == Type::U4 || to == Type::S4 ? 4 : bytesOf(to) * 8;
  d.i.d = d.destination(0, Type::B32);
  d.i.a = d.source(1, from);
  d.i.b = d.source(2, from);
  if (rest != Type::None)
    d.i.c = d.source(3, Type::B32);
  d.i.run = &packSaturated;
}

bool isPairType(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || type == Type::E4M3x2 || type == Type::E5M2x2 || type == Type::E2M1x2 || type == Type::E2M3x2 ||
         type == Type::E3M2x2;
}

} // namespace

void decodeCvt(Decoding &d) {
  if (d.take("pack"))
    return decodePackSaturated(d);
  int integral = d.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  int mode = integral >= 0 ? integral : d.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  d.i.flags = uint32_t(std::max(mode, 0)) | (integral >= 0 ? toIntegral : 0u);
  if (d.take("ftz"))
    d.i.flags |= flush;
  if (d.take("satfinite"))
    d.i.flags |= saturateFinite;
  if (d.take("sat"))
    d.i.flags |= saturate;
  if (d.take("relu"))
    d.i.flags |= relu;
  Type to = d.takeType(), from = d.takeType();
  d.i.kind = Class::Convert;
  d.i.type = to;
  d.i.flags |= uint32_t(from) << sourceShift;
  if (isPairType(to)) {
    d.i.d = d.destination(0, to == Type::F16x2 || to == Type::BF16x2 ? Type::B32 : to == Type::E2M1x2 ? Type::B8 : Type::B16);
    if (isPairType(from)) { // from f16x2 down, or from 8-bit pairs up
      bool up = to == Type::F16x2 || to == Type::BF16x2;
      d.expectOperands(2, 2);
      d.i.a = d.source(1, up ? (from == Type::E2M1x2 ? Type::B8 : Type::B16) : Type::B32);
      if (!up) {
        d.i.flags = (d.i.flags & 0xFFFF) | uint32_t(from == Type::F16x2 ? Type::F16 : Type::BF16) << sourceShift;
        d.i.run = &convertToPair;
      } else {
        d.i.run = &convertFromPair;
      }
      return;
    }
    d.expectOperands(3, 3);
    d.i.a = d.source(1, from);
    d.i.b = d.source(2, from);
    d.i.run = from == Type::F32 ? &convertToPair : nullptr;
    return;
  }
  d.expectOperands(2, 2);
  // Without a mode: integers truncate toward zero, floats only widen.
  if (mode < 0 && isFloat(from) && !isFloat(to))
    d.fail("a rounding mode is missing");
  int bytes = 0;
  // Operands may be wider than their types (ISA 9.4.1), to registers that hold them.
  d.i.a = d.sourceOfAnyWidth(d.operand(1), from, bytes);
  d.i.flags |= bytes == 8 ? wideSource : 0u;
  bool sourceFits = bytes >= bytesOf(from);
  d.i.d = d.destinationOfAnyWidth(d.operand(0), to, bytes);
  d.i.flags |= bytes == 8 ? wideResult : 0u;
  if (!sourceFits || bytes < bytesOf(to) || bytes > 8)
    d.fail("a register is too narrow for the type");
  Type actual = d.registerType(d.operand(0));
  d.i.imm = actual == Type::None ? 4 : std::min(bytesOf(actual), 4);
  if (isFloat(to))
    d.i.imm = bytesOf(to);
  d.i.run = fastHandler(to, from, d.i.flags);
  // The loops write as many bits as their type has.
  if (!d.i.run || (!isFloat(to) && bytesOf(to) < 4))
    d.i.run = &convert;
}

} // namespace tk::emulated
