// N1: the types of literals, of host arguments, of grid values; arithmetic at compile time. N2: a number beside a tile.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
struct Literal {
  const char *name, *text;
  unsigned kind; // 0 bool, 1 integer, 2 float
  double value;
  DType own;     // the type when it takes part
};
constexpr Literal kLiterals[] = {
    {"true", "True", 0, 1, DType::I1},       {"one", "1", 1, 1, DType::I32},       {"three", "3", 1, 3, DType::I32},
    {"minus_one", "-1", 1, -1, DType::I32},  {"300", "300", 1, 300, DType::I32},   {"3000000000", "3000000000", 1, 3000000000.0, DType::U32},
    {"2.5", "2.5", 2, 2.5, DType::F32},      {"0.1", "0.1", 2, 0.1, DType::F32},   {"1e50", "1e50", 2, 1e50, DType::F64},
};

void addNumbersBesideTiles(Suite &suite) {
  std::vector<DType> types = kStandardTypes;
  types.push_back(DType::I1);
  for (DType type : types)
    for (const Literal &literal : kLiterals) {
      unsigned kind = type == DType::I1 ? 0 : isFloat(type) ? 2 : 1;
      DType meet = literal.kind <= kind ? type : literal.own;
      Values x = type == DType::I1 ? integers(type, {0, 1, 1, 0}) : integers(type, {1, 2, 5, 100}), sum(meet, {}), less(DType::I8, {});
      std::string id = "N2.scalar." + nameOf(type) + "." + literal.name;
      std::string source = substitute(R"(
def k(x, out, less):
    i = arange(0, 4)
    a = load(x + i)
    static_assert((a + $L).dtype == $R)
    static_assert(($L - a).dtype == $R)
    static_assert((a * $L).dtype == $R)
    static_assert(where(i == 0, a, $L).dtype == $R)
    store(out + i, a + $L)
    store(less + i, $L < a)
)", {{"L", literal.text}, {"R", nameOf(meet)}});
      if (literal.kind == 1 && kind == 1) {
        if (literal.value < 0 && isUnsigned(type)) {
          suite.add(id, source).in(x).out(filled(type, 4)).out(filled(DType::I8, 4)).error("negative number");
          continue;
        }
        if (decode(type, encode(type, literal.value)) != literal.value) {
          suite.add(id, source).in(x).out(filled(type, 4)).out(filled(DType::I8, 4)).error("out of range");
          continue;
        }
      }
      double value = decode(meet, encode(meet, literal.value));
      for (size_t i = 0; i < 4; ++i) {
        double converted = decode(meet, encode(meet, x.number(i)));
        sum.bits.push_back(isFloat(meet) ? encode(meet, converted + value) : encodeInteger(meet, static_cast<__int128>(converted) + static_cast<__int128>(value)));
        less.bits.push_back(value < converted);
      }
      suite.add(id, source).in(x).out(sum).out(less);
    }
  // / and % of a 16-bit float and a number are fp32 all the same.
  for (DType type : {DType::F16, DType::BF16})
    suite
        .add("N2.scalar." + nameOf(type) + ".divided", R"(
def k(x, out):
    i = arange(0, 4)
    r = load(x + i) / 3
    static_assert(r.dtype == float32)
    static_assert((load(x + i) % 3).dtype == float32)
    store(out + i, r)
)")
        .in(numbers(type, {1, 2, 5, 100}))
        .out(generate(DType::F32, 4, [](size_t i) { return std::array<double, 4>{1, 2, 5, 100}[i] / 3; }))
        .approximateOnGpus();
  suite.add("N2.runtime_scalar.integer", R"(
def k(x, n, out):
    i = arange(0, 4)
    r = load(x + i) + n
    static_assert(r.dtype == int32)
    static_assert((load(x + i) + program_id(0)).dtype == int32)
    store(out + i, r)
)").in(integers(DType::I8, {1, 2, -3, 127})).value(int64_t(300)).out(integers(DType::I32, {301, 302, 297, 427}));
  suite.add("N2.runtime_scalar.float", R"(
def k(x, a, out):
    i = arange(0, 4)
    r = load(x + i) * a
    static_assert(r.dtype == float32)
    static_assert((load(x + i) * load(out)).dtype == float32)
    store(out + i, r)
)").in(numbers(DType::F16, {1, 2, 3, 4})).value(0.1).out(generate(DType::F32, 4, [](size_t i) { return static_cast<double>(0.1f) * static_cast<double>(i + 1); }));
}

void addLiteralTypes(Suite &suite) {
  struct Row {
    const char *name, *text;
    DType type;
    double value;
  };
  const Row rows[] = {{"zero", "0", DType::I32, 0},
                      {"int32_max", "2147483647", DType::I32, 2147483647.0},
                      {"int32_min", "-2147483648", DType::I32, -2147483648.0},
                      {"below_int32", "-2147483649", DType::I64, -2147483649.0},
                      {"uint32", "2147483648", DType::U32, 2147483648.0},
                      {"uint32_max", "4294967295", DType::U32, 4294967295.0},
                      {"int64", "4294967296", DType::I64, 4294967296.0},
                      {"uint64", "9223372036854775808", DType::U64, 9223372036854775808.0},
                      {"bool", "True", DType::I1, 1},
                      {"float_zero", "0.0", DType::F32, 0},
                      {"infinity", "float('inf')", DType::F32, INFINITY},
                      {"nan", "float('nan')", DType::F32, NAN},
                      {"float_smallest_normal", "1.1754943508222875e-38", DType::F32, 0x1p-126},
                      {"float_largest", "3.4028234663852886e38", DType::F32, 3.4028234663852886e38},
                      {"double_large", "1e50", DType::F64, 1e50},
                      {"double_small", "1e-40", DType::F64, 1e-40},
                      {"double_above_float", "3.5e38", DType::F64, 3.5e38}};
  for (const Row &row : rows)
    suite
        .add(std::string("N1.literal.") + row.name, substitute(R"(
def k(out):
    v = to_tensor($L)
    static_assert(v.dtype == $T)
    store(out, v)
    store(out + 1, full((1,), $L, $T).sum(0).to($T))
)", {{"L", row.text}, {"T", nameOf(row.type)}}))
        .out(Values(row.type, {encode(row.type, row.value), encode(row.type, row.value)}));
  suite.add("N1.literal.too_large", "def k(out):\n    store(out, to_tensor(18446744073709551616))\n").out(filled(DType::U64, 1)).error("does not fit");
}

void addHostArguments(Suite &suite) {
  struct Row {
    const char *name;
    HostValue value;
    DType type;
    double number;
  };
  const Row rows[] = {{"zero", int64_t(0), DType::I32, 0},
                      {"two", int64_t(2), DType::I32, 2},
                      {"int32_max", int64_t(2147483647), DType::I32, 2147483647.0},
                      {"int32_min", int64_t(-2147483647) - 1, DType::I32, -2147483648.0},
                      {"int64", int64_t(2147483648), DType::I64, 2147483648.0},
                      {"int64_min", INT64_MIN, DType::I64, -9223372036854775808.0},
                      {"uint64", PowerOfTwo{63}, DType::U64, 9223372036854775808.0},
                      {"float", 0.1, DType::F32, static_cast<double>(0.1f)},
                      {"float_one", 1.0, DType::F32, 1},
                      {"bool", true, DType::I1, 1}};
  for (const Row &row : rows)
    suite
        .add(std::string("N1.argument.") + row.name, substitute("def k(x, out):\n    static_assert(x.dtype == $T)\n    store(out, x)\n", {{"T", nameOf(row.type)}}))
        .value(row.value)
        .out(Values(row.type, {encode(row.type, row.number)}));
  suite.add("N1.argument.one_is_constant", "def k(n, out):\n    static_assert(n == 1)\n    store(out + arange(0, n), n)\n").value(int64_t(1)).out(integers(DType::I32, {1}));
  suite.add("N1.argument.one_annotated", "def k(n: i32, out):\n    static_assert(n.dtype == int32)\n    store(out, n)\n").value(int64_t(1)).out(integers(DType::I32, {1}));
  suite.add("N1.argument.one_not_specialized", "@triton.jit(do_not_specialize=['n'])\ndef k(n, out):\n    static_assert(n.dtype == int32)\n    store(out, n)\n").value(int64_t(1)).out(integers(DType::I32, {1}));
  suite.add("N1.argument.none", "def k(x, out):\n    if x is None:\n        store(out, 7)\n    else:\n        store(out, load(x))\n").value(Nothing{}).out(integers(DType::I32, {7}));
  suite.add("N1.argument.overflow", "def k(x, out):\n    store(out, x)\n").value(PowerOfTwo{64}).out(filled(DType::U64, 1)).error("does not fit");
  const struct {
    const char *name, *annotation;
    DType type;
    double given, expected;
  } annotated[] = {{"uint8", "u8", DType::U8, 200, 200},      {"int64", "i64", DType::I64, -5, -5},          {"fp16", "fp16", DType::F16, 65500, 65504},
                   {"bf16", "bf16", DType::BF16, 0.1, 0.10009765625}, {"fp64", "fp64", DType::F64, 0.1, 0.1}, {"int16", "tl.int16", DType::I16, 300, 300}};
  for (const auto &row : annotated)
    suite
        .add(std::string("N1.argument.annotated_") + row.name, substitute("def k(x: $A, out):\n    static_assert(x.dtype == $T)\n    store(out, x)\n", {{"A", row.annotation}, {"T", nameOf(row.type)}}))
        .value(isFloat(row.type) ? HostValue(row.given) : HostValue(static_cast<int64_t>(row.given)))
        .out(Values(row.type, {encode(row.type, row.expected)}));
  suite.add("N1.argument.annotated_too_large", "def k(x: u8, out):\n    store(out, x)\n").value(int64_t(256)).out(filled(DType::U8, 1)).error("range");
}

void addCompileTime(Suite &suite) {
  suite.add("N1.grid_values", R"(
def k(out):
    static_assert(program_id(0).dtype == int32)
    static_assert(num_programs(2).dtype == int32)
    static_assert(arange(3, 7).dtype == int32)
    p = (program_id(2) * num_programs(1) + program_id(1)) * num_programs(0) + program_id(0)
    store(out + p, program_id(0) + 10 * program_id(1) + 100 * program_id(2) + 1000 * num_programs(0) + 10000 * num_programs(1) + 100000 * num_programs(2))
)").out(generate(DType::I32, 24, [](size_t i) { return static_cast<double>(i % 2 + 10 * (i / 2 % 3) + 100 * (i / 6)) + 432000; })).programs(2, 3, 4);
  suite.add("N1.arange.values", "def k(out):\n    store(out + arange(0, 4), arange(3, 7))\n").out(integers(DType::I32, {3, 4, 5, 6}));
  suite.add("N1.arange.run_time_bound", "def k(n, out):\n    store(out + arange(0, n), 1)\n").value(int64_t(8)).out(filled(DType::I32, 8)).error("known at compile time");
  suite.add("N1.arange.empty", "def k(out):\n    store(out + arange(4, 4), 1)\n").out(filled(DType::I32, 8)).error("empty");
  suite.add("N1.constexpr.python_arithmetic", R"(
def k(N: constexpr, out):
    static_assert(-7 // 2 == -4)
    static_assert(-7 % 2 == 1)
    static_assert(7 % -2 == -1)
    static_assert(7 / 2 == 3.5)
    static_assert(2 ** 10 == 1024)
    static_assert((1 << 100) >> 98 == 4)
    static_assert(N // 3 == -3 and N % 3 == 2)
    static_assert(18446744073709551616 * 18446744073709551616 // 18446744073709551616 == 18446744073709551616)
    static_assert(7.5 // 2 == 3.0)
    static_assert(-7.5 % 2 == 0.5)
    static_assert((not 0) and (0 or 5) == 5)
    store(out, N // 3)
    store(out + 1, N % 3)
)").value(int64_t(-7)).out(integers(DType::I32, {-3, 2}));
}
} // namespace

void addLiterals(Suite &suite) {
  addLiteralTypes(suite);
  addHostArguments(suite);
  addCompileTime(suite);
  addNumbersBesideTiles(suite);
}

} // namespace tk::conformance
