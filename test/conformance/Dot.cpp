// N8: matrix products: types, shapes, accumulators, precision.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
const char *kDot = R"(
def k(a, b, out):
    m = arange(0, $M)
    n = arange(0, $N)
    t = arange(0, $K)
    r = dot(load(a + m[:, None] * $K + t[None, :]), load(b + t[:, None] * $N + n[None, :])$A)
    static_assert(r.dtype == $R)
    store(out + m[:, None] * $N + n[None, :], r)
)";

struct Shape {
  size_t m, n, k;
};

Values product(DType result, const Values &a, const Values &b, Shape shape) {
  return generate(result, shape.m * shape.n, [&](size_t i) {
    long double sum = 0;
    for (size_t t = 0; t < shape.k; ++t)
      sum += static_cast<long double>(a.number(i / shape.n * shape.k + t)) * b.number(t * shape.n + i % shape.n);
    return static_cast<double>(sum);
  });
}

Case &addDot(Suite &suite, const std::string &id, const Values &a, const Values &b, Shape shape, DType result, const std::string &arguments, Values expected, Tolerance tolerance = {}) {
  return suite.add(id, substitute(kDot, {{"M", std::to_string(shape.m)}, {"N", std::to_string(shape.n)}, {"K", std::to_string(shape.k)}, {"R", nameOf(result)}, {"A", arguments}})).in(a).in(b).out(expected, tolerance);
}

Values small(DType type, size_t count, size_t seed) {
  return generate(type, count, [&](size_t i) { return static_cast<double>((i * 7 + i / 5 * 3 + seed) % 7) - 3; });
}

void addTypes(Suite &suite) {
  struct Row {
    DType operand, result;
  };
  for (Row row : {Row{DType::I8, DType::I32}, Row{DType::F16, DType::F32}, Row{DType::BF16, DType::F32}, Row{DType::F32, DType::F32}, Row{DType::F64, DType::F64}, Row{DType::F8E4M3FN, DType::F32},
                  Row{DType::F8E5M2, DType::F32}})
    for (Shape shape : {Shape{16, 16, 16}, Shape{32, 16, 64}, Shape{1, 1, 1}, Shape{5, 7, 3}, Shape{1, 64, 32}, Shape{64, 1, 33}}) {
      Values a = small(row.operand, shape.m * shape.k, 1), b = small(row.operand, shape.k * shape.n, 4);
      std::string id = "N8.exact." + nameOf(row.operand) + "." + std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
      addDot(suite, id, a, b, shape, row.result, "", product(row.result, a, b, shape));
    }
  const Shape shape{16, 16, 32};
  Values mixed = small(DType::F8E4M3FN, 512, 2), other = small(DType::F8E5M2, 512, 3);
  addDot(suite, "N8.exact.fp8_kinds_mixed", mixed, other, shape, DType::F32, "", product(DType::F32, mixed, other, shape));
  Values half = small(DType::F16, 512, 1), half2 = small(DType::F16, 512, 5);
  addDot(suite, "N8.output.float16", half, half2, shape, DType::F16, ", out_dtype=float16", product(DType::F16, half, half2, shape));
  addDot(suite, "N8.output.accumulator_decides", half, half2, shape, DType::F16, ", acc=zeros((16, 16), float16)", product(DType::F16, half, half2, shape));
  Values f16 = filled(DType::F16, 512, 1), bf16 = filled(DType::BF16, 512, 1), f32 = filled(DType::F32, 512, 1), u8 = filled(DType::U8, 512, 1), i16 = filled(DType::I16, 512, 1), out = filled(DType::F32, 256);
  addDot(suite, "N8.error.bfloat16_output", bf16, bf16, shape, DType::BF16, ", out_dtype=bfloat16", filled(DType::BF16, 256)).error("tl.dot");
  addDot(suite, "N8.error.accumulator_type", f16, f16, shape, DType::F32, ", acc=zeros((16, 16), float16), out_dtype=float32", out).error("accumulator");
  addDot(suite, "N8.error.accumulator_shape", f16, f16, shape, DType::F32, ", acc=zeros((16, 8), float32)", out).error("accumulator");
  addDot(suite, "N8.error.operand_types", f16, f32, shape, DType::F32, "", out).error("one type");
  addDot(suite, "N8.error.uint8", u8, u8, shape, DType::I32, "", filled(DType::I32, 256)).error("tl.dot");
  addDot(suite, "N8.error.int16", i16, i16, shape, DType::I32, "", filled(DType::I32, 256)).error("tl.dot");
  addDot(suite, "A82.float32_operands", f32, f32, shape, DType::F64, ", acc=zeros((16, 16), float64)", filled(DType::F64, 256)).error("accumulator");
  addDot(suite, "A82.int8_operands", filled(DType::I8, 512), filled(DType::I8, 512), shape, DType::I32, ", acc=zeros((16, 16), float32)", filled(DType::I32, 256)).error("accumulator");
  addDot(suite, "A82.float16_accumulator", filled(DType::F64, 512), filled(DType::F64, 512), shape, DType::F64, ", acc=zeros((16, 16), float16)", filled(DType::F64, 256)).error("accumulator");
  addDot(suite, "A82.float64_accumulator", filled(DType::F64, 512), filled(DType::F64, 512), shape, DType::F64, ", acc=zeros((16, 16), float32)", filled(DType::F64, 256)).error("accumulator");
  suite.add("N8.error.extents", R"(
def k(a, out):
    x = load(a + arange(0, 16)[:, None] * 8 + arange(0, 8)[None, :])
    store(out + arange(0, 16)[:, None] * 8 + arange(0, 8)[None, :], dot(x, x))
)").in(filled(DType::F32, 128)).out(filled(DType::F32, 128)).error("shapes do not match");
}

void addAccumulators(Suite &suite) {
  const Shape shape{16, 16, 16};
  for (DType type : {DType::I8, DType::F16, DType::BF16, DType::F32, DType::F64}) {
    DType result = type == DType::I8 ? DType::I32 : type == DType::F64 ? type : DType::F32;
    Values a = small(type, 256, 1), b = small(type, 256, 2), c = small(result, 256, 3), expected = product(result, a, b, shape);
    for (size_t i = 0; i < 256; ++i)
      expected.bits[i] = encode(result, expected.number(i) + c.number(i));
    suite
        .add("N8.accumulator." + nameOf(type), R"(
def k(a, b, c, out):
    i = arange(0, 16)[:, None] * 16 + arange(0, 16)[None, :]
    r = dot(load(a + i), load(b + i), load(c + i))
    static_assert(r.dtype == load(c).dtype)
    store(out + i, r)
)")
        .in(a)
        .in(b)
        .in(c)
        .out(expected);
  }
}

void addBatches(Suite &suite) {
  Values a = small(DType::F32, 3 * 4 * 8, 1), b = small(DType::F32, 3 * 8 * 5, 2);
  Values expected = generate(DType::F32, 60, [&](size_t i) {
    double sum = 0;
    for (size_t t = 0; t < 8; ++t)
      sum += a.number(i / 20 * 32 + i / 5 % 4 * 8 + t) * b.number(i / 20 * 40 + t * 5 + i % 5);
    return sum;
  });
  suite.add("N8.batch.rank_3", R"(
def k(a, b, out):
    l = arange(0, 3)[:, None, None]
    x = load(a + l * 32 + arange(0, 4)[None, :, None] * 8 + arange(0, 8)[None, None, :])
    y = load(b + l * 40 + arange(0, 8)[None, :, None] * 5 + arange(0, 5)[None, None, :])
    store(out + l * 20 + arange(0, 4)[None, :, None] * 5 + arange(0, 5)[None, None, :], dot(x, y))
)").in(a).in(b).out(expected);
  suite.add("N8.batch.rank_4", R"(
def k(a, b, out):
    x = load(a + arange(0, 96)).reshape(1, 3, 4, 8)
    y = load(b + arange(0, 120)).reshape(1, 3, 8, 5)
    r = dot(x, y)
    static_assert(r.shape == (1, 3, 4, 5))
    store(out + arange(0, 60), r.reshape(60))
)").in(a).in(b).out(expected);
}

void addPrecision(Suite &suite) {
  const Shape shape{32, 32, 64};
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    Values a = scattered(type, 32 * 64, -1, 1, 1), b = scattered(type, 64 * 32, -1, 1, 2);
    DType result = type == DType::F64 ? type : DType::F32;
    Tolerance tolerance = type == DType::F64 ? Tolerance{.relative = 1e-13, .absolute = 1e-14} : Tolerance{.relative = 1e-5, .absolute = 1e-5};
    // Random fp32 operands are no tf32 numbers, and tf32 is the default where the machine has it.
    addDot(suite, "N8.random." + nameOf(type), a, b, shape, result, type == DType::F32 ? ", input_precision='ieee'" : "", product(result, a, b, shape),
           tolerance);
  }
  // Inputs that tf32 holds exactly: every precision must agree.
  Values a = scattered(DType::F32, 32 * 64, -1, 1, 3), b = scattered(DType::F32, 64 * 32, -1, 1, 4);
  for (Values *x : {&a, &b})
    for (uint64_t &bits : x->bits)
      bits &= ~uint64_t(0x1fff);
  Values expected = product(DType::F32, a, b, shape);
  for (const char *precision : {"ieee", "tf32", "tf32x3"})
    addDot(suite, std::string("N8.precision.") + precision, a, b, shape, DType::F32, std::string(", input_precision='") + precision + "'", expected, {.relative = 1e-5, .absolute = 1e-5});
  addDot(suite, "N8.precision.unknown", a, b, shape, DType::F32, ", input_precision='fp4'", expected).error("input_precision");
  // tf32 drops the low 13 bits, by truncation.
  Values x = filled(DType::F32, 256, 1 + 0x1p-11), y = filled(DType::F32, 256, 1);
  addDot(suite, "N8.precision.tf32_truncates", x, y, {16, 16, 16}, DType::F32, ", input_precision='tf32'", filled(DType::F32, 256, 16));
  addDot(suite, "N8.precision.ieee_keeps", x, y, {16, 16, 16}, DType::F32, ", input_precision='ieee'", filled(DType::F32, 256, 16 + 0x1p-7));
}

void addFaults(Suite &suite) {
  addDot(suite, "A78.known", integers(DType::I8, {-44, -20, -126, 6}), integers(DType::I8, {24, -75, 127, -101}), {2, 2, 2}, DType::I32, "", integers(DType::I32, {-3596, 5320, -2262, 8844}));
  addDot(suite, "A78.extremes", filled(DType::I8, 16 * 256, -128), filled(DType::I8, 256 * 16, -128), {16, 16, 256}, DType::I32, "", filled(DType::I32, 256, 256.0 * 128 * 128));
  const Shape square{16, 16, 16};
  Values q = small(DType::F16, 256, 1), k = small(DType::F16, 256, 2), v = small(DType::F16, 256, 3), kT(DType::F16, {});
  for (size_t i = 0; i < 256; ++i)
    kT.bits.push_back(k.bits[i % 16 * 16 + i / 16]);
  Values qk = product(DType::F16, q, kT, square);
  suite.add("A75.chained", R"(
def k(q, kk, v, inner, out):
    i = arange(0, 16)[:, None] * 16 + arange(0, 16)[None, :]
    qk = dot(load(q + i), trans(load(kk + i))).to(float16)
    store(inner + i, qk)
    store(out + i, dot(qk, load(v + i)))
)").in(q).in(k).in(v).out(qk).out(product(DType::F32, qk, v, square));
  for (DType type : {DType::F32, DType::BF16})
    for (size_t m : {16, 64, 128}) {
      Values a1 = small(type, m * 64, 1), a2 = small(type, m * 64, 3), b1 = small(type, 64 * 16, 2), b2 = small(type, 64 * 16, 5);
      Values sum = product(DType::F32, a1, b1, {m, 16, 64}), second = product(DType::F32, a2, b2, {m, 16, 64});
      for (size_t i = 0; i < sum.size(); ++i)
        sum.bits[i] = encode(DType::F32, sum.number(i) + second.number(i));
      suite
          .add("A76." + nameOf(type) + "." + std::to_string(m), substitute(R"(
def k(a1, b1, a2, b2, out, K):
    m = arange(0, $M)[:, None]
    n = arange(0, 16)[None, :]
    acc = zeros(($M, 16), float32)
    for t in range(0, K, 16):
        i = t + arange(0, 16)
        acc = dot(load(a1 + m * 64 + i[None, :]), load(b1 + i[:, None] * 16 + n), acc)
        acc = dot(load(a2 + m * 64 + i[None, :]), load(b2 + i[:, None] * 16 + n), acc)
    store(out + m * 16 + n, acc)
)", {{"M", std::to_string(m)}}))
          .in(a1)
          .in(b1)
          .in(a2)
          .in(b2)
          .out(sum)
          .value(int64_t(64));
    }
  for (DType type : {DType::F32, DType::BF16}) {
    // The controls: two sums side by side.
    Values a1 = small(type, 16 * 64, 1), a2 = small(type, 16 * 64, 3), b1 = small(type, 64 * 16, 2), b2 = small(type, 64 * 16, 5);
    suite
        .add("A76.two_accumulators." + nameOf(type), R"(
def k(a1, b1, a2, b2, out, out2, K):
    m = arange(0, 16)[:, None]
    n = arange(0, 16)[None, :]
    acc = zeros((16, 16), float32)
    acc2 = acc
    for t in range(0, K, 16):
        i = t + arange(0, 16)
        acc = dot(load(a1 + m * 64 + i[None, :]), load(b1 + i[:, None] * 16 + n), acc)
        acc2 = dot(load(a2 + m * 64 + i[None, :]), load(b2 + i[:, None] * 16 + n), acc2)
    store(out + m * 16 + n, acc)
    store(out2 + m * 16 + n, acc2)
)")
        .in(a1)
        .in(b1)
        .in(a2)
        .in(b2)
        .out(product(DType::F32, a1, b1, {16, 16, 64}))
        .out(product(DType::F32, a2, b2, {16, 16, 64}))
        .value(int64_t(64));
  }
  suite.add("A79.loaded_rank_3", R"(
def k(a, b, out):
    l = arange(0, 2)[:, None, None]
    x = load(a + l * 128 + arange(0, 16)[None, :, None] * 8 + arange(0, 8)[None, None, :])
    y = load(b + l * 128 + arange(0, 8)[None, :, None] * 16 + arange(0, 16)[None, None, :])
    p = make_block_ptr(out, shape=(2, 16, 16), strides=(256, 16, 1), offsets=(0, 0, 0), block_shape=(2, 16, 16), order=(2, 1, 0))
    store(p, dot(x, y, input_precision="ieee"))
)").in(filled(DType::F32, 256)).in(small(DType::F32, 256, 2)).out(filled(DType::F32, 512));
  suite.add("A79.zeros_rank_3", R"(
def k(out):
    r = dot(zeros((2, 16, 8), float32), zeros((2, 8, 16), float32), input_precision="ieee")
    p = make_block_ptr(out, shape=(2, 16, 16), strides=(256, 16, 1), offsets=(0, 0, 0), block_shape=(2, 16, 16), order=(2, 1, 0))
    store(p, r + 1.0)
)").out(filled(DType::F32, 512, 1));
  struct Row {
    DType from, to;
  };
  for (Row row : {Row{DType::I8, DType::BF16}, Row{DType::BF16, DType::F32}, Row{DType::F32, DType::BF16}, Row{DType::I8, DType::F16}, Row{DType::F16, DType::F32}}) {
    Values a = small(row.from, 256, 1), b = small(row.to, 256, 2);
    suite
        .add("A81." + nameOf(row.from) + "." + nameOf(row.to), substitute(R"(
def k(a, b, out):
    i = arange(0, 16)[:, None] * 16 + arange(0, 16)[None, :]
    store(out + i, dot(load(a + i).to($T), load(b + i)))
)", {{"T", nameOf(row.to)}}))
        .in(a)
        .in(b)
        .out(product(DType::F32, a, b, square));
  }
  // Eight nibbles a word along K, minus a zero point, times a scale for each group of 32.
  Values x = small(DType::F32, 16 * 64, 1), packed(DType::I32, {}), scales = numbers(DType::F32, {0.5, 2, 0.25, 1}), unpacked(DType::F32, std::vector<uint64_t>(64 * 2));
  for (size_t word = 0; word < 8; ++word)
    for (size_t n = 0; n < 2; ++n)
      packed.bits.push_back((word * 2654435761u + n * 40503u * 65537u) & 0xffffffff);
  for (size_t t = 0; t < 64; ++t)
    for (size_t n = 0; n < 2; ++n)
      unpacked.bits[t * 2 + n] = encode(DType::F32, (static_cast<double>(packed.bits[t / 8 * 2 + n] >> (t % 8 * 4) & 15) - 7) * scales.number(t / 32 * 2 + n));
  for (int stages : {1, 2, 3, 5})
    suite.add("A84.nibbles." + std::to_string(stages), substitute(R"(
def k(x, w, scales, out, K):
    m = arange(0, 16)[:, None]
    n = arange(0, 2)[None, :]
    acc = zeros((16, 2), float32)
    for t in tl.range(0, K, 16, num_stages=$S):
        i = t + arange(0, 16)
        word = load(w + (i // 8)[:, None] * 2 + n)
        nibble = (word >> ((i % 8) * 4)[:, None]) & 15
        scale = load(scales + (i // 32)[:, None] * 2 + n)
        acc += dot(load(x + m * 64 + i[None, :]), (nibble - 7).to(float32) * scale)
    store(out + m * 2 + n, acc)
)", {{"S", std::to_string(stages)}})).in(x).in(packed).in(scales).out(product(DType::F32, x, unpacked, {16, 2, 64})).value(int64_t(64));
  // The operand's mask depends on k: what lies outside counts as zero.
  Values image = small(DType::F32, 16 * 40, 2), weights = small(DType::F32, 40 * 16, 3), padded = image;
  for (size_t i = 0; i < padded.size(); ++i)
    if ((i / 40 + i % 40) % 3 == 0)
      padded.bits[i] = 0;
  suite.add("A85.mask_depends_on_k", R"(
def k(x, w, out, K):
    m = arange(0, 16)[:, None]
    n = arange(0, 16)[None, :]
    acc = zeros((16, 16), float32)
    for t in range(0, K, 16):
        i = t + arange(0, 16)
        inside = ((m + i[None, :]) % 3 != 0) & (i[None, :] < K)
        a = load(x + m * K + i[None, :], mask=inside, other=0.0)
        b = load(w + i[:, None] * 16 + n, mask=i[:, None] < K, other=0.0)
        acc = dot(a, b, acc)
    store(out + m * 16 + n, acc)
)").in(image).at(Placement::AgainstUpperPage).in(weights).at(Placement::AgainstUpperPage).out(product(DType::F32, padded, weights, {16, 16, 40})).value(int64_t(40));
}
} // namespace

void addDot(Suite &suite) {
  addTypes(suite);
  addAccumulators(suite);
  addBatches(suite);
  addPrecision(suite);
  addFaults(suite);
}

} // namespace tk::conformance
