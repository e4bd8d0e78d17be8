// N7: tiles whose extents are no powers of two, which GPUs pad: padding is never stored, combined, counted, printed or asserted.
#include "test/conformance/Areas.h"
#include <algorithm>

namespace tk::conformance {

namespace {
/// Numbers that mean nothing to each other, small enough for every sum.
Values odd(DType type, size_t count) {
  return generate(type, count, [](size_t i) { return static_cast<double>(i * 7 % 11) - 4; });
}

void addPaddedReductions(Suite &suite) {
  // Numbers of two digits: "first digit of the left, last of the right" keeps the order of all elements in sight.
  Values x = generate(DType::I32, 35, [](size_t i) { return static_cast<double>(10 * (i % 9 + 1) + i % 7); });
  auto ends = [&](size_t first, size_t last) { return static_cast<double>(x.integer(first) / 10 * 10 + x.integer(last) % 10); };
  suite
      .add("N7.odd_extents.ordered_reduction", R"(
def ends(a, b):
    return a // 10 * 10 + b % 10

def k(x, rows, columns, all):
    v = load(x + arange(0, 5)[:, None] * 7 + arange(0, 7)[None, :])
    store(rows + arange(0, 5), tl.reduce(v, 1, ends))
    store(columns + arange(0, 7), tl.reduce(v, 0, ends))
    store(all, tl.reduce(v, None, ends))
)")
      .in(x)
      .out(generate(DType::I32, 5, [&](size_t i) { return ends(i * 7, i * 7 + 6); }))
      .out(generate(DType::I32, 7, [&](size_t i) { return ends(i, i + 28); }))
      .out(generate(DType::I32, 1, [&](size_t) { return ends(0, 34); }));
  Values y = generate(DType::F32, 15, [](size_t i) { return -1.0 - static_cast<double>(i * 4 % 15); }); // greatest: the first; least: index 11
  suite
      .add("N7.odd_extents.reductions", R"(
def k(x, most, where, all, places):
    v = load(x + arange(0, 3)[:, None] * 5 + arange(0, 5)[None, :])
    m, i = tl.max(v, axis=1, return_indices=True)
    store(most + arange(0, 3), m)
    store(where + arange(0, 3), i)
    store(all, tl.sum(v))
    store(all + 1, tl.max(v))
    store(all + 2, tl.min(v))
    store(places, tl.argmax(v, axis=None))
    store(places + 1, tl.argmin(v, axis=None))
    store(places + 2, tl.xor_sum(arange(0, 11)))
)")
      .in(y)
      .out(generate(DType::F32, 3,
                    [&](size_t r) { return std::max({y.number(5 * r), y.number(5 * r + 1), y.number(5 * r + 2), y.number(5 * r + 3), y.number(5 * r + 4)}); }))
      .out(generate(DType::I32, 3,
                    [&](size_t r) {
                      size_t best = 0;
                      for (size_t i = 1; i < 5; ++i)
                        best = y.number(5 * r + i) > y.number(5 * r + best) ? i : best;
                      return static_cast<double>(best);
                    }))
      .out(numbers(DType::F32, {-120, -1, -15}))
      .out(integers(DType::I32, {0, 11, 0 ^ 1 ^ 2 ^ 3 ^ 4 ^ 5 ^ 6 ^ 7 ^ 8 ^ 9 ^ 10}));
  suite.add("N7.odd_extents.sum_of_negative_zeros", "def k(x, out):\n    store(out, tl.sum(load(x + arange(0, 7))))\n")
      .in(filled(DType::F32, 7, -0.0))
      .out(numbers(DType::F32, {-0.0}));
}

void addPaddedScans(Suite &suite) {
  Values x = odd(DType::I32, 15);
  auto scanned = [&](size_t step, size_t count, bool reverse) {
    Values result = x;
    for (size_t i = 0; i < 15; ++i) {
      int64_t sum = 0;
      size_t place = i / step % count;
      for (size_t k = 0; k < count; ++k)
        if (reverse ? k >= place : k <= place)
          sum += static_cast<int64_t>(x.integer(i - place * step + k * step));
      result.bits[i] = static_cast<uint32_t>(sum);
    }
    return result;
  };
  suite
      .add("N7.odd_extents.scans", R"(
def k(x, along, back, down, up):
    i = arange(0, 3)[:, None] * 5 + arange(0, 5)[None, :]
    v = load(x + i)
    store(along + i, tl.cumsum(v, 1))
    store(back + i, tl.cumsum(v, 1, reverse=True))
    store(down + i, tl.cumsum(v, 0))
    store(up + i, tl.cumsum(v, 0, reverse=True))
)")
      .in(x)
      .out(scanned(1, 5, false))
      .out(scanned(1, 5, true))
      .out(scanned(5, 3, false))
      .out(scanned(5, 3, true));
  // Two operands and a function that is not commutative: (a, b) after (c, d) is x -> (c * a) * x + (c * b + d).
  Values a = generate(DType::I32, 7, [](size_t i) { return static_cast<double>(i % 3) + 1; }), b = odd(DType::I32, 7);
  auto composed = [&](bool reverse, bool second) {
    Values result(DType::I32, std::vector<uint64_t>(7));
    int64_t p = 1, q = 0;
    for (size_t k = 0; k < 7; ++k) {
      size_t i = reverse ? 6 - k : k;
      auto c = static_cast<int64_t>(a.integer(i)), d = static_cast<int64_t>(b.integer(i));
      p = c * p, q = c * q + d;
      result.bits[i] = static_cast<uint32_t>(second ? q : p);
    }
    return result;
  };
  suite
      .add("N7.odd_extents.ordered_scan", R"(
def compose(a, b, c, d):
    return c * a, c * b + d

def k(x, y, a, b, c, d):
    i = arange(0, 7)
    p, q = tl.associative_scan((load(x + i), load(y + i)), 0, compose)
    store(a + i, p)
    store(b + i, q)
    p, q = tl.associative_scan((load(x + i), load(y + i)), 0, compose, reverse=True)
    store(c + i, p)
    store(d + i, q)
)")
      .in(a)
      .in(b)
      .out(composed(false, false))
      .out(composed(false, true))
      .out(composed(true, false))
      .out(composed(true, true));
}

void addPaddedMovement(Suite &suite) {
  for (DType type : {DType::I8, DType::F16, DType::I32, DType::F64}) {
    Values x = counting(type, 18), y = counting(type, 18, 20), both = concat({x, y});
    auto pick = [&](size_t count, const std::function<size_t(size_t)> &from) {
      Values result(type, {});
      for (size_t i = 0; i < count; ++i)
        result.bits.push_back(both.bits[from(i)]);
      return result;
    };
    suite
        .add("N7.odd_extents.movement." + nameOf(type), R"(
def k(x, y, joined, left, one, flat, turned, other, across):
    i = arange(0, 3)[:, None] * 6 + arange(0, 6)[None, :]
    a = load(x + i)
    b = load(y + i)
    j = join(a, b)
    store(joined + arange(0, 36), reshape(j, (36,)))
    l, r = split(reshape(a, (9, 2)))
    store(left + arange(0, 9), l)
    store(left + 9 + arange(0, 9), r)
    store(one + arange(0, 36), cat(tl.ravel(a), tl.ravel(b)))
    store(flat + arange(0, 3)[:, None] * 12 + arange(0, 12)[None, :], interleave(a, b))
    store(turned + arange(0, 6)[:, None] * 3 + arange(0, 3)[None, :], permute(a, 1, 0))
    store(other + arange(0, 2)[:, None] * 9 + arange(0, 9)[None, :], reshape(a, (2, 9)))
    store(across + i, flip(a, 1))
)")
        .in(x)
        .in(y)
        .out(pick(36, [](size_t i) { return i / 2 + i % 2 * 18; }))
        .out(pick(18, [](size_t i) { return i < 9 ? 2 * i : 2 * (i - 9) + 1; }))
        .out(both)
        .out(pick(36, [](size_t i) { return i / 2 + i % 2 * 18; }))
        .out(pick(18, [](size_t i) { return i % 3 * 6 + i / 3; }))
        .out(x)
        .out(pick(18, [](size_t i) { return i / 6 * 6 + 5 - i % 6; }));
  }
  suite
      .add("N7.odd_extents.gather", R"(
def k(x, index, out):
    i = arange(0, 6)
    store(out + i, gather(load(x + arange(0, 5)), load(index + i), 0))
)")
      .in(integers(DType::I32, {10, 11, 12, 13, 14}))
      .in(integers(DType::I32, {4, 5, 7, 8, -1, 1000}))
      .out(integers(DType::I32, {14, 14, 14, 14, 10, 14}));
  suite
      .add("N7.odd_extents.histogram", R"(
def k(x, out):
    store(out + arange(0, 3), histogram(load(x + arange(0, 5)), 3))
)")
      .in(integers(DType::I32, {0, 2, 3, 2, 1}))
      .out(integers(DType::I32, {1, 1, 2}));
  suite
      .add("N7.odd_extents.sort", R"(
def k(x, out):
    i = arange(0, 3)[:, None] * 4 + arange(0, 4)[None, :]
    store(out + i, tl.sort(load(x + i)))
)")
      .in(integers(DType::I32, {3, 1, 2, 0, 7, 5, 6, 4, 9, 11, 8, 10}))
      .out(counting(DType::I32, 12));
}

void addPaddedAccesses(Suite &suite) {
  // The forbidden page begins right behind the last element.
  suite
      .add("N7.odd_extents.access_to_the_end", R"(
def k(x, out):
    i = arange(0, 5)
    store(out + i, load(x + i) + 1)
)")
      .in(counting(DType::F32, 5))
      .at(Placement::AgainstUpperPage)
      .out(counting(DType::F32, 5, 1))
      .at(Placement::AgainstUpperPage);
  suite
      .add("N7.odd_extents.atomics", R"(
def k(sums, old, swapped):
    i = arange(0, 5)
    store(old + i, tl.atomic_add(sums + i, i + 1))
    tl.atomic_cas(swapped + i, i, i + 100)
    tl.atomic_max(sums + i % 2, i * 10)
)")
      .inout(integers(DType::I32, {1, 1, 1, 1, 1, 9, 9, 9}), integers(DType::I32, {40, 30, 4, 5, 6, 9, 9, 9}))
      .out(integers(DType::I32, {1, 1, 1, 1, 1}))
      .inout(integers(DType::I32, {0, 0, 2, 0, 4, 5, 6, 7}), integers(DType::I32, {100, 0, 102, 0, 104, 5, 6, 7}));
  suite
      .add("N7.odd_extents.division", R"(
def k(x, out):
    i = arange(0, 7)
    v = load(x + i)
    store(out + i, 60 // v + 60 % v)
)")
      .in(integers(DType::I32, {1, 2, 3, 4, 5, 6, 7}))
      .out(integers(DType::I32, {60, 30, 20, 15, 12, 10, 12}));
  suite
      .add("N7.odd_extents.carried", R"(
def k(x, out, n):
    i = arange(0, 5)
    v = load(x + i)
    for t in range(n):
        if t % 2 == 0:
            v = v + i
        else:
            v = v * 2
    s = 0
    while s < 20:
        s += tl.sum(v)
        v += 1
    store(out + i, v)
    store(out + 5, s)
)")
      .in(integers(DType::I32, {1, 1, 1, 1, 1}))
      .out(integers(DType::I32, {3, 6, 9, 12, 15, 40}))
      .value(int64_t(3));
}

void addPaddedProducts(Suite &suite) {
  for (DType type : {DType::F16, DType::F32}) {
    Values a = generate(type, 20 * 12, [](size_t i) { return static_cast<double>(i % 7) - 3; }),
           b = generate(type, 12 * 24, [](size_t i) { return static_cast<double>(i % 5) - 2; });
    auto product = [&](double offset) {
      return generate(DType::F32, 20 * 24, [&, offset](size_t i) {
        double sum = 0;
        for (size_t k = 0; k < 12; ++k)
          sum += (a.number(i / 24 * 12 + k) + offset) * (b.number(k * 24 + i % 24) + offset);
        return sum;
      });
    };
    // `+ 1` leaves something else than zeros behind K; so does dividing by zero there.
    suite
        .add("N7.odd_extents.dot." + nameOf(type), R"(
def k(x, y, plain, shifted):
    m = arange(0, 20)[:, None]
    n = arange(0, 24)[None, :]
    a = load(x + m * 12 + arange(0, 12)[None, :])
    b = load(y + arange(0, 12)[:, None] * 24 + n)
    store(plain + m * 24 + n, dot(a, b))
    a = (a.to(float32) + 1).to(a.dtype)
    b = (b.to(float32) + 1).to(b.dtype)
    store(shifted + m * 24 + n, dot(a, b))
)")
        .in(a)
        .in(b)
        .out(product(0))
        .out(product(1));
  }
}

void addPaddedDebugging(Suite &suite) {
  suite
      .add("N7.odd_extents.print", R"(
def k(x):
    device_print("three", load(x + arange(0, 3)))
    device_print("grid", arange(0, 2)[:, None] * 3 + arange(0, 3)[None, :])
)")
      .in(integers(DType::I32, {7, 8, 9}))
      .prints({"idx (0) three: 7", "idx (1) three: 8", "idx (2) three: 9", "idx (0, 0) grid: 0", "idx (0, 1) grid: 1", "idx (0, 2) grid: 2",
               "idx (1, 0) grid: 3", "idx (1, 1) grid: 4", "idx (1, 2) grid: 5"});
  suite
      .add("N7.odd_extents.assertions_hold", R"(
def larger(a, b):
    device_assert(a > 0, "padding was combined")
    device_assert(b > 0, "padding was combined")
    return maximum(a, b)

def k(x, out):
    v = load(x + arange(0, 3)[:, None] * 5 + arange(0, 5)[None, :])
    device_assert(v > 0, "padding was asserted")
    store(out + arange(0, 5), tl.reduce(v, 0, larger))
    store(out + 5 + arange(0, 3), tl.reduce(v, 1, larger))
    i = arange(0, 3)[:, None] * 5 + arange(0, 5)[None, :]
    store(out + 8 + i, tl.associative_scan(v, 1, larger))
    store(out + 23 + i, tl.associative_scan(v, 1, larger, reverse=True))
)")
      .withDebug()
      .in(counting(DType::I32, 15, 1))
      .out(concat({counting(DType::I32, 5, 11), counting(DType::I32, 3, 5, 5), counting(DType::I32, 15, 1),
                   generate(DType::I32, 15, [](size_t i) { return static_cast<double>(i / 5 * 5 + 5); })}));
  suite
      .add("N7.odd_extents.assertion_fails", R"(
def k(x):
    device_assert(load(x + arange(0, 3)) < 9, "the last one")
)")
      .withDebug()
      .in(integers(DType::I32, {7, 8, 9}))
      .fails("the last one");
}
} // namespace

void addOddExtents(Suite &suite) {
  addPaddedReductions(suite);
  addPaddedScans(suite);
  addPaddedMovement(suite);
  addPaddedAccesses(suite);
  addPaddedProducts(suite);
  addPaddedDebugging(suite);
}

} // namespace tk::conformance
