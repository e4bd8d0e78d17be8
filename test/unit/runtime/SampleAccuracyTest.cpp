// Samples against references in fp64 that share nothing with the compiler.
#include "Catch.h"
#include "tk/tk.h"
#include <cmath>
#include <random>

using namespace tk;

namespace {

Array randomNormal(DType type, std::vector<int64_t> shape, unsigned seed) {
  Array result(type, std::move(shape));
  std::mt19937 generator(seed);
  std::normal_distribution<double> distribution;
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i, distribution(generator));
  return result;
}

struct Errors {
  double norm = 0;    // of the difference, over the reference's
  double largest = 0; // of any element, over the sum of the magnitudes that make it up
};

struct AttentionCase {
  int64_t batch, heads, length, depth, blockM, blockN;
  bool causal;
};

/// Runs the sample and softmax(scale * q k^T) v in fp64 on the same inputs.
Errors attentionErrors(DType type, const AttentionCase &c) {
  const double scale = 1 / std::sqrt(static_cast<double>(c.depth));
  const std::vector<int64_t> shape = {c.batch, c.heads, c.length, c.depth};
  const Array q = randomNormal(type, shape, 1), k = randomNormal(type, shape, 2), v = randomNormal(type, shape, 3), out(type, shape);
  static const Kernel kernel = Module::fromFile(TKC_SOURCE_DIR "/samples/attention.tk").kernel("attention");
  kernel.launch({}, grid((c.length + c.blockM - 1) / c.blockM, c.batch * c.heads), q, k, v, out, static_cast<float>(scale), c.heads * c.length * c.depth,
                c.length * c.depth, c.depth, c.heads, c.length, meta("D", c.depth), meta("BLOCK_M", c.blockM), meta("BLOCK_N", c.blockN),
                meta("CAUSAL", c.causal));

  double difference = 0, size = 0;
  Errors errors;
  std::vector<double> weights(static_cast<size_t>(c.length));
  for (int64_t head = 0; head < c.batch * c.heads; ++head)
    for (int64_t m = 0; m < c.length; ++m) {
      const int64_t base = head * c.length * c.depth, end = c.causal ? m + 1 : c.length;
      double top = -INFINITY, total = 0;
      for (int64_t n = 0; n < end; ++n) {
        double score = 0;
        for (int64_t d = 0; d < c.depth; ++d)
          score += q.get(base + m * c.depth + d) * k.get(base + n * c.depth + d);
        weights[static_cast<size_t>(n)] = score * scale;
        top = std::max(top, score * scale);
      }
      for (int64_t n = 0; n < end; ++n)
        total += weights[static_cast<size_t>(n)] = std::exp(weights[static_cast<size_t>(n)] - top);
      for (int64_t d = 0; d < c.depth; ++d) {
        double expected = 0, magnitude = 0;
        for (int64_t n = 0; n < end; ++n) {
          const double term = weights[static_cast<size_t>(n)] / total * v.get(base + n * c.depth + d);
          expected += term, magnitude += std::fabs(term);
        }
        const double error = std::fabs(out.get(base + m * c.depth + d) - expected);
        if (!(error <= errors.largest * magnitude)) // a NaN counts as well
          errors.largest = error / magnitude;
        difference += error * error, size += expected * expected;
      }
    }
  errors.norm = std::sqrt(difference / size);
  return errors;
}

} // namespace

TEST_CASE("attention in fp16 agrees with fp64 within 2e-3") {
  const AttentionCase cases[] = {{1, 2, 128, 64, 64, 64, false}, {1, 2, 128, 64, 64, 64, true},  {2, 2, 200, 32, 64, 64, false}, {2, 2, 200, 32, 64, 64, true},
                                 {1, 1, 77, 64, 32, 16, true},   {1, 1, 65, 128, 16, 64, false}, {1, 1, 1, 16, 16, 16, true}};
  for (const AttentionCase &c : cases) {
    CAPTURE(c.length, c.depth, c.blockM, c.blockN, c.causal);
    const Errors errors = attentionErrors(DType::F16, c);
    CHECK(errors.norm < 2e-3);
    CHECK(errors.largest < 2e-3);
  }
}

TEST_CASE("attention in fp32 and bf16") {
  const AttentionCase cases[] = {{1, 2, 128, 64, 64, 64, false}, {1, 2, 100, 32, 32, 64, true}};
  for (const AttentionCase &c : cases) {
    CAPTURE(c.length, c.depth, c.causal);
    const Errors full = attentionErrors(DType::F32, c), brain = attentionErrors(DType::BF16, c);
    CHECK(full.norm < 1e-6);
    CHECK(full.largest < 2e-6);
    CHECK(brain.norm < 8e-3);
    CHECK(brain.largest < 8e-3);
  }
}

TEST_CASE("layer_norm agrees with fp64") {
  static const Kernel kernel = Module::fromFile(TKC_SOURCE_DIR "/samples/layer_norm.tk").kernel("layer_norm");
  for (const DType type : {DType::F32, DType::F16, DType::BF16})
    for (const int64_t columns : {1024, 1000, 33, 1}) {
      const int64_t rows = 9;
      int64_t block = 1;
      while (block < columns)
        block *= 2;
      const Array x = randomNormal(type, {rows, columns}, 4), weight = randomNormal(type, {columns}, 5), bias = randomNormal(type, {columns}, 6),
                  out(type, {rows, columns});
      const double eps = 1e-5f, unit = type == DType::F32 ? 1e-6 : type == DType::F16 ? 0x1p-11 : 0x1p-8;
      kernel.launch({}, grid(rows), x, out, weight, bias, columns, columns, static_cast<float>(eps), meta("BLOCK", block));
      double worst = 0;
      for (int64_t row = 0; row < rows; ++row) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < columns; ++i)
          mean += x.get(row * columns + i) / static_cast<double>(columns);
        for (int64_t i = 0; i < columns; ++i)
          variance += (x.get(row * columns + i) - mean) * (x.get(row * columns + i) - mean) / static_cast<double>(columns);
        for (int64_t i = 0; i < columns; ++i) {
          const double term = (x.get(row * columns + i) - mean) / std::sqrt(variance + eps) * weight.get(i), expected = term + bias.get(i);
          // One rounding to the type at the end, and fp32's own on the way.
          const double allowed = unit * std::fabs(expected) + 1e-6 * (std::fabs(term) + std::fabs(bias.get(i)) + std::fabs(weight.get(i)));
          const double error = std::fabs(out.get(row * columns + i) - expected) / allowed;
          if (!(error <= worst))
            worst = error;
        }
      }
      CAPTURE(spelling(type), columns);
      CHECK(worst <= 1);
    }
}
