// N7: scans and cumulative sums, in both directions.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
DType scanned(DType type) {
  return type == DType::BF16 ? DType::F32 : type == DType::I1 || (isUnsigned(type) && bitsOf(type) < 32) ? DType::U32 : isSigned(type) && bitsOf(type) < 32 ? DType::I32 : type;
}

void addCumulative(Suite &suite) {
  for (DType type : kStandardTypes) {
    Values x = generate(type, 48, [&](size_t i) { return isUnsigned(type) ? static_cast<double>(i * 5 % 7) : static_cast<double>(i * 5 % 7) - 3; });
    DType sum = scanned(type), product = type == DType::BF16 ? DType::F32 : type;
    Values rows(sum, std::vector<uint64_t>(48)), reversed = rows, columns = rows, products(product, std::vector<uint64_t>(48));
    for (size_t row = 0; row < 4; ++row) {
      double forth = 0, back = 0;
      unsigned __int128 factor = 1;
      double floatFactor = 1;
      for (size_t i = 0; i < 12; ++i) {
        rows.bits[row * 12 + i] = encode(sum, forth += x.number(row * 12 + i));
        reversed.bits[row * 12 + 11 - i] = encode(sum, back += x.number(row * 12 + 11 - i));
        double value = x.number(row * 12 + i) == 0 ? 1 : x.number(row * 12 + i);
        factor *= static_cast<unsigned __int128>(static_cast<__int128>(value));
        floatFactor = decode(product, encode(product, floatFactor * value));
        products.bits[row * 12 + i] = isFloat(type) ? encode(product, floatFactor) : encodeInteger(product, static_cast<__int128>(factor));
      }
    }
    for (size_t column = 0; column < 12; ++column) {
      double down = 0;
      for (size_t row = 0; row < 4; ++row)
        columns.bits[row * 12 + column] = encode(sum, down += x.number(row * 12 + column));
    }
    suite
        .add("N7.cumsum." + nameOf(type), substitute(R"(
def k(x, rows, reversed, columns, products):
    i = arange(0, 4)[:, None] * 12 + arange(0, 12)[None, :]
    v = load(x + i)
    r = cumsum(v, axis=1)
    static_assert(r.dtype == $S)
    store(rows + i, r)
    store(reversed + i, cumsum(v, axis=-1, reverse=True))
    store(columns + i, cumsum(v, axis=0))
    p = cumprod(where(v == 0, 1, v), axis=1)
    static_assert(p.dtype == $P)
    store(products + i, p)
)", {{"S", nameOf(sum)}, {"P", nameOf(product)}}))
        .in(x)
        .out(rows)
        .out(reversed)
        .out(columns)
        .out(products);
  }
  suite.add("N7.cumsum.int8_widens", "def k(x, out):\n    i = arange(0, 4)\n    store(out + i, cumsum(load(x + i)))\n").in(filled(DType::I8, 4, 100)).out(integers(DType::I32, {100, 200, 300, 400}));
  suite.add("N7.cumsum.dtype_argument", "def k(x, out):\n    i = arange(0, 4)\n    r = cumsum(load(x + i), dtype=int8)\n    static_assert(r.dtype == int8)\n    store(out + i, r)\n")
      .in(filled(DType::I8, 4, 100)).out(integers(DType::I8, {100, 200, 300, 400}));
  suite.add("N7.cumprod.int8_wraps", "def k(x, out):\n    i = arange(0, 3)\n    r = cumprod(load(x + i))\n    static_assert(r.dtype == int8)\n    store(out + i, r)\n")
      .in(filled(DType::I8, 3, 16)).out(integers(DType::I8, {16, 0, 0}));
  suite.add("N7.cumsum.int1", "def k(x, out):\n    i = arange(0, 6)\n    r = cumsum(load(x + i))\n    static_assert(r.dtype == uint32)\n    store(out + i, r)\n")
      .in(integers(DType::I1, {1, 0, 1, 1, 0, 1})).out(integers(DType::U32, {1, 1, 2, 3, 3, 4}));
}

/// x -> a x + b in order: not commutative, exact in unsigned arithmetic.
struct Affine {
  uint64_t a = 1;
  uint32_t b = 0;
  Affine then(const Affine &next) const { return {a * next.a, static_cast<uint32_t>(b * next.a + next.b)}; }
};
Affine affine(size_t i) { return {i * 2654435761u | 1, static_cast<uint32_t>(i * i * 97 + 5)}; }

void addTuples(Suite &suite) {
  for (size_t n : {1, 2, 8, 37, 64, 1024})
    for (bool reverse : {false, true})
      for (bool inPlace : {false, true}) {
        Values a(DType::U64, {}), b(DType::U32, {}), endA(DType::U64, std::vector<uint64_t>(n)), endB(DType::U32, std::vector<uint64_t>(n));
        for (size_t i = 0; i < n; ++i)
          a.bits.push_back(affine(i).a), b.bits.push_back(affine(i).b);
        Affine total;
        for (size_t i = 0; i < n; ++i) {
          size_t at = reverse ? n - 1 - i : i;
          total = i ? total.then(affine(at)) : affine(at); // what is accumulated is the first operand
          endA.bits[at] = total.a, endB.bits[at] = total.b;
        }
        std::string id = std::string(reverse ? "A51." : "N7.scan.") + std::to_string(n) + (inPlace ? ".in_place" : "");
        std::string source = substitute(R"(
def compose(a0, b0, a1, b1):
    return a0 * a1, b0 * a1.to(uint32) + b1

def k(x, y, $P):
    i = arange(0, $N)
    r, s = associative_scan((load(x + i), load(y + i)), 0, compose, reverse=$R)
    static_assert(r.dtype == uint64 and s.dtype == uint32)
    store($A + i, r)
    store($B + i, s)
)", {{"P", inPlace ? "unused" : "a, b"}, {"N", std::to_string(n)}, {"R", reverse ? "True" : "False"}, {"A", inPlace ? "x" : "a"}, {"B", inPlace ? "y" : "b"}});
        if (inPlace)
          suite.add(id, source).inout(a, endA).inout(b, endB).value(Nothing{});
        else
          suite.add(id, source).in(a).in(b).out(endA).out(endB);
      }
  // A matrix along either axis.
  for (bool reverse : {false, true}) {
    Values a(DType::U64, {}), b(DType::U32, {}), down(DType::U32, std::vector<uint64_t>(40)), across(DType::U32, std::vector<uint64_t>(40));
    for (size_t i = 0; i < 40; ++i)
      a.bits.push_back(affine(i).a), b.bits.push_back(affine(i).b);
    auto scan = [&](Values &into, size_t first, size_t step, size_t count) {
      Affine total;
      for (size_t i = 0; i < count; ++i) {
        size_t at = first + (reverse ? count - 1 - i : i) * step;
        total = i ? total.then(affine(at)) : affine(at);
        into.bits[at] = total.b;
      }
    };
    for (size_t column = 0; column < 8; ++column)
      scan(down, column, 8, 5);
    for (size_t row = 0; row < 5; ++row)
      scan(across, row * 8, 1, 8);
    suite
        .add(reverse ? "A51.axes" : "N7.scan.axes", substitute(R"(
def compose(a0, b0, a1, b1):
    return a0 * a1, b0 * a1.to(uint32) + b1

def k(x, y, down, across):
    i = arange(0, 5)[:, None] * 8 + arange(0, 8)[None, :]
    v = (load(x + i), load(y + i))
    a, b = associative_scan(v, 0, compose, reverse=$R)
    store(down + i, b)
    a, b = associative_scan(v, -1, compose, reverse=$R)
    store(across + i, b)
)", {{"R", reverse ? "True" : "False"}}))
        .in(a)
        .in(b)
        .out(down)
        .out(across);
  }
}

void addFaults(Suite &suite) {
  for (size_t r : {8, 32})
    suite.add("A49." + std::to_string(r), substitute(R"(
def k(x, out, n):
    base = arange(0, $R)[None, :]
    for r in range(0, n, $R):
        mask = r + base < n
        t = where(mask, 1, 0).to(int64)
        c = cumsum(t, 1)
        store(out + r + base, c, mask=mask)
)", {{"R", std::to_string(r)}})).in(filled(DType::I64, 1)).out(generate(DType::I64, 2 * r, [&](size_t i) { return static_cast<double>(i % r + 1); })).value(static_cast<int64_t>(2 * r));
  for (unsigned warps : {1, 4, 8})
    suite.add("A52.replicated_lanes." + std::to_string(warps), R"(
def k(x, out):
    ones = load(x + arange(0, 32))[None, :]
    scan = broadcast_to(cumsum(ones, 1), (4, 32))
    total = tl.sum(ones, 1)[:, None]
    device_assert(scan <= total, "beyond the total")
    store(out + arange(0, 4)[:, None] * 32 + arange(0, 32)[None, :], scan)
)").in(filled(DType::F32, 32, 1)).out(generate(DType::F32, 128, [](size_t i) { return static_cast<double>(i % 32 + 1); })).withDebug().withWarps(warps);
  suite.add("A54.scan_as_index", R"(
def keep(a, b):
    return where(a == -1, -1, b).to(int16)

def k(x, index, out):
    i = arange(0, 128)
    s = associative_scan(load(index + i), 0, keep)
    row = s[:, None].to(int32)
    column = arange(0, 4)[None, :]
    v = load(x + row * 4 + column, mask=row >= 0, other=-5.0)
    store(out + i[:, None] * 4 + column, v)
)").in(counting(DType::F32, 512)).in(generate(DType::I16, 128, [](size_t i) { return i == 100 ? -1 : static_cast<double>(i * 5 % 128); })).out(generate(DType::F32, 512, [](size_t i) {
    size_t row = i / 4;
    return row >= 100 ? -5.0 : static_cast<double>(row * 5 % 128 * 4 + i % 4);
  }));
  suite.add("A55.float_and_int64", R"(
def later(a, i, b, j):
    take = b > a
    return where(take, b, a), where(take, j, i)

def k(x, value, index):
    i = arange(0, 8)
    v, at = associative_scan((load(x + i), i.to(int64)), 0, later)
    static_assert(v.dtype == float32 and at.dtype == int64)
    store(value + i, v)
    store(index + i, at)
)").in(numbers(DType::F32, {1, 3, 2, 5, 4, 5, 9, 0})).out(numbers(DType::F32, {1, 3, 3, 5, 5, 5, 9, 9})).out(integers(DType::I64, {0, 1, 1, 3, 3, 3, 6, 6}));
  for (const char *id : {"A55.bool_and_int64", "A67.cummax_bool"})
    suite.add(id, R"(
def later(a, i, b, j):
    x = a.to(int32)
    y = b.to(int32)
    take = (y >= x) | ((y != y) & (x == x))
    return where(take, b, a), where(take, j, i)

def k(x, value, index):
    i = arange(0, 8)
    v, at = associative_scan((load(x + i), i.to(int64)), 0, later)
    static_assert(v.dtype == int1 and at.dtype == int64)
    store(value + i, v)
    store(index + i, at)
)").in(integers(DType::I1, {0, 0, 1, 0, 1, 0, 0, 1})).out(integers(DType::I1, {0, 0, 1, 1, 1, 1, 1, 1})).out(integers(DType::I64, {0, 1, 2, 2, 4, 4, 4, 7}));
  Values x = generate(DType::F32, 64, [](size_t i) { return i < 32 ? 1e8 : 1.0; });
  suite.add("A57.no_cancellation", R"(
def k(x, out):
    i = arange(0, 64)
    store(out + i, cumsum(load(x + i), reverse=True))
)").in(x).out(generate(DType::F32, 64, [](size_t i) {
    if (i >= 32)
      return static_cast<double>(64 - i);
    return 32 + (32 - static_cast<double>(i)) * 1e8;
  }), {.relative = 1e-6}).anyWhere([](size_t i) { return i >= 32; });
  suite.add("A57.exact_part", R"(
def k(x, out):
    i = arange(0, 64)
    r = cumsum(load(x + i), reverse=True)
    store(out + i, r, mask=i >= 32)
)").in(x).out(generate(DType::F32, 64, [](size_t i) { return i < 32 ? 0.0 : static_cast<double>(64 - i); }));
}
} // namespace

void addScans(Suite &suite) {
  suite.add("N7.scan.branches", R"(
def last_set(a, b):
    if b == 0:
        return a
    return b

def k(x, out):
    i = arange(0, 8)
    store(out + i, associative_scan(load(x + i), 0, last_set))
)").in(integers(DType::I32, {1, 2, 0, 3, 4, 0, 0, 5})).out(integers(DType::I32, {1, 2, 2, 3, 4, 4, 4, 5}));
  addCumulative(suite);
  addTuples(suite);
  addFaults(suite);
}

} // namespace tk::conformance
