// What a good C++ programmer would have written by hand: the loops that our kernels are measured against. Compiled with -O3 -march=native.
#pragma once
#include <cstdint>

namespace tk::bench {

void addLoop(const float *x, const float *y, float *out, int64_t begin, int64_t end);
/// Three passes over each row: the largest element; exp of the difference and its sum; the scaling. exp is a polynomial over vectors, within 2 ulp.
void softmaxRows(const float *x, float *out, int64_t columns, int64_t firstRow, int64_t endRow);
/// The polynomial, for the check that it is right.
float expOnce(float value);

} // namespace tk::bench
