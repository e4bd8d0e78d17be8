// Codes and roundings, by integer arithmetic on the bits of a double.
#include "compiler/interpret/FloatFormats.h"
#include <cmath>

namespace tk::interpret {
namespace {

constexpr uint64_t signBit = uint64_t(1) << 63;
constexpr uint64_t hiddenBit = uint64_t(1) << 52;
constexpr uint64_t exponentMask = uint64_t(0x7ff) << 52;
constexpr uint64_t quietBit = uint64_t(1) << 51;

constexpr FormatInfo formats[] = {
    {8, 3, 7, 448, false, false, true},
    {8, 2, 15, 57344, true, false, true},
    {8, 3, 8, 240, false, true, true},
    {8, 2, 16, 57344, false, true, true},
    {16, 10, 15, 65504, true, false, false},
    {16, 7, 127, 0x1.fep127, true, false, false},
    {32, 23, 127, 0x1.fffffep127, true, false, false},
    {64, 52, 1023, 0x1.fffffffffffffp1023, true, false, false},
};

/// The code of NaN with the payload that `value` has room for.
uint64_t encodeNan(const FormatInfo &info, double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (info.isUnsignedZero)
    return uint64_t(1) << (info.bits - 1);
  uint64_t sign = (bits >> 63) << (info.bits - 1);
  uint64_t exponent = ((uint64_t(1) << (info.bits - 1)) - 1) >> info.mantissaBits << info.mantissaBits;
  if (!info.hasInfinity) // one NaN: all ones
    return sign | exponent | ((uint64_t(1) << info.mantissaBits) - 1);
  uint64_t payload = (bits & (hiddenBit - 1)) >> (52 - info.mantissaBits);
  if (!payload)
    payload = uint64_t(1) << (info.mantissaBits - 1);
  return sign | exponent | payload;
}

/// NaN as a conversion delivers it: quiet, with the leading payload bits.
double convertNan(const FormatInfo &info, double value) {
  if (info.isUnsignedZero)
    return quietNan();
  uint64_t bits = std::bit_cast<uint64_t>(value) | quietBit;
  uint64_t dropped = (uint64_t(1) << (52 - info.mantissaBits)) - 1;
  return std::bit_cast<double>(bits & ~dropped);
}

double overflowed(const FormatInfo &info, bool negative, bool wasInfinite, Rounding rounding) {
  double magnitude = info.saturates || (rounding == Rounding::TowardZero && !wasInfinite) ? info.maxFinite : infinity();
  return negative ? -magnitude : magnitude;
}

} // namespace

const FormatInfo &infoOf(Format format) { return formats[size_t(format)]; }

double powerOfTwo(int exponent) {
  if (exponent >= -1022)
    return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
  return exponent < -1074 ? 0.0 : std::bit_cast<double>(uint64_t(1) << (exponent + 1074));
}

double FormatInfo::unitRoundoff() const { return powerOfTwo(-mantissaBits - 1); }
double FormatInfo::smallestSubnormal() const { return powerOfTwo(minExponent() - mantissaBits); }

double decode(Format format, uint64_t code) {
  if (format == Format::F64)
    return std::bit_cast<double>(code);
  const FormatInfo &info = infoOf(format);
  uint64_t sign = (code >> (info.bits - 1) & 1) << 63;
  uint64_t mantissa = code & ((uint64_t(1) << info.mantissaBits) - 1);
  int exponentBits = info.bits - 1 - info.mantissaBits;
  uint64_t topExponent = (uint64_t(1) << exponentBits) - 1;
  uint64_t exponent = code >> info.mantissaBits & topExponent;
  if (info.isUnsignedZero) {
    if (sign && !exponent && !mantissa)
      return quietNan();
  } else if (info.hasInfinity) {
    if (exponent == topExponent)
      return std::bit_cast<double>(sign | exponentMask | mantissa << (52 - info.mantissaBits));
  } else if (exponent == topExponent && mantissa == (uint64_t(1) << info.mantissaBits) - 1) {
    return std::bit_cast<double>(sign | exponentMask | quietBit);
  }
  if (exponent)
    return std::bit_cast<double>(sign | (exponent - info.bias + 1023) << 52 | mantissa << (52 - info.mantissaBits));
  double magnitude = double(mantissa) * info.smallestSubnormal();
  return std::bit_cast<double>(sign | std::bit_cast<uint64_t>(magnitude));
}

uint64_t encode(Format format, double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (format == Format::F64)
    return bits;
  const FormatInfo &info = infoOf(format);
  if (isNan(value))
    return encodeNan(info, value);
  uint64_t sign = (bits >> 63) << (info.bits - 1);
  uint64_t magnitude = bits & ~signBit;
  if (!magnitude)
    return info.isUnsignedZero ? 0 : sign;
  if (magnitude == exponentMask) // only formats with infinities hold one
    return sign | ((uint64_t(1) << (info.bits - 1)) - 1) >> info.mantissaBits << info.mantissaBits;
  int exponent = int(magnitude >> 52) - 1023;
  if (exponent < info.minExponent())
    return sign | uint64_t(std::bit_cast<double>(magnitude) / info.smallestSubnormal());
  return sign | uint64_t(exponent + info.bias) << info.mantissaBits | (magnitude & (hiddenBit - 1)) >> (52 - info.mantissaBits);
}

double roundTo(Format format, double value, Rounding rounding) {
  const FormatInfo &info = infoOf(format);
  if (isNan(value))
    return convertNan(info, value);
  if (format == Format::F64)
    return value;
  if (format == Format::F32 && rounding == Rounding::NearestEven)
    return double(float(value));
  bool negative = signOf(value);
  double magnitude = clearSign(value);
  if (isInfinite(magnitude))
    return overflowed(info, negative, true, rounding);
  uint64_t bits = std::bit_cast<uint64_t>(magnitude);
  int exponent = int(bits >> 52) - 1023;
  if (exponent < info.minExponent()) {
    // A multiple of the smallest subnormal; the quotient is exact as a double because the divisor is a power of two.
    double quantum = info.smallestSubnormal(), quotient = magnitude / quantum;
    magnitude = (rounding == Rounding::TowardZero ? std::trunc(quotient) : std::nearbyint(quotient)) * quantum;
  } else {
    int dropped = 52 - info.mantissaBits;
    if (rounding == Rounding::NearestEven)
      bits += (uint64_t(1) << (dropped - 1)) - 1 + (bits >> dropped & 1);
    magnitude = std::bit_cast<double>(bits >> dropped << dropped);
    if (magnitude > info.maxFinite)
      return overflowed(info, negative, false, rounding);
  }
  if (info.isUnsignedZero && magnitude == 0)
    return 0;
  return negative ? -magnitude : magnitude;
}

double roundResult(Format format, double value) {
  if (format == Format::F64)
    return value;
  double single = isNan(value) ? value : double(float(value));
  return format == Format::F32 ? single : roundTo(format, single);
}

void roundResults(Format format, double *values, size_t count) {
  if (format == Format::F64)
    return;
  if (format == Format::F32) {
    for (size_t i = 0; i < count; ++i)
      values[i] = double(float(values[i]));
    return;
  }
  for (size_t i = 0; i < count; ++i)
    values[i] = roundResult(format, values[i]);
}

double ulpOf(Format format, double value) {
  const FormatInfo &info = infoOf(format);
  if (!isFinite(value))
    return 0;
  int exponent = int(std::bit_cast<uint64_t>(clearSign(value)) >> 52) - 1023;
  return powerOfTwo((exponent < info.minExponent() ? info.minExponent() : exponent) - info.mantissaBits);
}

double roundToOdd(long double value) {
  double nearest = double(value);
  long double error = value - (long double)(nearest);
  uint64_t bits = std::bit_cast<uint64_t>(nearest);
  if (error == 0 || !isFinite(nearest) || (bits & 1))
    return nearest;
  // Nearest is even and inexact: its odd neighbour toward the value.
  bool away = (error > 0) == !signOf(nearest);
  if (nearest == 0)
    return std::copysign(powerOfTwo(-1074), error > 0 ? 1.0 : -1.0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

double fusedMultiplyAdd(Format format, double a, double b, double c) {
  double product = a * b; // exact: at most 48 bits, and the exponents of narrower formats are small
  double sum = product + c;
  if (!isFinite(sum) || !isFinite(product))
    return roundTo(format, sum);
  // The exact error of the sum (Knuth), which is itself a double here.
  double added = sum - product, error = (product - (sum - added)) + (c - added);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error != 0 && !(bits & 1))
    sum = std::bit_cast<double>((error > 0) == !signOf(sum) ? bits + 1 : bits - 1);
  return roundTo(format, sum);
}

int lowestBitOf(double value) {
  if (value == 0 || !isFinite(value))
    return 4096;
  uint64_t bits = std::bit_cast<uint64_t>(value), mantissa = bits & (hiddenBit - 1);
  int exponent = int(bits >> 52 & 0x7ff);
  return (exponent ? exponent : 1) - 1075 + std::countr_zero(exponent ? mantissa | hiddenBit : mantissa);
}

double maximum(double a, double b) { return isNan(a) || isNan(b) ? quietNan() : a > b || (a == b && !signOf(a)) ? a : b; }
double minimum(double a, double b) { return isNan(a) || isNan(b) ? quietNan() : a < b || (a == b && signOf(a)) ? a : b; }
double maxNumber(double a, double b) { return isNan(a) ? b : isNan(b) ? a : maximum(a, b); }
double minNumber(double a, double b) { return isNan(a) ? b : isNan(b) ? a : minimum(a, b); }

double truncateToTf32(double value) {
  if (!isFinite(value))
    return value;
  // Values of fp32; subnormal ones lose the same bits of their code.
  uint32_t code = std::bit_cast<uint32_t>(float(value)) & 0xffffe000u;
  return double(std::bit_cast<float>(code));
}

} // namespace tk::interpret
