// N7: elements that are only moved, sorted, counted or gathered.
#include "test/conformance/Areas.h"
#include <algorithm>
#include <cmath>

namespace tk::conformance {

namespace {
/// Any bits: infinities and NaNs with payloads among them.
Values anyBits(DType type, size_t count, uint64_t seed) {
  Values x(type, {});
  uint64_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = state >> (64 - bitsOf(type));
    if (isFloat(type) && !isFloat8(type) && i % 5 == 0) // exponent all ones
      bits |= type == DType::F16 ? 0x7c00 : type == DType::BF16 ? 0x7f80 : type == DType::F32 ? 0x7f800000 : 0x7ff0000000000000;
    x.bits.push_back(bits);
  }
  return x;
}

Values pick(const Values &x, size_t count, const std::function<size_t(size_t)> &from) {
  Values result(x.dtype, {});
  for (size_t i = 0; i < count; ++i)
    result.bits.push_back(x.bits[from(i)]);
  return result;
}

void addShapes(Suite &suite) {
  std::vector<DType> types = kStandardTypes;
  types.insert(types.end(), {DType::I1, DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ});
  const Tolerance bits{.payload = true};
  for (DType type : types) {
    Values x = anyBits(type, 32, 77), y = anyBits(type, 32, 78), both = concat({x, y});
    suite
        .add("N7.movement." + nameOf(type), R"(
def k(x, y, flipped, across, joined, split_off, interleaved, ordered, reshaped, permuted, gathered):
    i = arange(0, 32)
    m = arange(0, 4)[:, None] * 8 + arange(0, 8)[None, :]
    a = load(x + i)
    b = load(y + i)
    t = load(x + m)
    store(flipped + i, flip(a))
    store(across + m, flip(t, 0))
    j = join(a, b)
    static_assert(j.shape == (32, 2))
    store(joined + i[:, None] * 2 + arange(0, 2)[None, :], j)
    even, odd = split(reshape(a, (16, 2)))
    store(split_off + arange(0, 16), even)
    store(split_off + 16 + arange(0, 16), odd)
    store(interleaved + arange(0, 64), interleave(a, b))
    store(ordered + arange(0, 64), cat(a, b))
    store(reshaped + arange(0, 2)[:, None] * 16 + arange(0, 16)[None, :], reshape(t, (2, 16)))
    store(permuted + arange(0, 8)[:, None] * 4 + arange(0, 4)[None, :], permute(t, 1, 0))
    store(gathered + m, gather(t, (arange(0, 8)[None, :] * 3 + arange(0, 4)[:, None]) % 8, 1))
)")
        .in(x)
        .in(y)
        .out(pick(x, 32, [](size_t i) { return 31 - i; }), bits)
        .out(pick(x, 32, [](size_t i) { return (3 - i / 8) * 8 + i % 8; }), bits)
        .out(pick(both, 64, [](size_t i) { return i / 2 + i % 2 * 32; }), bits)
        .out(pick(x, 32, [](size_t i) { return i < 16 ? 2 * i : 2 * (i - 16) + 1; }), bits)
        .out(pick(both, 64, [](size_t i) { return i / 2 + i % 2 * 32; }), bits)
        .out(both, bits)
        .out(x, bits)
        .out(pick(x, 32, [](size_t i) { return i % 4 * 8 + i / 4; }), bits)
        .out(pick(x, 32, [](size_t i) { return i / 8 * 8 + (i % 8 * 3 + i / 8) % 8; }), bits);
  }
  suite.add("N7.movement.scalars", R"(
def k(x, out):
    j = join(load(x), load(x + 1))
    static_assert(j.shape == (2,))
    a, b = split(j)
    store(out, b)
    store(out + 1, a)
    store(out + 2, reshape(load(x + 2 + arange(0, 1)), ()))
)").in(numbers(DType::F32, {1, 2, 3})).out(numbers(DType::F32, {2, 1, 3}));
  suite.add("N7.movement.permute_3d", R"(
def k(x, out):
    i = arange(0, 2)[:, None, None] * 12 + arange(0, 3)[None, :, None] * 4 + arange(0, 4)[None, None, :]
    o = arange(0, 4)[:, None, None] * 6 + arange(0, 2)[None, :, None] * 3 + arange(0, 3)[None, None, :]
    store(out + o, permute(load(x + i), (2, 0, 1)))
)").in(counting(DType::I32, 24)).out(generate(DType::I32, 24, [](size_t i) { return static_cast<double>(i / 3 % 2 * 12 + i % 3 * 4 + i / 6); }));
}

void addSorting(Suite &suite) {
  for (DType type : kStandardTypes) {
    Values x = generate(type, 64, [&](size_t i) { return isUnsigned(type) ? static_cast<double>(i * 29 % 64) : static_cast<double>(i * 29 % 64) - 30; });
    auto rows = [&](bool descending, size_t keep) {
      Values sorted(type, {});
      for (size_t row = 0; row < 4; ++row) {
        std::vector<uint64_t> part(x.bits.begin() + static_cast<long>(row * 16), x.bits.begin() + static_cast<long>(row * 16 + 16));
        std::sort(part.begin(), part.end(), [&](uint64_t a, uint64_t b) { return descending ? decode(type, a) > decode(type, b) : decode(type, a) < decode(type, b); });
        sorted.bits.insert(sorted.bits.end(), part.begin(), part.begin() + static_cast<long>(keep));
      }
      return sorted;
    };
    suite
        .add("N7.sort." + nameOf(type), R"(
def k(x, up, down, best):
    i = arange(0, 4)[:, None] * 16 + arange(0, 16)[None, :]
    v = load(x + i)
    r = tl.sort(v)
    static_assert(r.dtype == v.dtype)
    store(up + i, r)
    store(down + i, tl.sort(v, descending=True))
    t = tl.topk(v, 4)
    static_assert(t.dtype == v.dtype and t.shape == (4, 4))
    store(best + arange(0, 4)[:, None] * 4 + arange(0, 4)[None, :], t)
)")
        .in(x)
        .out(rows(false, 16))
        .out(rows(true, 16))
        .out(rows(true, 4));
  }
  suite.add("N7.sort.keeps_all_elements", R"(
def k(x, out):
    i = arange(0, 16)
    store(out + i, tl.sort(load(x + i)))
)").in(numbers(DType::F32, {3, NAN, -0.0, 0, INFINITY, -INFINITY, NAN, 7, 1, 2, 5, 4, -1, -2, 0.5, 9})).checked(filled(DType::F32, 16), [](const Values &found) {
    size_t nans = 0, infinities = 0;
    double sum = 0;
    for (size_t i = 0; i < 16; ++i) {
      double v = found.number(i);
      nans += std::isnan(v), infinities += std::isinf(v);
      sum += std::isfinite(v) ? v : 0;
    }
    return nans == 2 && infinities == 2 && sum == 28.5 ? std::string() : std::string("expected a permutation of the input found other elements");
  });
  suite.add("N7.sort.bitonic_merge", R"(
def k(x, out):
    i = arange(0, 8)
    store(out + i, tl.bitonic_merge(load(x + i)))
)").in(integers(DType::I32, {1, 4, 6, 9, 8, 5, 3, 0})).out(integers(DType::I32, {0, 1, 3, 4, 5, 6, 8, 9}));
  suite.add("N7.sort.other_axis_is_an_error", R"(
def k(x, out):
    i = arange(0, 4)[:, None] * 4 + arange(0, 4)[None, :]
    store(out + i, tl.sort(load(x + i), dim=0))
)").in(filled(DType::I32, 16)).out(filled(DType::I32, 16)).error("last axis");
}

void addCounting(Suite &suite) {
  auto histogram = [&](const std::string &id, const Values &x, int64_t bins, Values expected) -> Case & {
    return suite.add(id, substitute(R"(
def k(x, out):
    r = histogram(load(x + arange(0, $N)), $B)
    static_assert(r.dtype == int32)
    store(out + arange(0, $B), r)
)", {{"N", std::to_string(x.size())}, {"B", std::to_string(bins)}})).in(x).out(expected);
  };
  for (DType type : {DType::I32, DType::U32}) {
    std::string end = type == DType::I32 ? "" : ".uint32";
    histogram("A64.dropped" + end, integers(type, {0, 1, 2, 3, 4, 4, 5, -1}), 4, integers(DType::I32, {1, 1, 1, 1}));
    histogram("A64.only_one" + end, integers(type, {21, 298, 8, 9, 100, -3, 255, 4}), 8, integers(DType::I32, {0, 0, 0, 0, 1, 0, 0, 0}));
    histogram("A64.many_equal" + end, filled(type, 300, 2), 4, integers(DType::I32, {0, 0, 300, 0}));
    Values x = generate(type, 512, [](size_t i) { return static_cast<double>(i * i % 40); }), counts = filled(DType::I32, 32);
    for (size_t i = 0; i < 512; ++i)
      if (x.bits[i] < 32)
        ++counts.bits[x.bits[i]];
    histogram("N7.histogram.counts" + end, x, 32, counts);
  }
  suite.add("N7.histogram.mask", R"(
def k(x, out):
    i = arange(0, 16)
    store(out + arange(0, 4), histogram(load(x + i), 4, mask=i < 10))
)").in(generate(DType::I32, 16, [](size_t i) { return static_cast<double>(i % 4); })).out(integers(DType::I32, {3, 3, 2, 2}));
  for (DType type : {DType::I8, DType::I16, DType::I64, DType::F32})
    histogram("A64.type_is_an_error." + nameOf(type), filled(type, 8), 4, filled(DType::I32, 4)).error("histogram");
  suite.add("A63.after_argmin", R"(
def k(points, centroids, out, N: constexpr):
    d = arange(0, 16)
    p = load(points + arange(0, N)[:, None] * 16 + d[None, :])
    c = load(centroids + arange(0, 16)[:, None] * 16 + d[None, :])
    nearest = argmin(-dot(p, trans(c)), axis=1)
    store(out + arange(0, 16), histogram(nearest, 16))
)").in(scattered(DType::F32, 128 * 16, -1, 1, 4)).in(scattered(DType::F32, 256, -1, 1, 5)).checked(filled(DType::I32, 16), [](const Values &found) {
    __int128 sum = 0;
    for (size_t i = 0; i < 16; ++i)
      sum += found.integer(i);
    return sum == 128 ? std::string() : "expected counts that sum to 128 found " + std::to_string(static_cast<int64_t>(sum));
  }).value(int64_t(128));
}

void addGather(Suite &suite) {
  for (DType index : {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8}) {
    Values x = counting(DType::F32, 32), rows = generate(index, 16, [](size_t i) { return static_cast<double>(i * 5 % 4); });
    suite
        .add("N7.gather." + nameOf(index), R"(
def k(x, index, out):
    v = load(x + arange(0, 4)[:, None] * 8 + arange(0, 8)[None, :])
    i = load(index + arange(0, 2)[:, None] * 8 + arange(0, 8)[None, :])
    r = gather(v, i, 0)
    static_assert(r.shape == (2, 8))
    store(out + arange(0, 2)[:, None] * 8 + arange(0, 8)[None, :], r)
)")
        .in(x)
        .in(rows)
        .out(generate(DType::F32, 16, [](size_t i) { return static_cast<double>(i * 5 % 4 * 8 + i % 8); }));
  }
  suite.add("N7.gather.float_index_is_an_error", "def k(x, out):\n    v = load(x + arange(0, 4))\n    store(out + arange(0, 4), gather(v, v, 0))\n").in(filled(DType::F32, 4)).out(filled(DType::F32, 4)).error("gather");
}
} // namespace


void addMovement(Suite &suite) {
  addSorting(suite);
  addCounting(suite);
  addGather(suite);
  addShapes(suite);
}

} // namespace tk::conformance
