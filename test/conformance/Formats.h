// Floating-point formats by their definition, as a reference that shares no code with the compiler, the interpreter or the runtime.
//
// A format is the table of the values of its codes; rounding is a search in that table. Nothing is clever here: sign, exponent and mantissa are taken apart by the book.
#pragma once
#include "tk/dtype.h"
#include <cstdint>

namespace tk::conformance {

enum class Rounding { NearestEven, TowardZero };

/// The value of a code; NaN where it is one. Integers too (64-bit ones rounded).
double decode(DType type, uint64_t bits);
/// One rounding from `value`. fp16, bf16 and fp32 overflow to infinity (toward zero: to the largest finite value), the fp8 kinds saturate, infinities included; integers truncate
/// toward zero, saturate, and take NaN to 0; i1 is `value != 0`.
uint64_t encode(DType type, double value, Rounding rounding = Rounding::NearestEven);
/// Low bits of an integer; a float type rounds once.
uint64_t encodeInteger(DType type, __int128 value);
/// A code as an integer, by the signedness of the type.
__int128 decodeInteger(DType type, uint64_t bits);

bool isNan(DType type, uint64_t bits);
/// The distance of two codes in steps of their format, both zeros being one.
double ulpDistance(DType type, uint64_t a, uint64_t b);

} // namespace tk::conformance
