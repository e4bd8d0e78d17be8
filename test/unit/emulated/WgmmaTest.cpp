// wgmma of every type, operand form, layout and width against products computed from the matrices; and what is wrong to do around it.
//
// Operands lie in shared memory by the canonical layouts of the PTX ISA ("Strides" and "Canonical layouts" of wgmma's shared memory matrix layout), the
// swizzles by the CUDA Programming Guide's picture of them: in rows of 128 bytes, the 16-byte chunk's number is xor-ed with the row's.
#include "Machine.h"
#include "Tested.h"
#include "runtime/device/emulated/NumberFormats.h"
#include <functional>

using namespace tk::emulated;

namespace {

const Tested tested = {"wgmma"};

struct Format {
  std::string name;
  int bits;
  std::function<uint32_t(int)> encode;
};
const Format &format(std::string_view name) {
  auto real = [](const FloatFormat &f) { return [&f](int x) { return encodeFloat(f, x, Rounding::NearestEven); }; };
  auto integer = [](int x) { return uint32_t(x); };
  static const std::vector<Format> all = {{"f16", 16, real(formatF16)},
                                          {"bf16", 16, real(formatBF16)},
                                          {"tf32", 32, real(formatF32)},
                                          {"e4m3", 8, real(formatE4M3)},
                                          {"e5m2", 8, real(formatE5M2)},
                                          {"s8", 8, integer},
                                          {"u8", 8, [](int x) { return uint32_t(x + 4); }}, // never negative
                                          {"b1", 1, [](int x) { return uint32_t(x & 1); }}};
  for (const Format &f : all)
    if (f.name == name)
      return f;
  throw std::runtime_error("no such format");
}
int shown(const Format &f, int x) { return f.name == "u8" ? x + 4 : f.name == "b1" ? x & 1 : x; }

int aAt(int row, int k) { return (row * 3 + k * 5 + row * k) % 7 - 3; }
int bAt(int k, int column) { return (k * 2 + column * 7 + column * column) % 5 - 2; }
int cAt(int row, int column) { return row - 2 * column; }

struct Layout {
  int swizzle = 0; // bytes
  bool mnMajor = false;
  uint32_t base = 0; // bytes
};

struct Case {
  std::string d, a, b;
  int n = 8;
  Layout aLayout, bLayout;
  bool aInRegisters = false, accumulates = true;
  int aScale = 1, bScale = 1;
  bool satfinite = false;
};

/// The place of an element in bits, and the offsets in bytes that a descriptor gives for it.
struct Placement {
  uint32_t leading, stride, bytes;
  std::function<uint64_t(int index, int k)> bit;
};
Placement place(const Format &f, const Layout &layout, int extent) {
  uint32_t t = 128u / uint32_t(f.bits), width = layout.swizzle ? uint32_t(layout.swizzle) : 16, chunks = width / 16;
  Placement p;
  uint32_t groups = uint32_t(extent + 7) / 8;
  if (!layout.mnMajor) {
    p.stride = layout.swizzle ? 8 * width : 160; // from 8 rows to the next 8
    p.leading = layout.swizzle ? 16 : groups * 160 + 48;
    p.bytes = layout.swizzle ? groups * p.stride : p.leading + groups * 160;
  } else if (!layout.swizzle) {
    p.leading = 144; // from 8 of k to the next 8
    p.stride = 2 * 144 + 32;
    p.bytes = (uint32_t(extent) / t) * p.stride;
  } else {
    p.stride = 8 * width;
    p.leading = 2 * p.stride;
    p.bytes = (uint32_t(extent) + chunks * t - 1) / (chunks * t) * p.leading;
  }
  Placement strides = p;
  p.bit = [=](int index, int k) -> uint64_t {
    uint32_t i = uint32_t(index), x = uint32_t(k), address, inside;
    if (!layout.mnMajor) {
      address = i % 8 * width + i / 8 * strides.stride + x / t * strides.leading;
      inside = x % t;
    } else if (!layout.swizzle) {
      address = i / t * strides.stride + x % 8 * 16 + x / 8 * strides.leading;
      inside = i % t;
    } else {
      address = i / t % chunks * 16 + i / t / chunks * strides.leading + x % 8 * width + x / 8 * strides.stride;
      inside = i % t;
    }
    address += layout.base;
    uint32_t row = (address - layout.base) / 128, chunk = address / 16 % 8;
    chunk ^= layout.swizzle == 128 ? row % 8 : layout.swizzle == 64 ? row % 4 : layout.swizzle == 32 ? row % 2 : 0;
    address = address / 128 * 128 + chunk * 16 + address % 16;
    return uint64_t(address) * 8 + inside * uint32_t(f.bits);
  };
  return p;
}

uint64_t descriptorOf(const Layout &layout, const Placement &p) {
  uint64_t mode = layout.swizzle == 128 ? 1 : layout.swizzle == 64 ? 2 : layout.swizzle == 32 ? 3 : 0;
  return uint64_t(p.leading >> 4) << 16 | uint64_t(p.stride >> 4) << 32 | mode << 62;
}

constexpr int imageBytes = 72 * 1024, bBase = 32 * 1024;

std::string kernelText(const Case &c, const Placement &aPlace, const Placement &bPlace, std::string_view before, std::string_view after) {
  bool half = c.d == "f16";
  int registers = c.n / (half ? 4 : 2);
  std::string d, load, store, a;
  for (int r = 0; r < registers; ++r) {
    d += fmt::format("{}%d{}", r ? ", " : "", r);
    load += fmt::format("  ld.global.b32 %d{}, [%rd4+{}];\n", r, r * 4);
    store += fmt::format("  st.global.b32 [%rd4+{}], %d{};\n", r * 4, r);
  }
  for (int r = 0; r < 4 && c.aInRegisters; ++r)
    load += fmt::format("  ld.global.b32 %a{}, [%rd5+{}];\n", r, r * 4);
  int k = 256 / format(c.a).bits;
  bool is16 = format(c.a).bits == 16, isInteger = format(c.a).name[0] == 's' || format(c.a).name[0] == 'u' || c.a == "b1";
  std::string tail;
  if (!isInteger)
    tail += fmt::format(", {}, {}", c.aScale, c.bScale);
  if (is16)
    tail += (c.aInRegisters ? "" : fmt::format(", {}", int(c.aLayout.mnMajor))) + fmt::format(", {}", int(c.bLayout.mnMajor));
  return fmt::format(R"(
.extern .shared .align 1024 .b8 image[];
.visible .entry k(.param .u64 pi, .param .u64 pd, .param .u64 pa) {{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b32 %d<128>; .reg .b32 %a<4>;
  ld.param.u64 %rd1, [pi]; ld.param.u64 %rd4, [pd]; ld.param.u64 %rd5, [pa];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd4, %r1, {registerBytes}, %rd4;
  mad.wide.u32 %rd5, %r1, 16, %rd5;
  mov.u32 %r2, image;
  mad.lo.u32 %r3, %r1, 4, %r2;
  mad.wide.u32 %rd1, %r1, 4, %rd1;
  mov.u32 %r4, 0;
fill:
  ld.global.b32 %r5, [%rd1];
  st.shared.b32 [%r3], %r5;
  add.u64 %rd1, %rd1, 512;
  add.u32 %r3, %r3, 512;
  add.u32 %r4, %r4, 512;
  setp.lt.u32 %p1, %r4, {imageBytes};
  @%p1 bra fill;
{load}
{before}
  add.u32 %r6, %r2, {aBase}; and.b32 %r6, %r6, 0x3FFFF; shr.u32 %r6, %r6, 4; cvt.u64.u32 %rd6, %r6; or.b64 %rd6, %rd6, 0x{aBits:x};
  add.u32 %r7, %r2, {bBase}; and.b32 %r7, %r7, 0x3FFFF; shr.u32 %r7, %r7, 4; cvt.u64.u32 %rd7, %r7; or.b64 %rd7, %rd7, 0x{bBits:x};
  wgmma.mma_async.sync.aligned.m64n{n}k{k}{sat}.{dType}.{aType}.{bType}{logic} {{{d}}}, {aOperand}, %rd7, {scaleD}{tail};
{after}
{store}
  ret; }})",
                     fmt::arg("registerBytes", registers * 4), fmt::arg("imageBytes", imageBytes), fmt::arg("load", load), fmt::arg("before", before),
                     fmt::arg("aBase", c.aLayout.base), fmt::arg("aBits", descriptorOf(c.aLayout, aPlace) | uint64_t(c.aLayout.base >> 7 & 7) << 49),
                     fmt::arg("bBase", bBase + c.bLayout.base), fmt::arg("bBits", descriptorOf(c.bLayout, bPlace) | uint64_t(c.bLayout.base >> 7 & 7) << 49),
                     fmt::arg("n", c.n), fmt::arg("k", k), fmt::arg("sat", c.satfinite ? ".satfinite" : ""), fmt::arg("dType", c.d), fmt::arg("aType", c.a),
                     fmt::arg("bType", c.b), fmt::arg("logic", c.a == "b1" ? ".and.popc" : ""), fmt::arg("d", d),
                     fmt::arg("aOperand", c.aInRegisters ? "{%a0, %a1, %a2, %a3}" : "%rd6"), fmt::arg("scaleD", c.accumulates ? 1 : 0), fmt::arg("tail", tail),
                     fmt::arg("after", after), fmt::arg("store", store));
}

constexpr std::string_view publish = "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n";
constexpr std::string_view finish = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";

/// Runs a case; the number of wrong elements.
LaunchResult runCase(const Case &c, int &wrong, std::string_view before = publish, std::string_view after = finish, AsyncTiming timing = AsyncTiming::Late,
                     unsigned threads = 128) {
  const Format &a = format(c.a), &b = format(c.b);
  int k = 256 / a.bits;
  Placement aPlace = place(a, c.aLayout, 64), bPlace = place(b, c.bLayout, c.n);
  REQUIRE(aPlace.bytes + c.aLayout.base <= bBase);
  REQUIRE(bPlace.bytes + c.bLayout.base <= imageBytes - bBase);
  std::vector<uint32_t> image(imageBytes / 4), aRegisters(128 * 4);
  auto put = [](std::vector<uint32_t> &into, uint64_t bit, int bits, uint32_t value) {
    uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    into[bit / 32] |= (value & mask) << (bit % 32);
  };
  for (int x = 0; x < k; ++x) {
    for (int row = 0; row < 64; ++row)
      put(image, aPlace.bit(row, x), a.bits, a.encode(aAt(row, x)));
    for (int column = 0; column < c.n; ++column)
      put(image, uint64_t(bBase) * 8 + bPlace.bit(column, x), b.bits, b.encode(bAt(x, column)));
  }
  int each = 32 / a.bits, perRegister = c.d == "f16" ? 2 : 1, registers = c.n / 2 / perRegister;
  std::vector<uint32_t> d(size_t(128 * registers));
  auto encodeD = [&](int x) { return c.d == "f16" ? floatToHalf(float(x)) : c.d == "s32" ? uint32_t(x) : encodeFloat(formatF32, x, Rounding::NearestEven); };
  for (int thread = 0; thread < 128; ++thread) {
    int warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
    for (int r = 0; r < 4; ++r)
      for (int e = 0; e < each; ++e)
        put(aRegisters, uint64_t(thread * 4 + r) * 32 + uint64_t(e * a.bits), a.bits,
            a.encode(aAt(16 * warp + g + 8 * (r % 2), each * t + 4 * each * (r / 2) + e)));
    for (int x = 0; x < c.n / 2; ++x) {
      int row = 16 * warp + g + 8 * (x / 2 % 2), column = 8 * (x / 4) + 2 * t + x % 2;
      d[size_t(thread * registers + x / perRegister)] |= encodeD(cAt(row, column)) << (x % perRegister * 16);
    }
  }
  Machine machine(kernelText(c, aPlace, bPlace, before, after));
  uint32_t *in = machine.array(image), *out = machine.array(d), *fragments = machine.array(aRegisters);
  LaunchResult result = machine.launch("k", {.block = {threads, 1, 1}, .dynamicShared = imageBytes, .threads = 1, .timing = timing}, in, out, fragments);
  wrong = 0;
  for (int thread = 0; thread < 128; ++thread)
    for (int x = 0; x < c.n / 2; ++x) {
      int warp = thread / 32, row = 16 * warp + thread % 32 / 4 + 8 * (x / 2 % 2), column = 8 * (x / 4) + 2 * (thread % 4) + x % 2;
      int64_t sum = 0;
      for (int y = 0; y < k; ++y)
        sum += shown(a, aAt(row, y)) * shown(b, bAt(y, column));
      sum *= c.aScale * c.bScale;
      sum += c.accumulates ? cAt(row, column) : 0;
      uint32_t bits = out[thread * registers + x / perRegister] >> (x % perRegister * 16);
      wrong += (c.d == "f16" ? bits & 0xFFFF : bits) != encodeD(int(sum));
    }
  return result;
}

void check(const Case &c, AsyncTiming timing = AsyncTiming::Late) {
  int wrong;
  LaunchResult result = runCase(c, wrong, publish, finish, timing);
  INFO(fmt::format("{} {} {} n {} A {}{} B {}{} registers {}", c.d, c.a, c.b, c.n, c.aLayout.swizzle, c.aLayout.mnMajor ? " transposed" : "", c.bLayout.swizzle,
                   c.bLayout.mnMajor ? " transposed" : "", c.aInRegisters));
  CHECK(result.text() == "");
  CHECK(wrong == 0);
}

bool has(const LaunchResult &result, Finding::Kind kind) {
  for (const Finding &finding : result.findings)
    if (finding.kind == kind)
      return true;
  return false;
}

} // namespace

TEST_CASE("wgmma of every type, with A in registers and in shared memory") {
  struct Types {
    const char *d, *a, *b;
  };
  for (Types t : {Types{"f32", "f16", "f16"},
                  {"f16", "f16", "f16"},
                  {"f32", "bf16", "bf16"},
                  {"f32", "tf32", "tf32"},
                  {"f32", "e4m3", "e5m2"},
                  {"f16", "e5m2", "e4m3"},
                  {"f32", "e4m3", "e4m3"},
                  {"f32", "e5m2", "e5m2"},
                  {"s32", "s8", "s8"},
                  {"s32", "u8", "s8"},
                  {"s32", "s8", "u8"},
                  {"s32", "u8", "u8"},
                  {"s32", "b1", "b1"}})
    for (bool registers : {false, true})
      for (int swizzle : {0, 32, 64, 128})
        check({.d = t.d, .a = t.a, .b = t.b, .n = 24, .aLayout = {swizzle}, .bLayout = {swizzle}, .aInRegisters = registers});
}

TEST_CASE("wgmma of every width") {
  for (int n = 8; n <= 256; n += 8) {
    check({.d = "f32", .a = "f16", .b = "f16", .n = n, .aLayout = {128}, .bLayout = {128}});
    check({.d = "f16", .a = "f16", .b = "f16", .n = n, .aLayout = {64}, .bLayout = {0}, .aInRegisters = true}, AsyncTiming::Early);
    if (n <= 32 || n % 16 == 0)
      check({.d = "s32", .a = "s8", .b = "u8", .n = n, .aLayout = {32}, .bLayout = {64}, .satfinite = n % 32 == 0});
  }
}

TEST_CASE("wgmma: transposed operands of 16 bits, signs, and sums from zero") {
  for (const char *type : {"f16", "bf16"})
    for (int swizzle : {0, 32, 64, 128})
      for (bool aTransposed : {false, true})
        for (bool bTransposed : {false, true})
          check({.d = "f32",
                 .a = type,
                 .b = type,
                 .n = 136, // not a multiple of any swizzle's width
                 .aLayout = {swizzle, aTransposed},
                 .bLayout = {swizzle == 128 ? 0 : swizzle * 2, bTransposed},
                 .accumulates = aTransposed,
                 .aScale = bTransposed ? -1 : 1,
                 .bScale = swizzle == 64 ? -1 : 1});
  check({.d = "f32", .a = "f16", .b = "f16", .n = 40, .aLayout = {}, .bLayout = {128, true}, .aInRegisters = true, .accumulates = false, .bScale = -1});
  // The pattern of the swizzle begins at 128-byte rows 3 and 2 of its period.
  check({.d = "f32", .a = "f16", .b = "f16", .n = 40, .aLayout = {128, false, 3 * 128}, .bLayout = {64, true, 2 * 128}});
}

TEST_CASE("wgmma saturates sums of integers") {
  // A kernel of its own accumulators: near the largest integer.
  for (bool saturates : {false, true}) {
    Machine machine(fmt::format(R"(
.shared .align 1024 .b8 tile[4096];
.visible .entry k(.param .u64 po) {{
  .reg .b32 %r<8>; .reg .b32 %d<4>; .reg .b64 %rd<8>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [po]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1;
  mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 32, %r2; mov.b32 %r4, 0x01010101;
  st.shared.v4.b32 [%r3], {{%r4, %r4, %r4, %r4}}; st.shared.v4.b32 [%r3+16], {{%r4, %r4, %r4, %r4}};
  mov.b32 %d0, 2147483640; mov.b32 %d1, -2147483640; mov.b32 %d2, 5; mov.b32 %d3, 6;
  fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;
  and.b32 %r2, %r2, 0x3FFFF; shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2; or.b64 %rd2, %rd2, 0x0000001000080000;
  wgmma.mma_async.sync.aligned.m64n8k32{}.s32.s8.s8 {{%d0, %d1, %d2, %d3}}, %rd2, %rd2, 1;
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  st.global.b32 [%rd1], %d0; ret; }})",
                                saturates ? ".satfinite" : ""));
    int32_t *out = machine.zeros<int32_t>(128);
    REQUIRE(machine.launch("k", {.block = {128, 1, 1}, .threads = 1}, out).text() == "");
    CHECK(out[77] == (saturates ? 2147483647 : int32_t(2147483640u + 32u)));
  }
}

TEST_CASE("wgmma: what is missing or too early is found, with its line") {
  Case c{.d = "f32", .a = "f16", .b = "f16", .n = 64, .aLayout = {128}, .bLayout = {128}};
  Case registers = c;
  registers.aInRegisters = true;
  int wrong;
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    auto run = [&](const Case &which, std::string_view before, std::string_view after) { return runCase(which, wrong, before, after, timing); };
    LaunchResult noProxy = run(c, "bar.sync 0; wgmma.fence.sync.aligned;", finish);
    CHECK(has(noProxy, Finding::Kind::ProxyFence));
    CHECK(noProxy.text().find("without fence.proxy.async after the write by thread") != std::string::npos);
    CHECK(noProxy.text().find("of line 18,") != std::string::npos); // the store
    CHECK(has(run(c, "fence.proxy.async; wgmma.fence.sync.aligned;", finish), Finding::Kind::Race));
    LaunchResult noFence = run(c, "fence.proxy.async; bar.sync 0;", finish);
    CHECK(has(noFence, Finding::Kind::RegisterFence));
    CHECK(noFence.text().find("before the warp's first wgmma") != std::string::npos);
    CHECK(has(run(c, "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; mov.b32 %d3, 0;", finish), Finding::Kind::RegisterFence));
    CHECK(has(run(registers, "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; mov.b32 %a3, 0;", finish), Finding::Kind::RegisterFence));
    // No wait, and waits for older groups alone.
    CHECK(has(run(c, publish, "wgmma.commit_group.sync.aligned;"), Finding::Kind::AsyncHazard));
    CHECK((wrong != 0) == (timing == AsyncTiming::Late));
    CHECK(has(run(c, publish, "wgmma.wait_group.sync.aligned 0;"), Finding::Kind::AsyncHazard));
    CHECK(has(run(c, publish, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;"), Finding::Kind::AsyncHazard));
    CHECK((wrong != 0) == (timing == AsyncTiming::Late));
    // A register of A, and shared memory, overwritten before the wait.
    CHECK(has(run(registers, publish, "wgmma.commit_group.sync.aligned; mov.b32 %a1, 0; wgmma.wait_group.sync.aligned 0;"), Finding::Kind::AsyncHazard));
    CHECK((wrong != 0) == (timing == AsyncTiming::Late));
    std::string overwrite = "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [%r2+32768], %r1;";
    CHECK(has(run(c, publish, "wgmma.commit_group.sync.aligned; bar.sync 0; " + overwrite + "bar.sync 0; wgmma.wait_group.sync.aligned 0;"),
              Finding::Kind::AsyncHazard));
    CHECK((wrong != 0) == (timing == AsyncTiming::Late));
    // After the own wait, others may still read; after a barrier nobody does. What was not read is free all the time.
    CHECK(has(run(c, publish, std::string(finish) + overwrite), Finding::Kind::AsyncHazard));
    CHECK(run(c, publish, std::string(finish) + "bar.sync 0;" + overwrite).text() == "");
    CHECK(run(c, publish, "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [%r2+73724], %r1;" + std::string(finish)).text() == "");
  }
}

TEST_CASE("wgmma: a warpgroup executes it together") {
  Case c{.d = "f32", .a = "f16", .b = "f16", .n = 16, .aLayout = {128}, .bLayout = {128}};
  int wrong;
  // Warp 3 leaves before.
  LaunchResult left = runCase(c, wrong, std::string(publish) + "setp.ge.u32 %p1, %r1, 96; @%p1 ret;");
  REQUIRE(left.failed);
  CHECK(left.findings[0].kind == Finding::Kind::Deadlock);
  CHECK(left.text().find("wait for wgmma that other warps of the warpgroup have not begun") != std::string::npos);
  LaunchResult lanes = runCase(c, wrong, std::string(publish) + "setp.eq.u32 %p1, %r1, 7; @%p1 ret;");
  CHECK(lanes.text().find("all 32 lanes") != std::string::npos);
  CHECK(runCase(c, wrong, publish, finish, AsyncTiming::Late, 96).text().find("a warpgroup of four warps") != std::string::npos);
  LaunchResult apart = runCase(c, wrong, std::string(publish) + "setp.lt.u32 %p1, %r1, 64; @%p1 add.u32 %r2, %r2, 1024;");
  CHECK(apart.text().find("different descriptors") != std::string::npos);
}

TEST_CASE("wgmma: forms that do not exist are refused") {
  auto problem = [](std::string text) {
    try {
      Machine machine(".visible .entry k() { .reg .f32 %f<128>; .reg .b32 %r<64>; .reg .b64 %rd<4>; " + text + " ret; }");
    } catch (PtxError &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::string four = "{%f0, %f1, %f2, %f3}, %rd1, %rd2, 1";
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + four + ", 1, 1, 0, 0;") == "");
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 " + four + ", 1, 1, 0, 0;").find("no such shape") != std::string::npos);
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 " + four + ", 1, 1, 0, 0;").find("no such shape") != std::string::npos);
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 " + four + ";").find("no such shape") != std::string::npos);
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 " + four + ", 1, 1, 0, 0;").find("operands") != std::string::npos);
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 " + four + ", 1, 1, 0, 0;").find("not supported") != std::string::npos);
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + four + ", 2, 1, 0, 0;").find("1 or -1") != std::string::npos);
  CHECK(problem("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " + four + ", 1, 1, 0, 0;").find("8 registers") != std::string::npos);
}

TEST_CASE("speed of wgmma", "[.speed]") {
  Case c{.d = "f32", .a = "f16", .b = "f16", .n = 128, .aLayout = {128}, .bLayout = {128}};
  std::string d;
  for (int r = 0; r < 64; ++r)
    d += fmt::format("{}%d{}", r ? ", " : "", r);
  int wrong;
  LaunchResult result = runCase(c, wrong, publish,
                                "mov.u32 %r8, 0; loop: wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" + d +
                                    "}, %rd6, %rd7, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; add.u32 %r8, %r8, 1; "
                                    "setp.lt.u32 %p1, %r8, 2000; @%p1 bra loop;" +
                                    std::string(finish));
  REQUIRE(result.text() == "");
  double rate = double(result.statistics.matrixOperations) / result.seconds / 1e9;
  WARN(fmt::format("{:.2f} billion multiply-adds a second", rate));
  CHECK(rate > 1);
}
