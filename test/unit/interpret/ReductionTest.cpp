// Reductions, scans and histograms: orders, regions of any kind, several operands, bounds of sums.
#include "Kernel.h"
#include <cmath>

using namespace tk::interpret;
using namespace tk::interpret::test;

namespace {
std::string region(const std::string &op, const std::string &type, const std::string &name) {
  return fmt::format("({{\n^bb0(%a: {1}, %b: {1}):\n%c = {0} %a, %b : {1}\ntt.{2}.return %c : {1}\n}})", op, type, name);
}
/// %r = reduction of the whole of %0, as a tile of one element.
std::string reduceAll(const std::string &op, const std::string &type, size_t count) {
  return fmt::format("%s = \"tt.reduce\"(%0) <{{axis = 0 : i32}}> {0} : (tensor<{2}x{1}>) -> {1}\n%r = tt.splat %s : {1} -> tensor<1x{1}>", region(op, type, "reduce"), type, count);
}
std::string scanAll(const std::string &op, const std::string &type, size_t count, bool reverse) {
  return fmt::format("%r = \"tt.scan\"(%0) <{{axis = 0 : i32, reverse = {3}}}> {0} : (tensor<{2}x{1}>) -> tensor<{2}x{1}>", region(op, type, "scan"), type, count, reverse);
}
/// Takes the left operand doubled plus the right one: neither commutative nor associative, so the order shows.
const char *order = "({\n^bb0(%a: i32, %b: i32):\n%t = arith.addi %a, %a : i32\n%c = arith.addi %t, %b : i32\ntt.NAME.return %c : i32\n})";
std::string orderRegion(const std::string &name) {
  std::string text = order;
  return text.replace(text.find("NAME"), 4, name);
}
const std::vector<int32_t> sixInts = {1, 2, 3, 4, 5, 6};
} // namespace

TEST_CASE("reductions of one operation", "[reduction]") {
  auto ints = [](const std::string &op) { return reshape<int32_t>("i32", "i32", 1, reduceAll(op, "i32", 6), Array<int32_t>({5, -2, 9, 1, -7, 3}))[0]; };
  CHECK(ints("arith.addi") == 9);
  CHECK(ints("arith.muli") == 1890);
  CHECK(ints("arith.maxsi") == 9);
  CHECK(ints("arith.minsi") == -7);
  CHECK(ints("arith.maxui") == -2);
  CHECK(ints("arith.minui") == 1);
  CHECK(ints("arith.xori") == (5 ^ -2 ^ 9 ^ 1 ^ -7 ^ 3));
  auto floats = [](const std::string &op, std::vector<float> values) { return reshape<float>("f32", "f32", 1, reduceAll(op, "f32", values.size()), Array<float>(values))[0]; };
  CHECK(floats("arith.maxnumf", {1, NAN, 3}) == 3);
  CHECK(std::isnan(floats("arith.maximumf", {1, NAN, 3})));
  CHECK(floats("arith.minnumf", {NAN, 1, 3}) == 1);
  CHECK(std::isnan(floats("arith.maxnumf", {NAN, NAN})));
  CHECK(floats("arith.mulf", {2, 3, 4}) == 24);
  auto wrap = reshape<int8_t>("i8", "i8", 1, reduceAll("arith.addi", "i8", 3), Array<int8_t>({100, 100, 100}));
  CHECK(wrap[0] == 44);
  auto flags = reshape<uint8_t>("i1", "i1", 1, reduceAll("arith.addi", "i1", 3), Array<uint8_t>({1, 1, 1}));
  CHECK(flags[0] == 1);
}

TEST_CASE("axes", "[reduction]") {
  // 2 x 3 x 2, along each axis.
  std::vector<int32_t> in(12);
  for (int i = 0; i < 12; ++i)
    in[i] = i;
  auto along = [&](int axis, const std::string &shape, size_t count) {
    return reshape<int32_t>("i32", "i32", count,
                            fmt::format("%m = tt.reshape %0 : tensor<12xi32> -> tensor<2x3x2xi32>\n%s = \"tt.reduce\"(%m) <{{axis = {0} : i32}}> {1} : (tensor<2x3x2xi32>) -> {2}\n"
                                        "%r = tt.reshape %s : {2} -> tensor<{3}xi32>",
                                        axis, region("arith.addi", "i32", "reduce"), shape, count),
                            Array<int32_t>(in))
        .data;
  };
  CHECK(along(0, "tensor<3x2xi32>", 6) == std::vector<int32_t>{6, 8, 10, 12, 14, 16});
  CHECK(along(1, "tensor<2x2xi32>", 4) == std::vector<int32_t>{6, 9, 24, 27});
  CHECK(along(2, "tensor<2x3xi32>", 6) == std::vector<int32_t>{1, 5, 9, 13, 17, 21});
}

TEST_CASE("elements are combined in order", "[reduction]") {
  // ((1*2+2)*2+3)... for reductions and scans, forwards and backwards.
  int32_t forward = 1, backward = 6;
  std::vector<int32_t> prefixes = {1}, suffixes = {6};
  for (int32_t i = 2; i <= 6; ++i) {
    prefixes.push_back(forward = 2 * forward + i);
    suffixes.insert(suffixes.begin(), backward = 2 * backward + 7 - i);
  }
  auto reduced = reshape<int32_t>("i32", "i32", 1, "%s = \"tt.reduce\"(%0) <{axis = 0 : i32}> " + orderRegion("reduce") + " : (tensor<6xi32>) -> i32\n%r = tt.splat %s : i32 -> tensor<1xi32>",
                                  Array<int32_t>(sixInts));
  CHECK(reduced[0] == forward);
  for (bool reverse : {false, true}) {
    auto scanned = reshape<int32_t>("i32", "i32", 6, fmt::format("%r = \"tt.scan\"(%0) <{{axis = 0 : i32, reverse = {}}}> {} : (tensor<6xi32>) -> tensor<6xi32>", reverse, orderRegion("scan")),
                                    Array<int32_t>(sixInts));
    CHECK(scanned.data == (reverse ? suffixes : prefixes));
  }
  // The same in several lanes at once.
  auto lanes = reshape<int32_t>("i32", "i32", 2,
                                "%m = tt.reshape %0 : tensor<6xi32> -> tensor<3x2xi32>\n%r = \"tt.reduce\"(%m) <{axis = 0 : i32}> " + orderRegion("reduce") + " : (tensor<3x2xi32>) -> tensor<2xi32>",
                                Array<int32_t>(sixInts));
  CHECK(lanes.data == std::vector<int32_t>{(1 * 2 + 3) * 2 + 5, (2 * 2 + 4) * 2 + 6});
}

TEST_CASE("several operands: the index of the largest, ties to the left", "[reduction]") {
  std::string body = R"(%i = tt.make_range {start = 0 : i32, end = 6 : i32} : tensor<6xi32>
    %v, %s = "tt.reduce"(%0, %i) <{axis = 0 : i32}> ({
    ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
      %gt = arith.cmpf ogt, %av, %bv : f32
      %eq = arith.cmpf oeq, %av, %bv : f32
      %lt = arith.cmpi slt, %ai, %bi : i32
      %tie = arith.andi %eq, %lt : i1
      %left = arith.ori %gt, %tie : i1
      %nv = arith.select %left, %av, %bv : f32
      %ni = arith.select %left, %ai, %bi : i32
      tt.reduce.return %nv, %ni : f32, i32
    }) : (tensor<6xf32>, tensor<6xi32>) -> (f32, i32)
    %r = tt.splat %s : i32 -> tensor<1xi32>)";
  auto out = reshape<int32_t>("f32", "i32", 1, body, Array<float>({1, 5, 3, 5, 2, 5}));
  CHECK(out[0] == 1);
  CHECK(out.bounds[0] == 0);
}

TEST_CASE("regions with control flow run element by element", "[reduction]") {
  std::string body = R"(%m = tt.reshape %0 : tensor<6xi32> -> tensor<3x2xi32>
    %r = "tt.reduce"(%m) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %gt = arith.cmpi sgt, %a, %b : i32
      %v = scf.if %gt -> i32 {
        %d = arith.subi %a, %b : i32
        scf.yield %d : i32
      } else {
        %d = arith.addi %a, %b : i32
        scf.yield %d : i32
      }
      tt.reduce.return %v : i32
    }) : (tensor<3x2xi32>) -> tensor<2xi32>)";
  CHECK(reshape<int32_t>("i32", "i32", 2, body, Array<int32_t>({9, 1, 4, 2, 3, 7})).data == std::vector<int32_t>{2, 10});
}

TEST_CASE("regions may use values from outside", "[reduction]") {
  std::string body = R"(%k = arith.constant 10 : i32
    %two = arith.constant 2 : i32
    %k2 = arith.muli %k, %two : i32
    %m = tt.reshape %0 : tensor<6xi32> -> tensor<3x2xi32>
    %r = "tt.reduce"(%m) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      %v = arith.minsi %s, %k2 : i32
      tt.reduce.return %v : i32
    }) : (tensor<3x2xi32>) -> tensor<2xi32>)";
  CHECK(reshape<int32_t>("i32", "i32", 2, body, Array<int32_t>({9, 1, 14, 2, 3, 7})).data == std::vector<int32_t>{20, 10});
}

TEST_CASE("scans of sums and products", "[reduction]") {
  CHECK(reshape<int32_t>("i32", "i32", 6, scanAll("arith.addi", "i32", 6, false), Array<int32_t>(sixInts)).data == std::vector<int32_t>{1, 3, 6, 10, 15, 21});
  CHECK(reshape<int32_t>("i32", "i32", 6, scanAll("arith.addi", "i32", 6, true), Array<int32_t>(sixInts)).data == std::vector<int32_t>{21, 20, 18, 15, 11, 6});
  CHECK(reshape<int8_t>("i8", "i8", 3, scanAll("arith.muli", "i8", 3, false), Array<int8_t>({16, 16, 16})).data == std::vector<int8_t>{16, 0, 0});
  // A reverse sum must not cancel: the small addends come first.
  std::vector<float> values(64, 1e8f);
  std::fill(values.begin() + 32, values.end(), 1.0f);
  auto out = reshape<float>("f32", "f32", 64, scanAll("arith.addf", "f32", 64, true), Array<float>(values));
  CHECK(out[32] == 32);
  CHECK(out[63] == 1);
  CHECK(out.bounds[32] == 0);
}

TEST_CASE("sums of floats are rounded once and bounded by any order", "[reduction]") {
  // 1 + 2^-24 * 16: in order from the left every addend is lost.
  std::vector<float> values(17, 0x1p-24f);
  values[0] = 1;
  auto out = reshape<float>("f32", "f32", 1, reduceAll("arith.addf", "f32", 17), Array<float>(values));
  CHECK(out[0] == 1 + 0x1p-20f);
  float leftToRight = 0, rightToLeft = 0;
  for (size_t i = 0; i < 17; ++i) {
    leftToRight += values[i];
    rightToLeft += values[16 - i];
  }
  CHECK(leftToRight == 1);
  CHECK(std::fabs(leftToRight - out[0]) <= out.bounds[0]);
  CHECK(std::fabs(rightToLeft - out[0]) <= out.bounds[0]);
  CHECK(out.bounds[0] < 2e-6); // a forgotten addend of 1 would be found, so would one of 2^-18
  // Small integers cannot round.
  CHECK(reshape<float>("f32", "f32", 1, reduceAll("arith.addf", "f32", 4), Array<float>({100, -3, 65536, 7})).bounds[0] == 0);
  CHECK(reshape<float>("f32", "f32", 1, reduceAll("arith.addf", "f32", 3), Array<float>({16777216, 1, 1})).bounds[0] > 0);
  // bf16 sums keep their type.
  std::vector<uint16_t> ones(512, 0x3f80);
  auto brain = reshape<uint16_t>("bf16", "bf16", 1, reduceAll("arith.addf", "bf16", 512), Array<uint16_t>(ones));
  CHECK(brain[0] == 0x4400);
  CHECK(brain.bounds[0] >= 256); // one after another stops at 256
  auto special = reshape<float>("f32", "f32", 1, reduceAll("arith.addf", "f32", 3), Array<float>({INFINITY, 1, 0.1f}));
  CHECK((std::isinf(special[0]) && special.bounds[0] == 0));
}

TEST_CASE("general regions count every rounding", "[reduction]") {
  // A sum written with an extra multiplication: evaluated as a region, and the bracketing is still free.
  std::string body = R"(%s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %one = arith.constant 1.0 : f32
      %p = arith.mulf %b, %one : f32
      %c = arith.addf %a, %p : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32>) -> f32
    %r = tt.splat %s : f32 -> tensor<1xf32>)";
  std::vector<float> values;
  for (int i = 0; i < 64; ++i)
    values.push_back(1.0f / float(i * i + 3));
  auto out = reshape<float>("f32", "f32", 1, body, Array<float>(values));
  auto pairwise = values;
  while (pairwise.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i < pairwise.size(); i += 2)
      next.push_back(pairwise[i] + pairwise[i + 1]);
    pairwise = next;
  }
  CHECK(pairwise[0] != out[0]);
  CHECK(std::fabs(pairwise[0] - out[0]) <= out.bounds[0]);
  CHECK(out.bounds[0] < 1e-3);
}

TEST_CASE("histogram drops other values", "[reduction]") {
  CHECK(reshape<int32_t>("i32", "i32", 4, "%r = tt.histogram %0 : tensor<8xi32> -> tensor<4xi32>", Array<int32_t>({0, 1, 2, 3, 4, 4, 5, -1})).data == std::vector<int32_t>{1, 1, 1, 1});
  CHECK(reshape<int32_t>("i32", "i32", 2,
                         "%z = arith.constant dense<1> : tensor<4xi32>\n%m = arith.cmpi ne, %0, %z : tensor<4xi32>\n%r = tt.histogram %0, %m : tensor<4xi32> -> tensor<2xi32>",
                         Array<int32_t>({0, 1, 0, 1}))
            .data == std::vector<int32_t>{2, 0});
}
