// Structured control flow, calls, printing, assertions.
#include "Kernel.h"
#include <cmath>

using namespace tk::interpret;
using namespace tk::interpret::test;
using Catch::Matchers::Contains;

namespace {
/// A kernel with scalar i32 %n and a store of the i32 %r.
std::string scalar(const std::string &body, const std::string &others = "") {
  return "tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {\n" + body + "\ntt.store %out, %r : !tt.ptr<i32>\ntt.return\n}\n" + others;
}
int32_t runScalar(const std::string &text, int32_t n) {
  Kernel kernel(text);
  Array<int32_t> out({-99}, "out");
  Launch launch = launchOn(out);
  launch.arguments.push_back(uint32_t(n));
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
  return out[0];
}
} // namespace

TEST_CASE("for loops carry values, swaps too", "[control]") {
  // Fibonacci: both values move at once.
  std::string text = scalar(R"(%c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a, %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0, %y = %c1) -> (i32, i32) : i32 {
      %s = arith.addi %x, %y : i32
      scf.yield %y, %s : i32, i32
    })");
  CHECK(runScalar(text, 0) == 1);
  CHECK(runScalar(text, 10) == 89);
  CHECK(runScalar(text, -5) == 1);
  std::string swap = scalar(R"(%c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r, %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0, %y = %c1) -> (i32, i32) : i32 {
      scf.yield %y, %x : i32, i32
    })");
  CHECK(runScalar(swap, 3) == 1);
  CHECK(runScalar(swap, 4) == 0);
}

TEST_CASE("loop bounds at the edge of the type", "[control]") {
  std::string text = scalar(R"(%low = arith.constant 2147483640 : i32
    %high = arith.constant 2147483647 : i32
    %c0 = arith.constant 0 : i32
    %r = scf.for %i = %low to %high step %n iter_args(%x = %c0) -> (i32) : i32 {
      %d = arith.subi %i, %low : i32
      %s = arith.addi %x, %d : i32
      scf.yield %s : i32
    })");
  CHECK(runScalar(text, 1) == 0 + 1 + 2 + 3 + 4 + 5 + 6);
  CHECK(runScalar(text, 5) == 5);
  CHECK(runScalar(text, INT32_MAX) == 0);
  Kernel kernel(text);
  Array<int32_t> out({0}, "out");
  Launch launch = launchOn(out);
  launch.arguments.push_back(0);
  CHECK_THAT(kernel.run(launch).message, Contains("step of a loop is not positive"));
  std::string isUnsigned = scalar(R"(%low = arith.constant 5 : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 500000000 : i32
    %r = scf.for unsigned %i = %low to %n step %c1 iter_args(%x = %c0) -> (i32) : i32 {
      %one = arith.constant 1 : i32
      %s = arith.addi %x, %one : i32
      scf.yield %s : i32
    })");
  CHECK(runScalar(isUnsigned, -1) == 9);
}

TEST_CASE("while loops and branches", "[control]") {
  // Collatz steps.
  std::string text = scalar(R"(%c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %last, %r = scf.while (%x = %n, %steps = %c0) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %x, %c1 : i32
      scf.condition(%go) %x, %steps : i32, i32
    } do {
    ^bb0(%y: i32, %s: i32):
      %bit = arith.andi %y, %c1 : i32
      %odd = arith.cmpi eq, %bit, %c1 : i32
      %next = scf.if %odd -> i32 {
        %t = arith.muli %y, %c3 : i32
        %u = arith.addi %t, %c1 : i32
        scf.yield %u : i32
      } else {
        %h = arith.divsi %y, %c2 : i32
        scf.yield %h : i32
      }
      %s1 = arith.addi %s, %c1 : i32
      scf.yield %next, %s1 : i32, i32
    })");
  CHECK(runScalar(text, 1) == 0);
  CHECK(runScalar(text, 27) == 111);
}

TEST_CASE("a loop that runs zero times touches nothing", "[control]") {
  Kernel kernel(R"(tt.func public @k(%q: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bound = tt.load %q : !tt.ptr<i32>
      tt.store %q, %bound : !tt.ptr<i32>
    }
    tt.return
  })");
  Launch launch;
  launch.arguments = {64, 0};
  CHECK(kernel.run(launch).status == Result::Ok);
  launch.arguments = {64, 1};
  CHECK(kernel.run(launch).status == Result::Fault);
}

TEST_CASE("switches and execute_region", "[control]") {
  std::string text = scalar(R"(%at = arith.index_cast %n : i32 to index
    %r0 = scf.index_switch %at -> i32
    case 2 {
      %a = arith.constant 20 : i32
      scf.yield %a : i32
    }
    case -1 {
      %b = arith.constant -10 : i32
      scf.yield %b : i32
    }
    default {
      %c = arith.constant 99 : i32
      scf.yield %c : i32
    }
    %r = scf.execute_region -> i32 {
      %one = arith.constant 1 : i32
      %s = arith.addi %r0, %one : i32
      scf.yield %s : i32
    })");
  CHECK(runScalar(text, 2) == 21);
  CHECK(runScalar(text, -1) == -9);
  CHECK(runScalar(text, 7) == 100);
}

TEST_CASE("calls, recursion and its limit", "[control]") {
  std::string factorial = R"(tt.func private @f(%n: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.cmpi eq, %n, %c0 : i32
    %r = scf.if %end -> i32 {
      scf.yield %c1 : i32
    } else {
      %m = arith.subi %n, %c1 : i32
      %f = tt.call @f(%m) : (i32) -> i32
      %p = arith.muli %n, %f : i32
      scf.yield %p : i32
    }
    tt.return %r : i32
  })";
  std::string text = scalar("%r = tt.call @f(%n) : (i32) -> i32", factorial);
  CHECK(runScalar(text, 6) == 720);
  Kernel kernel(text);
  Array<int32_t> out({0}, "out");
  Launch launch = launchOn(out);
  launch.arguments.push_back(uint32_t(-1));
  Result result = kernel.run(launch);
  CHECK(result.status == Result::Fault);
  CHECK_THAT(result.message, Contains("nested more than"));
  // Two results, exchanged.
  CHECK(runScalar(scalar("%a, %b = tt.call @g(%n, %n) : (i32, i32) -> (i32, i32)\n%r = arith.subi %a, %b : i32",
                         "tt.func private @g(%x: i32, %y: i32) -> (i32, i32) {\n%s = arith.addi %x, %y : i32\ntt.return %s, %x : i32, i32\n}"),
                  5) == 5);
}

TEST_CASE("program ids", "[control]") {
  Kernel kernel(R"(tt.func public @k(%out: !tt.ptr<i32>) {
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %z = tt.get_program_id z : i32
    %nx = tt.get_num_programs x : i32
    %ny = tt.get_num_programs y : i32
    %a = arith.muli %z, %ny : i32
    %b = arith.addi %a, %y : i32
    %c = arith.muli %b, %nx : i32
    %at = arith.addi %c, %x : i32
    %p = tt.addptr %out, %at : !tt.ptr<i32>, i32
    %one = arith.constant 1 : i32
    %v = arith.addi %at, %one : i32
    tt.store %p, %v : !tt.ptr<i32>
    tt.return
  })");
  Array<int32_t> out(std::vector<int32_t>(24), "out");
  Launch launch = launchOn(out);
  launch.grid = {2, 3, 4};
  REQUIRE(kernel.run(launch).status == Result::Ok);
  for (int i = 0; i < 24; ++i)
    CHECK(out[i] == i + 1);
}

TEST_CASE("printing", "[control]") {
  Kernel kernel(R"(tt.func public @k(%n: i32) {
    %v = arith.constant dense<[[1.5, -2.0]]> : tensor<1x2xf32>
    tt.print "v" {hex = false, isSigned = array<i32: 1>} : %v : tensor<1x2xf32>
    tt.print "n" {hex = false, isSigned = array<i32: 1, 0>} : %n, %n : i32, i32
    tt.print "h" {hex = true, isSigned = array<i32: 1>} : %n : i32
    tt.print "here" {hex = false, isSigned = array<i32>}
    tt.return
  })");
  std::vector<std::string> lines;
  Launch launch;
  launch.arguments = {uint32_t(-1)};
  launch.print = [&](const std::string &line) { lines.push_back(line); };
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(lines == std::vector<std::string>{"pid (0, 0, 0) idx (0, 0) v: 1.5", "pid (0, 0, 0) idx (0, 1) v: -2", "pid (0, 0, 0) n (operand 0): -1", "pid (0, 0, 0) n (operand 1): 4294967295",
                                          "pid (0, 0, 0) h: 0xffffffff", "pid (0, 0, 0) here"});
}

TEST_CASE("assertions and assumptions", "[control]") {
  Kernel kernel(R"(tt.func public @k(%n: i32) {
    %c = arith.constant dense<[true, false]> : tensor<2xi1>
    %zero = arith.constant 0 : i32
    %is = arith.cmpi eq, %n, %zero : i32
    scf.if %is {
      tt.assert %c, "must hold" : tensor<2xi1>
    }
    tt.assume %is
    tt.return
  })",
                "check.tk");
  Launch launch;
  launch.arguments = {0};
  Result result = kernel.run(launch);
  CHECK(result.status == Result::AssertFailed);
  CHECK_THAT(result.message, Contains("check.tk:6: assertion failed of element [1]") && Contains("must hold"));
  launch.arguments = {1};
  CHECK_THAT(kernel.run(launch).message, Contains("check.tk:8: an assumption is false"));
}

TEST_CASE("what is not known is said", "[control]") {
  Kernel kernel("tt.func public @k() {\n%a = arith.constant 1 : i32\n%r = math.ipowi %a, %a : i32\ntt.return\n}");
  Result result = kernel.run({});
  CHECK(result.status == Result::Fault);
  CHECK_THAT(result.message, Contains("kernel.mlir:3") && Contains("`math.ipowi` is not known to the interpreter"));
}
