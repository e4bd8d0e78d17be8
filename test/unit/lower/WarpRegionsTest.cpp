// Regions of warps, from ttg to results: the PTX is executed on the emulated device, which reports races, barriers that don't match and deadlocks.
#include "RegionKernel.h"
#include <fmt/format.h>
#include <numeric>

using namespace tk::lower::test;

namespace {

/// 128 elements on so many warps: neighbours in registers where there are more elements than threads.
std::string layoutOf(unsigned warps) {
  std::string reg, lane, warp;
  uint32_t basis = 1;
  auto add = [&](std::string &list, bool isThere) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", isThere ? basis : 0);
    basis *= isThere ? 2 : 1;
  };
  for (unsigned threads = warps * 32; threads < 128; threads *= 2)
    add(reg, true);
  for (unsigned bit = 0; bit < 5; ++bit)
    add(lane, true);
  for (unsigned bit = 1; bit < warps; bit *= 2)
    add(warp, basis < 128);
  return fmt::format("#ttg.linear<register = [{}], lane = [{}], warp = [{}]>", reg, lane, warp);
}
const std::string kLayouts = fmt::format("#on1 = {}\n#on2 = {}\n#on4 = {}\n#on8 = {}\n", layoutOf(1), layoutOf(2), layoutOf(4), layoutOf(8));

/// Pointers %p_NAME to the 128 elements from `%start` on of `%array`, in the layout #on<warps>.
std::string pointers(const std::string &name, const std::string &array, const std::string &start, unsigned warps) {
  return fmt::format(R"(
    %r_{0} = tt.make_range {{start = 0 : i32, end = 128 : i32}} : tensor<128xi32, #on{3}>
    %s_{0} = tt.splat {2} : i32 -> tensor<128xi32, #on{3}>
    %o_{0} = arith.addi %r_{0}, %s_{0} : tensor<128xi32, #on{3}>
    %b_{0} = tt.splat {1} : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #on{3}>
    %p_{0} = tt.addptr %b_{0}, %o_{0} : tensor<128x!tt.ptr<f32>, #on{3}>, tensor<128xi32, #on{3}>)",
                     name, array, start, warps);
}

/// out[start + i] = x[start + i] * factor
std::string scaled(const std::string &x, const std::string &out, const std::string &start, float factor, unsigned warps) {
  return pointers("x", x, start, warps) + pointers("y", out, start, warps) +
         fmt::format(R"(
    %v = tt.load %p_x : tensor<128x!tt.ptr<f32>, #on{0}>
    %f = arith.constant dense<{1:e}> : tensor<128xf32, #on{0}>
    %w = arith.mulf %v, %f : tensor<128xf32, #on{0}>
    tt.store %p_y, %w : tensor<128x!tt.ptr<f32>, #on{0}>)",
                     warps, factor);
}

/// `%sum_NAME` = the sum of 128 elements.
std::string summed(const std::string &name, const std::string &value, unsigned warps) {
  return fmt::format(R"(
    %sum_{0} = "tt.reduce"({1}) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.reduce.return %t : f32
    }}) : (tensor<128xf32, #on{2}>) -> f32)",
                     name, value, warps);
}

std::string kernel(const std::string &parameters, const std::string &body, unsigned warps = 4) {
  return fmt::format("{}module {{\ntt.func public @k({}) attributes {{\"ttg.num-warps\" = {} : i32}} {{{}\n  tt.return\n}}\n}}\n", kLayouts, parameters, warps,
                     body);
}

std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(int(i * 37 % 101) - 50);
  return values;
}
float sumOf(const std::vector<float> &values, size_t first) { return std::accumulate(values.begin() + long(first), values.begin() + long(first) + 128, 0.0f); }

/// Three parts of a row: the default region's, and those of a narrower and a wider partition.
std::string threeParts() {
  return kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>", R"(
  %program = tt.get_program_id x : i32
  %row = arith.constant 384 : i32
  %c128 = arith.constant 128 : i32
  %c256 = arith.constant 256 : i32
  %first = arith.muli %program, %row : i32
  %second = arith.addi %first, %c128 : i32
  %third = arith.addi %first, %c256 : i32
  ttg.warp_specialize {)" + scaled("%x", "%out", "%first", 2, 4) +
                                                            R"(
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(1) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>, %start = %second : i32) {)" +
                                                            scaled("%px", "%pout", "%start", 3, 1) + R"(
      ttg.warp_return
    }
    ttg.warp_partition num_warps(8) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>, %start = %third : i32) {)" +
                                                            scaled("%px", "%pout", "%start", 4, 8) + R"(
      ttg.warp_return
    }
  })");
}

/// A producer of one warp fills two slots in turn, which the default region's four warps sum up. `copies`: asynchronously.
std::string producerConsumer(bool copies) {
  std::string fill = copies ? R"(
        %copied = ttg.async_copy %p_x, %slot {contiguity = 4 : i32} : tensor<128x!tt.ptr<f32>, #on1> -> !ttg.memdesc<128xf32, #shared, mutable>
        %group = ttg.async_commit %copied
        %arrived = ttg.async_wait %group {pending = 0 : i32})"
                            : R"(
        %v = tt.load %p_x : tensor<128x!tt.ptr<f32>, #on1>
        ttg.local_store %v, %slot : tensor<128xf32, #on1> -> !ttg.memdesc<128xf32, #shared, mutable>)";
  std::string round = R"(
        %turn = arith.remui %i, %c2 : i32
        %phase = arith.divui %i, %c2 : i32
        %one = arith.constant 1 : i32
        %parity = arith.andi %phase, %one : i32
        %slot = ttg.memdesc_index %tiles_[%turn] : !ttg.memdesc<128xf32, #shared, slots = 2, mutable> -> !ttg.memdesc<128xf32, #shared, mutable>
        %isFull = ttg.memdesc_index %full_[%turn] : !ttg.memdesc<1xi64, #bar, slots = 2, mutable> -> !ttg.memdesc<1xi64, #bar, mutable>
        %isEmpty = ttg.memdesc_index %empty_[%turn] : !ttg.memdesc<1xi64, #bar, slots = 2, mutable> -> !ttg.memdesc<1xi64, #bar, mutable>)";
  auto named = [](std::string text, const std::string &suffix) {
    for (size_t at; (at = text.find("_[")) != std::string::npos;)
      text.replace(at, 1, suffix);
    return text;
  };
  std::string slots = "!ttg.memdesc<1xi64, #bar, slots = 2, mutable>", text, end;
  for (std::string name : {"full", "empty"}) {
    text += fmt::format("\n  %{} = ttg.local_alloc : {}", name, slots);
    for (int slot : {0, 1})
      text += fmt::format("\n  %{0}{1} = ttg.memdesc_index %{0}[%n{1}] : {2} -> !ttg.memdesc<1xi64, #bar, mutable>"
                          "\n  ttg.mbarrier_init %{0}{1}, 1 : !ttg.memdesc<1xi64, #bar, mutable>",
                          name, slot, slots);
    for (int slot : {0, 1})
      end += fmt::format("\n  ttg.mbarrier_inval %{}{} : !ttg.memdesc<1xi64, #bar, mutable>", name, slot);
  }
  return "#bar = #ttg.shared<offset = []>\n#shared = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 64]>\n" +
         kernel("%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32", R"(
  %n0 = arith.constant 0 : i32
  %n1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %tiles = ttg.local_alloc : !ttg.memdesc<128xf32, #shared, slots = 2, mutable>)" + text + R"(
  %total = ttg.warp_specialize -> tensor<128xf32, #on4> {
    %zero = arith.constant dense<0.0> : tensor<128xf32, #on4>
    %result = scf.for %i = %n0 to %rounds step %n1 iter_args(%sum = %zero) -> tensor<128xf32, #on4> : i32 {)" +
                                                                                                       named(round, "") + R"(
        ttg.mbarrier_wait %isFull, %parity : !ttg.memdesc<1xi64, #bar, mutable>
        %read = ttg.local_load %slot : !ttg.memdesc<128xf32, #shared, mutable> -> tensor<128xf32, #on4>
        ttg.mbarrier_arrive %isEmpty : !ttg.memdesc<1xi64, #bar, mutable>
        %next = arith.addf %sum, %read : tensor<128xf32, #on4>
        scf.yield %next : tensor<128xf32, #on4>
    }
    ttg.warp_yield %result : tensor<128xf32, #on4>
  } partitions {
    ttg.warp_partition num_warps(1) (%px = %x : !tt.ptr<f32>, %count = %rounds : i32, %tilesIn = %tiles : !ttg.memdesc<128xf32, #shared, slots = 2, mutable>, %fullIn = %full : )" +
                                                                                                       slots + ", %emptyIn = %empty : " + slots + R"() {
      %from = arith.constant 0 : i32
      %step = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c128 = arith.constant 128 : i32
      scf.for %i = %from to %count step %step : i32 {)" + named(round, "In") + R"(
        %other = arith.xori %parity, %one : i32
        %start = arith.muli %i, %c128 : i32
        ttg.mbarrier_wait %isEmpty, %other : !ttg.memdesc<1xi64, #bar, mutable>)" + pointers("x", "%px", "%start", 1) +
                                                                                                       fill + R"(
        ttg.mbarrier_arrive %isFull : !ttg.memdesc<1xi64, #bar, mutable>
      }
      ttg.warp_return
    }
  })" + end + pointers("y", "%out", "%n0", 4) + "\n  tt.store %p_y, %total : tensor<128x!tt.ptr<f32>, #on4>");
}

/// out[place + i] = the sum of tile i, for `%rounds` tiles from `%start` on, by reductions across warps.
std::string sumsInLoop(const std::string &x, const std::string &out, const std::string &rounds, int first, unsigned warps) {
  return fmt::format(R"(
    %from = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %first = arith.constant {} : i32
    scf.for %i = %from to {} step %one : i32 {{
      %tile = arith.addi %i, %first : i32
      %start = arith.muli %tile, %c128 : i32{}
      %v = tt.load %p_x : tensor<128x!tt.ptr<f32>, #on{}>{}
      %place = tt.addptr {}, %tile : !tt.ptr<f32>, i32
      tt.store %place, %sum_v : !tt.ptr<f32>
    }})",
                     first, rounds, pointers("x", x, "%start", warps), warps, summed("v", "%v", warps), out);
}

std::string reductions() {
  return kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %rounds: i32", "\n  ttg.warp_specialize {" + sumsInLoop("%x", "%out", "%rounds", 0, 4) + R"(
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(4) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>, %count = %rounds : i32) {)" +
                                                                          sumsInLoop("%px", "%pout", "%count", 8, 4) + R"(
      ttg.warp_return
    }
    ttg.warp_partition num_warps(2) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>, %count = %rounds : i32) {)" +
                                                                          sumsInLoop("%px", "%pout", "%count", 16, 2) + R"(
      ttg.warp_return
    }
  })");
}

/// A division in a loop, one in a branch, code of the function's own warps before, between and behind.
std::string divisions() {
  auto division = [](const std::string &start, float factor) {
    return "\n    ttg.warp_specialize {\n      ttg.warp_yield\n    } partitions {\n"
           "      ttg.warp_partition num_warps(2) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>, %start = " +
           start + " : i32) {" + scaled("%px", "%pout", "%start", factor, 2) + "\n        ttg.warp_return\n      }\n    }";
  };
  return kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %rounds: i32, %also: i32", R"(
  %n0 = arith.constant 0 : i32
  %n1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %before = arith.muli %rounds, %c128 : i32
  %behind = arith.addi %before, %c128 : i32
  scf.for %i = %n0 to %rounds step %n1 : i32 {
    %place = arith.muli %i, %c128 : i32)" + division("%place", 2) +
                                                                                      R"(
  }
  %isWanted = arith.cmpi ne, %also, %n0 : i32
  scf.if %isWanted {)" + division("%before", 3) + R"(
  }
  )" + scaled("%x", "%out", "%behind", 5, 4));
}

std::string withRegisters(unsigned first, unsigned second) {
  return kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>",
                "\n  %c0 = arith.constant 0 : i32\n  ttg.warp_specialize {" + scaled("%x", "%out", "%c0", 2, 4) +
                    fmt::format(R"(
    ttg.warp_yield
  }} partitions {{
    ttg.warp_partition num_warps(4) registers({}) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>) {{
      %start = arith.constant 128 : i32{}
      ttg.warp_return
    }}
    ttg.warp_partition num_warps(1) registers({}) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>) {{
      %start = arith.constant 256 : i32{}
      ttg.warp_return
    }}
  }})",
                                first, scaled("%px", "%pout", "%start", 3, 4), second, scaled("%px", "%pout", "%start", 4, 1)));
}

std::string withoutLayouts(std::string text) {
  for (unsigned warps : {1, 2, 4, 8})
    for (std::string layout = fmt::format(", #on{}", warps); text.find(layout) != std::string::npos;)
      text.erase(text.find(layout), layout.size());
  return text;
}

const std::string kTargets[] = {"sm_80", "sm_90a", "sm_100a"};
} // namespace

TEST_CASE("regions of other numbers of warps write their own parts") {
  RegionKernel kernel(threeParts(), "sm_90a");
  CHECK(kernel.warps == 13); // 4, and behind them 8 and 1
  std::vector<float> in = counted(3 * 384);
  float *x = kernel.array(in), *out = kernel.array(std::vector<float>(in.size()));
  kernel.run(3, x, out);
  for (size_t i = 0; i < in.size(); ++i)
    REQUIRE(out[i] == in[i] * float(2 + i % 384 / 128));
}

TEST_CASE("a producer and a consumer meet at barriers in shared memory") {
  for (bool copies : {false, true})
    for (std::string target : {"sm_80", "sm_90a"})
      for (int rounds : {0, 1, 2, 7}) {
        INFO(target << ", " << rounds << " rounds, asynchronous copies: " << copies);
        RegionKernel kernel(producerConsumer(copies), target);
        CHECK(kernel.warps == 5);
        std::vector<float> in = counted(128 * 8), expected(128);
        for (size_t i = 0; i < 128u * unsigned(rounds); ++i)
          expected[i % 128] += in[i];
        float *x = kernel.array(in), *out = kernel.array(std::vector<float>(128, -1.0f));
        kernel.run(1, x, out, rounds);
        REQUIRE(std::vector<float>(out, out + 128) == expected);
      }
}

TEST_CASE("reductions of several regions at a time keep apart") {
  RegionKernel kernel(reductions(), "sm_90a");
  CHECK(kernel.warps == 10);
  std::vector<float> in = counted(128 * 24);
  float *x = kernel.array(in), *out = kernel.array(std::vector<float>(24));
  kernel.run(1, x, out, 8);
  for (size_t i = 0; i < 24; ++i)
    REQUIRE(out[i] == sumOf(in, 128 * i));
}

TEST_CASE("divisions in loops and branches, one after another") {
  RegionKernel kernel(divisions(), "sm_90a");
  CHECK(kernel.warps == 6);
  for (int rounds : {0, 3})
    for (int also : {0, 1}) {
      std::vector<float> in = counted(128 * 5);
      float *x = kernel.array(in), *out = kernel.array(std::vector<float>(in.size()));
      kernel.run(1, x, out, rounds, also);
      size_t before = size_t(rounds) * 128;
      for (size_t i = 0; i < in.size(); ++i)
        REQUIRE(out[i] == (i < before ? in[i] * 2 : i < before + 128 ? in[i] * 3 * float(also) : i < before + 256 ? in[i] * 5 : 0));
    }
}

TEST_CASE("layouts are assigned for each region's warps") {
  std::string text = withoutLayouts(threeParts());
  for (unsigned warps : {1, 2}) {
    RegionKernel kernel(text, "sm_80", /*laidOut=*/false, warps);
    CHECK(kernel.warps == 4 + 8 + 1); // a wide partition begins at a warp group
    std::vector<float> in = counted(384);
    float *x = kernel.array(in), *out = kernel.array(std::vector<float>(in.size()));
    kernel.run(1, x, out);
    for (size_t i = 0; i < in.size(); ++i)
      REQUIRE(out[i] == in[i] * float(2 + i / 128));
  }
}

TEST_CASE("tiles leave the default region") {
  std::string text =
      kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>", "\n  %c0 = arith.constant 0 : i32\n  %tile, %number = ttg.warp_specialize -> tensor<128xf32>, f32 {" +
                                                         pointers("x", "%x", "%c0", 4) + R"(
    %v = tt.load %p_x : tensor<128x!tt.ptr<f32>, #on4>)" +
                                                         summed("v", "%v", 4) +
                                                         R"(
    ttg.warp_yield %v, %sum_v : tensor<128xf32>, f32
  } partitions {
    ttg.warp_partition num_warps(2) (%px = %x : !tt.ptr<f32>, %pout = %out : !tt.ptr<f32>) {
      %start = arith.constant 128 : i32)" + scaled("%px", "%pout", "%start", 3, 2) +
                                                         R"(
      ttg.warp_return
    }
  }
  %numbers = tt.splat %number : f32 -> tensor<128xf32>
  %sum = arith.addf %tile, %numbers : tensor<128xf32>)" + pointers("y", "%out", "%c0", 4) +
                                                         "\n  tt.store %p_y, %sum : tensor<128x!tt.ptr<f32>, #on4>");
  RegionKernel kernel(withoutLayouts(text), "sm_90a", /*laidOut=*/false, /*warps=*/8);
  CHECK(kernel.warps == 10);
  std::vector<float> in = counted(256);
  float *x = kernel.array(in), *out = kernel.array(std::vector<float>(in.size()));
  kernel.run(1, x, out);
  for (size_t i = 0; i < in.size(); ++i)
    REQUIRE(out[i] == (i < 128 ? in[i] + sumOf(in, 0) : in[i] * 3));
}

TEST_CASE("registers move between warp groups where the target can") {
  auto run = [](RegionKernel &kernel) {
    std::vector<float> in = counted(384);
    float *x = kernel.array(in), *out = kernel.array(std::vector<float>(in.size()));
    kernel.run(2, x, out);
    for (size_t i = 0; i < in.size(); ++i)
      REQUIRE(out[i] == in[i] * float(2 + i / 128));
  };
  SECTION("given away and given back") {
    RegionKernel kernel(withRegisters(40, 24), "sm_90a");
    // 9 warps have 224 registers a thread each; the default region gets (9 x 224 - 4 x 40 - 224) / 4 of them, at most 248.
    CHECK(kernel.ptx.find(".maxnreg 224") != std::string::npos);
    CHECK(kernel.ptx.find("setmaxnreg.inc.sync.aligned.u32 248") != std::string::npos);
    CHECK(kernel.ptx.find("setmaxnreg.dec.sync.aligned.u32 40") != std::string::npos);
    CHECK(kernel.remarks.find("only whole groups of 4 warps") != std::string::npos);
    run(kernel);
  }
  SECTION("more than at the launch, from the default region") {
    RegionKernel kernel(withRegisters(248, 24), "sm_90a");
    run(kernel);
  }
  SECTION("of as many as the launch allows") {
    RegionKernel kernel(withRegisters(40, 24), "sm_90a", true, 4, /*maxRegisters=*/100);
    CHECK(kernel.ptx.find(".maxnreg 96") != std::string::npos); // of (9 x 96 - 4 x 40 - 96) / 4 each thread of the default region gets 152
    CHECK(kernel.ptx.find("setmaxnreg.inc.sync.aligned.u32 152") != std::string::npos);
    run(kernel);
  }
  SECTION("not where that is less than what can be set") {
    RegionKernel kernel(withRegisters(40, 24), "sm_90a", true, 4, /*maxRegisters=*/16);
    CHECK(kernel.ptx.find("setmaxnreg") == std::string::npos);
    CHECK(kernel.remarks.find("fewer than 24 at the launch") != std::string::npos);
    run(kernel);
  }
  SECTION("not on older targets") {
    RegionKernel kernel(withRegisters(40, 24), "sm_80");
    CHECK(kernel.ptx.find("setmaxnreg") == std::string::npos);
    CHECK(kernel.remarks.find("the target gives every thread of a block the same number") != std::string::npos);
    run(kernel);
  }
}

TEST_CASE("nothing of a partition is computed before its warps are told to") {
  // The first branch leads to the loop in which the other warps wait, with nothing in front of it.
  RegionKernel kernel(withRegisters(40, 24), "sm_90a");
  size_t from = kernel.ptx.find("bra.uni");
  std::string label = kernel.ptx.substr(kernel.ptx.find('$', from), kernel.ptx.find(';', from) - kernel.ptx.find('$', from));
  std::string block = kernel.ptx.substr(kernel.ptx.find("\n" + label + ":"));
  INFO(kernel.ptx);
  CHECK(block.find("bar.sync") < block.find("add.s64"));
  CHECK(block.find("bar.sync") < block.find("mul.wide"));
  CHECK(block.find("bar.sync") < block.find("and.b32"));
}

TEST_CASE("what a block or a target has no room for is refused in words") {
  CHECK(refusalOf(producerConsumer(false), "sm_75").find("came with sm_80") != std::string::npos);
  std::string partition = "\n    ttg.warp_partition num_warps(1) () {\n      ttg.warp_return\n    }", many, wide;
  for (int i = 0; i < 15; ++i)
    many += partition;
  CHECK(refusalOf(kernel("", "\n  ttg.warp_specialize {\n    ttg.warp_yield\n  } partitions {" + many + "\n  }"), "sm_90a")
            .find("enough for 14 partitions; found 15") != std::string::npos);
  wide = "\n    ttg.warp_partition num_warps(32) () {\n      ttg.warp_return\n    }";
  CHECK(refusalOf(kernel("", "\n  ttg.warp_specialize {\n    ttg.warp_yield\n  } partitions {" + wide + "\n  }"), "sm_90a").find("36 warps") !=
        std::string::npos);
}

TEST_CASE("ptxas takes the code of every target") {
  for (const std::string &target : kTargets)
    for (const std::string &text :
         {threeParts(), producerConsumer(false), producerConsumer(true), reductions(), divisions(), withRegisters(40, 24), withRegisters(248, 24)}) {
      RegionKernel kernel(text, target);
      std::optional<std::string> verdict = ptxasVerdict(kernel.ptx, target);
      if (!verdict) {
        WARN("skipped: there is no ptxas on this machine");
        return;
      }
      INFO(kernel.ptx);
      CHECK(*verdict == "");
    }
}
