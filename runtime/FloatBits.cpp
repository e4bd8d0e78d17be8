// One generic rounding over a table of formats: exponent and mantissa widths, bias, and what stands for infinity and NaN.
#include "runtime/FloatBits.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tk {

namespace {
enum class Specials : uint8_t { Ieee, NanOnly, Fnuz, None };

struct Format {
  unsigned exponentBits, mantissaBits;
  int bias;
  Specials specials;
  bool saturates;
};

constexpr Format formatOf(DType type) {
  switch (type) {
  case DType::F8E4M3FN: return {4, 3, 7, Specials::NanOnly, true};
  case DType::F8E5M2: return {5, 2, 15, Specials::Ieee, true};
  case DType::F8E4M3FNUZ: return {4, 3, 8, Specials::Fnuz, true};
  case DType::F8E5M2FNUZ: return {5, 2, 16, Specials::Fnuz, true};
  case DType::F8E4B15: return {4, 3, 15, Specials::None, true};
  case DType::F16: return {5, 10, 15, Specials::Ieee, false};
  case DType::BF16: return {8, 7, 127, Specials::Ieee, false};
  case DType::F32: return {8, 23, 127, Specials::Ieee, false};
  default: return {11, 52, 1023, Specials::Ieee, false};
  }
}

/// The code of the largest finite magnitude.
constexpr uint64_t maxCode(Format f) {
  uint64_t all = (uint64_t(1) << (f.exponentBits + f.mantissaBits)) - 1;
  switch (f.specials) {
  case Specials::Ieee: return all - (uint64_t(1) << f.mantissaBits);
  case Specials::NanOnly: return all - 1;
  default: return all;
  }
}

uint64_t signBit(Format f) { return uint64_t(1) << (f.exponentBits + f.mantissaBits); }

uint64_t nanCode(Format f) {
  if (f.specials == Specials::Fnuz)
    return signBit(f);
  if (f.specials == Specials::NanOnly)
    return signBit(f) - 1;
  return (signBit(f) - 1) & ~((uint64_t(1) << (f.mantissaBits - 1)) - 1); // quiet: exponent and the top mantissa bit
}

/// fp8e4b15 from a double, by way of a truncated fp16 (magnitude bits: the two formats share their bias).
uint64_t encodeE4B15(double value) {
  uint64_t sign = std::signbit(value) ? 0x80 : 0;
  double magnitude = std::fabs(value);
  if (!(magnitude < 1.75))
    return sign | 0x7e;
  uint64_t half = magnitude < 0x1p-14 ? static_cast<uint64_t>(magnitude * 0x1p24) : 0;
  if (magnitude >= 0x1p-14) {
    int exponent = std::ilogb(magnitude);
    half = (static_cast<uint64_t>(exponent + 15) << 10) | (static_cast<uint64_t>(std::ldexp(magnitude, 10 - exponent)) & 0x3ff);
  }
  return sign | ((half + 0x40) >> 7);
}

uint64_t encodeFloat(DType type, double value) {
  if (type == DType::F64)
    return std::bit_cast<uint64_t>(value);
  if (type == DType::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == DType::F8E4B15)
    return encodeE4B15(value);
  Format f = formatOf(type);
  if (std::isnan(value))
    return nanCode(f) | (std::signbit(value) && f.specials != Specials::Fnuz ? signBit(f) : 0);
  uint64_t source = std::bit_cast<uint64_t>(value), sign = source >> 63 ? signBit(f) : 0, code;
  int exponent = static_cast<int>(source >> 52 & 0x7ff) - 1023; // double subnormals are below every format here: their result is 0
  uint64_t mantissa = (source & 0xfffffffffffff) | 0x10000000000000;
  if (exponent == 1024) {
    code = f.saturates ? maxCode(f) : maxCode(f) + 1;
  } else {
    int biased = exponent + f.bias, drop = 52 - static_cast<int>(f.mantissaBits);
    if (biased < 1)
      drop += 1 - biased, biased = 0; // subnormal: the implicit bit becomes explicit
    if (drop > 62 || exponent == -1023) {
      code = 0;
    } else {
      uint64_t kept = mantissa >> drop, rest = mantissa & ((uint64_t(1) << drop) - 1), half = uint64_t(1) << (drop - 1);
      kept += rest > half || (rest == half && (kept & 1));
      // A normal number's implicit bit adds one to the exponent field, as does a carry out of the mantissa.
      code = biased ? (static_cast<uint64_t>(biased - 1) << f.mantissaBits) + kept : kept;
      if (code > maxCode(f))
        code = f.saturates ? maxCode(f) : maxCode(f) + 1;
    }
  }
  return f.specials == Specials::Fnuz && code == 0 ? 0 : sign | code;
}

double decodeFloat(DType type, uint64_t bits) {
  if (type == DType::F64)
    return std::bit_cast<double>(bits);
  if (type == DType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  Format f = formatOf(type);
  bool negative = bits & signBit(f);
  uint64_t magnitude = bits & (signBit(f) - 1), mantissa = magnitude & ((uint64_t(1) << f.mantissaBits) - 1), exponent = magnitude >> f.mantissaBits;
  double result;
  if (f.specials == Specials::Fnuz && negative && magnitude == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (f.specials != Specials::None && magnitude > maxCode(f))
    result = f.specials == Specials::Ieee && mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    result = std::ldexp(static_cast<double>(mantissa), 1 - f.bias - static_cast<int>(f.mantissaBits));
  else
    result = std::ldexp(static_cast<double>(mantissa | uint64_t(1) << f.mantissaBits), static_cast<int>(exponent) - f.bias - static_cast<int>(f.mantissaBits));
  return negative ? -result : result;
}

uint64_t lowBits(DType type, uint64_t bits) {
  unsigned width = bitsOf(type);
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}
} // namespace

uint64_t encodeInteger(DType type, int64_t value) {
  if (isFloat(type)) {
    // An integer beyond 2^53 rounds once, not twice: its low bits go into a sticky bit that no format here keeps.
    uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (type != DType::F64 && magnitude >> 53)
      magnitude = (magnitude & ~uint64_t(0x7ff)) | (magnitude & 0x7ff ? 0x800 : 0);
    double exact = static_cast<double>(magnitude);
    return encodeFloat(type, value < 0 ? -exact : exact);
  }
  return type == DType::I1 ? value != 0 : lowBits(type, static_cast<uint64_t>(value));
}

uint64_t encodeNumber(DType type, double value) {
  if (isFloat(type))
    return encodeFloat(type, value);
  if (type == DType::I1)
    return value != 0; // NaN is true
  if (std::isnan(value))
    return 0;
  unsigned width = bitsOf(type);
  double truncated = std::trunc(value);
  if (isSigned(type)) {
    double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
    int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - width);
    int64_t result = truncated >= limit ? largest : truncated < -limit ? -largest - 1 : static_cast<int64_t>(truncated);
    return lowBits(type, static_cast<uint64_t>(result));
  }
  if (truncated <= 0)
    return 0;
  return truncated >= std::ldexp(1.0, static_cast<int>(width)) ? lowBits(type, ~uint64_t(0)) : static_cast<uint64_t>(truncated);
}

double decodeNumber(DType type, uint64_t bits) {
  if (isFloat(type))
    return decodeFloat(type, lowBits(type, bits));
  if (type == DType::U64)
    return static_cast<double>(bits);
  return static_cast<double>(decodeInteger(type, bits));
}

int64_t decodeInteger(DType type, uint64_t bits) {
  if (isFloat(type))
    return static_cast<int64_t>(encodeNumber(DType::I64, decodeFloat(type, lowBits(type, bits))));
  if (type == DType::I1)
    return (bits & 0xff) != 0;
  bits = lowBits(type, bits);
  unsigned shift = 64 - bitsOf(type);
  return isSigned(type) ? static_cast<int64_t>(bits << shift) >> shift : static_cast<int64_t>(bits);
}

double largestFinite(DType type) { return decodeFloat(type, type == DType::F8E4B15 ? 0x7e : maxCode(formatOf(type))); }

double unitSpacing(DType type) { return std::ldexp(1.0, -static_cast<int>(formatOf(type).mantissaBits)); }

uint64_t loadBits(DType type, const void *data, int64_t index) {
  uint64_t bits = 0;
  unsigned bytes = bytesOf(type);
  std::memcpy(&bits, static_cast<const char *>(data) + index * bytes, bytes);
  return bits;
}

void storeBits(DType type, void *data, int64_t index, uint64_t bits) {
  unsigned bytes = bytesOf(type);
  std::memcpy(static_cast<char *>(data) + index * bytes, &bits, bytes);
}

} // namespace tk
