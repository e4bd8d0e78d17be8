// Movement of elements.
#include "Kernel.h"

using namespace tk::interpret;
using namespace tk::interpret::test;

namespace {
/// The elements of %r, of which there are `count`, from those of %0.
std::vector<int32_t> move(std::vector<int32_t> in, size_t count, const std::string &body) { return reshape<int32_t>("i32", "i32", count, body, Array<int32_t>(in)).data; }
const std::vector<int32_t> six = {0, 1, 2, 3, 4, 5};
} // namespace

TEST_CASE("ranges and splats", "[shape]") {
  CHECK(move(six, 3, "%r = tt.make_range {start = 5 : i32, end = 8 : i32} : tensor<3xi32>") == std::vector<int32_t>{5, 6, 7});
  CHECK(move(six, 2, "%c = arith.constant 7 : i32\n%r = tt.splat %c : i32 -> tensor<2xi32>") == std::vector<int32_t>{7, 7});
  CHECK(move(six, 2, "%r = arith.constant dense<[4, -4]> : tensor<2xi32>") == std::vector<int32_t>{4, -4});
  CHECK(move({9}, 2, "%u = tt.unsplat %0 : tensor<1xi32>\n%r = tt.splat %u : i32 -> tensor<2xi32>") == std::vector<int32_t>{9, 9});
}

TEST_CASE("transposition", "[shape]") {
  CHECK(move(six, 6, "%m = tt.reshape %0 : tensor<6xi32> -> tensor<2x3xi32>\n%t = tt.trans %m {order = array<i32: 1, 0>} : tensor<2x3xi32> -> tensor<3x2xi32>\n"
                     "%r = tt.reshape %t : tensor<3x2xi32> -> tensor<6xi32>") == std::vector<int32_t>{0, 3, 1, 4, 2, 5});
  std::vector<int32_t> in(24), expected;
  for (int32_t i = 0; i < 24; ++i)
    in[i] = i;
  for (int32_t k = 0; k < 4; ++k) // result axis 0 is source axis 2, axis 1 is 0, axis 2 is 1
    for (int32_t i = 0; i < 2; ++i)
      for (int32_t j = 0; j < 3; ++j)
        expected.push_back(i * 12 + j * 4 + k);
  CHECK(move(in, 24, "%m = tt.reshape %0 : tensor<24xi32> -> tensor<2x3x4xi32>\n%t = tt.trans %m {order = array<i32: 2, 0, 1>} : tensor<2x3x4xi32> -> tensor<4x2x3xi32>\n"
                     "%r = tt.reshape %t : tensor<4x2x3xi32> -> tensor<24xi32>") == expected);
}

TEST_CASE("broadcasts", "[shape]") {
  CHECK(move({7, 8}, 6, "%e = tt.expand_dims %0 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>\n%b = tt.broadcast %e : tensor<2x1xi32> -> tensor<2x3xi32>\n"
                        "%r = tt.reshape %b : tensor<2x3xi32> -> tensor<6xi32>") == std::vector<int32_t>{7, 7, 7, 8, 8, 8});
  CHECK(move({7, 8}, 6, "%e = tt.expand_dims %0 {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>\n%b = tt.broadcast %e : tensor<1x2xi32> -> tensor<3x2xi32>\n"
                        "%r = tt.reshape %b : tensor<3x2xi32> -> tensor<6xi32>") == std::vector<int32_t>{7, 8, 7, 8, 7, 8});
}

TEST_CASE("join, split and cat", "[shape]") {
  CHECK(move({1, 2}, 4, "%c = arith.constant dense<[10, 20]> : tensor<2xi32>\n%j = tt.join %0, %c : tensor<2xi32> -> tensor<2x2xi32>\n"
                        "%r = tt.reshape %j : tensor<2x2xi32> -> tensor<4xi32>") == std::vector<int32_t>{1, 10, 2, 20});
  CHECK(move(six, 3, "%m = tt.reshape %0 : tensor<6xi32> -> tensor<3x2xi32>\n%l, %h = tt.split %m : tensor<3x2xi32> -> tensor<3xi32>\n%r = arith.subi %h, %l : tensor<3xi32>") ==
        std::vector<int32_t>{1, 1, 1});
  CHECK(move(six, 3, "%m = tt.reshape %0 : tensor<6xi32> -> tensor<3x2xi32>\n%l, %r = tt.split %m : tensor<3x2xi32> -> tensor<3xi32>") == std::vector<int32_t>{1, 3, 5});
  CHECK(move({1, 2}, 4, "%c = arith.constant dense<[10, 20]> : tensor<2xi32>\n%r = tt.cat %0, %c : tensor<2xi32>, tensor<2xi32> -> tensor<4xi32>") ==
        std::vector<int32_t>{1, 2, 10, 20});
}

TEST_CASE("gather clamps its indices", "[shape]") {
  CHECK(move(six, 4, "%i = arith.constant dense<[5, 0, -3, 100]> : tensor<4xi32>\n%r = tt.gather %0[%i] {axis = 0 : i32} : (tensor<6xi32>, tensor<4xi32>) -> tensor<4xi32>") ==
        std::vector<int32_t>{5, 0, 0, 5});
  CHECK(move(six, 4, "%m = tt.reshape %0 : tensor<6xi32> -> tensor<2x3xi32>\n%i = arith.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>\n"
                     "%g = tt.gather %m[%i] {axis = 1 : i32} : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>\n%r = tt.reshape %g : tensor<2x2xi32> -> tensor<4xi32>") ==
        std::vector<int32_t>{2, 0, 4, 4});
}
