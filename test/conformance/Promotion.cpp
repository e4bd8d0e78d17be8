// N2: the type that two operands meet in, and what the operators compute there.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
/// The law as a table: rows and columns in the order of kStandardTypes.
constexpr DType I8 = DType::I8, I16 = DType::I16, I32 = DType::I32, I64 = DType::I64, U8 = DType::U8, U16 = DType::U16, U32 = DType::U32, U64 = DType::U64;
constexpr DType F16 = DType::F16, BF16 = DType::BF16, F32 = DType::F32, F64 = DType::F64;
constexpr DType kPromoted[12][12] = {
    {I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F32, F64},      // int8
    {I16, I16, I32, I64, I16, U16, U32, U64, F16, F32, F32, F64},    // int16
    {I32, I32, I32, I64, I32, I32, U32, U64, F16, F32, F32, F64},    // int32
    {I64, I64, I64, I64, I64, I64, I64, U64, F16, F32, F32, F64},    // int64
    {U8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F32, F64},      // uint8
    {U16, U16, I32, I64, U16, U16, U32, U64, F16, F32, F32, F64},    // uint16
    {U32, U32, U32, I64, U32, U32, U32, U64, F16, F32, F32, F64},    // uint32
    {U64, U64, U64, U64, U64, U64, U64, U64, F16, F32, F32, F64},    // uint64
    {F16, F16, F16, F16, F16, F16, F16, F16, F16, F16, F32, F64},    // fp16
    {F32, F32, F32, F32, F32, F32, F32, F32, F16, BF16, F32, F64},   // bf16
    {F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F64},    // fp32
    {F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64},    // fp64
};

/// Eight values: small ones, the ends, and a fraction for floats.
Values samples(DType type, bool second) {
  if (isFloat(type))
    return numbers(type, second ? std::vector<double>{3, -0.5, 1.5, 100, -7, 0.125, -1, 2} : std::vector<double>{1, 2.5, -3, 7, 100, -0.75, -1, 42});
  __int128 high = decodeInteger(type, isUnsigned(type) ? ~uint64_t(0) : (uint64_t(1) << (bitsOf(type) - 1)) - 1), low = isUnsigned(type) ? 0 : -high - 1;
  return second ? integers(type, {3, 5, high, 1, low, 100, high - 1, 7}) : integers(type, {1, high, high - 2, low, 42, 77, 5, 100});
}

uint64_t convert(DType to, DType from, uint64_t bits) { return isFloat(from) ? encode(to, decode(from, bits)) : encodeInteger(to, decodeInteger(from, bits)); }

/// One operation in `type`: wrapping for integers, one rounding for floats.
uint64_t compute(DType type, char op, uint64_t a, uint64_t b) {
  if (!isFloat(type)) {
    unsigned __int128 x = static_cast<unsigned __int128>(decodeInteger(type, a)), y = static_cast<unsigned __int128>(decodeInteger(type, b));
    switch (op) {
    case '+': return encodeInteger(type, static_cast<__int128>(x + y));
    case '-': return encodeInteger(type, static_cast<__int128>(x - y));
    case '*': return encodeInteger(type, static_cast<__int128>(x * y));
    case '&': return a & b;
    default: return a ^ b;
    }
  }
  double x = decode(type, a), y = decode(type, b);
  return encode(type, op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y);
}

bool compareIn(DType type, unsigned which, uint64_t a, uint64_t b) {
  auto by = [&](auto x, auto y) { return which == 0 ? x < y : which == 1 ? x <= y : which == 2 ? x == y : which == 3 ? x != y : which == 4 ? x > y : x >= y; };
  return isFloat(type) ? by(decode(type, a), decode(type, b)) : by(decodeInteger(type, a), decodeInteger(type, b));
}

void addPairs(Suite &suite) {
  for (size_t row = 0; row < 12; ++row)
    for (size_t column = 0; column < 12; ++column) {
      DType a = kStandardTypes[row], b = kStandardTypes[column], type = kPromoted[row][column];
      Values x = samples(a, false), y = samples(b, true), values(type, {}), truths(DType::I8, {});
      const char *operators = isFloat(type) ? "+-*" : "+-*&^";
      for (const char *op = operators; *op; ++op)
        for (size_t i = 0; i < 8; ++i)
          values.bits.push_back(compute(type, *op, convert(type, a, x.bits[i]), convert(type, b, y.bits[i])));
      for (size_t i = 0; i < 8; ++i)
        values.bits.push_back(i % 2 ? convert(type, b, y.bits[i]) : convert(type, a, x.bits[i]));
      for (unsigned which = 0; which < 6; ++which)
        for (size_t i = 0; i < 8; ++i)
          truths.bits.push_back(compareIn(type, which, convert(type, a, x.bits[i]), convert(type, b, y.bits[i])));
      std::string bitwise = isFloat(type) ? "" : R"(
    store(out + n * 8 + i, a & b)
    store(out + (n + 1) * 8 + i, a ^ b)
    n = n + 2
    static_assert((a | b).dtype == $R))";
      suite
          .add("N2.promotion." + nameOf(a) + "." + nameOf(b), substitute(R"(
def k(x, y, out, truths):
    i = arange(0, 8)
    a = load(x + i)
    b = load(y + i)
    static_assert((a + b).dtype == $R)
    static_assert((a - b).dtype == $R)
    static_assert((a * b).dtype == $R)
    static_assert(minimum(a, b).dtype == $R)
    static_assert(maximum(a, b).dtype == $R)
    static_assert(where(i == 0, a, b).dtype == $R)
    static_assert((a < b).dtype == int1)
    store(out + i, a + b)
    store(out + 8 + i, a - b)
    store(out + 16 + i, a * b)
    n = 3)" + bitwise + R"(
    store(out + n * 8 + i, where(i % 2 == 1, b, a))
    store(truths + i, a < b)
    store(truths + 8 + i, a <= b)
    store(truths + 16 + i, a == b)
    store(truths + 24 + i, a != b)
    store(truths + 32 + i, a > b)
    store(truths + 40 + i, a >= b)
)", {{"R", nameOf(type)}}))
          .in(x)
          .in(y)
          .out(values)
          .out(truths);
    }
}

void addDivision(Suite &suite) {
  for (size_t row = 0; row < 12; ++row)
    for (size_t column = 0; column < 12; ++column) {
      DType a = kStandardTypes[row], b = kStandardTypes[column], type = kPromoted[row][column];
      bool floats = isFloat(a) || isFloat(b), mixed = !floats && isUnsigned(a) != isUnsigned(b);
      std::string pair = nameOf(a) + "." + nameOf(b);
      if (mixed) {
        for (auto [name, op] : {std::pair("div", "/"), std::pair("mod", "%"), std::pair("floordiv", "//")})
          suite
              .add("N2.mixed_signedness." + pair + "." + name, substitute(R"(
def k(x, y, out):
    i = arange(0, 8)
    r = load(x + i) $O load(y + i)
    store(out + i, r.to(float32))
)", {{"O", op}}))
              .in(samples(a, false))
              .in(samples(b, true))
              .out(filled(F32, 8))
              .error("sign");
        continue;
      }
      DType quotient = type == F64 ? F64 : F32;
      // Integers of 64 bits are converted to fp32 as well.
      Values x = samples(a, false), y = samples(b, true), expected(quotient, {});
      for (size_t i = 0; i < 8; ++i) {
        if (!isFloat(b) && y.integer(i) == 0)
          y.bits[i] = encodeInteger(b, 9);
        DType meet = floats ? quotient : type;
        uint64_t u = convert(quotient, meet, convert(meet, a, x.bits[i])), v = convert(quotient, meet, convert(meet, b, y.bits[i]));
        expected.bits.push_back(compute(quotient, '/', u, v));
      }
      suite
          .add("N2.division." + pair, substitute(R"(
def k(x, y, out):
    i = arange(0, 8)
    r = load(x + i) / load(y + i)
    static_assert(r.dtype == $R)
    store(out + i, r)
)", {{"R", nameOf(quotient)}}))
          .in(x)
          .in(y)
          .out(expected)
          .approximateOnGpus();
    }
}

void addBooleans(Suite &suite) {
  Values x(DType::I1, {0, 0, 1, 1, 0, 1, 1, 0}), y(DType::I1, {0, 1, 0, 1, 1, 1, 0, 0}), bits(DType::I1, {});
  for (size_t i = 0; i < 8; ++i)
    bits.bits.push_back(x.bits[i] ^ y.bits[i]);
  suite.add("N2.int1.int1", R"(
def k(x, y, out):
    i = arange(0, 8)
    r = load(x + i) + load(y + i)
    static_assert(r.dtype == int1)
    store(out + i, r)
)").in(x).in(y).out(bits);
  for (DType type : kStandardTypes) {
    Values values = samples(type, true), expected(type, {});
    DType meet = type == BF16 ? F32 : type;
    Values wide(meet, {});
    for (size_t i = 0; i < 8; ++i)
      wide.bits.push_back(compute(meet, '+', convert(meet, DType::I1, x.bits[i]), convert(meet, type, values.bits[i])));
    suite
        .add("N2.int1." + nameOf(type), substitute(R"(
def k(x, y, out):
    i = arange(0, 8)
    r = load(x + i) + load(y + i)
    static_assert(r.dtype == $R)
    store(out + i, r)
)", {{"R", nameOf(meet)}}))
        .in(x)
        .in(values)
        .out(wide);
  }
}

void addSmallFloats(Suite &suite) {
  const DType kinds[] = {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ};
  Values unused;
  for (DType a : kinds)
    for (DType b : {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ, F16, BF16, F32, F64}) {
      DType type = a == b ? a : isFloat8(b) || b == F16 ? F16 : b == F64 ? F64 : F32;
      Values x = numbers(a, {1, 1.5, -2, 4, 0.5, -0.25, 8, 3}), y = numbers(b, {2, 0.5, 1, -3, 0.5, 1.25, -8, 1}), expected(type, {});
      for (size_t i = 0; i < 8; ++i)
        expected.bits.push_back(encode(type, x.number(i) + y.number(i)));
      suite
          .add("N2.fp8." + nameOf(a) + "." + nameOf(b), substitute(R"(
def k(x, y, out, quotient):
    i = arange(0, 8)
    a = load(x + i)
    b = load(y + i)
    static_assert((a + b).dtype == $R)
    static_assert((a * b).dtype == $R)
    static_assert((a / b).dtype == $Q)
    static_assert((a % b).dtype == $Q)
    store(out + i, a + b)
    store(quotient + i, a / b)
)", {{"R", nameOf(type)}, {"Q", nameOf(type == F64 ? F64 : F32)}}))
          .in(x)
          .in(y)
          .out(expected)
          .out(generate(type == F64 ? F64 : F32, 8, [&](size_t i) { return x.number(i) / y.number(i); }));
    }
  suite.add("N2.fp8.integer_is_an_error", R"(
def k(x, y, out):
    i = arange(0, 8)
    store(out + i, load(x + i) + load(y + i))
)").in(filled(DType::F8E5M2, 8)).in(filled(I32, 8)).out(filled(F32, 8)).error("no common type");
}

void addPointers(Suite &suite) {
  Values x = counting(F32, 16);
  suite.add("N2.pointers.offsets", R"(
def k(x, out):
    i = arange(0, 8)
    store(out + i, load(x + 8 - i) + load(i + x))
)").in(x).out(filled(F32, 8, 8));
  suite.add("N2.pointers.sum_is_an_error", "def k(x, y, out):\n    store(out, load(x + y))\n").in(x).in(x).out(filled(F32, 1)).error("pointer");
  suite.add("N2.pointers.float_is_an_error", "def k(x, out):\n    store(out, load(x + 1.5))\n").in(x).out(filled(F32, 1)).error("pointer");
  suite.add("N2.pointers.negation_is_an_error", "def k(x, out):\n    store(out, load(-x))\n").in(x).out(filled(F32, 1)).error("pointer");
  suite.add("N2.comparison.minus_one_as_uint32", R"(
def k(x, y, out):
    store(out, load(x) < load(y))
    store(out + 1, load(x) > load(y))
)").in(integers(I32, {-1})).in(integers(U32, {1})).out(integers(I8, {0, 1}));
}
} // namespace

void addPromotion(Suite &suite) {
  addPairs(suite);
  addDivision(suite);
  addBooleans(suite);
  addSmallFloats(suite);
  addPointers(suite);
}

} // namespace tk::conformance
