// The peers' loops. The vectors are written out, so that the measure doesn't hang on what the auto-vectorizer makes of a reduction.
#include "test/bench/Peers.h"
#include <bit>
#include <cstring>

namespace tk::bench {

void addLoop(const float *__restrict x, const float *__restrict y, float *__restrict out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    out[i] = x[i] + y[i];
}

namespace {

#ifdef __AVX512F__
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif
using Floats = float __attribute__((vector_size(kLanes * 4)));
using Ints = int32_t __attribute__((vector_size(kLanes * 4)));

Floats load(const float *from) {
  Floats result;
  std::memcpy(&result, from, sizeof result);
  return result;
}
void store(float *to, Floats value) { std::memcpy(to, &value, sizeof value); }
Floats splat(float value) { return value - Floats{}; }

// exp(v) = 2^n * exp(f) with n = round(v / ln 2) and |f| <= ln 2 / 2; ln 2 is split in two so that f is exact to the last place.
Floats exponential(Floats v) {
  v = __builtin_elementwise_max(v, splat(-87.3f));
  v = __builtin_elementwise_min(v, splat(88.3f));
  const Floats n = __builtin_elementwise_roundeven(v * 1.442695041f);
  const Floats f = (v - n * 0.693145751953125f) - n * 1.428606765330187e-06f;
  Floats p = f * splat(1.0f / 5040) + 1.0f / 720;
  p = p * f + 1.0f / 120;
  p = p * f + 1.0f / 24;
  p = p * f + 1.0f / 6;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  const Ints scale = (__builtin_convertvector(n, Ints) + 127) << 23;
  return p * std::bit_cast<Floats>(scale);
}

float largestOf(Floats v) { return __builtin_reduce_max(v); }
float sumOf(Floats v) {
  float total = 0;
  for (int i = 0; i < kLanes; ++i)
    total += v[i];
  return total;
}

void softmaxRow(const float *x, float *out, int64_t columns) {
  constexpr int64_t kStep = 4 * kLanes;
  const float lowest = -__builtin_inff();
  Floats largest[4] = {splat(lowest), splat(lowest), splat(lowest), splat(lowest)};
  int64_t i = 0;
  for (; i + kStep <= columns; i += kStep)
    for (int j = 0; j < 4; ++j)
      largest[j] = __builtin_elementwise_max(largest[j], load(x + i + j * kLanes));
  float top = largestOf(__builtin_elementwise_max(__builtin_elementwise_max(largest[0], largest[1]), __builtin_elementwise_max(largest[2], largest[3])));
  for (; i < columns; ++i)
    top = x[i] > top ? x[i] : top;

  Floats sums[4] = {splat(0), splat(0), splat(0), splat(0)};
  for (i = 0; i + kStep <= columns; i += kStep)
    for (int j = 0; j < 4; ++j) {
      const Floats power = exponential(load(x + i + j * kLanes) - top);
      store(out + i + j * kLanes, power);
      sums[j] += power;
    }
  float total = sumOf((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i + kLanes <= columns; i += kLanes) {
    const Floats power = exponential(load(x + i) - top);
    store(out + i, power);
    total += sumOf(power);
  }
  if (i < columns) {
    // The rest as one vector whose missing lanes are minus a lot: they add nothing.
    Floats rest = splat(-1000.0f) + top;
    std::memcpy(&rest, x + i, (columns - i) * sizeof(float));
    const Floats power = exponential(rest - top);
    std::memcpy(out + i, &power, (columns - i) * sizeof(float));
    for (int64_t j = 0; j < columns - i; ++j)
      total += power[j];
  }

  const float scale = 1.0f / total;
  for (i = 0; i < columns; ++i)
    out[i] *= scale;
}

} // namespace

void softmaxRows(const float *x, float *out, int64_t columns, int64_t firstRow, int64_t endRow) {
  for (int64_t row = firstRow; row < endRow; ++row)
    softmaxRow(x + row * columns, out + row * columns, columns);
}

namespace {

void layerNormRow(const float *__restrict x, const float *__restrict weight, const float *__restrict bias, float *__restrict out, int64_t columns, float eps) {
  constexpr int64_t kStep = 4 * kLanes;
  Floats sums[4] = {splat(0), splat(0), splat(0), splat(0)};
  int64_t i = 0;
  for (; i + kStep <= columns; i += kStep)
    for (int j = 0; j < 4; ++j)
      sums[j] += load(x + i + j * kLanes);
  float total = sumOf((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < columns; ++i)
    total += x[i];
  const float mean = total / static_cast<float>(columns);

  Floats squares[4] = {splat(0), splat(0), splat(0), splat(0)};
  for (i = 0; i + kStep <= columns; i += kStep)
    for (int j = 0; j < 4; ++j) {
      const Floats apart = load(x + i + j * kLanes) - mean;
      squares[j] += apart * apart;
    }
  float variance = sumOf((squares[0] + squares[1]) + (squares[2] + squares[3]));
  for (; i < columns; ++i)
    variance += (x[i] - mean) * (x[i] - mean);
  const float scale = 1.0f / __builtin_sqrtf(variance / static_cast<float>(columns) + eps);

  for (i = 0; i < columns; ++i)
    out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

float widen(float value) { return value; }
float widen(Bf16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

template <typename T> void multiplyRows(const T *__restrict a, const T *__restrict b, float *__restrict c, int64_t n, int64_t firstRow, int64_t endRow) {
  constexpr int64_t kDepth = 64, kColumns = 256;
  std::memset(c + firstRow * n, 0, (endRow - firstRow) * n * sizeof(float));
  for (int64_t k0 = 0; k0 < n; k0 += kDepth)
    for (int64_t j0 = 0; j0 < n; j0 += kColumns) {
      const int64_t kEnd = k0 + kDepth < n ? k0 + kDepth : n, jEnd = j0 + kColumns < n ? j0 + kColumns : n;
      for (int64_t i = firstRow; i < endRow; ++i)
        for (int64_t k = k0; k < kEnd; ++k) {
          const float item = widen(a[i * n + k]);
          for (int64_t j = j0; j < jEnd; ++j)
            c[i * n + j] += item * widen(b[k * n + j]);
        }
    }
}

} // namespace

void layerNormRows(const float *x, const float *weight, const float *bias, float *out, int64_t columns, float eps, int64_t firstRow, int64_t endRow) {
  for (int64_t row = firstRow; row < endRow; ++row)
    layerNormRow(x + row * columns, weight, bias, out + row * columns, columns, eps);
}

void matmulRows(const float *a, const float *b, float *c, int64_t n, int64_t firstRow, int64_t endRow) { multiplyRows(a, b, c, n, firstRow, endRow); }
void matmulRows(const Bf16 *a, const Bf16 *b, float *c, int64_t n, int64_t firstRow, int64_t endRow) { multiplyRows(a, b, c, n, firstRow, endRow); }

float expOnce(float value) { return exponential(splat(value))[0]; }

} // namespace tk::bench
