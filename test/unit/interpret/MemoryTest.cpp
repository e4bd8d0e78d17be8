// Masks, faults and what a fault says.
#include "Kernel.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace tk::interpret;
using namespace tk::interpret::test;
using Catch::Matchers::Contains;

namespace {
const char *maskedCopy = R"(tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %first: i32, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %sf = tt.splat %first : i32 -> tensor<8xi32>
  %offs = arith.addi %range, %sf : tensor<8xi32>
  %sn = tt.splat %n : i32 -> tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %below = arith.cmpi slt, %offs, %sn : tensor<8xi32>
  %above = arith.cmpi sge, %offs, %zero : tensor<8xi32>
  %mask = arith.andi %below, %above : tensor<8xi1>
  %other = arith.constant dense<-1.0> : tensor<8xf32>
  %sx = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %px = tt.addptr %sx, %offs : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %px, %mask, %other : tensor<8x!tt.ptr<f32>>
  %so = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %po = tt.addptr %so, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %po, %v : tensor<8x!tt.ptr<f32>>
  tt.return
})";
const char *copyAt = R"(tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %at: i64) {
  %p = tt.addptr %x, %at : !tt.ptr<f32>, i64
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %out, %v : !tt.ptr<f32>
  tt.return
})";
} // namespace

TEST_CASE("masked-off elements are not accessed", "[memory]") {
  // The array ends and begins at pages that trap, and the interpreter does not check.
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  char *base = static_cast<char *>(mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(base != MAP_FAILED);
  REQUIRE(mprotect(base + page, page, PROT_READ | PROT_WRITE) == 0);
  float *first = reinterpret_cast<float *>(base + page), *last = reinterpret_cast<float *>(base + 2 * page) - 3;
  first[0] = 10, first[1] = 11, first[2] = 12, first[3] = 13, first[4] = 14;
  last[0] = 1, last[1] = 2, last[2] = 3;
  Kernel kernel(maskedCopy);
  Array<float> out(std::vector<float>(8), "out");
  for (bool check : {false, true}) {
    Launch launch;
    launch.checkRegions = check;
    launch.regions = {{base + page, page, "x"}, out.region()};
    launch.arguments = {reinterpret_cast<uint64_t>(last), out.address(), 0, 3};
    REQUIRE(kernel.run(launch).status == Result::Ok);
    CHECK(out.data == std::vector<float>{1, 2, 3, -1, -1, -1, -1, -1});
    launch.arguments = {reinterpret_cast<uint64_t>(first), out.address(), uint32_t(-3), 100};
    REQUIRE(kernel.run(launch).status == Result::Ok);
    CHECK(out.data == std::vector<float>{-1, -1, -1, 10, 11, 12, 13, 14});
  }
  munmap(base, 3 * page);
}

TEST_CASE("a fault names the array, the line, the program and the element", "[memory]") {
  Kernel kernel(maskedCopy, "softmax.tk");
  Array<float> x({1, 2, 3, 4, 5}), out(std::vector<float>(8), "out");
  Launch launch = launchOn(x, out);
  launch.arguments.insert(launch.arguments.end(), {0, 100});
  Result result = kernel.run(launch);
  CHECK(result.status == Result::Fault);
  CHECK_THAT(result.message, Contains("softmax.tk:13: ") && Contains("load of element [5] in program (0, 0, 0)") && Contains("just past the end of `x` (20 bytes)"));
  launch.arguments[2] = uint32_t(-1);
  launch.arguments[3] = 4;
  CHECK(kernel.run(launch).status == Result::Ok);
  launch = launchOn(x, out);
  launch.regions.pop_back();
  launch.arguments.insert(launch.arguments.end(), {0, 1});
  result = kernel.run(launch);
  CHECK_THAT(result.message, Contains("softmax.tk:16: ") && Contains("store of element [0]"));
}

TEST_CASE("where a bad access lies", "[memory]") {
  Kernel kernel(copyAt);
  Array<float> memory({1, 2, 3, 4}, "memory"), out({0}, "out");
  Launch launch = launchOn(memory, out);
  launch.regions[0].data = &memory[1];
  launch.regions[0].bytes = 8;
  launch.regions[0].bounds = nullptr;
  launch.arguments[0] = memory.address(1);
  launch.arguments.push_back(0);
  auto message = [&](int64_t at) {
    launch.arguments[2] = uint64_t(at);
    return kernel.run(launch).message;
  };
  CHECK(message(1) == "");
  CHECK_THAT(message(2), Contains("load in program (0, 0, 0): the access of 4 bytes is just past the end of `memory` (8 bytes)"));
  CHECK_THAT(message(4), Contains("is 8 bytes past the end of `memory`"));
  CHECK_THAT(message(-1), Contains("is 4 bytes before the start of `memory`"));
  launch.regions[0].bytes = 6;
  CHECK_THAT(message(1), Contains("crosses the end of `memory`"));
  launch.regions.clear();
  CHECK_THAT(message(0), Contains("where no array is"));
}

TEST_CASE("i1 memory is a byte tested against zero", "[memory]") {
  auto copied = compute<uint8_t>({"i1", "i1"}, "i1", "%r = arith.ori %0, %1 : @i1", Array<uint8_t>({0, 2, 255, 1}), Array<uint8_t>({0, 0, 0, 128}));
  CHECK(copied.data == std::vector<uint8_t>{0, 1, 1, 1});
}

TEST_CASE("masked load without other gives 0, pointers are loaded and compared", "[memory]") {
  Kernel kernel(R"(tt.func public @k(%x: !tt.ptr<!tt.ptr<f32>>, %out: !tt.ptr<f32>, %count: !tt.ptr<i64>) {
    %p = tt.load %x : !tt.ptr<!tt.ptr<f32>>
    %false = arith.constant false
    %v = tt.load %p : !tt.ptr<f32>
    %z = tt.load %p, %false : !tt.ptr<f32>
    %s = arith.addf %v, %z : f32
    tt.store %out, %s : !tt.ptr<f32>
    %one = arith.constant 1 : i32
    %q = tt.addptr %p, %one : !tt.ptr<f32>, i32
    %a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    %b = tt.ptr_to_int %q : !tt.ptr<f32> -> i64
    %d = arith.subi %b, %a : i64
    tt.store %count, %d : !tt.ptr<i64>
    tt.return
  })");
  Array<float> data({42}, "data"), out({0}, "out");
  Array<uint64_t> table({data.address()}, "table");
  Array<int64_t> count({0}, "count");
  Launch launch = launchOn(table, out, count);
  launch.regions.push_back(data.region());
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
  CHECK(out[0] == 42);
  CHECK(count[0] == 4);
}

TEST_CASE("offsets are signed and 64-bit", "[memory]") {
  Kernel kernel(R"(tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<i64>, %at: i64, %small: i8) {
    %p = tt.addptr %x, %at : !tt.ptr<f32>, i64
    %q = tt.addptr %p, %small : !tt.ptr<f32>, i8
    %a = tt.ptr_to_int %q : !tt.ptr<f32> -> i64
    tt.store %out, %a : !tt.ptr<i64>
    tt.return
  })");
  Array<int64_t> out({0}, "out");
  Launch launch;
  launch.regions = {out.region()};
  launch.arguments = {4096, out.address(), 2257846272u, uint8_t(-2)};
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(out[0] == 4096 + (2257846272 - 2) * 4);
}

TEST_CASE("overlapping arrays share values and bounds", "[memory]") {
  Kernel kernel(elementwise({"f32"}, "f32", 4, "%one = arith.constant dense<1.0> : @f32\n%r = arith.addf %0, %one : @f32"));
  Array<float> memory({1, 2, 3, 4, 5});
  std::vector<double> inBounds(4, 0), outBounds(4, 0);
  inBounds[1] = 0.25;
  Launch launch;
  launch.regions = {{&memory[0], 16, "x", inBounds.data(), 4}, {&memory[1], 16, "out", outBounds.data(), 4}};
  launch.arguments = {memory.address(0), memory.address(1)};
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(memory.data == std::vector<float>{1, 2, 3, 4, 5}); // 1, then 1+1, 2+1 ... : the loads come before the stores
  CHECK(outBounds[1] >= 0.25);
  CHECK(inBounds[2] >= 0.25);
  CHECK(inBounds[1] == 0);
}

TEST_CASE("the operation limit", "[memory]") {
  Kernel kernel(elementwise({"f32"}, "f32", 4, "%r = arith.addf %0, %0 : @f32"));
  Array<float> x({1, 2, 3, 4}), out({0, 0, 0, 0}, "out");
  Launch launch = launchOn(x, out);
  launch.grid = {1000, 1, 1};
  launch.operationLimit = 500;
  Result result = kernel.run(launch);
  CHECK(result.status == Result::LimitReached);
  CHECK(result.operations >= 500);
  CHECK(result.operations < 600);
  launch.operationLimit = UINT64_MAX;
  launch.programs = {3, 999};
  CHECK(kernel.run(launch).status == Result::Ok);
  launch.programs = {1000};
  CHECK(kernel.run(launch).status == Result::Fault);
  launch.programs.clear();
  launch.arguments.pop_back();
  CHECK_THAT(kernel.run(launch).message, Contains("2 run-time arguments, 1 were given"));
}

TEST_CASE("several elements that store to one place", "[memory]") {
  // out[i / 2] = i / divisor: equal values for a divisor of 2, different ones for 1.
  Kernel kernel(R"(tt.func public @k(%out: !tt.ptr<i32>, %divisor: i32, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %two = arith.constant dense<2> : tensor<8xi32>
  %sd = tt.splat %divisor : i32 -> tensor<8xi32>
  %sn = tt.splat %n : i32 -> tensor<8xi32>
  %at = arith.divsi %range, %two : tensor<8xi32>
  %v = arith.divsi %range, %sd : tensor<8xi32>
  %mask = arith.cmpi slt, %range, %sn : tensor<8xi32>
  %so = tt.splat %out : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %po = tt.addptr %so, %at : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %po, %v, %mask : tensor<8x!tt.ptr<i32>>
  tt.return
})");
  Array<int32_t> out(std::vector<int32_t>(4), "out");
  std::vector<double> bounds(4);
  auto run = [&](uint32_t divisor, uint32_t n, bool report) {
    std::fill(bounds.begin(), bounds.end(), 0);
    Launch launch;
    launch.reportConflicts = report;
    launch.regions = {{out.data.data(), 16, "out", bounds.data(), 4}};
    launch.arguments = {out.address(), divisor, n};
    return kernel.run(launch);
  };
  REQUIRE(run(2, 8, true).status == Result::Ok);
  CHECK(out.data == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(bounds == std::vector<double>{0, 0, 0, 0});
  REQUIRE(run(1, 8, false).status == Result::Ok);
  CHECK(bounds == std::vector<double>(4, std::numeric_limits<double>::infinity()));
  REQUIRE(run(1, 3, false).status == Result::Ok); // elements 0, 1 and 2: the first place alone
  CHECK(bounds == std::vector<double>{std::numeric_limits<double>::infinity(), 0, 0, 0});
  CHECK(run(1, 1, true).status == Result::Ok);
  Result result = run(1, 4, true);
  CHECK(result.status == Result::Fault);
  CHECK_THAT(result.message, Contains("another element of the same store writes a different value to the same place"));
}
