// What a good C++ programmer would have written by hand: the loops that our kernels are measured against. Compiled with -O3 -march=native.
#pragma once
#include <cstdint>

namespace tk::bench {

void addLoop(const float *x, const float *y, float *out, int64_t begin, int64_t end);
/// Three passes over each row: the largest element; exp of the difference and its sum; the scaling. exp is a polynomial over vectors, within 2 ulp.
void softmaxRows(const float *x, float *out, int64_t columns, int64_t firstRow, int64_t endRow);
/// Two passes over a row for the moments (the row stays in the cache), one for the result.
void layerNormRows(const float *x, const float *weight, const float *bias, float *out, int64_t columns, float eps, int64_t firstRow, int64_t endRow);
/// Rows of c = a * b for n x n matrices: a row of c in turn gets each row of b times an element of a, in blocks that stay in the cache.
void matmulRows(const float *a, const float *b, float *c, int64_t n, int64_t firstRow, int64_t endRow);
struct Bf16 {
  uint16_t bits;
};
void matmulRows(const Bf16 *a, const Bf16 *b, float *c, int64_t n, int64_t firstRow, int64_t endRow);
/// The polynomial, for the check that it is right.
float expOnce(float value);

} // namespace tk::bench
