// See Formats.h.
#include "test/conformance/Formats.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace tk::conformance {

namespace {
/// What IEEE leaves out and each small format decides for itself.
struct Shape {
  unsigned exponentBits, mantissaBits;
  int bias;
  enum { Ieee, NanIsLast, Fnuz, FiniteOnly } specials;
  bool saturates;
};

Shape shapeOf(DType type) {
  switch (type) {
  case DType::F8E4M3FN: return {4, 3, 7, Shape::NanIsLast, true};
  case DType::F8E5M2: return {5, 2, 15, Shape::Ieee, true};
  case DType::F8E4M3FNUZ: return {4, 3, 8, Shape::Fnuz, true};
  case DType::F8E5M2FNUZ: return {5, 2, 16, Shape::Fnuz, true};
  case DType::F8E4B15: return {4, 3, 15, Shape::FiniteOnly, true};
  case DType::BF16: return {8, 7, 127, Shape::Ieee, false};
  case DType::F16: return {5, 10, 15, Shape::Ieee, false};
  default: return {8, 23, 127, Shape::Ieee, false};
  }
}

double decodeShape(Shape shape, unsigned bits, uint64_t code) {
  uint64_t mantissa = code & ((1u << shape.mantissaBits) - 1), exponent = (code >> shape.mantissaBits) & ((1u << shape.exponentBits) - 1);
  bool negative = code >> (bits - 1);
  uint64_t last = (1u << shape.exponentBits) - 1;
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (shape.specials == Shape::Fnuz && negative && !exponent && !mantissa)
    return nan;
  if (shape.specials == Shape::NanIsLast && exponent == last && mantissa == (1u << shape.mantissaBits) - 1)
    return nan;
  double value;
  if (shape.specials == Shape::Ieee && exponent == last)
    value = mantissa ? nan : std::numeric_limits<double>::infinity();
  else if (exponent)
    value = std::ldexp(1.0 + std::ldexp(static_cast<double>(mantissa), -static_cast<int>(shape.mantissaBits)), static_cast<int>(exponent) - shape.bias);
  else
    value = std::ldexp(static_cast<double>(mantissa), 1 - shape.bias - static_cast<int>(shape.mantissaBits));
  return negative ? -value : value;
}

/// The finite values of the codes without a sign, in order: a code's place is the code itself.
const std::vector<double> &magnitudes(DType type) {
  static std::vector<double> tables[32];
  std::vector<double> &table = tables[static_cast<unsigned>(type)];
  if (table.empty())
    for (uint64_t code = 0; code < (uint64_t(1) << (bitsOf(type) - 1)); ++code) {
      double value = decodeShape(shapeOf(type), bitsOf(type), code);
      if (!std::isfinite(value))
        break;
      table.push_back(value);
    }
  return table;
}

uint64_t quietNan(DType type) {
  switch (type) {
  case DType::F8E4M3FN: return 0x7f;
  case DType::F8E5M2: return 0x7f;
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ: return 0x80;
  case DType::F8E4B15: return 0x7f;
  case DType::BF16: return 0x7fc0;
  default: return 0x7e00;
  }
}

/// Code of the magnitude before the sign.
uint64_t encodeMagnitude(DType type, double value, Rounding rounding) {
  const std::vector<double> &table = magnitudes(type);
  bool saturates = shapeOf(type).saturates;
  uint64_t last = table.size() - 1, infinity = table.size();
  if (std::isinf(value))
    return saturates ? last : infinity;
  if (value >= table[last]) {
    // Where the next value would be if the exponent went on.
    double limit = table[last] + (table[last] - table[last - 1]) / 2;
    return saturates || rounding == Rounding::TowardZero || value < limit ? last : infinity;
  }
  uint64_t above = static_cast<uint64_t>(std::upper_bound(table.begin(), table.end(), value) - table.begin()), below = above - 1;
  double down = value - table[below], up = table[above] - value;
  if (rounding == Rounding::TowardZero || down < up || (down == up && below % 2 == 0))
    return below;
  return above;
}
} // namespace

double decode(DType type, uint64_t bits) {
  if (type == DType::F64)
    return std::bit_cast<double>(bits);
  if (type == DType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (!isFloat(type))
    return static_cast<double>(decodeInteger(type, bits));
  return decodeShape(shapeOf(type), bitsOf(type), bits);
}

__int128 decodeInteger(DType type, uint64_t bits) {
  unsigned unused = 64 - bitsOf(type);
  if (isFloat(type))
    return static_cast<__int128>(decode(type, bits));
  if (isUnsigned(type))
    return static_cast<__int128>(bits << unused >> unused);
  return static_cast<int64_t>(bits << unused) >> unused;
}

uint64_t encodeInteger(DType type, __int128 value) {
  if (type == DType::F64)
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  if (type == DType::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (isFloat(type)) {
    // What a double can't hold becomes one sticky bit, which is enough to round to a format this small.
    int shift = 0;
    __int128 magnitude = value < 0 ? -value : value;
    for (; magnitude >> 53; ++shift)
      magnitude = magnitude >> 1 | (magnitude & 1);
    double wide = std::ldexp(static_cast<double>(magnitude), shift);
    return encode(type, value < 0 ? -wide : wide);
  }
  unsigned unused = 64 - bitsOf(type);
  return static_cast<uint64_t>(value) << unused >> unused;
}

uint64_t encode(DType type, double value, Rounding rounding) {
  if (type == DType::F64)
    return std::bit_cast<uint64_t>(value);
  if (type == DType::F32) {
    float nearest = static_cast<float>(value);
    if (rounding == Rounding::TowardZero && std::fabs(nearest) > std::fabs(value))
      nearest = std::nextafter(nearest, 0.0f);
    return std::bit_cast<uint32_t>(nearest);
  }
  if (type == DType::I1)
    return value != 0;
  if (isFloat(type)) {
    if (std::isnan(value))
      return quietNan(type);
    bool negative = std::signbit(value);
    uint64_t code = encodeMagnitude(type, std::fabs(value), rounding);
    if (negative && code == 0 && shapeOf(type).specials == Shape::Fnuz)
      return 0;
    return code | (negative ? uint64_t(1) << (bitsOf(type) - 1) : 0);
  }
  if (std::isnan(value))
    return 0;
  long double low = isUnsigned(type) ? 0.0L : -std::ldexp(1.0L, static_cast<int>(bitsOf(type)) - 1);
  long double high = std::ldexp(1.0L, static_cast<int>(bitsOf(type)) - (isUnsigned(type) ? 0 : 1)) - 1;
  long double clamped = std::min(std::max(std::trunc(static_cast<long double>(value)), low), high);
  return encodeInteger(type, static_cast<__int128>(clamped));
}

bool isNan(DType type, uint64_t bits) { return isFloat(type) && std::isnan(decode(type, bits)); }

double ulpDistance(DType type, uint64_t a, uint64_t b) {
  unsigned unused = 64 - bitsOf(type);
  auto place = [&](uint64_t code) {
    bool negative = code >> (bitsOf(type) - 1);
    int64_t magnitude = static_cast<int64_t>((code << (unused + 1)) >> (unused + 1));
    return static_cast<long double>(negative ? -magnitude : magnitude);
  };
  return static_cast<double>(std::fabs(place(a) - place(b)));
}

} // namespace tk::conformance
