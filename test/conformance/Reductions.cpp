// N7: reductions: their types, axes, NaNs, indices, and combine functions of any kind.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
DType summed(DType type) { return type == DType::I1 || (isUnsigned(type) && bitsOf(type) < 32) ? DType::U32 : isSigned(type) && bitsOf(type) < 32 ? DType::I32 : type; }
DType compared(DType type) { return isFloat(type) && bitsOf(type) < 32 ? DType::F32 : isInteger(type) && bitsOf(type) < 32 ? DType::I32 : type; }

/// 4 x 16 small numbers, whose sums no type rounds.
Values matrix(DType type) {
  return generate(type, 64, [&](size_t i) { return type == DType::I1 ? static_cast<double>(i * 7 % 5 < 2) : isUnsigned(type) ? static_cast<double>(i * 13 % 11) : static_cast<double>(i * 13 % 11) - 4; });
}

const char *kReduce = R"(
def k(x, rows, columns, all):
    i = arange(0, 4)[:, None] * 16 + arange(0, 16)[None, :]
    v = load(x + i)
    r = $F(v, axis=1)
    static_assert(r.dtype == $R)
    static_assert($F(v, axis=0, keep_dims=True).shape == (1, 16))
    static_assert($F(v, axis=None, keep_dims=True).shape == (1, 1))
    store(rows + arange(0, 4), r)
    store(columns + arange(0, 16), $F(v, axis=-2))
    store(all, $F(v))
    store(all + 1 + arange(0, 1)[:, None] + arange(0, 1)[None, :], $F(v, keep_dims=True))
)";

Case &reduction(Suite &suite, const std::string &id, const std::string &function, DType type, DType result, const std::function<double(double, double)> &f) {
  Values x = matrix(type);
  auto fold = [&](size_t begin, size_t step, size_t count) {
    double value = x.number(begin);
    for (size_t i = 1; i < count; ++i)
      value = f(value, x.number(begin + i * step));
    return value;
  };
  return suite.add(id, substitute(kReduce, {{"F", function}, {"R", nameOf(result)}}))
      .in(x)
      .out(generate(result, 4, [&](size_t i) { return fold(i * 16, 1, 16); }))
      .out(generate(result, 16, [&](size_t i) { return fold(i, 16, 4); }))
      .out(generate(result, 2, [&](size_t) { return fold(0, 1, 64); }));
}

void addTypes(Suite &suite) {
  std::vector<DType> types = kStandardTypes;
  types.push_back(DType::I1);
  auto add = [](double a, double b) { return a + b; };
  for (DType type : types) {
    reduction(suite, "N7.sum." + nameOf(type), "tl.sum", type, summed(type), add);
    if (type == DType::I1)
      continue;
    reduction(suite, "N7.max." + nameOf(type), "tl.max", type, compared(type), [](double a, double b) { return std::max(a, b); });
    reduction(suite, "N7.min." + nameOf(type), "tl.min", type, compared(type), [](double a, double b) { return std::min(a, b); });
  }
  for (DType type : {DType::F8E4M3FN, DType::F8E5M2})
    reduction(suite, "N7.max." + nameOf(type), "tl.max", type, DType::F32, [](double a, double b) { return std::max(a, b); });
  for (DType type : kIntegerTypes) {
    auto bits = [](auto f) { return [f](double a, double b) { return static_cast<double>(f(static_cast<int64_t>(a), static_cast<int64_t>(b))); }; };
    reduction(suite, "N7.xor_sum." + nameOf(type), "tl.xor_sum", type, type, bits([](int64_t a, int64_t b) { return a ^ b; }));
    reduction(suite, "N7.reduce_or." + nameOf(type), "tl.reduce_or", type, type, bits([](int64_t a, int64_t b) { return a | b; }));
  }
  suite.add("N7.xor_sum.float_is_an_error", "def k(x, out):\n    store(out, tl.xor_sum(load(x + arange(0, 4))))\n").in(filled(DType::F32, 4)).out(filled(DType::F32, 1)).error("needs integers");
  suite.add("N7.reduce_or.float_is_an_error", "def k(x, out):\n    store(out, tl.reduce_or(load(x + arange(0, 4))))\n").in(filled(DType::F32, 4)).out(filled(DType::F32, 1)).error("needs integers");
  suite.add("N7.sum.dtype_argument", R"(
def k(x, wide, narrow):
    v = load(x + arange(0, 64))
    r = tl.sum(v, dtype=int64)
    static_assert(r.dtype == int64)
    store(wide, r)
    s = tl.sum(v, dtype=int8)
    static_assert(s.dtype == int8)
    store(narrow, s)
)").in(filled(DType::I8, 64, 100)).out(integers(DType::I64, {6400})).out(integers(DType::I8, {6400}));
  suite.add("N7.sum.bfloat16_tree", "def k(x, out):\n    store(out, tl.sum(load(x + arange(0, 512))))\n").in(filled(DType::BF16, 512, 1)).out(numbers(DType::BF16, {512}));
  suite.add("N7.sum.int32_wraps", "def k(x, out):\n    store(out, tl.sum(load(x + arange(0, 4))))\n").in(filled(DType::I32, 4, 2147483647)).out(integers(DType::I32, {-4}));
}

void addNan(Suite &suite) {
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64})
    suite
        .add("N7.nan.max_min." + nameOf(type), R"(
def k(x, out):
    i = arange(0, 8)
    for row in range(0, 4):
        v = load(x + row * 8 + i)
        store(out + 2 * row, tl.max(v))
        store(out + 2 * row + 1, tl.min(v))
)")
        .in(numbers(type, {NAN, 1, 2, NAN, -3, 4, NAN, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, INFINITY, NAN, 1, 2, 3, NAN, -INFINITY, 5, 1, 2, 3, 4, 5, 6, 7, NAN}))
        .out(numbers(type == DType::F64 ? type : DType::F32, {4, -3, NAN, NAN, INFINITY, -INFINITY, 7, 1}));
  struct Row {
    const char *name;
    std::vector<double> x;
    int64_t largest, smallest;
  };
  const double inf = INFINITY, nan = NAN;
  for (const Row &row : {Row{"nan_inf", {nan, inf}, 1, 1}, Row{"inf_nan", {inf, nan}, 0, 0}, Row{"nan_6_8", {nan, 6, 8}, 2, 1}, Row{"6_nan_8", {6, nan, 8}, 2, 0}, Row{"all_nan", {nan, nan, nan, nan}, 0, 0},
                         Row{"minus_inf_nan", {nan, -inf, nan}, 1, 1}})
    for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64})
      suite
          .add(std::string("A60.") + row.name + "." + nameOf(type), substitute(R"(
def k(x, out):
    v = load(x + arange(0, $N))
    store(out, argmax(v, axis=0))
    store(out + 1, argmin(v, axis=0))
    value, index = tl.max(v, axis=0, return_indices=True)
    store(out + 2, index)
    value, index = tl.min(v, axis=0, return_indices=True)
    store(out + 3, index)
)", {{"N", std::to_string(row.x.size())}}))
          .in(numbers(type, row.x))
          .out(integers(DType::I32, {row.largest, row.smallest, row.largest, row.smallest}));
}

void addIndices(Suite &suite) {
  std::vector<DType> types = kStandardTypes;
  for (DType type : types) {
    DType value = type == DType::BF16 ? DType::F32 : type;
    Values x = matrix(type), largest(value, {}), at(DType::I32, {}), lowest(DType::I32, {});
    for (size_t row = 0; row < 4; ++row) {
      size_t high = 0, low = 0;
      for (size_t i = 1; i < 16; ++i) {
        high = x.number(row * 16 + i) > x.number(row * 16 + high) ? i : high;
        low = x.number(row * 16 + i) < x.number(row * 16 + low) ? i : low;
      }
      largest.bits.push_back(encode(value, x.number(row * 16 + high)));
      at.bits.push_back(high);
      lowest.bits.push_back(low);
    }
    suite
        .add("N7.indices." + nameOf(type), substitute(R"(
def k(x, largest, at, lowest):
    i = arange(0, 4)[:, None] * 16 + arange(0, 16)[None, :]
    v = load(x + i)
    value, index = tl.max(v, axis=1, return_indices=True)
    static_assert(value.dtype == $R)
    static_assert(index.dtype == int32)
    static_assert(argmin(v, axis=1).dtype == int32)
    static_assert(argmin(v, axis=1, keep_dims=True).shape == (4, 1))
    store(largest + arange(0, 4), value)
    store(at + arange(0, 4), index)
    store(lowest + arange(0, 4), argmin(v, axis=1))
)", {{"R", nameOf(value)}}))
        .in(x)
        .out(largest)
        .out(at)
        .out(lowest);
  }
  suite.add("N7.indices.axis_is_required", "def k(x, out):\n    store(out, argmax(load(x + arange(0, 4))))\n").in(filled(DType::F32, 4)).out(filled(DType::I32, 1)).error("axis");
  for (int64_t count : {64, 128, 256, 512, 100})
    for (bool left : {true, false})
      suite
          .add("A61." + std::to_string(count) + (left ? ".left" : ".any"), substitute(R"(
def k(x, out, flat):
    i = arange(0, 2)[:, None] * $N + arange(0, $N)[None, :]
    v = load(x + i)
    r = argmax(v, axis=1, tie_break_left=$L, keep_dims=True)
    static_assert(r.shape == (2, 1))
    store(out + arange(0, 2)[:, None], r)
    value, index = tl.max(v, axis=1, return_indices=True, return_indices_tie_break_left=$L)
    store(flat + arange(0, 2), index)
)", {{"N", std::to_string(count)}, {"L", left ? "True" : "False"}}))
          .in(generate(DType::F32, static_cast<size_t>(2 * count), [&](size_t i) { return i % 7 == 3 ? INFINITY : 1.0; }))
          .checked(filled(DType::I32, 2),
                   [=](const Values &found) {
                     for (size_t row = 0; row < 2; ++row) {
                       size_t index = found.bits[row] + row * static_cast<size_t>(count), first = row * static_cast<size_t>(count);
                       while (first % 7 != 3)
                         ++first;
                       if (index % 7 != 3 || (left && index != first))
                         return "expected the index of an infinity found " + std::to_string(found.bits[row]) + " in row " + std::to_string(row);
                     }
                     return std::string();
                   })
          .checked(filled(DType::I32, 2), [=](const Values &found) { return found.bits[0] % 7 == 3 && (!left || found.bits[0] == 3) ? std::string() : std::string("expected the index of an infinity found another"); });
}

/// Equal ones on the other axis, in tiles that one warp or many share.
void addTiesOfColumns(Suite &suite) {
  auto element = [](size_t row, size_t column) { return row % 7 == column + 2 ? INFINITY : row % 11 == column + 1 ? -INFINITY : 1.0; };
  auto firstOf = [&](double value) {
    return generate(DType::I32, 3, [&](size_t column) {
      size_t row = 0;
      while (element(row, column) != value)
        ++row;
      return static_cast<double>(row);
    });
  };
  for (unsigned warps : {1, 4, 8})
    for (size_t rows : {64, 100, 512})
      suite
          .add("A61.axis_0." + std::to_string(rows) + "." + std::to_string(warps), substitute(R"(
def k(x, high, low):
    i = arange(0, $N)[:, None] * 3 + arange(0, 3)[None, :]
    v = load(x + i)
    store(high + arange(0, 3), argmax(v, axis=0))
    value, index = tl.min(v, axis=-2, return_indices=True, keep_dims=True)
    static_assert(index.shape == (1, 3))
    store(low + arange(0, 3)[None, :], index)
)", {{"N", std::to_string(rows)}}))
          .in(generate(DType::F32, rows * 3, [&](size_t i) { return element(i / 3, i % 3); }))
          .out(firstOf(INFINITY))
          .out(firstOf(-INFINITY))
          .withWarps(warps);
}

/// Composition of x -> a x + b modulo 2^32, in order: associative (a may have more bits than b, not fewer), not commutative.
struct Affine {
  uint64_t a = 1;
  uint32_t b = 0;
  Affine then(const Affine &next) const { return {a * next.a, static_cast<uint32_t>(b * next.a + next.b)}; }
};
Affine affine(size_t i) { return {i * 2654435761u | 1, static_cast<uint32_t>(i * i * 97 + 5)}; }

void addTuples(Suite &suite) {
  for (size_t n : {2, 8, 37, 64, 1024}) {
    Affine total;
    for (size_t i = 0; i < n; ++i)
      total = total.then(affine(i));
    Values a(DType::U64, {}), b(DType::U32, {});
    for (size_t i = 0; i < n; ++i)
      a.bits.push_back(affine(i).a), b.bits.push_back(affine(i).b);
    suite
        .add("N7.reduce.not_commutative." + std::to_string(n), substitute(R"(
def compose(a0, b0, a1, b1):
    return a0 * a1, b0 * a1.to(uint32) + b1

def k(x, y, a, b):
    i = arange(0, $N)
    r, s = reduce((load(x + i), load(y + i)), 0, compose)
    static_assert(r.dtype == uint64 and s.dtype == uint32)
    store(a, r)
    store(b, s)
)", {{"N", std::to_string(n)}}))
        .in(a)
        .in(b)
        .out(Values(DType::U64, {total.a}))
        .out(Values(DType::U32, {total.b}));
  }
  Values a(DType::U64, {}), b(DType::U32, {}), byColumn(DType::U32, {}), byRow(DType::U32, {});
  for (size_t i = 0; i < 96; ++i)
    a.bits.push_back(affine(i).a), b.bits.push_back(affine(i).b);
  for (size_t column = 0; column < 12; ++column) {
    Affine total;
    for (size_t row = 0; row < 8; ++row)
      total = total.then(affine(row * 12 + column));
    byColumn.bits.push_back(total.b);
  }
  for (size_t row = 0; row < 8; ++row) {
    Affine total;
    for (size_t column = 0; column < 12; ++column)
      total = total.then(affine(row * 12 + column));
    byRow.bits.push_back(total.b);
  }
  suite.add("N7.reduce.axes", R"(
def compose(a0, b0, a1, b1):
    return a0 * a1, b0 * a1.to(uint32) + b1

def k(x, y, by_column, by_row):
    i = arange(0, 8)[:, None] * 12 + arange(0, 12)[None, :]
    v = (load(x + i), load(y + i))
    a, b = reduce(v, 0, compose)
    static_assert(b.shape == (12,))
    store(by_column + arange(0, 12), b)
    a, b = reduce(v, -1, compose, keep_dims=True)
    static_assert(b.shape == (8, 1))
    store(by_row + arange(0, 8)[:, None], b)
)").in(a).in(b).out(byColumn).out(byRow);
  suite.add("N7.reduce.one_operand", R"(
def larger_magnitude(a, b):
    return where(abs(a) > abs(b), a, b)

def k(x, out):
    store(out, reduce(load(x + arange(0, 5)), 0, larger_magnitude))
)").in(numbers(DType::F32, {1, -7, 3, 6, 2})).out(numbers(DType::F32, {-7}));
  // Control flow at run time in the function: the larger last digit wins, of equal ones the left; zeros never do.
  Values digits(DType::I32, {}), byEach(DType::I32, {});
  for (size_t i = 0; i < 12 * 37; ++i)
    digits.bits.push_back(i * 7919 % 1000 / 3);
  auto pick = [](uint64_t a, uint64_t b) { return a == 0 ? b : b == 0 || a % 10 >= b % 10 ? a : b; };
  for (size_t row = 0; row < 12; ++row) {
    uint64_t best = digits.bits[row * 37];
    for (size_t i = 1; i < 37; ++i)
      best = pick(best, digits.bits[row * 37 + i]);
    byEach.bits.push_back(best);
  }
  for (size_t column = 0; column < 37; ++column) {
    uint64_t best = digits.bits[column];
    for (size_t row = 1; row < 12; ++row)
      best = pick(best, digits.bits[row * 37 + column]);
    byEach.bits.push_back(best);
  }
  byEach.bits.push_back(byEach.bits[0]);
  suite.add("N7.reduce.branches", R"(
def choose(a, b):
    if a == 0:
        return b
    r = a
    if b != 0:
        if b % 10 > a % 10:
            r = b
    return r

def k(x, out):
    i = arange(0, 12)[:, None] * 37 + arange(0, 37)[None, :]
    store(out + arange(0, 12), reduce(load(x + i), 1, choose))
    store(out + 12 + arange(0, 37), reduce(load(x + i), 0, choose))
    store(out + 49, reduce(load(x + arange(0, 37)), 0, choose))
)").in(digits).out(byEach);
  suite.add("N7.reduce.assertion_in_a_branch", R"(
def add(a, b):
    if b > 5:
        device_assert(b < 7, "large")
    else:
        device_assert(b < 6, "never")
    return a + b

def k(x, out):
    store(out, reduce(load(x + arange(0, 8)), 0, add))
)").in(counting(DType::I32, 8)).out(filled(DType::I32, 1)).withDebug().fails("large");
  suite.add("N7.reduce.assertion_in_a_branch_holds", R"(
def add(a, b):
    if b > 5:
        device_assert(b > 5, "never")
    return a + b

def k(x, out):
    store(out, reduce(load(x + arange(0, 8)), 0, add))
)").in(counting(DType::I32, 8)).out(integers(DType::I32, {28})).withDebug();
  suite.add("N7.reduce.wrong_count_is_an_error", R"(
def one(a, b, c, d):
    return a

def k(x, out):
    v = load(x + arange(0, 4))
    a, b = reduce((v, v), 0, one)
    store(out, a)
)").in(filled(DType::F32, 4)).out(filled(DType::F32, 1)).error("combine");
}
} // namespace

void addReductions(Suite &suite) {
  addTypes(suite);
  addNan(suite);
  addIndices(suite);
  addTiesOfColumns(suite);
  addTuples(suite);
}

} // namespace tk::conformance
