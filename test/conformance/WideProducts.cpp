// N8, A99: products of tiles that are wide enough for instructions of four warps, alone and in loops that fetch ahead: operands in either order of memory, loaded or computed, loops of no round and of few.
#include "test/conformance/Areas.h"

namespace tk::conformance {

namespace {
struct Shape {
  size_t m, n, k;
};

/// Whole numbers, so that every sum is exact.
Values whole(DType type, size_t count, size_t seed) {
  return generate(type, count, [&](size_t i) { return static_cast<double>((i * 7 + i / 5 * 3 + i / 64 + seed) % 7) - 3; });
}

struct Product {
  DType type = DType::BF16;
  Shape shape = {64, 64, 32};
  bool isATransposed = false, isBTransposed = false; // M fast, K fast
  const char *left = "x";                            // what is made of the loaded tile
  double leftScale = 1;
  int rounds = 3, stages = 3, warps = 4;
};

void addProduct(Suite &suite, const std::string &name, const Product &p) {
  const auto [m, n, k] = p.shape;
  const size_t rounds = static_cast<size_t>(p.rounds), depth = std::max<size_t>(1, rounds) * k;
  DType sum = p.type == DType::I8 ? DType::I32 : DType::F32;
  Values a = whole(p.type, m * depth, 1), b = whole(p.type, depth * n, 4);
  const size_t stepAM = p.isATransposed ? 1 : depth, stepAK = p.isATransposed ? m : 1, stepBK = p.isBTransposed ? 1 : n, stepBN = p.isBTransposed ? depth : 1;
  Values expected = generate(sum, m * n, [&](size_t i) {
    double total = 0;
    for (size_t t = 0; t < rounds * k; ++t)
      total += a.number(i / n * stepAM + t * stepAK) * p.leftScale * b.number(t * stepBK + i % n * stepBN);
    return total;
  });
  const auto text = [](size_t value) { return std::to_string(value); };
  suite
      .add("N8.wide." + name, substitute(R"(
def k(a, b, out, R):
    m = arange(0, $M)
    n = arange(0, $N)
    acc = zeros((m.shape[0], n.shape[0]), $T)
    for r in tl.range(0, R, num_stages=$S):
        t = r * $K + arange(0, $K)
        x = load(a + m[:, None] * $P + t[None, :] * $Q)
        y = load(b + t[:, None] * $U + n[None, :] * $V)
        acc = dot($L, y, acc)
    store(out + m[:, None] * $N + n[None, :], acc)
)",
                                         {{"M", text(m)},
                                          {"N", text(n)},
                                          {"K", text(k)},
                                          {"T", nameOf(sum)},
                                          {"S", std::to_string(p.stages)},
                                          {"P", text(stepAM)},
                                          {"Q", text(stepAK)},
                                          {"U", text(stepBK)},
                                          {"V", text(stepBN)},
                                          {"L", p.left}}))
      .in(a)
      .at(Placement::AgainstUpperPage)
      .in(b)
      .at(Placement::AgainstUpperPage)
      .out(expected)
      .value(static_cast<int64_t>(p.rounds))
      .withWarps(static_cast<unsigned>(p.warps));
}

void addProducts(Suite &suite) {
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::I8, DType::F8E4M3FN})
    for (bool isATransposed : {false, true})
      for (bool isBTransposed : {false, true})
        for (int warps : {4, 8}) {
          Product p{.type = type, .isATransposed = isATransposed, .isBTransposed = isBTransposed, .stages = warps == 4 ? 3 : 1, .warps = warps};
          addProduct(suite, nameOf(type) + (isATransposed ? ".m_fast" : ".k_fast") + (isBTransposed ? ".k_fast" : ".n_fast") + "." + std::to_string(warps), p);
        }
  for (Shape shape : {Shape{64, 16, 16}, Shape{64, 8, 64}, Shape{64, 256, 64}, Shape{128, 64, 32}, Shape{256, 32, 64}, Shape{64, 64, 128}, Shape{128, 128, 16}})
    for (int warps : {4, 8, 16})
      addProduct(suite, "shape." + std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) + "." + std::to_string(warps),
                 {.shape = shape, .warps = warps});
  for (int rounds : {0, 1, 2, 5})
    for (int stages : {1, 2, 3, 4})
      addProduct(suite, "rounds." + std::to_string(rounds) + "." + std::to_string(stages), {.rounds = rounds, .stages = stages});
  for (int warps : {4, 8})
    for (int stages : {1, 3}) {
      std::string end = "." + std::to_string(warps) + "." + std::to_string(stages);
      addProduct(suite, "computed" + end, {.left = "(x * 2).to(x.dtype)", .leftScale = 2, .stages = stages, .warps = warps});
      addProduct(suite, "transposed_view" + end, {.shape = {64, 64, 64}, .left = "trans(trans(x))", .stages = stages, .warps = warps});
    }
}

/// Two products a round, the second of what the first gives; the sum is changed between rounds.
void addChains(Suite &suite) {
  const size_t n = 64;
  Values q = generate(DType::BF16, n * n, [&](size_t i) { return i % n == i / n || i % n == (i / n + 1) % n ? 1.0 : 0.0; });
  for (int rounds : {0, 1, 2, 5})
    for (int stages : {1, 2, 3, 4})
      for (int warps : {4, 8}) {
        const size_t tiles = static_cast<size_t>(std::max(1, rounds));
        Values x = whole(DType::BF16, tiles * n * n, 2), y = whole(DType::BF16, tiles * n * n, 3);
        std::vector<double> total(n * n);
        for (size_t r = 0; r < static_cast<size_t>(rounds); ++r)
          for (size_t m = 0; m < n; ++m)
            for (size_t d = 0; d < n; ++d) {
              double sum = 0;
              for (size_t c = 0; c < n; ++c)
                sum += (x.number((r * n + c) * n + m) + x.number((r * n + c) * n + (m + 1) % n)) * y.number((r * n + c) * n + d);
              total[m * n + d] = total[m * n + d] * 0.5 + sum;
            }
        suite
            .add("A99.chain." + std::to_string(rounds) + "." + std::to_string(stages) + "." + std::to_string(warps), substitute(R"(
def k(q, x, y, out, R):
    i = arange(0, 64)
    a = load(q + i[:, None] * 64 + i[None, :])
    acc = zeros((64, 64), float32)
    for r in tl.range(0, R, num_stages=$S):
        c = r * 64 + i
        s = dot(a, load(x + c[None, :] * 64 + i[:, None]))
        acc = dot(s.to(bfloat16), load(y + c[:, None] * 64 + i[None, :]), acc * 0.5)
    store(out + i[:, None] * 64 + i[None, :], acc)
)", {{"S", std::to_string(stages)}}))
            .in(q)
            .in(x)
            .at(Placement::AgainstUpperPage)
            .in(y)
            .at(Placement::AgainstUpperPage)
            .out(generate(DType::F32, n * n, [&](size_t i) { return total[i]; }))
            .value(static_cast<int64_t>(rounds))
            .withWarps(static_cast<unsigned>(warps));
      }
}
} // namespace

void addWideProducts(Suite &suite) {
  addProducts(suite);
  addChains(suite);
}

} // namespace tk::conformance
