// Integer and floating-point operations over boundary values.
#include "Kernel.h"
#include <cmath>
#include <optional>

using namespace tk::interpret;
using namespace tk::interpret::test;

namespace {
const std::vector<int32_t> grid = {0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 100, INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1, 0x12345678};

/// Every pair of grid values.
std::pair<Array<int32_t>, Array<int32_t>> pairs() {
  std::vector<int32_t> a, b;
  for (int32_t x : grid)
    for (int32_t y : grid) {
      a.push_back(x);
      b.push_back(y);
    }
  return {a, b};
}

template <typename Function> void checkInts(const std::string &op, Function expected) {
  auto [a, b] = pairs();
  Array<int32_t> out = compute<int32_t>({"i32", "i32"}, "i32", "%r = " + op + " %0, %1 : @i32", a, b);
  for (size_t i = 0; i < a.data.size(); ++i) {
    CAPTURE(op, a[i], b[i]);
    std::optional<int64_t> value = expected(int64_t(a[i]), int64_t(b[i]));
    if (value)
      CHECK(out[i] == int32_t(*value));
    CHECK(out.bounds[i] == (value ? 0 : INFINITY));
  }
}
using Maybe = std::optional<int64_t>;
int64_t u(int64_t x) { return int64_t(uint32_t(x)); }
} // namespace

TEST_CASE("integer arithmetic wraps", "[arithmetic]") {
  checkInts("arith.addi", [](int64_t a, int64_t b) { return Maybe(a + b); });
  checkInts("arith.subi", [](int64_t a, int64_t b) { return Maybe(a - b); });
  checkInts("arith.muli", [](int64_t a, int64_t b) { return Maybe(a * b); });
  checkInts("arith.andi", [](int64_t a, int64_t b) { return Maybe(a & b); });
  checkInts("arith.ori", [](int64_t a, int64_t b) { return Maybe(a | b); });
  checkInts("arith.xori", [](int64_t a, int64_t b) { return Maybe(a ^ b); });
  checkInts("arith.minsi", [](int64_t a, int64_t b) { return Maybe(std::min(a, b)); });
  checkInts("arith.maxsi", [](int64_t a, int64_t b) { return Maybe(std::max(a, b)); });
  checkInts("arith.minui", [](int64_t a, int64_t b) { return Maybe(std::min(u(a), u(b))); });
  checkInts("arith.maxui", [](int64_t a, int64_t b) { return Maybe(std::max(u(a), u(b))); });
  checkInts("tt.mulhiui", [](int64_t a, int64_t b) { return Maybe(int64_t(uint64_t(u(a)) * uint64_t(u(b)) >> 32)); });
}

TEST_CASE("division truncates, and is uncertain where it is unspecified", "[arithmetic]") {
  auto defined = [](int64_t a, int64_t b) { return b != 0 && !(a == INT32_MIN && b == -1); };
  checkInts("arith.divsi", [&](int64_t a, int64_t b) { return defined(a, b) ? Maybe(a / b) : Maybe(); });
  checkInts("arith.remsi", [&](int64_t a, int64_t b) { return defined(a, b) ? Maybe(a % b) : Maybe(); });
  checkInts("arith.divui", [](int64_t a, int64_t b) { return b ? Maybe(u(a) / u(b)) : Maybe(); });
  checkInts("arith.remui", [](int64_t a, int64_t b) { return b ? Maybe(u(a) % u(b)) : Maybe(); });
  checkInts("arith.floordivsi", [&](int64_t a, int64_t b) { return defined(a, b) ? Maybe(int64_t(std::floor(double(a) / double(b)))) : Maybe(); });
  checkInts("arith.ceildivsi", [&](int64_t a, int64_t b) { return defined(a, b) ? Maybe(int64_t(std::ceil(double(a) / double(b)))) : Maybe(); });
  checkInts("arith.ceildivui", [](int64_t a, int64_t b) { return b ? Maybe((u(a) + u(b) - 1) / u(b)) : Maybe(); });
}

TEST_CASE("shifts by the width or more give 0 or the sign", "[arithmetic]") {
  checkInts("arith.shli", [](int64_t a, int64_t b) { return Maybe(u(b) >= 32 ? 0 : u(a) << u(b)); });
  checkInts("arith.shrui", [](int64_t a, int64_t b) { return Maybe(u(b) >= 32 ? 0 : u(a) >> u(b)); });
  checkInts("arith.shrsi", [](int64_t a, int64_t b) { return Maybe(a >> std::min<int64_t>(u(b), 31)); });
}

TEST_CASE("narrow and wide integers", "[arithmetic]") {
  auto bytes = compute<int8_t>({"i8", "i8"}, "i8", "%r = arith.muli %0, %1 : @i8", Array<int8_t>({16, -128, 100, 7}), Array<int8_t>({16, -1, 3, -3}));
  CHECK(bytes.data == std::vector<int8_t>{0, -128, 44, -21});
  auto wide = compute<int64_t>({"i64", "i64"}, "i64", "%r = tt.mulhiui %0, %1 : @i64", Array<int64_t>({-1, INT64_MIN, 3}), Array<int64_t>({-1, INT64_MIN, 5}));
  CHECK(wide.data == std::vector<int64_t>{-2, int64_t(1) << 62, 0});
  auto flags = compute<uint8_t>({"i1", "i1"}, "i1", "%r = arith.addi %0, %1 : @i1", Array<uint8_t>({0, 0, 1, 1}), Array<uint8_t>({0, 1, 0, 255}));
  CHECK(flags.data == std::vector<uint8_t>{0, 1, 1, 0});
}

TEST_CASE("products and sums in two words", "[arithmetic]") {
  Array<int32_t> a({-1, INT32_MIN, 123456789, 5}), b({-1, INT32_MIN, 987654321, -6});
  auto check = [&](const std::string &body, auto expected) {
    auto out = compute<int32_t>({"i32", "i32"}, "i32", body, a, b);
    for (size_t i = 0; i < 4; ++i)
      CHECK(out[i] == int32_t(expected(a[i], b[i])));
  };
  check("%l, %r = arith.mulsi_extended %0, %1 : @i32", [](int64_t x, int64_t y) { return x * y >> 32; });
  check("%r, %h = arith.mulsi_extended %0, %1 : @i32", [](int64_t x, int64_t y) { return x * y; });
  check("%l, %r = arith.mului_extended %0, %1 : @i32", [](int64_t x, int64_t y) { return int64_t(uint64_t(u(x)) * uint64_t(u(y)) >> 32); });
  check("%l, %o = arith.addui_extended %0, %1 : @i32, @i1 %r = arith.extui %o : @i1 to @i32", [](int64_t x, int64_t y) { return (u(x) + u(y)) >> 32; });
}

TEST_CASE("integer comparisons", "[arithmetic]") {
  auto [a, b] = pairs();
  auto check = [&](const std::string &predicate, auto expected) {
    auto out = compute<uint8_t>({"i32", "i32"}, "i1", "%r = arith.cmpi " + predicate + ", %0, %1 : @i32", a, b);
    for (size_t i = 0; i < a.data.size(); ++i) {
      CAPTURE(predicate, a[i], b[i]);
      CHECK(out[i] == uint8_t(expected(int64_t(a[i]), int64_t(b[i]))));
    }
  };
  check("eq", [](int64_t x, int64_t y) { return x == y; });
  check("ne", [](int64_t x, int64_t y) { return x != y; });
  check("slt", [](int64_t x, int64_t y) { return x < y; });
  check("sle", [](int64_t x, int64_t y) { return x <= y; });
  check("sgt", [](int64_t x, int64_t y) { return x > y; });
  check("sge", [](int64_t x, int64_t y) { return x >= y; });
  check("ult", [](int64_t x, int64_t y) { return u(x) < u(y); });
  check("ule", [](int64_t x, int64_t y) { return u(x) <= u(y); });
  check("ugt", [](int64_t x, int64_t y) { return u(x) > u(y); });
  check("uge", [](int64_t x, int64_t y) { return u(x) >= u(y); });
}

namespace {
const std::vector<float> floats = {0.0f, -0.0f, 1.0f, -1.0f, 0.1f, 3.0f, 1e-40f, -1e-45f, 1.17549435e-38f, 3.4028235e38f, -3.4028235e38f, 16777217.0f, INFINITY, -INFINITY, NAN};
template <typename Function> void checkFloats(const std::string &op, Function expected, bool signsOfZero = true) {
  std::vector<float> x, y;
  for (float a : floats)
    for (float b : floats) {
      x.push_back(a);
      y.push_back(b);
    }
  Array<float> a(x), b(y);
  auto out = compute<float>({"f32", "f32"}, "f32", "%r = " + op + " %0, %1 : @f32", a, b);
  for (size_t i = 0; i < x.size(); ++i) {
    CAPTURE(op, x[i], y[i], out[i]);
    float value = expected(x[i], y[i]);
    CHECK((std::isnan(value) ? std::isnan(out[i]) : out[i] == value && (!signsOfZero || std::signbit(out[i]) == std::signbit(value))));
    CHECK(out.bounds[i] == 0);
  }
}
} // namespace

TEST_CASE("fp32 arithmetic is the machine's", "[arithmetic]") {
  checkFloats("arith.addf", [](float a, float b) { return a + b; });
  checkFloats("arith.subf", [](float a, float b) { return a - b; });
  checkFloats("arith.mulf", [](float a, float b) { return a * b; });
  checkFloats("arith.divf", [](float a, float b) { return a / b; });
  checkFloats("tt.precise_divf", [](float a, float b) { return a / b; });
  checkFloats("arith.remf", [](float a, float b) { return std::fmod(a, b); });
}

TEST_CASE("minimum and maximum with NaN", "[arithmetic]") {
  checkFloats("arith.maxnumf", [](float a, float b) { return std::fmax(a, b); }, false);
  checkFloats("arith.minnumf", [](float a, float b) { return std::fmin(a, b); }, false);
  checkFloats("arith.maximumf", [](float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : a == b ? (std::signbit(a) ? b : a) : std::max(a, b); });
  checkFloats("arith.minimumf", [](float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : a == b ? (std::signbit(a) ? a : b) : std::min(a, b); });
  auto clamp = [](const std::string &propagate) {
    return compute<float>({"f32", "f32", "f32"}, "f32", "%r = tt.clampf %0, %1, %2, propagateNan = " + propagate + " : @f32", Array<float>({NAN, 5, -5, 0.5f}),
                          Array<float>({-1, -1, -1, -1}), Array<float>({1, 1, 1, 1}));
  };
  CHECK(clamp("none").data == std::vector<float>{-1, 1, -1, 0.5f});
  auto all = clamp("all");
  CHECK((std::isnan(all[0]) && all[1] == 1 && all[2] == -1 && all[3] == 0.5f));
}

TEST_CASE("float comparisons", "[arithmetic]") {
  Array<float> a({1, 1, 2, NAN, 0.0f}), b({1, 2, 1, 1, -0.0f});
  auto check = [&](const std::string &predicate, std::vector<uint8_t> expected) {
    CAPTURE(predicate);
    CHECK(compute<uint8_t>({"f32", "f32"}, "i1", "%r = arith.cmpf " + predicate + ", %0, %1 : @f32", a, b).data == expected);
  };
  check("oeq", {1, 0, 0, 0, 1});
  check("one", {0, 1, 1, 0, 0});
  check("olt", {0, 1, 0, 0, 0});
  check("ole", {1, 1, 0, 0, 1});
  check("ogt", {0, 0, 1, 0, 0});
  check("oge", {1, 0, 1, 0, 1});
  check("ord", {1, 1, 1, 0, 1});
  check("ueq", {1, 0, 0, 1, 1});
  check("une", {0, 1, 1, 1, 0});
  check("ult", {0, 1, 0, 1, 0});
  check("ule", {1, 1, 0, 1, 1});
  check("ugt", {0, 0, 1, 1, 0});
  check("uge", {1, 0, 1, 1, 1});
  check("uno", {0, 0, 0, 1, 0});
  check("true", {1, 1, 1, 1, 1});
  check("false", {0, 0, 0, 0, 0});
}

TEST_CASE("fp64, and 16-bit arithmetic through fp32", "[arithmetic]") {
  auto doubles = compute<double>({"f64", "f64"}, "f64", "%r = arith.divf %0, %1 : @f64", Array<double>({1, 2, 1e300}), Array<double>({3, 7, 1e-300}));
  CHECK(doubles.data == std::vector<double>{1.0 / 3, 2.0 / 7, INFINITY});
  // 256 + 1 in bf16 (8 bits): 257 is a tie between 256 and 258.
  auto brain = compute<uint16_t>({"bf16", "bf16"}, "bf16", "%r = arith.addf %0, %1 : @bf16", Array<uint16_t>({0x4380, 0x3f80}), Array<uint16_t>({0x3f80, 0x3f80}));
  CHECK(brain.data == std::vector<uint16_t>{0x4380, 0x4000});
  // 300 * 300 overflows fp16.
  auto half = compute<uint16_t>({"f16", "f16"}, "f16", "%r = arith.mulf %0, %1 : @f16", Array<uint16_t>({0x5cb0, 0x3c01}), Array<uint16_t>({0x5cb0, 0x3c01}));
  CHECK(half.data == std::vector<uint16_t>{0x7c00, 0x3c02});
  // 8-bit formats saturate: 448 + 448.
  auto small = compute<uint8_t>({"f8E4M3FN", "f8E4M3FN"}, "f8E4M3FN", "%r = arith.addf %0, %1 : @f8E4M3FN", Array<uint8_t>({0x7e, 0x38}), Array<uint8_t>({0x7e, 0x38}));
  CHECK(small.data == std::vector<uint8_t>{0x7e, 0x40});
}

TEST_CASE("negation flips the sign, of zero and NaN too", "[arithmetic]") {
  auto out = compute<uint32_t>({"f32"}, "f32", "%r = arith.negf %0 : @f32", Array<uint32_t>({0, 0x80000000, 0x7fc00001, 0x7f800001, 0x3f800000}));
  CHECK(out.data == std::vector<uint32_t>{0x80000000, 0, 0xffc00001, 0xff800001, 0xbf800000});
}

TEST_CASE("selection", "[arithmetic]") {
  auto out = compute<float>({"i1", "f32", "f32"}, "f32", "%r = arith.select %0, %1, %2 : @i1, @f32", Array<uint8_t>({1, 0, 255}), Array<float>({1, 2, NAN}), Array<float>({4, 5, 6}));
  CHECK((out[0] == 1 && out[1] == 5 && std::isnan(out[2])));
  auto scalar = compute<float>({"f32", "f32"}, "f32", "%c = arith.constant false\n%r = arith.select %c, %0, %1 : @f32", Array<float>({1, 2}), Array<float>({4, 5}));
  CHECK(scalar.data == std::vector<float>{4, 5});
}
