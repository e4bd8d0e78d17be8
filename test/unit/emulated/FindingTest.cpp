// Every kind of finding, with the line of the PTX and the place in the source that it names.
#include "Machine.h"

using namespace tk::emulated;

namespace {
struct Case {
  Finding::Kind kind;
  const char *before, *culprit, *after;
  const char *message;
};
} // namespace

TEST_CASE("each kind of finding names its line and its source") {
  using Kind = Finding::Kind;
  const char *write = "st.shared.u32 [%r1], %r0;";
  const char *gmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd3, %rd3, 0, 1, 1, 0, 0;";
  std::string ready =
      "mov.u32 %r4, 0; clear: mad.lo.u32 %r5, %r4, 512, %r1; st.shared.u32 [%r5], 0; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 4; @%p2 bra clear;"
      "fence.proxy.async; bar.sync 0;";
  std::string fenced = ready + "wgmma.fence.sync.aligned;", started = fenced + gmma + "wgmma.commit_group.sync.aligned;";
  std::string unfenced = "st.shared.u32 [%r1], 0; bar.sync 0;";
  const Case cases[] = {
      {Kind::Fault, "", "ld.global.u32 %r3, [%rd1+1048576];", "", "a read of 4 bytes"},
      {Kind::Fault, "", "ld.shared.u32 %r3, [%r1+100000];", "", "of shared memory, of which the block has"},
      {Kind::Fault, "", "ld.global.u32 %r3, [%rd1+2];", "", "not aligned to 4 bytes"},
      {Kind::Fault, "", "trap;", "", "executed a trap"},
      {Kind::Race, write, "ld.shared.u32 %r3, [%r2];", "", "no barrier orders after the write by thread"},
      {Kind::Uninitialised, "", "ld.shared.u32 %r3, [%r1+512];", "", "that nothing has written"},
      {Kind::ProxyFence, unfenced.c_str(), "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 64;",
       "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", "without fence.proxy.async"},
      {Kind::AsyncHazard, "cp.async.ca.shared.global [%r1], [%rd1], 4;", "ld.shared.u32 %r3, [%r1];", "cp.async.wait_all;",
       "a read of the target of a transfer under way"},
      {Kind::AsyncHazard, started.c_str(), "mov.b32 %r3, %f2;", "wgmma.wait_group.sync.aligned 0;", "a register of the wgmma"},
      {Kind::RegisterFence, ready.c_str(), gmma, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;", "no wgmma.fence before"},
      {Kind::NonUniformBarrier, "and.b32 %r3, %r0, 31; setp.eq.u32 %p2, %r3, 5; @%p2 exit;", "bar.sync 0;", "", "have exited"},
  };
  for (const Case &c : cases) {
    std::string text = fmt::format(R"(
.shared .align 1024 .b8 tile[2048];
.visible .entry k(.param .u64 p) {{
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  .file 1 "some.tk"
  .loc 1 3 1
  ld.param.u64 %rd1, [p]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0;
  mov.u32 %r1, tile; xor.b32 %r2, %r0, 33; mad.lo.u32 %r2, %r2, 4, %r1;
  and.b32 %r3, %r1, 0x3FFFF; shr.u32 %r3, %r3, 4; cvt.u64.u32 %rd3, %r3; or.b64 %rd3, %rd3, 0x0000000800400000;
  mad.lo.u32 %r1, %r0, 4, %r1;
  {}
  .loc 1 42 7
  {}
  .loc 1 50 1
  {}
  ret; }})",
                                   c.before, c.culprit, c.after);
    Machine machine(text);
    uint32_t *memory = machine.zeros<uint32_t>(128);
    LaunchResult result = machine.launch("k", {.block = {128, 1, 1}, .threads = 1}, memory);
    INFO(c.culprit << "\n" << result.text());
    const Finding *found = nullptr;
    for (const Finding &finding : result.findings)
      if (finding.kind == c.kind && finding.ptxLine == 16 && !found)
        found = &finding;
    REQUIRE(found);
    CHECK(found->message.find(c.message) != std::string::npos);
    CHECK(found->file == "some.tk");
    CHECK(found->sourceLine == 42);
    CHECK(found->sourceColumn == 7);
    CHECK(found->ptxLine == 16);
    CHECK(found->text().find("some.tk:42:7: ") == 0);
    CHECK(found->text().find("line 16 of the PTX, in `k`") != std::string::npos);
  }
}
