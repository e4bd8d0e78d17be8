#include "runtime/device/emulated/NumberFormats.h"

namespace tk::emulated {

uint32_t FloatFormat::nan() const { return top == Top::Finite ? largestFinite() : signBit() - 1; }

uint32_t FloatFormat::largestFinite() const {
  switch (top) {
  case Top::Ieee: return infinity() - 1;
  case Top::NanOnly: return signBit() - 2;
  case Top::Finite: return signBit() - 1;
  }
  return 0;
}

double decodeFloat(const FloatFormat &format, uint32_t bits) {
  uint32_t magnitude = bits & (format.signBit() - 1), mantissaMask = (1u << format.mantissaBits) - 1;
  bool negative = bits & format.signBit();
  int exponent = int(magnitude >> format.mantissaBits);
  double value;
  if (format.top == FloatFormat::Top::Ieee && magnitude >= format.infinity())
    value = magnitude == format.infinity() ? INFINITY : NAN;
  else if (format.top == FloatFormat::Top::NanOnly && magnitude == format.nan())
    value = NAN;
  else if (exponent == 0)
    value = std::ldexp(double(magnitude & mantissaMask), 1 - format.bias - format.mantissaBits);
  else
    value = std::ldexp(double((magnitude & mantissaMask) | (mantissaMask + 1)), exponent - format.bias - format.mantissaBits);
  return negative ? -value : value;
}

uint32_t encodeFloat(const FloatFormat &format, double value, Rounding rounding, bool saturate) {
  if (std::isnan(value))
    return format.nan();
  bool negative = std::signbit(value);
  uint32_t sign = negative ? format.signBit() : 0;
  double magnitude = std::fabs(value);
  bool away = rounding == Rounding::Up ? !negative : rounding == Rounding::Down ? negative : false;
  uint32_t largest = format.largestFinite();
  if (std::isinf(magnitude))
    return sign | (saturate || format.top == FloatFormat::Top::Finite ? largest : format.top == FloatFormat::Top::NanOnly ? format.nan() : format.infinity());
  if (magnitude == 0)
    return sign;
  // Scale so that the unit of the last place is 1, round to an integer, and read exponent and mantissa off as one number.
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  double scaled = std::ldexp(magnitude, format.mantissaBits - exponent), whole = std::floor(scaled), rest = scaled - whole;
  if (rest > 0) {
    bool up = false;
    switch (rounding) {
    case Rounding::NearestEven: up = rest > 0.5 || (rest == 0.5 && (uint64_t(whole) & 1)); break;
    case Rounding::NearestAway: up = rest >= 0.5; break;
    case Rounding::Zero: break;
    case Rounding::Down:
    case Rounding::Up: up = away; break;
    }
    whole += up;
  }
  // `whole` has the hidden bit when the number is normal, so that adding it to the exponent below carries it in.
  uint64_t code = (uint64_t(exponent + format.bias - 1) << format.mantissaBits) + uint64_t(whole);
  if (code > largest) {
    bool toInfinity = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway || away;
    if (saturate || !toInfinity || format.top == FloatFormat::Top::Finite)
      return sign | largest;
    return sign | (format.top == FloatFormat::Top::NanOnly ? format.nan() : format.infinity());
  }
  return sign | uint32_t(code);
}

double oddFma(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum) || sum == product || sum == c) {
    if (!std::isfinite(sum))
      return sum;
  }
  // What the sum lost (Knuth): exact.
  double bigger = sum - product, lost = (product - (sum - bigger)) + (c - bigger);
  if (lost == 0)
    return sum;
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (!(bits & 1))
    // The true value lies between `sum` and a neighbour: that one is odd.
    bits += (lost > 0) == (sum > 0) ? 1 : -1;
  return std::bit_cast<double>(bits);
}

} // namespace tk::emulated
