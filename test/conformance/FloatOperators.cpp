// N6: comparisons, minimum and maximum with NaN, rounding of every single operation.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
const DType kFloats[] = {DType::F16, DType::BF16, DType::F32, DType::F64};

/// Special values, each with each: 100 pairs.
struct Specials {
  Values x, y;
  explicit Specials(DType type) : x(type, {}), y(type, {}) {
    const double values[] = {0, -0.0, 1, -1, 1.5, -300, INFINITY, -INFINITY, NAN, 0x1p-14};
    for (double a : values)
      for (double b : values) {
        x.bits.push_back(encode(type, a));
        y.bits.push_back(encode(type, b));
      }
  }
  Values apply(DType type, const std::function<double(double, double)> &f) const {
    return generate(type, x.size(), [&](size_t i) { return f(x.number(i), y.number(i)); });
  }
  bool bothZero(size_t i) const { return x.number(i) == 0 && y.number(i) == 0; }
};

double quietMax(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b); }
double quietMin(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::min(a, b); }

void addSpecials(Suite &suite) {
  for (DType type : kFloats) {
    Specials grid(type);
    std::string name = nameOf(type);
    suite
        .add("N6.compare." + name, R"(
def k(x, y, out):
    i = arange(0, 100)
    a = load(x + i)
    b = load(y + i)
    store(out + i, (a < b).to(int8) + 2 * (a <= b).to(int8) + 4 * (a == b).to(int8) + 8 * (a != b).to(int8) + 16 * (a > b).to(int8) + 32 * (a >= b).to(int8))
)")
        .in(grid.x)
        .in(grid.y)
        .out(grid.apply(DType::I8, [](double a, double b) { return (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * (a >= b); }));
    const char *source = R"(
def k(x, y, low, high, low_all, high_all):
    i = arange(0, 100)
    a = load(x + i)
    b = load(y + i)
    store(low + i, minimum(a, b))
    store(high + i, maximum(a, b))
    store(low_all + i, minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    store(high_all + i, maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
)";
    auto zeros = [grid](size_t i) { return grid.bothZero(i); };
    auto all = [](auto f) { return [f](double a, double b) { return std::isnan(a) || std::isnan(b) ? static_cast<double>(NAN) : f(a, b); }; };
    suite.add("N6.minmax." + name, source)
        .in(grid.x)
        .in(grid.y)
        .out(grid.apply(type, quietMin))
        .anyWhere(zeros)
        .out(grid.apply(type, quietMax))
        .anyWhere(zeros)
        .out(grid.apply(type, all(quietMin)))
        .anyWhere(zeros)
        .out(grid.apply(type, all(quietMax)))
        .anyWhere(zeros);
    suite
        .add("N6.clamp." + name, R"(
def k(x, out, out_all):
    i = arange(0, 8)
    a = load(x + i)
    r = clamp(a, -1.0, 2.0)
    static_assert(r.dtype == a.dtype)
    store(out + i, r)
    store(out_all + i, clamp(a, -1.0, 2.0, propagate_nan=tl.PropagateNan.ALL))
)")
        .in(numbers(type, {0.5, -3, 7, NAN, INFINITY, -INFINITY, -1, 2}))
        .out(numbers(type, {0.5, -1, 2, -1, 2, -1, -1, 2}))
        .out(numbers(type, {0.5, -1, 2, NAN, 2, -1, -1, 2}));
    suite
        .add("N6.sign." + name, R"(
def k(x, negated, magnitude):
    i = arange(0, 8)
    a = load(x + i)
    store(negated + i, -a)
    store(magnitude + i, abs(a))
)")
        .in(numbers(type, {0.0, -0.0, 1.5, -2, INFINITY, -INFINITY, 0x1p-14, NAN}))
        .out(numbers(type, {-0.0, 0.0, -1.5, 2, -INFINITY, INFINITY, -0x1p-14, NAN}))
        .out(numbers(type, {0.0, 0.0, 1.5, 2, INFINITY, INFINITY, 0x1p-14, NAN}));
    suite
        .add("N6.specials." + name, R"(
def k(x, y, sum, difference, product):
    i = arange(0, 100)
    a = load(x + i)
    b = load(y + i)
    store(sum + i, a + b)
    store(difference + i, a - b)
    store(product + i, a * b)
)")
        .in(grid.x)
        .in(grid.y)
        .out(grid.apply(type, [](double a, double b) { return a + b; }))
        .out(grid.apply(type, [](double a, double b) { return a - b; }))
        .out(grid.apply(type, [](double a, double b) { return a * b; }));
  }
  suite.add("N6.clamp.integer_is_an_error", "def k(x, out):\n    store(out, clamp(load(x), 0, 2))\n").in(filled(DType::I32, 1)).out(filled(DType::I32, 1)).error("float");
}

/// Each operation rounds by itself, to its own type.
void addRounding(Suite &suite) {
  for (DType type : kFloats) {
    Values x = scattered(type, 512, 0.5, 4, 11), y = scattered(type, 512, 0.5, 4, 12), z = scattered(type, 512, -9, 9, 13);
    auto round = [&](double v) { return decode(type, encode(type, v)); };
    Values chained(type, {}), fused(type, {}), sum(type, {});
    for (size_t i = 0; i < 512; ++i) {
      double product = round(x.number(i) * y.number(i));
      chained.bits.push_back(encode(type, product + z.number(i)));
      fused.bits.push_back(type == DType::F32 ? encode(type, std::fma(static_cast<float>(x.number(i)), static_cast<float>(y.number(i)), static_cast<float>(z.number(i))))
                                              : encode(type, std::fma(x.number(i), y.number(i), z.number(i))));
      sum.bits.push_back(encode(type, round(round(x.number(i) + y.number(i)) + z.number(i)) - x.number(i)));
    }
    suite
        .add("N6.one_rounding_each." + nameOf(type), R"(
def k(x, y, z, chained, sum):
    i = arange(0, 512)
    a = load(x + i)
    b = load(y + i)
    c = load(z + i)
    store(chained + i, a * b + c)
    store(sum + i, a + b + c - a)
)")
        .in(x)
        .in(y)
        .in(z)
        .out(chained)
        .out(sum);
    suite
        .add("N6.fma." + nameOf(type), R"(
def k(x, y, z, out):
    i = arange(0, 512)
    r = fma(load(x + i), load(y + i), load(z + i))
    static_assert(r.dtype == load(x).dtype)
    store(out + i, r)
)")
        .in(x)
        .in(y)
        .in(z)
        .out(fused);
    double tiny = type == DType::F16 ? 0x1p-14 : type == DType::F64 ? 0x1p-1022 : 0x1p-126;
    suite
        .add("N6.subnormals." + nameOf(type), R"(
def k(x, out):
    i = arange(0, 6)
    a = load(x + i)
    store(out + i, a * load(x + 6))
    store(out + 6 + i, a - load(x))
)")
        .in(numbers(type, {tiny, tiny * 1.5, -tiny, tiny * 1.25, tiny * 3, 0, 0.5}))
        .out(numbers(type, {tiny / 2, tiny * 0.75, -tiny / 2, tiny * 0.625, tiny * 1.5, 0, 0, tiny / 2, -2 * tiny, tiny / 4, 2 * tiny, -tiny}));
  }
  suite.add("N6.fma.promotes", R"(
def k(x, y, z, out):
    i = arange(0, 4)
    r = fma(load(x + i), load(y + i), load(z + i))
    static_assert(r.dtype == float32)
    store(out + i, r)
)").in(numbers(DType::F16, {1, 2, 3, 4})).in(numbers(DType::F32, {0.5, 0.25, 2, 3})).in(integers(DType::I32, {1, 2, 3, 4})).out(numbers(DType::F32, {1.5, 2.5, 9, 16}));
}

void addDivision(Suite &suite) {
  for (DType type : {DType::F32, DType::F64}) {
    Values x = scattered(type, 2048, -100, 100, 3), y = scattered(type, 2048, -7, 7, 4);
    auto quotient = generate(type, 2048, [&](size_t i) {
      return type == DType::F32 ? static_cast<double>(static_cast<float>(x.number(i)) / static_cast<float>(y.number(i))) : x.number(i) / y.number(i);
    });
    suite
        .add("N6.division." + nameOf(type), substitute(R"(
def k(x, y, plain, function, ieee):
    i = arange(0, 2048)
    a = load(x + i)
    b = load(y + i)
    store(plain + i, a / b)
    store(function + i, fdiv(a, b))
    store(ieee + i, $D)
)", {{"D", type == DType::F32 ? "div_rn(a, b)" : "fdiv(a, b, ieee_rounding=True)"}}))
        .in(x)
        .in(y)
        .out(quotient)
        .approximateOnGpus()
        .out(quotient)
        .approximateOnGpus()
        .out(quotient);
    suite
        .add("N6.sqrt." + nameOf(type), substitute(R"(
def k(x, plain, correct):
    i = arange(0, 2048)
    a = abs(load(x + i))
    store(plain + i, sqrt(a))
    store(correct + i, $D(a))
)", {{"D", type == DType::F32 ? "sqrt_rn" : "sqrt"}}))
        .in(x)
        .out(generate(type, 2048, [&](size_t i) { return type == DType::F32 ? static_cast<double>(std::sqrt(std::fabs(static_cast<float>(x.number(i))))) : std::sqrt(std::fabs(x.number(i))); }))
        .approximateOnGpus()
        .out(generate(type, 2048, [&](size_t i) { return type == DType::F32 ? static_cast<double>(std::sqrt(std::fabs(static_cast<float>(x.number(i))))) : std::sqrt(std::fabs(x.number(i))); }));
  }
  suite.add("N6.division.by_zero", "def k(x, y, out):\n    i = arange(0, 4)\n    store(out + i, load(x + i) / load(y + i))\n")
      .in(numbers(DType::F32, {1, -1, 0, INFINITY}))
      .in(numbers(DType::F32, {0, 0, 0, INFINITY}))
      .out(numbers(DType::F32, {INFINITY, -INFINITY, NAN, NAN}));
  suite.add("N6.types.sqrt_rn.float64", "def k(x, out):\n    store(out, sqrt_rn(load(x)))\n").in(filled(DType::F64, 1)).out(filled(DType::F64, 1)).error("fp32");
  suite.add("N6.types.div_rn.float64", "def k(x, out):\n    store(out, div_rn(load(x), load(x)))\n").in(filled(DType::F64, 1)).out(filled(DType::F64, 1)).error("fp32");
}
} // namespace

void addFloatOperators(Suite &suite) {
  addSpecials(suite);
  addRounding(suite);
  addDivision(suite);
}

} // namespace tk::conformance
