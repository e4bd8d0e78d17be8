// Error bounds: what another correct execution does stays inside, what a wrong one does falls outside, and what cannot be said is uncertain.
#include "Kernel.h"
#include <cmath>
#include <random>

using namespace tk::interpret;
using namespace tk::interpret::test;

namespace {
/// Runs an elementwise body with bounds on the input; the result.
Array<float> withBounds(const std::string &body, std::vector<float> values, std::vector<double> bounds, const std::string &output = "f32") {
  Kernel kernel(elementwise({"f32"}, output, values.size(), body));
  Array<float> x(values), out(std::vector<float>(values.size()), "out");
  x.bounds = bounds;
  Launch launch = launchOn(x, out);
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
  return out;
}
std::vector<float> random(size_t count, unsigned seed, float low, float high) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}
} // namespace

TEST_CASE("a perturbed execution stays within the bounds", "[bounds]") {
  const char *bodies[] = {"%r = arith.addf %0, %0 : @f32",
                          "%c = arith.constant dense<0.3> : @f32\n%r = arith.mulf %0, %c : @f32",
                          "%m = arith.mulf %0, %0 : @f32\n%n = arith.mulf %m, %0 : @f32\n%r = arith.subf %n, %0 : @f32",
                          "%c = arith.constant dense<1.7> : @f32\n%r = arith.divf %c, %0 : @f32",
                          "%s = math.sqrt %0 : @f32\n%r = arith.divf %0, %s : @f32",
                          "%e = math.exp %0 : @f32\n%c = arith.constant dense<1.0> : @f32\n%d = arith.addf %e, %c : @f32\n%r = arith.divf %c, %d : @f32",
                          "%e = math.log %0 : @f32\n%r = arith.mulf %e, %0 : @f32",
                          "%s = math.sin %0 : @f32\n%c = math.cos %0 : @f32\n%r = arith.mulf %s, %c : @f32",
                          "%r = math.tanh %0 : @f32",
                          "%h = tt.fp_to_fp %0, rounding = rtne : @f32 -> @f16\n%r = tt.fp_to_fp %h : @f16 -> @f32",
                          "%h = tt.fp_to_fp %0, rounding = rtne : @f32 -> @bf16\n%g = arith.mulf %h, %h : @bf16\n%r = tt.fp_to_fp %g : @bf16 -> @f32",
                          "%r = math.fma %0, %0, %0 : @f32",
                          "%r = math.floor %0 : @f32",
                          "%c = arith.constant dense<1.5> : @f32\n%b = arith.cmpf ogt, %0, %c : @f32\n%n = arith.negf %0 : @f32\n%r = arith.select %b, %0, %n : @i1, @f32",
                          "%c = arith.constant dense<0.7> : @f32\n%r = arith.remf %0, %c : @f32",
                          "%c = arith.constant dense<2.5> : @f32\n%r = math.powf %0, %c : @f32",
                          "%c = arith.constant dense<1.5> : @f32\n%r = arith.maxnumf %0, %c : @f32"};
  size_t count = 500;
  auto values = random(count, 7, 0.25f, 3);
  auto noise = random(count, 8, -1, 1);
  for (double size : {1e-6, 1e-3}) {
    std::vector<float> moved(count);
    for (size_t i = 0; i < count; ++i)
      moved[i] = values[i] + float(size * 0.99) * noise[i];
    for (const char *body : bodies) {
      auto expected = withBounds(body, values, std::vector<double>(count, size)), other = withBounds(body, moved, std::vector<double>(count, 0));
      unsigned outside = 0, useless = 0;
      for (size_t i = 0; i < count; ++i) {
        outside += !(std::fabs(double(expected[i]) - double(other[i])) <= expected.bounds[i]);
        useless += expected.bounds[i] > 100 * size + 0.05;
      }
      CAPTURE(body, size);
      CHECK(outside == 0);
      CHECK(useless < count / 20 + (std::string(body).find("floor") != std::string::npos || std::string(body).find("remf") != std::string::npos ? 20 : 0));
    }
  }
}

TEST_CASE("exact operands give exact bounds", "[bounds]") {
  auto out = withBounds("%c = arith.constant dense<0.1> : @f32\n%m = arith.mulf %0, %c : @f32\n%d = arith.divf %m, %0 : @f32\n%a = arith.addf %d, %c : @f32\n%r = math.sqrt %a : @f32",
                        {1, 2, 3, 1e-30f}, {0, 0, 0, 0});
  CHECK(out.bounds == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("a wrong execution falls outside", "[bounds]") {
  // softmax of one row, once right in fp32 with another order, once with the maximum forgotten in one element.
  const size_t n = 64;
  std::string body = R"(%m = "tt.reduce"(%0) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32>) -> f32
    %sm = tt.splat %m : f32 -> tensor<64xf32>
    %d = arith.subf %0, %sm : tensor<64xf32>
    %e = math.exp %d : tensor<64xf32>
    %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32>) -> f32
    %ss = tt.splat %s : f32 -> tensor<64xf32>
    %r = arith.divf %e, %ss : tensor<64xf32>)";
  auto x = random(n, 3, -4, 4);
  auto out = withBounds(body, x, std::vector<double>(n, 0));
  float top = *std::max_element(x.begin(), x.end()), sum = 0;
  for (size_t i = n; i-- > 0;)
    sum += std::exp(x[i] - top);
  unsigned differences = 0;
  for (size_t i = 0; i < n; ++i) {
    float value = std::exp(x[i] - top) / sum, wrong = std::exp(x[i] - top * 0.99999f) / sum;
    differences += value != out[i];
    CHECK(std::fabs(value - out[i]) <= out.bounds[i]);
    CHECK(std::fabs(wrong - out[i]) > out.bounds[i]);
  }
  CHECK(differences > 0);
}

TEST_CASE("comparisons closer than their bounds are uncertain", "[bounds]") {
  Kernel kernel(elementwise({"f32"}, "i1", 5, "%c = arith.constant dense<1.0> : @f32\n%r = arith.cmpf ogt, %0, %c : @f32"));
  Array<float> x({1.0f, 1.1f, 0.9f, 1.001f, 1.0f});
  x.bounds = {0, 0.01, 0.01, 0.01, 0.01};
  Array<uint8_t> out(std::vector<uint8_t>(5), "out");
  Launch launch = launchOn(x, out);
  Result result = kernel.run(launch);
  REQUIRE(result.status == Result::Ok);
  CHECK(out.bounds == std::vector<double>{0, 0, 0, INFINITY, INFINITY});
  CHECK(result.uncertain == 2);
  // A select by it may give either side.
  auto selected = withBounds("%c = arith.constant dense<1.0> : @f32\n%b = arith.cmpf ogt, %0, %c : @f32\n%t = arith.constant dense<3.0> : @f32\n%r = arith.select %b, %t, %c : @i1, @f32",
                             {1.001f, 1.1f}, {0.01, 0.01});
  CHECK(selected.bounds == std::vector<double>{2, 0});
  // A certain false absorbs it.
  auto masked = withBounds("%c = arith.constant dense<1.0> : @f32\n%b = arith.cmpf ogt, %0, %c : @f32\n%f = arith.constant dense<false> : @i1\n%m = arith.andi %b, %f : @i1\n"
                           "%r = arith.select %m, %0, %c : @i1, @f32",
                           {1.001f}, {0.01});
  CHECK(masked.bounds[0] == 0);
}

TEST_CASE("conversions to integers near a boundary are uncertain", "[bounds]") {
  Kernel kernel(elementwise({"f32"}, "i32", 3, "%r = arith.fptosi %0 : @f32 to @i32"));
  Array<float> x({1.5f, 1.999f, 2.001f});
  x.bounds = {0.01, 0.01, 0.01};
  Array<int32_t> out({0, 0, 0}, "out");
  Launch launch = launchOn(x, out);
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(out.bounds == std::vector<double>{0, INFINITY, INFINITY});
}

TEST_CASE("unspecified values are uncertain, and only where they are used", "[bounds]") {
  auto divided = compute<int32_t>({"i32", "i32"}, "i32", "%q = arith.divsi %0, %1 : @i32\n%z = arith.constant dense<0> : @i32\n%ok = arith.cmpi ne, %1, %z : @i32\n"
                                                         "%r = arith.select %ok, %q, %z : @i1, @i32",
                                  Array<int32_t>({6, 6, INT32_MIN}), Array<int32_t>({3, 0, 2}));
  CHECK(divided.data == std::vector<int32_t>{2, 0, INT32_MIN / 2});
  CHECK(divided.bounds == std::vector<double>{0, 0, 0});
  auto poison = compute<float>({"f32"}, "f32", "%p = ub.poison : @f32\n%r = arith.addf %0, %p : @f32", Array<float>({1.0f}));
  CHECK(poison[0] == 1);
  CHECK(std::isinf(poison.bounds[0]));
}

TEST_CASE("overflow and NaN that depend on inexact values are uncertain", "[bounds]") {
  auto near = withBounds("%r = math.exp %0 : @f32", {88.72f, 88.7228f, 100.0f, -INFINITY}, {0.001, 0.001, 0.001, 0});
  CHECK(near.bounds[0] < 1e38);
  CHECK(std::isinf(near.bounds[1]));
  CHECK((std::isinf(near[2]) && near.bounds[2] == 0));
  CHECK((near[3] == 0 && near.bounds[3] == 0));
  auto root = withBounds("%r = math.sqrt %0 : @f32", {-1e-9f, 1e-9f, 1.0f, NAN}, {1e-8, 1e-8, 1e-8, 0});
  CHECK(std::isinf(root.bounds[0]));
  CHECK(std::isinf(root.bounds[1]));
  CHECK(root.bounds[2] < 1e-6);
  CHECK((std::isnan(root[3]) && root.bounds[3] == 0));
  auto quotient = withBounds("%c = arith.constant dense<1.0> : @f32\n%r = arith.divf %c, %0 : @f32", {0.001f, INFINITY}, {0.01, 0});
  CHECK(std::isinf(quotient.bounds[0]));
  CHECK(quotient.bounds[1] == 0);
}

TEST_CASE("control flow by an uncertain condition makes its results uncertain", "[bounds]") {
  Kernel kernel(R"(tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %v = tt.load %x : !tt.ptr<f32>
    %one = arith.constant 1.0 : f32
    %c = arith.cmpf ogt, %v, %one : f32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %p1 = tt.addptr %out, %c1 : !tt.ptr<f32>, i32
    %p2 = tt.addptr %out, %c2 : !tt.ptr<f32>, i32
    %r = scf.if %c -> f32 {
      tt.store %p1, %one : !tt.ptr<f32>
      scf.yield %one : f32
    } else {
      tt.store %p2, %one : !tt.ptr<f32>
      scf.yield %v : f32
    }
    tt.store %out, %r : !tt.ptr<f32>
    %p3 = tt.addptr %out, %c3 : !tt.ptr<f32>, i32
    tt.store %p3, %one : !tt.ptr<f32>
    tt.return
  })");
  Array<float> x({1.001f}), out({0, 0, 0, 0}, "out");
  x.bounds = {0.01};
  Launch launch = launchOn(x, out);
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(out.bounds == std::vector<double>{INFINITY, INFINITY, 0, 0});
  x.bounds = {0.0001};
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(out.bounds == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("tolerances of the execution to compare with", "[bounds]") {
  Kernel kernel(elementwise({"f32"}, "f32", 1, "%c = arith.constant dense<3.0> : @f32\n%r = arith.divf %0, %c : @f32"));
  Array<float> x({1.0f}), out({0.0f}, "out");
  Launch launch = launchOn(x, out);
  launch.tolerances.divUlp = 2;
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(out.bounds[0] == 2 * 0x1p-25);
  Kernel product(elementwise({"f32"}, "f32", 1, "%m = arith.mulf %0, %0 : @f32\n%r = arith.subf %m, %0 : @f32"));
  x[0] = 1.1f;
  launch.tolerances = {};
  REQUIRE(product.run(launch).status == Result::Ok);
  CHECK(out.bounds[0] == 0);
  launch.tolerances.contraction = true;
  REQUIRE(product.run(launch).status == Result::Ok);
  CHECK(std::fabs(std::fmaf(1.1f, 1.1f, -1.1f) - out[0]) <= out.bounds[0]);
  CHECK(std::fmaf(1.1f, 1.1f, -1.1f) != out[0]);
}
