// Numbers to and from the bits of any element type, on the host.
//
// Floating-point types round once, to nearest with ties to even. fp16, bf16 and fp32 overflow to infinity; the fp8 kinds saturate to their largest finite value,
// infinities included (NUMERICS 5). NaN stays NaN; the FNUZ kinds have one NaN and no negative zero; fp8e4b15 has neither NaN nor infinity: it truncates to fp16,
// clamps the magnitude to 1.75 (NaN too) and rounds half up. Integers keep their low bits; from a double they truncate toward zero, saturate, and take NaN to 0.
#pragma once
#include "tk/dtype.h"

namespace tk {

/// The bits of `value` in `type`, in the low bits of the result.
uint64_t encodeNumber(DType type, double value);
uint64_t encodeInteger(DType type, int64_t value);
/// The value of the low bits. 64-bit integers round to the nearest double.
double decodeNumber(DType type, uint64_t bits);
/// The same as an integer: floats truncate toward zero and saturate, NaN gives 0; u64 keeps its bits.
int64_t decodeInteger(DType type, uint64_t bits);
/// The largest finite value, and the distance from 1 to the next larger value, of a floating-point type.
double largestFinite(DType type);
double unitSpacing(DType type);

/// Reads or writes element `index` of an array.
uint64_t loadBits(DType type, const void *data, int64_t index);
void storeBits(DType type, void *data, int64_t index, uint64_t bits);

} // namespace tk
