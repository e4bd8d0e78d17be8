// Float formats of PTX (section 5.2.2 and 5.2.3) in software: decoding is exact, encoding rounds once in any of the modes.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace tk::emulated {

enum class Rounding : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

struct FloatFormat {
  uint8_t exponentBits, mantissaBits;
  int8_t bias;
  enum class Top : uint8_t { Ieee, NanOnly, Finite } top; // what the largest exponent holds: infinity and NaN; NaN in the last code only (e4m3); numbers
  bool hasSign = true;
  uint32_t largestFinite() const;
  uint32_t infinity() const { return uint32_t((1u << exponentBits) - 1) << mantissaBits; }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  uint32_t nan() const;
};
inline constexpr FloatFormat formatF16{5, 10, 15, FloatFormat::Top::Ieee}, formatBF16{8, 7, 127, FloatFormat::Top::Ieee},
    formatF32{8, 23, 127, FloatFormat::Top::Ieee}, formatTF32{8, 10, 127, FloatFormat::Top::Ieee}, formatE5M2{5, 2, 15, FloatFormat::Top::Ieee},
    formatE4M3{4, 3, 7, FloatFormat::Top::NanOnly}, formatE2M3{2, 3, 1, FloatFormat::Top::Finite}, formatE3M2{3, 2, 3, FloatFormat::Top::Finite},
    formatE2M1{2, 1, 1, FloatFormat::Top::Finite};

/// `saturate`: too large becomes the largest finite number, infinities too. NaN gives the format's NaN, or its largest number where it has none.
uint32_t encodeFloat(const FloatFormat &format, double value, Rounding rounding, bool saturate = false);
double decodeFloat(const FloatFormat &format, uint32_t bits);

// Fast ones.
inline float halfToFloat(uint16_t bits) { return float(std::bit_cast<_Float16>(bits)); }
inline uint16_t floatToHalf(float value) { return value != value ? uint16_t(0x7FFF) : std::bit_cast<uint16_t>(_Float16(value)); }
inline float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return value != value ? uint16_t(0x7FFF) : uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
inline float tf32Of(uint32_t bits) { return std::bit_cast<float>(bits & 0xFFFFE000); }

/// a * b + c for factors of at most 24 bits of mantissa, rounded so that rounding once more to at most 50 bits is right (round to odd).
double oddFma(double a, double b, double c);

// Arithmetic in the directed modes.
template <typename T> T addRounded(T a, T b, Rounding rounding);
template <typename T> T mulRounded(T a, T b, Rounding rounding);
template <typename T> T fmaRounded(T a, T b, T c, Rounding rounding);
template <typename T> T divRounded(T a, T b, Rounding rounding);
template <typename T> T sqrtRounded(T a, Rounding rounding);
template <typename To, typename From> To integerRounded(From value, Rounding rounding);

} // namespace tk::emulated
