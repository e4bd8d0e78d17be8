// The floating-point formats of tt: their codes, and one rounding from a wider value to each.
//
// A value of any format is held as the double that is equal to it. Every format but fp64 fits a double with room to spare, so decoding is exact and rounding starts from a
// double. NaN keeps its sign and the leading bits of its payload, so that moving a value through registers keeps its code:
//
//   fp16 0x7e01 (NaN)  <->  double 0x7ff8040000000000        fp16 0x3c01  <->  double 1 + 2^-10
//
// Rules: round to nearest, ties to even, or toward zero; fp16, bf16, fp32, fp64 overflow to infinity; the 8-bit formats saturate to their largest finite value, infinities
// too; NaN stays NaN; the fnuz formats have neither -0 nor infinity.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tk::interpret {

enum class Format : uint8_t { F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F16, BF16, F32, F64 };
enum class Rounding : uint8_t { NearestEven, TowardZero };

struct FormatInfo {
  int bits;          // of a code
  int mantissaBits;  // stored, without the hidden one
  int bias;          // of the exponent field
  double maxFinite;
  bool hasInfinity;  // infinities have codes
  bool isUnsignedZero; // fnuz: the code of -0 is the only NaN
  bool saturates;    // overflow gives the largest finite value

  int minExponent() const { return 1 - bias; }               // of the smallest normal value
  double unitRoundoff() const;                               // half the distance from 1 to the next value
  double smallestSubnormal() const;
};

const FormatInfo &infoOf(Format format);

/// 2^exponent, for exponents of doubles, subnormal ones included.
double powerOfTwo(int exponent);

/// The value of a code. Exact; NaN payloads are kept.
double decode(Format format, uint64_t code);
/// The code of a value that the format holds exactly (NaN: its leading payload bits, never zero).
uint64_t encode(Format format, double value);
/// One rounding from an exact value.
double roundTo(Format format, double value, Rounding rounding = Rounding::NearestEven);
/// What an operation of the format gives for the exact result `value`: one rounding, but for formats of 16 and 8 bits two, as their arithmetic is that of fp32.
double roundResult(Format format, double value);
/// roundResult for many.
void roundResults(Format format, double *values, size_t count);

/// The distance between adjacent values of the format near `value`.
double ulpOf(Format format, double value);
/// `value` as a double, with the last bit set when digits were lost: a later rounding to a format of at most 50 mantissa bits is then a single one.
double roundToOdd(long double value);
/// a * b + c with a single rounding, for values of a format narrower than fp64.
double fusedMultiplyAdd(Format format, double a, double b, double c);

/// The position of the lowest bit set: `value` is an odd multiple of 2^result. 4096 for 0, infinities and NaN.
int lowestBitOf(double value);

/// Selection by size where NaN wins, and where it loses; -0 is below +0.
double maximum(double a, double b);
double minimum(double a, double b);
double maxNumber(double a, double b);
double minNumber(double a, double b);

/// The operand of a dot at reduced precision: the lowest 13 bits of an fp32 mantissa dropped.
double truncateToTf32(double value);

inline bool isNan(double value) { return value != value; }
inline bool isInfinite(double value) { return (std::bit_cast<uint64_t>(value) & 0x7fffffffffffffff) == 0x7ff0000000000000; }
inline bool isFinite(double value) { return (std::bit_cast<uint64_t>(value) & 0x7ff0000000000000) != 0x7ff0000000000000; }
inline double flipSign(double value) { return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ (uint64_t(1) << 63)); }
inline double clearSign(double value) { return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & ~(uint64_t(1) << 63)); }
inline bool signOf(double value) { return std::bit_cast<uint64_t>(value) >> 63; }
inline double quietNan() { return std::bit_cast<double>(uint64_t(0x7ff8000000000000)); }
inline double infinity() { return std::bit_cast<double>(uint64_t(0x7ff0000000000000)); }

} // namespace tk::interpret
