// Matrix products: values, precisions, batches, bounds.
#include "Kernel.h"
#include <cmath>
#include <random>

using namespace tk::interpret;
using namespace tk::interpret::test;

namespace {
/// c = a * b + c over [batch x] m x k times k x n.
std::string product(const std::string &in, const std::string &out, int batch, int m, int n, int k, const std::string &attributes = "") {
  auto load = [](const std::string &name, const std::string &type, const std::string &shape, int count) {
    return fmt::format(R"(
      %r{0} = tt.make_range {{start = 0 : i32, end = {3} : i32}} : tensor<{3}xi32>
      %s{0} = tt.splat %{0} : !tt.ptr<{1}> -> tensor<{3}x!tt.ptr<{1}>>
      %p{0} = tt.addptr %s{0}, %r{0} : tensor<{3}x!tt.ptr<{1}>>, tensor<{3}xi32>
      %l{0} = tt.load %p{0} : tensor<{3}x!tt.ptr<{1}>>
      %t{0} = tt.reshape %l{0} : tensor<{3}x{1}> -> tensor<{2}x{1}>)",
                       name, type, shape, count);
  };
  std::string prefix = batch > 1 ? fmt::format("{}x", batch) : "";
  std::string a = fmt::format("{}{}x{}", prefix, m, k), b = fmt::format("{}{}x{}", prefix, k, n), c = fmt::format("{}{}x{}", prefix, m, n);
  return fmt::format(R"(tt.func public @k(%a: !tt.ptr<{0}>, %b: !tt.ptr<{0}>, %c: !tt.ptr<{1}>) {{ {2} {3} {4}
      %d = tt.dot %ta, %tb, %tc{5} : tensor<{6}x{0}> * tensor<{7}x{0}> -> tensor<{8}x{1}>
      %o = tt.reshape %d : tensor<{8}x{1}> -> tensor<{9}x{1}>
      tt.store %pc, %o : tensor<{9}x!tt.ptr<{1}>>
      tt.return
    }})",
                     in, out, load("a", in, a, batch * m * k), load("b", in, b, batch * k * n), load("c", out, c, batch * m * n), attributes, a, b, c, batch * m * n);
}
template <typename T> void runProduct(const std::string &text, Array<T> &a, Array<T> &b, auto &c) {
  Kernel kernel(text);
  Launch launch = launchOn(a, b, c);
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
}
std::vector<float> random(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(generator);
  return values;
}
} // namespace

TEST_CASE("int8 products accumulate in i32", "[matrix]") {
  Array<int8_t> a({-44, -20, -126, 6}), b({24, -75, 127, -101});
  Array<int32_t> c({0, 0, 0, 0});
  runProduct(product("i8", "i32", 1, 2, 2, 2), a, b, c);
  CHECK(c.data == std::vector<int32_t>{-3596, 5320, -2262, 8844});
  c.data = {INT32_MAX, 0, 0, 1};
  runProduct(product("i8", "i32", 1, 2, 2, 2), a, b, c);
  CHECK(c[0] == int32_t(uint32_t(INT32_MAX) - 3596));
  CHECK(c[3] == 8845);
}

TEST_CASE("small integers are exact, in batches too", "[matrix]") {
  std::vector<float> x(2 * 3 * 4), y(2 * 4 * 5), z(2 * 3 * 5, 1);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(int(i * 7 % 11) - 5);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = float(int(i * 5 % 13) - 6);
  Array<float> a(x), b(y), c(z);
  runProduct(product("f32", "f32", 2, 3, 5, 4), a, b, c);
  for (int l = 0; l < 2; ++l)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 5; ++j) {
        float sum = 1;
        for (int k = 0; k < 4; ++k)
          sum += x[(l * 3 + i) * 4 + k] * y[(l * 4 + k) * 5 + j];
        CHECK(c[(l * 3 + i) * 5 + j] == sum);
        CHECK(c.bounds[(l * 3 + i) * 5 + j] == 0);
      }
}

TEST_CASE("a float32 loop stays within the bound, a wrong one does not", "[matrix]") {
  const int n = 24, k = 100;
  auto x = random(n * k, 1), y = random(k * n, 2);
  Array<float> a(x), b(y), c(std::vector<float>(n * n));
  runProduct(product("f32", "f32", 1, n, n, k), a, b, c);
  unsigned differences = 0, outside = 0, wrongInside = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float forward = 0, fused = 0;
      for (int l = 0; l < k; ++l) {
        forward += x[i * k + l] * y[l * n + j];
        fused = std::fmaf(x[i * k + k - 1 - l], y[(k - 1 - l) * n + j], fused);
      }
      float value = c[i * n + j];
      double bound = c.bounds[i * n + j];
      differences += forward != value;
      outside += std::fabs(forward - value) > bound || std::fabs(fused - value) > bound;
      float forgotten = value - x[i * k] * y[j]; // one product is missing
      wrongInside += std::fabs(forgotten - value) <= bound;
    }
  CHECK(differences > 100);
  CHECK(outside == 0);
  CHECK(wrongInside < 5); // only where the product is almost 0
}

TEST_CASE("input precisions", "[matrix]") {
  auto one = [](float x, float y, const std::string &precision) {
    Array<float> a({x}), b({y}), c({0.0f});
    runProduct(product("f32", "f32", 1, 1, 1, 1, ", inputPrecision = " + precision), a, b, c);
    return c[0];
  };
  float x = 1 + 0x1p-9f + 0x1p-12f + 0x1p-20f, y = 1;
  CHECK(one(x, y, "ieee") == x);
  CHECK(one(x, y, "tf32") == 1 + 0x1p-9f);
  CHECK(one(x, y, "tf32x3") == x);
  CHECK(one(x, y, "bf16x6") == x);
  // bf16x3 keeps 16 of the 24 bits: 1 + 2^-9 + 2^-12 is rounded to 1, the rest to 8 bits.
  CHECK(one(x, y, "bf16x3") == 1 + 0x1p-9f + 0x1p-12f);
  // The product of two second parts is what tf32x3 leaves out.
  float lo = 1 + 0x1p-11f;
  CHECK(one(lo, lo, "tf32x3") == 1 + 0x1p-10f);
  CHECK(one(lo, lo, "ieee") == 1 + 0x1p-10f + 0x1p-22f);
}

TEST_CASE("infinities and NaN at every input precision", "[matrix]") {
  // 1 + 2^-9 has a second part at every precision, below and above the first one.
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const char *precision : {"ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"})
    for (float finite : {1.0f, 1 + 0x1p-9f, 1 + 0x1p-8f + 0x1p-9f, 1 + 0x1p-12f, -1 - 0x1p-9f - 0x1p-17f})
      for (bool swapped : {false, true}) {
        INFO(precision << " of " << finite);
        auto both = [&](float special, float first, float second) {
          Array<float> a(swapped ? std::vector<float>{first, second} : std::vector<float>{special, 1.0f}), b(swapped ? std::vector<float>{special, 1.0f} : std::vector<float>{first, second}), c({0.0f});
          runProduct(product("f32", "f32", 1, 1, 1, 2, std::string(", inputPrecision = ") + precision), a, b, c);
          CHECK(c.bounds[0] == 0);
          return c[0];
        };
        CHECK(both(infinity, finite, 2.5f) == std::copysign(infinity, finite));
        CHECK(both(-infinity, finite, 2.5f) == -std::copysign(infinity, finite));
        CHECK(std::isnan(both(infinity, 0, finite)));
        CHECK(std::isnan(both(infinity, finite, std::copysign(infinity, -finite))));
        CHECK(std::isnan(both(nan, finite, 1)));
      }
}

TEST_CASE("16-bit and 8-bit operands, fp16 and fp64 results", "[matrix]") {
  Array<uint16_t> a({0x3c00, 0x4000}), b({0x4200, 0x4400}); // 1 2, 3 4
  Array<float> c({0.5f});
  runProduct(product("f16", "f32", 1, 1, 1, 2), a, b, c);
  CHECK(c[0] == 11.5f);
  Array<uint16_t> h({0});
  runProduct(product("f16", "f16", 1, 1, 1, 2), a, b, h);
  CHECK(h[0] == 0x4980);
  Array<uint8_t> e({0x38, 0x40}), f({0x38, 0xc0}); // 1 2, 1 -2
  c[0] = 0;
  runProduct(product("f8E4M3FN", "f32", 1, 1, 1, 2), e, f, c);
  CHECK(c[0] == -3);
  Array<double> d({0.1, 0.2}), g({0.3, 0.4}), w({0.0});
  runProduct(product("f64", "f64", 1, 1, 1, 2), d, g, w);
  CHECK(w[0] == double((long double)(0.1) * 0.3 + (long double)(0.2) * 0.4));
  CHECK(w.bounds[0] > 0);
  CHECK(w.bounds[0] < 1e-15);
  // fp16 overflow is uncertain when a sum may pass the largest value on the way.
  Array<uint16_t> big({0x7bff, 0x7bff}), sign({0x3c00, 0xbc00});
  runProduct(product("f16", "f16", 1, 1, 1, 2), big, sign, h);
  CHECK(std::isinf(h.bounds[0]));
}
