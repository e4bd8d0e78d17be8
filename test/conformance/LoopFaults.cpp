// Known faults around barriers under branches, and pipelined loops with many loads.
#include "test/conformance/Areas.h"
#include <algorithm>
#include <cmath>

namespace tk::conformance {

namespace {
/// A90: what one thread or a few do under a condition, twice the same one, and after it what all threads of the program do together.
void addBarriers(Suite &suite) {
  Values x = generate(DType::F32, 4 * 256, [](size_t i) { return i % 256 < 4 ? 0.25 : 0.0; });
  for (unsigned warps : {1, 4, 8}) {
    suite
        .add("A90.masked_stores." + std::to_string(warps), R"(
def k(switches, x, y, out):
    t0 = load(switches)
    t1 = load(switches + 1)
    pid = program_id(0)
    i = arange(0, 256)
    if t0 < t1:
        store(y + i, t0 + i, mask=(pid == 0) & (i < 3))
    if t0 < t1:
        store(y + 256 + i, t1 + i, mask=pid == 0)
    total = zeros((256,), float32)
    for r in range(0, 4):
        total = tl.fma(load(x + r * 256 + i), 1.0, total)
    store(out + pid, tl.sum(total))
)")
        .in(integers(DType::I32, {3, 10}))
        .in(x)
        .out(generate(DType::I32, 512, [](size_t i) { return i < 3     ? static_cast<double>(3 + i)
                                                             : i < 256 ? 0.0
                                                                       : static_cast<double>(i - 246); }))
        .out(filled(DType::F32, 2, 4))
        .programs(2)
        .withWarps(warps);
    // One thread prints, a few find that an assertion holds, others swap in loops: branches that are really taken by some.
    suite
        .add("A90.few_threads." + std::to_string(warps), R"(
def k(switches, x, highest, out):
    t0 = load(switches)
    t1 = load(switches + 1)
    i = arange(0, 256)
    v = load(x + i)
    device_assert(t0 < t1, "first")
    if t0 < t1:
        device_print("smaller", t0)
        atomic_max(highest + i % 3, v)
    device_assert(t0 < t1, "second")
    total = tl.sum(v)
    if t0 < t1:
        device_print("larger", t1)
        atomic_min(highest + 3 + i % 2, v, mask=i < 100)
    device_assert(i * 2 < 511 + t0, "third")
    store(out + i, tl.cumsum(v) + total + tl.max(v))
)")
        .in(integers(DType::I32, {3, 10}))
        .in(counting(DType::F32, 256))
        .inout(numbers(DType::F32, {-1, -1, -1, 999, 999}), numbers(DType::F32, {255, 253, 254, 0, 1}))
        .out(generate(DType::F32, 256, [](size_t i) { return static_cast<double>(i * (i + 1) / 2 + 32640 + 255); }))
        .withDebug()
        .prints({"smaller: 3", "larger: 10"})
        .withWarps(warps);
  }
}

/// A99: a bias and a gate beside the operands, each with what it takes where there is none.
void addManyLoads(Suite &suite) {
  const size_t n = 40;
  auto small = [](size_t count, size_t seed) {
    return generate(DType::F32, count, [=](size_t i) { return static_cast<double>((i * 7 + i / 5 * 3 + seed) % 7) - 3; });
  };
  Values q = small(256, 1), kk = small(n * 16, 2), v = small(n * 16, 3), bias = small(16 * n, 4);
  Values gate = generate(DType::I8, 16 * n, [](size_t i) { return i * 5 % 3 != 0; });
  Values best = filled(DType::F32, 16), out = filled(DType::F32, 256);
  for (size_t m = 0; m < 16; ++m) {
    double top = -INFINITY, sums[16] = {};
    for (size_t c = 0; c < n; ++c) {
      if (!gate.bits[m * n + c])
        continue;
      double score = bias.number(m * n + c);
      for (size_t d = 0; d < 16; ++d)
        score += q.number(m * 16 + d) * kk.number(c * 16 + d);
      top = std::max(top, score);
      for (size_t d = 0; d < 16; ++d)
        sums[d] += score * v.number(c * 16 + d);
    }
    best.bits[m] = encode(DType::F32, top);
    for (size_t d = 0; d < 16; ++d)
      out.bits[m * 16 + d] = encode(DType::F32, sums[d]);
  }
  for (int stages : {1, 2, 4, 5})
    suite
        .add("A99." + std::to_string(stages), substitute(R"(
def k(q, kk, v, bias, gate, best, out, N):
    m = arange(0, 16)[:, None]
    d = arange(0, 16)[None, :]
    a = load(q + m * 16 + d)
    top = full((16,), float("-inf"), float32)
    acc = zeros((16, 16), float32)
    for j in tl.range(0, N, 16, num_stages=$S):
        c = j + arange(0, 16)
        inside = c < N
        b = load(kk + c[None, :] * 16 + arange(0, 16)[:, None], mask=inside[None, :], other=0.0)
        w = load(v + c[:, None] * 16 + d, mask=inside[:, None], other=0.0)
        extra = load(bias + m * N + c[None, :], mask=inside[None, :], other=float("-inf"))
        open = load(gate + m * N + c[None, :], mask=inside[None, :], other=0)
        s = where(open != 0, dot(a, b) + extra, float("-inf"))
        top = maximum(top, tl.max(s, 1))
        acc = dot(where(s > float("-inf"), s, 0.0), w, acc)
    store(best + arange(0, 16), top)
    store(out + m * 16 + d, acc)
)",
                                                         {{"S", std::to_string(stages)}}))
        .in(q)
        .in(kk)
        .at(Placement::AgainstUpperPage)
        .in(v)
        .at(Placement::AgainstUpperPage)
        .in(bias)
        .at(Placement::AgainstUpperPage)
        .in(gate)
        .at(Placement::AgainstUpperPage)
        .out(best)
        .out(out)
        .value(static_cast<int64_t>(n));
}

/// What stands for elements beyond the end takes part in the product; zero alone can be left to a copy that reads fewer bytes.
void addOthers(Suite &suite) {
  const size_t n = 40;
  for (DType type : {DType::F16, DType::F32})
    for (int stages : {1, 3, 4})
      suite
          .add("A99.other." + nameOf(type) + "." + std::to_string(stages), substitute(R"(
def k(x, w, out, N):
    m = arange(0, 16)[:, None]
    d = arange(0, 16)[None, :]
    acc = zeros((16, 16), float32)
    for j in tl.range(0, N, 16, num_stages=$S):
        c = j + arange(0, 16)
        a = load(x + m * N + c[None, :], mask=(c < N)[None, :], other=2.0)
        b = load(w + c[:, None] * 16 + d, mask=(c < N)[:, None], other=-3.0)
        acc = dot(a, b, acc)
    store(out + m * 16 + d, acc)
)", {{"S", std::to_string(stages)}}))
          .in(filled(type, 16 * n, 1))
          .at(Placement::AgainstUpperPage)
          .in(generate(type, n * 16, [](size_t i) { return static_cast<double>(i % 16); }))
          .at(Placement::AgainstUpperPage)
          .out(generate(DType::F32, 256, [](size_t i) { return 40.0 * static_cast<double>(i % 16) + 8 * 2.0 * -3.0; }))
          .value(static_cast<int64_t>(n));
}
} // namespace

void addLoopFaults(Suite &suite) {
  addBarriers(suite);
  addManyLoads(suite);
  addOthers(suite);
}

} // namespace tk::conformance
