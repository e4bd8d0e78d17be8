// Atomic operations, their old values, order-free sums, and programs that wait for one another.
#include "Kernel.h"
#include <cmath>

using namespace tk::interpret;
using namespace tk::interpret::test;
using Catch::Matchers::Contains;

namespace {
/// Every lane of a program of `lanes` applies `kind` with the values of %v to one element; the old values go to %old.
std::string oneAddress(const std::string &kind, const std::string &type, int lanes) {
  return fmt::format(R"(tt.func public @k(%x: !tt.ptr<{1}>, %v: !tt.ptr<{1}>, %old: !tt.ptr<{1}>) {{
    %r = tt.make_range {{start = 0 : i32, end = {2} : i32}} : tensor<{2}xi32>
    %pid = tt.get_program_id x : i32
    %n = arith.constant {2} : i32
    %base = arith.muli %pid, %n : i32
    %sbase = tt.splat %base : i32 -> tensor<{2}xi32>
    %at = arith.addi %r, %sbase : tensor<{2}xi32>
    %sv = tt.splat %v : !tt.ptr<{1}> -> tensor<{2}x!tt.ptr<{1}>>
    %pv = tt.addptr %sv, %at : tensor<{2}x!tt.ptr<{1}>>, tensor<{2}xi32>
    %values = tt.load %pv : tensor<{2}x!tt.ptr<{1}>>
    %sx = tt.splat %x : !tt.ptr<{1}> -> tensor<{2}x!tt.ptr<{1}>>
    %o = tt.atomic_rmw {0}, acq_rel, gpu, %sx, %values : (tensor<{2}x!tt.ptr<{1}>>, tensor<{2}x{1}>) -> tensor<{2}x{1}>
    %so = tt.splat %old : !tt.ptr<{1}> -> tensor<{2}x!tt.ptr<{1}>>
    %po = tt.addptr %so, %at : tensor<{2}x!tt.ptr<{1}>>, tensor<{2}xi32>
    tt.store %po, %o : tensor<{2}x!tt.ptr<{1}>>
    tt.return
  }})",
                     kind, type, lanes);
}
template <typename T> Array<T> update(const std::string &kind, const std::string &type, T initial, std::vector<T> values, std::vector<T> &olds, int programs = 1) {
  Kernel kernel(oneAddress(kind, type, int(values.size()) / programs));
  Array<T> x({initial}), v(values, "v"), old(std::vector<T>(values.size()), "old");
  Launch launch = launchOn(x, v, old);
  launch.grid = {programs, 1, 1};
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
  olds = old.data;
  return x;
}
} // namespace

TEST_CASE("integer atomics return the old values in lane order", "[atomics]") {
  std::vector<int32_t> old;
  CHECK(update<int32_t>("add", "i32", 10, {1, 2, 3}, old)[0] == 16);
  CHECK(old == std::vector<int32_t>{10, 11, 13});
  CHECK(update<int32_t>("and", "i32", 15, {7, 12}, old)[0] == 4);
  CHECK(update<int32_t>("or", "i32", 1, {2, 4}, old)[0] == 7);
  CHECK(update<int32_t>("xor", "i32", 1, {3, 3}, old)[0] == 1);
  CHECK(update<int32_t>("max", "i32", -5, {-7, 3}, old)[0] == 3);
  CHECK(update<int32_t>("min", "i32", -5, {-7, 3}, old)[0] == -7);
  CHECK(update<int32_t>("umax", "i32", 5, {-7, 3}, old)[0] == -7);
  CHECK(update<int32_t>("umin", "i32", 5, {-7, 3}, old)[0] == 3);
  CHECK(update<int32_t>("exch", "i32", 5, {8, 9}, old)[0] == 9);
  CHECK(old == std::vector<int32_t>{5, 8});
  std::vector<int64_t> wide;
  CHECK(update<int64_t>("add", "i64", INT64_MAX, {1}, wide)[0] == INT64_MIN);
  // Programs in order: the old values of 8 programs adding 1 are 0 to 7.
  CHECK(update<int32_t>("add", "i32", 0, std::vector<int32_t>(8, 1), old, 8)[0] == 8);
  CHECK(old == std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a sum of floats is order free", "[atomics]") {
  std::vector<float> old;
  std::vector<float> values = {1e8f, 1, -1e8f, 1};
  auto sum = update<float>("fadd", "f32", 0.0f, values, old, 4);
  CHECK(old[1] == 1e8f);
  double bound = sum.bounds[0];
  CHECK(std::fabs(sum[0] - 2.0) <= bound); // (1e8 - 1e8) + 1 + 1
  CHECK(std::fabs(sum[0] - 0.0) <= bound); // 1 is lost
  CHECK(bound < 100);
  CHECK(update<float>("fadd", "f32", 0.0f, {1, 2, 3, 4}, old, 4).bounds[0] == 0);
  // One addition, or several of one program in order, round alike everywhere.
  CHECK(update<float>("fadd", "f32", 0.1f, {0.7f}, old).bounds[0] == 0);
  CHECK(update<float>("fadd", "f32", 0.1f, {0.7f, 0.3f}, old).bounds[0] > 0);
  std::vector<uint16_t> halves;
  CHECK(update<uint16_t>("fadd", "f16", 0x3c00, {0x3c00, 0x4000}, halves)[0] == 0x4400);
}

TEST_CASE("compare and swap compares bits", "[atomics]") {
  Kernel kernel(R"(tt.func public @k(%x: !tt.ptr<i64>, %old: !tt.ptr<i64>, %cmp: i64, %val: i64) {
    %o = tt.atomic_cas acq_rel, gpu, %x, %cmp, %val : (!tt.ptr<i64>, i64, i64) -> i64
    tt.store %old, %o : !tt.ptr<i64>
    tt.return
  })");
  Array<int64_t> x({0x100000005}), old({0}, "old");
  Launch launch = launchOn(x, old);
  launch.arguments.insert(launch.arguments.end(), {0x200000005, 7});
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(x[0] == 0x100000005);
  launch.arguments[2] = 0x100000005;
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(x[0] == 7);
  CHECK(old[0] == 0x100000005);
}

TEST_CASE("masks, alignment and bounds of atomics", "[atomics]") {
  Kernel kernel(R"(tt.func public @k(%x: !tt.ptr<i32>, %mask: i1) {
    %one = arith.constant 1 : i32
    %o = tt.atomic_rmw add, relaxed, gpu, %x, %one, %mask : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  })",
                "count.tk");
  Array<int32_t> x({5, 6});
  Launch launch = launchOn(x);
  launch.arguments.push_back(0);
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(x[0] == 5);
  launch.arguments = {0, 0};
  CHECK(kernel.run(launch).status == Result::Ok);
  launch.arguments = {x.address(2), 1};
  CHECK_THAT(kernel.run(launch).message, Contains("count.tk:3: atomic in program (0, 0, 0)") && Contains("just past the end of `x`"));
  launch.arguments = {x.address() + 2, 1};
  CHECK_THAT(kernel.run(launch).message, Contains("not aligned"));
}

// ---- waiting ----

namespace {
/// Program 0 waits until program 1 has stored 7, with `poll` as its way to look; then it stores 1.
std::string waiting(const std::string &poll) {
  return R"(tt.func public @k(%flag: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %zero = arith.constant 0 : i32
    %seven = arith.constant 7 : i32
    %first = arith.cmpi eq, %pid, %zero : i32
    scf.if %first {
      %end = scf.while (%n = %zero) : (i32) -> i32 {
        )" +
         poll + R"(
        %go = arith.cmpi ne, %v, %seven : i32
        scf.condition(%go) %n : i32
      } do {
      ^bb0(%m: i32):
        scf.yield %m : i32
      }
      %one = arith.constant 1 : i32
      tt.store %out, %one : !tt.ptr<i32>
    } else {
      %o = tt.atomic_rmw exch, release, gpu, %flag, %seven : (!tt.ptr<i32>, i32) -> i32
    }
    tt.return
  })";
}
const char *atomicPoll = "%v = tt.atomic_rmw add, acquire, gpu, %flag, %zero : (!tt.ptr<i32>, i32) -> i32";
const char *plainPoll = "%v = tt.load %flag : !tt.ptr<i32>";
const char *volatilePoll = "%v = tt.load %flag {isVolatile = true} : !tt.ptr<i32>";
} // namespace

TEST_CASE("a consumer that runs before its producer lets it run", "[atomics]") {
  for (const char *poll : {atomicPoll, volatilePoll, plainPoll}) {
    Kernel kernel(waiting(poll));
    Array<int32_t> flag({0}, "flag"), out({0}, "out");
    Launch launch = launchOn(flag, out);
    launch.grid = {2, 1, 1};
    Result result = kernel.run(launch);
    INFO(result.message);
    REQUIRE(result.status == Result::Ok);
    CHECK(flag[0] == 7);
    CHECK(out[0] == 1);
  }
}

TEST_CASE("a wait that nobody ends is a deadlock", "[atomics]") {
  Kernel kernel(waiting(atomicPoll));
  Array<int32_t> flag({0}, "flag"), out({0}, "out");
  Launch launch = launchOn(flag, out);
  launch.grid = {1, 1, 1};
  Result result = kernel.run(launch);
  CHECK(result.status == Result::Fault);
  CHECK_THAT(result.message, Contains("deadlock") && Contains("program (0, 0, 0)"));
}

TEST_CASE("a wait that counts its turns lets others run too", "[atomics]") {
  Kernel kernel(R"(tt.func public @k(%flag: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %first = arith.cmpi eq, %pid, %zero : i32
    scf.if %first {
      %turns = scf.while (%n = %zero) : (i32) -> i32 {
        %v = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
        %go = arith.cmpi eq, %v, %zero : i32
        scf.condition(%go) %n : i32
      } do {
      ^bb0(%m: i32):
        %m1 = arith.addi %m, %one : i32
        scf.yield %m1 : i32
      }
      tt.store %out, %turns : !tt.ptr<i32>
    } else {
      tt.store %flag, %one : !tt.ptr<i32>
    }
    tt.return
  })");
  Array<int32_t> flag({0}, "flag"), out({0}, "out");
  Launch launch = launchOn(flag, out);
  launch.grid = {2, 1, 1};
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(out[0] > 1000);
  // Alone it counts until the limit.
  flag[0] = 0;
  launch.grid = {1, 1, 1};
  launch.operationLimit = 1'000'000;
  CHECK(kernel.run(launch).status == Result::LimitReached);
}

TEST_CASE("a spin lock guards a counter among many programs", "[atomics]") {
  // Each program takes the lock, adds to a plain counter in two steps, and gives it back.
  Kernel kernel(R"(tt.func public @k(%lock: !tt.ptr<i32>, %count: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.while : () -> () {
      %old = tt.atomic_cas acquire, gpu, %lock, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %held = arith.cmpi ne, %old, %zero : i32
      scf.condition(%held)
    } do {
      scf.yield
    }
    %v = tt.load %count : !tt.ptr<i32>
    %w = arith.addi %v, %one : i32
    tt.store %count, %w : !tt.ptr<i32>
    %o = tt.atomic_rmw exch, release, gpu, %lock, %zero : (!tt.ptr<i32>, i32) -> i32
    tt.return
  })");
  Array<int32_t> lock({0}, "lock"), count({0}, "count");
  Launch launch = launchOn(lock, count);
  launch.grid = {1000, 2, 1};
  REQUIRE(kernel.run(launch).status == Result::Ok);
  CHECK(count[0] == 2000);
  CHECK(lock[0] == 0);
}

TEST_CASE("a chain of waits in the reverse order of programs", "[atomics]") {
  // Program i waits for program i + 1; the last one begins.
  Kernel kernel(R"(tt.func public @k(%flags: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %n = tt.get_num_programs x : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %next = arith.addi %pid, %one : i32
    %mine = tt.addptr %flags, %pid : !tt.ptr<i32>, i32
    %theirs = tt.addptr %flags, %next : !tt.ptr<i32>, i32
    %last = arith.cmpi eq, %next, %n : i32
    %v = scf.if %last -> i32 {
      scf.yield %zero : i32
    } else {
      %w = scf.while (%x = %zero) : (i32) -> i32 {
        %f = tt.load %theirs {isVolatile = true} : !tt.ptr<i32>
        %go = arith.cmpi eq, %f, %zero : i32
        scf.condition(%go) %f : i32
      } do {
      ^bb0(%m: i32):
        scf.yield %m : i32
      }
      scf.yield %w : i32
    }
    %u = arith.addi %v, %one : i32
    tt.store %mine, %u : !tt.ptr<i32>
    tt.return
  })");
  Array<int32_t> flags(std::vector<int32_t>(200), "flags");
  Launch launch = launchOn(flags);
  launch.grid = {200, 1, 1};
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
  for (int i = 0; i < 200; ++i)
    CHECK(flags[i] == 200 - i);
}
