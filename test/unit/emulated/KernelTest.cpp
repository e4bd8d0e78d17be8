// Whole kernels: parameters, memory, control flow, launches, and what is reported of faults.
#include "Machine.h"
#include <thread>

using namespace tk::emulated;

static const char *vectorAdd = R"(
.visible .entry add(.param .u64 .ptr .global .align 16 a, .param .u64 b, .param .u64 c, .param .u32 n)
.maxntid 128, 1, 1
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<11>;
  .file 1 "kernel.tk"
  .loc 1 3 5
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $L__BB0_2;
  cvta.to.global.u64 %rd4, %rd1;
  mul.wide.s32 %rd5, %r1, 4;
  add.s64 %rd6, %rd4, %rd5;
  .loc 1 4 9
  ld.global.f32 %f1, [%rd6];
  add.s64 %rd7, %rd2, %rd5;
  ld.global.f32 %f2, [%rd7];
  add.rn.f32 %f3, %f1, %f2;
  add.s64 %rd8, %rd3, %rd5;
  .loc 1 5 2
  st.global.f32 [%rd8], %f3;
$L__BB0_2:
  ret;
}
)";

TEST_CASE("a kernel over a grid with a tail") {
  Machine machine(vectorAdd);
  int n = 1000;
  std::vector<float> x(1000), y(1000);
  for (int i = 0; i < n; ++i) {
    x[size_t(i)] = float(i);
    y[size_t(i)] = 0.25f * float(i);
  }
  float *a = machine.array(x), *b = machine.array(y), *c = machine.zeros<float>(1000);
  LaunchResult result = machine.launch("add", {.grid = {8, 1, 1}, .block = {128, 1, 1}}, a, b, c, n);
  REQUIRE(result.text() == "");
  for (int i = 0; i < n; ++i)
    REQUIRE(c[i] == float(i) * 1.25f);
  CHECK(result.statistics.globalRequests == 3 * 32);
  CHECK(result.statistics.globalBytes == 3 * 4000);
}

TEST_CASE("an access outside of an allocation is a fault at its source line") {
  Machine machine(vectorAdd);
  float *a = machine.zeros<float>(1000), *b = machine.zeros<float>(999), *c = machine.zeros<float>(1000);
  LaunchResult result = machine.launch("add", {.grid = {8, 1, 1}, .block = {128, 1, 1}, .threads = 1}, a, b, c, 1000);
  REQUIRE(result.failed);
  const Finding &fault = result.findings[0];
  CHECK(fault.file == "kernel.tk");
  CHECK(fault.sourceLine == 4);
  CHECK(fault.ptxLine == 30);
  CHECK(fault.block[0] == 7);
  CHECK(fault.thread == 103);
  CHECK(fault.message.find("a read of 4 bytes") != std::string::npos);
  CHECK(fault.message.find("0 bytes behind the end of an allocation of 3996 bytes") != std::string::npos);
}

TEST_CASE("wrong launches are refused") {
  Machine machine(vectorAdd);
  float *a = machine.zeros<float>(1024);
  CHECK(machine.launch("add", {.block = {256, 1, 1}}, a, a, a, 4).text().find(".maxntid") != std::string::npos);
  CHECK(machine.launch("add", {.block = {0, 1, 1}}, a, a, a, 4).failed);
  CHECK(machine.launch("add", {.grid = {1, 70000, 1}}, a, a, a, 4).failed);
  CHECK(machine.launch("add", {.block = {128, 1, 1}, .dynamicShared = 300000}, a, a, a, 4).failed);
  CHECK(machine.launch("add", {.block = {32, 1, 1}}, a, a).text().find("28") != std::string::npos);
}

TEST_CASE("faults in the text have lines") {
  auto lineOf = [](std::string body) {
    EmulatedDevice device;
    try {
      device.load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<4>;\n" + body + "\nret;\n}");
    } catch (PtxError &error) {
      return fmt::format("{}: {}", error.line, error.what());
    }
    return std::string("none");
  };
  CHECK(lineOf("add.u32 %r1, %r2, %r3;") == "none");
  CHECK(lineOf("\nadd.u33 %r1, %r2, %r3;").substr(0, 3) == "7: ");
  CHECK(lineOf("frobnicate %r1;") == "6: unknown instruction `frobnicate`");
  CHECK(lineOf("add.u64 %r1, %r2, %r3;").find("wrong size") != std::string::npos);
  CHECK(lineOf("add.u32 %r1, %r2;").find("2 operands") != std::string::npos);
  CHECK(lineOf("bra nowhere;").find("no label `nowhere`") != std::string::npos);
  CHECK(lineOf("add.u32.frob %r1, %r2, %r3;").find("unknown modifier `.frob`") != std::string::npos);
  CHECK(lineOf("add.u32 %r1, %r2, %r9;").find("%r9") != std::string::npos);
}

TEST_CASE("lanes that branch apart come together again") {
  // Each lane loops its own number of times; all vote after the loop.
  std::vector<Lane> lanes = runBody(R"(
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
  loop:
    setp.ge.u32 %p1, %r1, %r0;
    @%p1 bra done;
    add.u32 %r2, %r2, %r1;
    add.u32 %r1, %r1, 1;
    bra loop;
  done:
    activemask.b32 %r3;
    st.u32 [%out], %r2;
    st.u32 [%out+8], %r3;
  )",
                                    {});
  for (uint32_t i = 0; i < 32; ++i) {
    CHECK(lanes[i].word[0] == i * (i - 1) / 2);
    CHECK(lanes[i].word[1] == 0xFFFFFFFF);
  }
}

TEST_CASE("a lane may hold a lock that the others of its warp spin on") {
  Machine machine(R"(
.visible .entry k(.param .u64 pl) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %l;
  ld.param.u64 %l, [pl];
again:
  atom.global.cas.b32 %r1, [%l], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  ld.volatile.global.u32 %r2, [%l+4];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%l+4], %r2;
  membar.gl;
  atom.global.exch.b32 %r1, [%l], 0;
  ret;
})");
  uint32_t *lock = machine.zeros<uint32_t>(2);
  LaunchResult result = machine.launch("k", {.grid = {5, 1, 1}, .block = {96, 1, 1}}, lock);
  REQUIRE(result.text() == "");
  CHECK(lock[1] == 5 * 96);
}

TEST_CASE("blocks wait for blocks that start later") {
  // Block i waits for block i + 1, so that the last one must be begun while all others spin.
  Machine machine(R"(
.visible .entry k(.param .u64 pf) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [pf];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  sub.u32 %r3, %r2, 1;
  setp.eq.u32 %p1, %r1, %r3;
  @%p1 bra go;
wait:
  ld.acquire.gpu.global.u32 %r4, [%rd2+4];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra wait;
go:
  st.release.gpu.global.u32 [%rd2], 1;
  ret;
})");
  for (int threads : {1, 2}) {
    uint32_t *flags = machine.zeros<uint32_t>(300);
    LaunchResult result = machine.launch("k", {.grid = {300, 1, 1}, .block = {32, 1, 1}, .threads = threads}, flags);
    REQUIRE(result.text() == "");
    for (int i = 0; i < 300; ++i)
      REQUIRE(flags[i] == 1);
  }
}

TEST_CASE("a block whose threads share what one of them polls lets later blocks begin") {
  // Thread 0 asks whose turn it is and tells the others through shared memory and barriers: the last block comes first.
  Machine machine(R"(
.visible .entry k(.param .u64 pt) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %t;
  .shared .align 4 .b32 seen;
  ld.param.u64 %t, [pt];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  not.b32 %r3, %r1;
  add.u32 %r3, %r2, %r3;
  mov.u32 %r4, %tid.x;
  setp.ne.u32 %p1, %r4, 0;
again:
  @%p1 bra told;
  atom.global.add.u32 %r5, [%t], 0;
  st.shared.u32 [seen], %r5;
told:
  bar.sync 0;
  ld.shared.u32 %r6, [seen];
  bar.sync 0;
  setp.ne.u32 %p2, %r6, %r3;
  @%p2 bra again;
  @%p1 bra done;
  atom.global.add.u32 %r5, [%t], 1;
done:
  ret;
})");
  for (int threads : {1, 2}) {
    uint32_t *turn = machine.zeros<uint32_t>(1);
    LaunchResult result = machine.launch("k", {.grid = {64, 1, 1}, .block = {128, 1, 1}, .threads = threads, .stuckSeconds = 10}, turn);
    REQUIRE(result.text() == "");
    CHECK(*turn == 64);
  }
}

TEST_CASE("functions, recursion, calls by address and local memory") {
  std::vector<Lane> lanes = runBody(R"(
    .param .b32 a0; .param .b32 r0;
    st.param.b32 [a0], %r0;
    call.uni (r0), fact, (a0);
    ld.param.b32 %r1, [r0];
    st.u32 [%out], %r1;
    and.b32 %r2, %r0, 1;
    setp.eq.u32 %p1, %r2, 1;
    mov.u64 %rd1, twice;
    mov.u64 %rd2, thrice;
    selp.b64 %rd3, %rd1, %rd2, %p1;
    { .param .b32 b0; .param .b32 s0;
    st.param.b32 [b0], %r0;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (s0), %rd3, (b0), proto;
    ld.param.b32 %r3, [s0];
    }
    st.u32 [%out+8], %r3;
  )",
                                    {}, R"(
.func (.param .b32 res) fact(.param .b32 n) {
  .reg .b32 %r<5>; .reg .pred %p; .local .align 8 .b8 keep[16]; .reg .b64 %rd<3>;
  ld.param.b32 %r1, [n];
  rem.u32 %r1, %r1, 9;
  mov.b32 %r4, 1;
  setp.le.u32 %p, %r1, 1;
  @%p bra out;
  mov.u64 %rd1, keep;
  cvta.local.u64 %rd2, %rd1;
  st.u32 [%rd2+4], %r1;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 r;
  st.param.b32 [a], %r2;
  call (r), fact, (a);
  ld.param.b32 %r3, [r]; }
  ld.local.u32 %r2, [keep+4];
  mul.lo.u32 %r4, %r2, %r3;
out:
  st.param.b32 [res], %r4;
  ret;
}
.func (.param .b32 res) twice(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 %r2, %r1, %r1; st.param.b32 [res], %r2; ret; }
.func (.param .b32 res) thrice(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [res], %r2; ret; }
)");
  uint32_t factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320};
  for (uint32_t i = 0; i < 32; ++i) {
    CHECK(lanes[i].word[0] == factorial[i % 9]);
    CHECK(lanes[i].word[1] == (i % 2 ? i * 2 : i * 3));
  }
}

TEST_CASE("variables with initial values") {
  std::vector<Lane> lanes = runBody(R"(
    mad.wide.u32 %rd1, %r0, 4, 0;
    mov.u64 %rd2, table;
    add.u64 %rd2, %rd2, %rd1;
    ld.const.u32 %r1, [%rd2];
    ld.global.u64 %rd3, [pointer];
    ld.u16 %r2, [%rd3];
    st.u32 [%out], %r1;
    st.u32 [%out+8], %r2;
  )",
                                    {}, R"(
.const .align 4 .u32 table[32] = {7, 6, 5, 0x40, 0b11, 010};
.global .align 2 .b8 data[6] = {1, 2, 3, 4, 5, 6};
.global .u64 pointer = generic(data)+2;
)");
  uint32_t expected[] = {7, 6, 5, 64, 3, 8, 0};
  for (size_t i = 0; i < 7; ++i)
    CHECK(lanes[i].word[0] == expected[i]);
  CHECK(lanes[9].word[1] == 0x0403);
}

TEST_CASE("branches by a table") {
  std::vector<Lane> lanes = runBody(R"(
    rem.u32 %r1, %r0, 3;
    targets: .branchtargets A, B, C;
    brx.idx %r1, targets;
  C: mov.u32 %r2, 300; bra join;
  A: mov.u32 %r2, 100; bra join;
  B: mov.u32 %r2, 200;
  join:
    st.u32 [%out], %r2;
  )",
                                    {});
  for (uint32_t i = 0; i < 32; ++i)
    CHECK(lanes[i].word[0] == (i % 3 + 1) * 100);
}

TEST_CASE("speed: at least 50 million thread-instructions a second", "[.speed]") {
  Machine machine(kernelOf(R"(
    mov.u32 %r1, 0; mov.u32 %r2, 1; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000;
  loop:
    mad.lo.u32 %r2, %r2, 1664525, 1013904223;
    xor.b32 %r3, %r2, %r1;
    fma.rn.f32 %f1, %f1, %f2, %f2;
    cvt.rn.f32.u32 %f3, %r3;
    add.f32 %f1, %f1, %f3;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 100000;
    @%p1 bra loop;
    st.f32 [%out], %f1;
  )"));
  Lane *out = machine.zeros<Lane>(256);
  Input *in = machine.zeros<Input>(256);
  LaunchResult result = machine.launch("k", {.block = {256, 1, 1}, .threads = 1}, out, in);
  REQUIRE(result.text() == "");
  double rate = double(result.statistics.totalThreadInstructions()) / result.seconds / 1e6;
  WARN(fmt::format("{:.0f} million thread-instructions a second", rate));
  CHECK(rate > 50);
}
