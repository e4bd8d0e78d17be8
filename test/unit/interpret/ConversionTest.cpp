// Conversions between types, and the elementary functions.
#include "Kernel.h"
#include <cmath>

using namespace tk::interpret;
using namespace tk::interpret::test;

TEST_CASE("float to integer saturates, NaN gives 0", "[conversion]") {
  Array<float> x({1.9f, -1.9f, 0.5f, -0.5f, 3e9f, -3e9f, 5e9f, INFINITY, -INFINITY, NAN, 2147483520.0f, -2147483648.0f});
  auto toSigned = compute<int32_t>({"f32"}, "i32", "%r = arith.fptosi %0 : @f32 to @i32", x);
  CHECK(toSigned.data == std::vector<int32_t>{1, -1, 0, 0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MAX, INT32_MIN, 0, 2147483520, INT32_MIN});
  auto toUnsigned = compute<uint32_t>({"f32"}, "i32", "%r = arith.fptoui %0 : @f32 to @i32", x);
  CHECK(toUnsigned.data == std::vector<uint32_t>{1, 0, 0, 0, 3000000000u, 0, UINT32_MAX, UINT32_MAX, 0, 0, 2147483520u, 0});
  auto toByte = compute<int8_t>({"f32"}, "i8", "%r = arith.fptosi %0 : @f32 to @i8", x);
  CHECK(toByte.data == std::vector<int8_t>{1, -1, 0, 0, 127, -128, 127, 127, -128, 0, 127, -128});
  auto toLong = compute<int64_t>({"f64"}, "i64", "%r = arith.fptosi %0 : @f64 to @i64", Array<double>({1e30, -1e30, 0x1p62, 9007199254740993.0}));
  CHECK(toLong.data == std::vector<int64_t>{INT64_MAX, INT64_MIN, int64_t(1) << 62, 9007199254740992});
}

TEST_CASE("integer to float rounds once", "[conversion]") {
  auto brain = compute<uint16_t>({"i32"}, "bf16", "%r = arith.sitofp %0 : @i32 to @bf16", Array<int32_t>({1077936129, -1, 0}));
  CHECK(brain.data == std::vector<uint16_t>{0x4e81, 0xbf80, 0});
  // 2^53 + 2^29 + 1 is above the tie that double holds.
  auto single = compute<float>({"i64"}, "f32", "%r = arith.sitofp %0 : @i64 to @f32", Array<int64_t>({(int64_t(1) << 53) + (int64_t(1) << 29) + 1, INT64_MIN, 16777217}));
  CHECK(single.data == std::vector<float>{0x1.000002p53f, -0x1p63f, 16777216});
  auto fromUnsigned = compute<float>({"i8"}, "f32", "%r = arith.uitofp %0 : @i8 to @f32", Array<int8_t>({-1, 1}));
  CHECK(fromUnsigned.data == std::vector<float>{255, 1});
  auto fromBool = compute<float>({"i1"}, "f32", "%r = arith.uitofp %0 : @i1 to @f32", Array<uint8_t>({1, 0}));
  CHECK(fromBool.data == std::vector<float>{1, 0});
}

TEST_CASE("integer widths", "[conversion]") {
  auto wide = compute<int64_t>({"i8"}, "i64", "%r = arith.extsi %0 : @i8 to @i64", Array<int8_t>({-1, 127, -128}));
  CHECK(wide.data == std::vector<int64_t>{-1, 127, -128});
  auto zero = compute<int64_t>({"i8"}, "i64", "%r = arith.extui %0 : @i8 to @i64", Array<int8_t>({-1, 127, -128}));
  CHECK(zero.data == std::vector<int64_t>{255, 127, 128});
  auto narrow = compute<int8_t>({"i32"}, "i8", "%r = arith.trunci %0 : @i32 to @i8", Array<int32_t>({300, -1, 256}));
  CHECK(narrow.data == std::vector<int8_t>{44, -1, 0});
  auto index = compute<int64_t>({"i32"}, "i64", "%i = arith.index_cast %0 : @i32 to @index %r = arith.index_cast %i : @index to @i64", Array<int32_t>({-5, 7}));
  CHECK(index.data == std::vector<int64_t>{-5, 7});
}

TEST_CASE("float to float", "[conversion]") {
  Array<float> x({1.0625f, 1.0625001f, 1.125f, 480, INFINITY, NAN, -0.0f, 0x1p-10f});
  auto small = compute<uint8_t>({"f32"}, "f8E4M3FN", "%r = tt.fp_to_fp %0, rounding = rtne : @f32 -> @f8E4M3FN", x);
  CHECK(small.data == std::vector<uint8_t>{0x38, 0x39, 0x39, 0x7e, 0x7e, 0x7f, 0x80, 0x00});
  auto other = compute<uint8_t>({"f32"}, "f8E5M2", "%r = tt.fp_to_fp %0, rounding = rtz : @f32 -> @f8E5M2", Array<float>({1.24f, 1e30f, -1.24f}));
  CHECK(other.data == std::vector<uint8_t>{0x3c, 0x7b, 0xbc});
  auto half = compute<uint16_t>({"f64"}, "f16", "%r = arith.truncf %0 : @f64 to @f16", Array<double>({1 + 0x1p-11 + 0x1p-40, 65520, 0x1p-25}));
  CHECK(half.data == std::vector<uint16_t>{0x3c01, 0x7c00, 0});
  auto up = compute<float>({"f8E5M2"}, "f32", "%r = tt.fp_to_fp %0 : @f8E5M2 -> @f32", Array<uint8_t>({0x3c, 0x7c, 0x01, 0x7e}));
  CHECK((up[0] == 1 && std::isinf(up[1]) && up[2] == 0x1p-16f && std::isnan(up[3])));
  auto ext = compute<double>({"bf16"}, "f64", "%r = arith.extf %0 : @bf16 to @f64", Array<uint16_t>({0x3f81, 0xff80}));
  CHECK(ext.data == std::vector<double>{1 + 0x1p-7, -INFINITY});
}

TEST_CASE("bits keep", "[conversion]") {
  std::vector<uint32_t> bits = {0, 0x80000000, 0x7fc00001, 0x7f800001, 0x3f800000, 0x00000001};
  CHECK(compute<uint32_t>({"f32"}, "i32", "%r = arith.bitcast %0 : @f32 to @i32", Array<uint32_t>(bits)).data == bits);
  CHECK(compute<uint32_t>({"i32"}, "f32", "%r = tt.bitcast %0 : @i32 -> @f32", Array<uint32_t>(bits)).data == bits);
  std::vector<uint16_t> halves = {0x7e01, 0xfc01, 0x3c00, 0x8000};
  CHECK(compute<uint16_t>({"f16"}, "bf16", "%r = tt.bitcast %0 : @f16 -> @bf16", Array<uint16_t>(halves)).data == halves);
  // Moving a value through a tile keeps every code, NaN payloads included.
  std::vector<uint8_t> codes(256);
  for (unsigned i = 0; i < 256; ++i)
    codes[i] = uint8_t(i);
  for (std::string format : {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"})
    CHECK(compute<uint8_t>({format}, format, "%r = tt.reshape %0 : @" + format + " -> @" + format, Array<uint8_t>(codes)).data == codes);
}

// ---- elementary functions ----

namespace {
struct Function {
  std::string op;
  double (*value)(double);
};
} // namespace

TEST_CASE("elementary functions are libm's, rounded once, with 2 ulp allowed", "[math]") {
  const Function functions[] = {
      {"exp", std::exp},   {"exp2", std::exp2},   {"expm1", std::expm1}, {"log", std::log},     {"log2", std::log2},   {"log10", std::log10}, {"log1p", std::log1p},
      {"sin", std::sin},   {"cos", std::cos},     {"tan", std::tan},     {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},   {"sinh", std::sinh},
      {"cosh", std::cosh}, {"tanh", std::tanh},   {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh}, {"erf", std::erf},     {"erfc", std::erfc},
      {"cbrt", std::cbrt}, {"sqrt", std::sqrt}, {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}};
  Array<float> x({0.0f, -0.0f, 0.5f, -0.5f, 1.0f, -1.0f, 1.5f, 3.0f, 10.0f, 100.0f, -100.0f, 1e-30f, 12345.678f, INFINITY, -INFINITY, NAN});
  for (const Function &function : functions) {
    auto out = compute<float>({"f32"}, "f32", "%r = math." + function.op + " %0 : @f32", x);
    for (size_t i = 0; i < x.data.size(); ++i) {
      CAPTURE(function.op, x[i], out[i]);
      float expected = float(function.value(double(x[i])));
      CHECK((std::isnan(expected) ? std::isnan(out[i]) : out[i] == expected));
      double ulp = std::isfinite(expected) ? double(std::nextafter(std::fabs(expected), INFINITY)) - std::fabs(double(expected)) : 0;
      CHECK(out.bounds[i] <= 5 * ulp); // erfc has 4
      if (std::isfinite(x[i]) && std::isfinite(expected) && expected != 0 && function.op != "sqrt")
        CHECK(out.bounds[i] >= ulp);
      if (function.op == "sqrt")
        CHECK(out.bounds[i] == 0);
    }
  }
}

TEST_CASE("fp64 functions come from a wider type", "[math]") {
  auto out = compute<double>({"f64"}, "f64", "%r = math.exp %0 : @f64", Array<double>({1.0, -0.1}));
  CHECK(out[0] == double(std::exp(1.0L)));
  CHECK(out[1] == double(std::exp((long double)(-0.1))));
  CHECK(out.bounds[0] >= 2 * 0x1p-51);
  CHECK(out.bounds[0] < 4 * 0x1p-51);
}

TEST_CASE("functions of two and three operands", "[math]") {
  auto power = compute<float>({"f32", "f32"}, "f32", "%r = math.powf %0, %1 : @f32", Array<float>({2, -2, 0, 2}), Array<float>({10, 3, 0, -1}));
  CHECK(power.data == std::vector<float>{1024, -8, 1, 0.5f});
  auto angle = compute<float>({"f32", "f32"}, "f32", "%r = math.atan2 %0, %1 : @f32", Array<float>({1, -1, 0}), Array<float>({-1, -1, -1}));
  CHECK(angle.data == std::vector<float>{float(std::atan2(1.0, -1.0)), float(std::atan2(-1.0, -1.0)), float(M_PI)});
  float a = 1 + 0x1p-12f, c = -1 - 0x1p-11f;
  auto fused = compute<float>({"f32", "f32", "f32"}, "f32", "%r = math.fma %0, %1, %2 : @f32", Array<float>({a, 2}), Array<float>({a, 3}), Array<float>({c, 4}));
  CHECK(fused.data == std::vector<float>{0x1p-24f, 10});
  CHECK(fused.bounds[0] == 0);
  auto sign = compute<float>({"f32", "f32"}, "f32", "%r = math.copysign %0, %1 : @f32", Array<float>({1, -2, 3}), Array<float>({-0.0f, 1, NAN}));
  CHECK((sign[0] == -1 && sign[1] == 2));
}

TEST_CASE("rounding to integers", "[math]") {
  Array<float> x({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 2.4f, -2.6f, 1e10f, -0.0f});
  auto check = [&](const std::string &op, std::vector<float> expected) {
    CAPTURE(op);
    CHECK(compute<float>({"f32"}, "f32", "%r = math." + op + " %0 : @f32", x).data == expected);
  };
  check("floor", {0, 1, 2, -1, -2, -3, 2, -3, 1e10f, 0});
  check("ceil", {1, 2, 3, 0, -1, -2, 3, -2, 1e10f, 0});
  check("trunc", {0, 1, 2, 0, -1, -2, 2, -2, 1e10f, 0});
  check("round", {1, 2, 3, -1, -2, -3, 2, -3, 1e10f, 0});
  check("roundeven", {0, 2, 2, 0, -2, -2, 2, -3, 1e10f, 0});
}

TEST_CASE("classes, signs and bit counts", "[math]") {
  Array<float> x({1, INFINITY, -INFINITY, NAN, 1e-40f, -0.0f});
  auto check = [&](const std::string &op, std::vector<uint8_t> expected) {
    CAPTURE(op);
    CHECK(compute<uint8_t>({"f32"}, "i1", "%r = math." + op + " %0 : @f32", x).data == expected);
  };
  check("isnan", {0, 0, 0, 1, 0, 0});
  check("isinf", {0, 1, 1, 0, 0, 0});
  check("isfinite", {1, 0, 0, 0, 1, 1});
  check("isnormal", {1, 0, 0, 0, 0, 0});
  CHECK(compute<uint32_t>({"f32"}, "f32", "%r = math.absf %0 : @f32", Array<uint32_t>({0x80000000, 0xffc00000, 0xbf800000})).data == std::vector<uint32_t>{0, 0x7fc00000, 0x3f800000});
  Array<int32_t> i({0, 1, -1, 0x00f0, INT32_MIN});
  CHECK(compute<int32_t>({"i32"}, "i32", "%r = math.absi %0 : @i32", i).data == std::vector<int32_t>{0, 1, 1, 0xf0, INT32_MIN});
  CHECK(compute<int32_t>({"i32"}, "i32", "%r = math.ctlz %0 : @i32", i).data == std::vector<int32_t>{32, 31, 0, 24, 0});
  CHECK(compute<int32_t>({"i32"}, "i32", "%r = math.cttz %0 : @i32", i).data == std::vector<int32_t>{32, 0, 0, 4, 31});
  CHECK(compute<int32_t>({"i32"}, "i32", "%r = math.ctpop %0 : @i32", i).data == std::vector<int32_t>{0, 1, 32, 4, 1});
}
