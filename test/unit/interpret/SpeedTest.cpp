// Hidden measurements: run with the tag [.speed].
#include "Kernel.h"
#include <chrono>
#include <cstdio>

using namespace tk::interpret;
using namespace tk::interpret::test;

namespace {
double secondsOf(auto &&work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
} // namespace

TEST_CASE("softmax of 4096 rows of 1024", "[.speed]") {
  Kernel kernel(R"(tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
    %start = arith.muli %pid, %n : i32
    %sn = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %range, %sn : tensor<1024xi32>
    %row = tt.addptr %x, %start : !tt.ptr<f32>, i32
    %srow = tt.splat %row : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %p = tt.addptr %srow, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %other = arith.constant dense<0xFF800000> : tensor<1024xf32>
    %v = tt.load %p, %mask, %other : tensor<1024x!tt.ptr<f32>>
    %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %sm = tt.splat %m : f32 -> tensor<1024xf32>
    %d = arith.subf %v, %sm : tensor<1024xf32>
    %e = math.exp %d : tensor<1024xf32>
    %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %ss = tt.splat %s : f32 -> tensor<1024xf32>
    %r = arith.divf %e, %ss : tensor<1024xf32>
    %orow = tt.addptr %out, %start : !tt.ptr<f32>, i32
    %so = tt.splat %orow : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %po = tt.addptr %so, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %po, %r, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  })");
  std::vector<float> values(4096 * 1024);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i * 2654435761u % 1000) * 0.01f;
  Array<float> x(values), out(std::vector<float>(values.size()), "out");
  Launch launch = launchOn(x, out);
  launch.arguments.push_back(1024);
  launch.grid = {4096, 1, 1};
  double seconds = secondsOf([&] { REQUIRE(kernel.run(launch).status == Result::Ok); });
  std::printf("softmax 4096x1024: %.2f s\n", seconds);
  CHECK(seconds < 5);
}

TEST_CASE("matrix product of 256 cubed", "[.speed]") {
  // One program a block of 64 x 64, in steps of 32.
  Kernel kernel(R"(tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>) {
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %c64 = arith.constant 64 : i32
    %c32 = arith.constant 32 : i32
    %c0 = arith.constant 0 : i32
    %c256 = arith.constant 256 : i32
    %m0 = arith.muli %pm, %c64 : i32
    %n0 = arith.muli %pn, %c64 : i32
    %r64 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %r32 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %sm = tt.splat %m0 : i32 -> tensor<64xi32>
    %sn = tt.splat %n0 : i32 -> tensor<64xi32>
    %om = arith.addi %sm, %r64 : tensor<64xi32>
    %on = arith.addi %sn, %r64 : tensor<64xi32>
    %rows = tt.expand_dims %om {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %w = arith.constant dense<256> : tensor<64x1xi32>
    %rowsw = arith.muli %rows, %w : tensor<64x1xi32>
    %cols = tt.expand_dims %on {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %c256 step %c32 iter_args(%s = %zero) -> (tensor<64x64xf32>) : i32 {
      %sk = tt.splat %k : i32 -> tensor<32xi32>
      %ok = arith.addi %sk, %r32 : tensor<32xi32>
      %kc = tt.expand_dims %ok {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %kcb = tt.broadcast %kc : tensor<1x32xi32> -> tensor<64x32xi32>
      %rb = tt.broadcast %rowsw : tensor<64x1xi32> -> tensor<64x32xi32>
      %oa = arith.addi %kcb, %rb : tensor<64x32xi32>
      %sa = tt.splat %a : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
      %pa = tt.addptr %sa, %oa : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
      %va = tt.load %pa : tensor<64x32x!tt.ptr<f32>>
      %kr = tt.expand_dims %ok {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %wk = arith.constant dense<256> : tensor<32x1xi32>
      %krw = arith.muli %kr, %wk : tensor<32x1xi32>
      %krb = tt.broadcast %krw : tensor<32x1xi32> -> tensor<32x64xi32>
      %cb = tt.broadcast %cols : tensor<1x64xi32> -> tensor<32x64xi32>
      %ob = arith.addi %krb, %cb : tensor<32x64xi32>
      %sb = tt.splat %b : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
      %pb = tt.addptr %sb, %ob : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
      %vb = tt.load %pb : tensor<32x64x!tt.ptr<f32>>
      %d = tt.dot %va, %vb, %s : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %rc = tt.broadcast %rowsw : tensor<64x1xi32> -> tensor<64x64xi32>
    %cc = tt.broadcast %cols : tensor<1x64xi32> -> tensor<64x64xi32>
    %oc = arith.addi %rc, %cc : tensor<64x64xi32>
    %sc = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %pc = tt.addptr %sc, %oc : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %pc, %acc : tensor<64x64x!tt.ptr<f32>>
    tt.return
  })");
  std::vector<float> values(256 * 256);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i * 2654435761u % 1000) * 0.01f;
  Array<float> a(values), b(values), c(std::vector<float>(values.size()), "c");
  Launch launch = launchOn(a, b, c);
  launch.grid = {4, 4, 1};
  double seconds = secondsOf([&] { REQUIRE(kernel.run(launch).status == Result::Ok); });
  std::printf("matmul 256x256x256: %.2f s\n", seconds);
  CHECK(seconds < 3);
}

TEST_CASE("ten million scalar operations", "[.speed]") {
  Kernel kernel(R"(tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (i32) : i32 {
      %a = arith.addi %x, %i : i32
      %b = arith.xori %a, %c1 : i32
      %c = arith.muli %b, %a : i32
      scf.yield %c : i32
    }
    tt.store %out, %r : !tt.ptr<i32>
    tt.return
  })");
  Array<int32_t> out({0}, "out");
  Launch launch = launchOn(out);
  launch.arguments.push_back(2'000'000);
  double seconds = secondsOf([&] { REQUIRE(kernel.run(launch).status == Result::Ok); });
  std::printf("2M iterations of 3 scalar operations: %.2f s\n", seconds);
  CHECK(seconds < 5);
}
