// Races between threads of a block in global memory: what is one, and what orders it.
#include "Machine.h"

using namespace tk::emulated;

namespace {
/// Two warps. %r0 is the thread; %own, %near (a lane of the same warp) and %far (one of the other warp) point to words of threads, %p to the first.
LaunchResult execute(std::string body, bool checks = true, uint32_t blocks = 1) {
  // Each instruction in a line of its own, as findings are told apart by lines.
  for (size_t at = 0; (at = body.find("; ", at)) != std::string::npos; ++at)
    body[at + 1] = '\n';
  Machine machine(fmt::format(R"(
.shared .align 1024 .b8 tile[2048];
.shared .align 8 .b64 mb;
.visible .entry k(.param .u64 pout) {{
  .reg .pred %q<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b64 %p, %own, %near, %far;
  .file 1 "some.tk"
  ld.param.u64 %p, [pout]; mov.u32 %r0, %tid.x;
  mad.wide.u32 %own, %r0, 4, %p;
  xor.b32 %r1, %r0, 1; mad.wide.u32 %near, %r1, 4, %p;
  xor.b32 %r1, %r0, 32; mad.wide.u32 %far, %r1, 4, %p;
  setp.eq.u32 %q1, %r0, 0; setp.eq.u32 %q2, %r0, 33;
  mov.u32 %r10, tile; mad.lo.u32 %r11, %r0, 16, %r10; mov.u32 %r12, mb;
{}
  ret; }})",
                              body));
  uint32_t *memory = machine.zeros<uint32_t>(1024);
  return machine.launch("k", {.grid = {blocks, 1, 1}, .block = {64, 1, 1}, .threads = 1, .checks = checks}, memory);
}
constexpr const char *readAfterWrite = "a read of global memory that no barrier orders after the write by thread";
constexpr const char *writeAfterWrite = "a write to global memory that no barrier orders after the write by thread";
constexpr const char *writeAfterRead = "a write to global memory that no barrier orders after the read";

void checkRace(std::string body, const char *message) {
  LaunchResult result = execute(body);
  INFO(body << "\n" << result.text());
  bool found = false;
  for (const Finding &finding : result.findings) {
    CHECK(finding.kind == Finding::Kind::Race);
    found |= finding.message.find(message) == 0;
  }
  CHECK(found);
  CHECK(execute(body, /*checks=*/false).text() == "");
}
void checkNone(std::string body) {
  INFO(body);
  CHECK(execute(body).text() == "");
}
} // namespace

TEST_CASE("threads of a block race in global memory") {
  for (const char *other : {"near", "far"}) {
    checkRace(fmt::format("st.global.u32 [%own], %r0; ld.global.u32 %r2, [%{}];", other), readAfterWrite);
    checkRace(fmt::format("ld.global.u32 %r2, [%{}]; st.global.u32 [%own], %r0;", other), writeAfterRead);
    checkRace(fmt::format("add.u32 %r2, %r0, 7; st.global.u32 [%own], %r2; st.global.u32 [%{}], %r0;", other), writeAfterWrite);
    checkNone(fmt::format("st.global.u32 [%own], %r0; bar.sync 0; ld.global.u32 %r2, [%{}]; bar.sync 0; st.global.u32 [%own], %r1;", other));
  }
  // Generic addresses are the same memory.
  checkRace("st.u32 [%own], %r0; ld.u32 %r2, [%near];", readAfterWrite);
  // A thread is in order with itself, whatever it does.
  checkNone("st.global.u32 [%own], %r0; ld.global.u32 %r2, [%own]; add.u32 %r2, %r2, 1; st.global.u32 [%own], %r2; ld.global.u32 %r2, [%own];");
  // Several read what one of them writes.
  checkRace("ld.global.u32 %r2, [%p]; @%q1 st.global.u32 [%p], 5;", writeAfterRead);
  checkNone("ld.global.u32 %r2, [%p]; bar.sync 0; @%q1 st.global.u32 [%p], 5; bar.sync 0; ld.global.u32 %r2, [%p];");
  checkRace("ld.global.u32 %r2, [%p]; bar.sync 0; @%q1 st.global.u32 [%p], 5; ld.global.u32 %r2, [%p];", readAfterWrite);
  // Two blocks do the same: nothing is claimed.
  CHECK(execute("@%q1 st.global.u32 [%p], 5; @%q1 ld.global.u32 %r2, [%p];", true, 2).text() == "");
}

TEST_CASE("a race in global memory is told with both places") {
  LaunchResult result = execute(".loc 1 7 5\nst.global.u32 [%own], %r0;\n.loc 1 8 9\nld.global.u32 %r2, [%near];\n");
  REQUIRE(result.findings.size() == 1);
  const Finding &finding = result.findings[0];
  CHECK(finding.sourceLine == 8);
  CHECK(finding.sourceColumn == 9);
  CHECK(finding.ptxLine == 19);
  CHECK(finding.thread == 0);
  CHECK(finding.message == std::string(readAfterWrite) + " 1 of line 17 (some.tk:7:5), at byte 4 of its allocation: `debug_barrier()` between the two would");
}

TEST_CASE("between lanes of a warp only a barrier orders memory") {
  checkNone("st.global.u32 [%own], %r0; bar.warp.sync 0xffffffff; ld.global.u32 %r2, [%near];");
  checkRace("st.global.u32 [%own], %r0; bar.warp.sync 0xffffffff; ld.global.u32 %r2, [%far];", readAfterWrite);
  checkRace("st.global.u32 [%own], %r0; shfl.sync.idx.b32 %r3, %r0, 0, 31, 0xffffffff; ld.global.u32 %r2, [%near];", readAfterWrite);
  checkRace("st.global.u32 [%own], %r0; vote.sync.any.pred %q3, %q1, 0xffffffff; ld.global.u32 %r2, [%near];", readAfterWrite);
  // A barrier of this warp alone.
  const char *ofWarp = "st.global.u32 [%own], %r0; shr.u32 %r3, %r0, 5; add.u32 %r3, %r3, 1; bar.sync %r3, 32; ld.global.u32 %r2, [%{}];";
  checkNone(fmt::format(fmt::runtime(ofWarp), "near"));
  checkRace(fmt::format(fmt::runtime(ofWarp), "far"), readAfterWrite);
}

TEST_CASE("fences and atomics order global memory") {
  const char *flag = R"(
    @%q1 st.global.u32 [%p], 5;
    {}
    @!%q2 bra end;
    wait: {} %r2, [%p+512]; setp.eq.u32 %q3, %r2, 0; @%q3 bra wait;
    {}
    ld.global.u32 %r3, [%p];
    end:)";
  auto of = [&](const char *set, const char *look, const char *after) { return fmt::format(fmt::runtime(flag), set, look, after); };
  checkNone(of("@%q1 st.release.gpu.global.u32 [%p+512], 1;", "ld.acquire.gpu.global.u32", ""));
  checkNone(of("@%q1 fence.acq_rel.gpu; @%q1 st.relaxed.gpu.global.u32 [%p+512], 1;", "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;"));
  checkNone(of("@%q1 membar.gl; @%q1 st.volatile.global.u32 [%p+512], 1;", "ld.volatile.global.u32", ""));
  checkNone(of("@%q1 atom.release.gpu.global.exch.b32 %r4, [%p+512], 1;", "ld.acquire.gpu.global.u32", ""));
  // Nobody has told of the store.
  checkRace("@%q1 st.global.u32 [%p], 5; @%q2 ld.acquire.gpu.global.u32 %r2, [%p+512]; @%q2 ld.global.u32 %r3, [%p];", readAfterWrite);
  // Atomics don't race with each other, and do with what is none.
  checkNone("red.global.add.u32 [%p], 1; atom.global.add.u32 %r2, [%p], 1; ld.relaxed.gpu.global.u32 %r2, [%p];");
  checkRace("@%q1 red.global.add.u32 [%p], 1; ld.global.u32 %r2, [%p];", readAfterWrite);
  checkRace("@%q1 st.global.u32 [%p], 3; @%q2 red.global.add.u32 [%p], 1;", writeAfterWrite);
  checkRace("ld.global.u32 %r2, [%p]; @%q1 red.global.add.u32 [%p], 1;", writeAfterRead);
  checkNone("@%q1 red.global.add.u32 [%p], 1; bar.sync 0; ld.global.u32 %r2, [%p];");
}

TEST_CASE("bytes race, not words") {
  checkNone("cvt.u64.u32 %rd1, %r0; add.u64 %rd1, %rd1, %p; st.global.u8 [%rd1], %r0; ld.global.u8 %r2, [%rd1];");
  checkNone("mad.wide.u32 %rd1, %r0, 2, %p; st.global.u16 [%rd1], %r0; ld.global.u8 %r2, [%rd1]; ld.global.u8 %r2, [%rd1+1];");
  checkRace("cvt.u64.u32 %rd1, %r0; add.u64 %rd1, %rd1, %p; st.global.u8 [%rd1], %r0; and.b64 %rd1, %rd1, -2; ld.global.u16 %r2, [%rd1];", readAfterWrite);
  // Wide first, then narrow, and the other way round.
  const char *wide = "mad.wide.u32 %rd1, %r0, 16, %p; st.global.v4.u32 [%rd1], {{%r0, %r0, %r0, %r0}}; ld.global.u32 %r2, [{}];";
  checkNone(fmt::format(fmt::runtime(wide), "%rd1+12"));
  checkRace(fmt::format(fmt::runtime(wide), "%own"), readAfterWrite);
  checkRace("ld.global.u8 %r2, [%p+5]; mad.wide.u32 %rd1, %r0, 8, %p; st.global.u64 [%rd1], 0;", writeAfterRead);
}

TEST_CASE("which thread of one statement stores last is no race") {
  checkNone("st.global.u32 [%p], 5;");
  checkNone("st.global.u32 [%p], %r0;");
  checkNone("st.global.u32 [%p], 5; bar.sync 0; st.global.u32 [%p], %r0;");
  // Nor is it when two statements store the same.
  checkNone("st.global.u32 [%p], 5; st.global.u32 [%p], 5;");
  // One statement of the source in several instructions, as a tile has several registers.
  checkNone(".loc 1 7 5\nst.global.u32 [%p], %r0;\nst.global.u32 [%p], %r1;\n");
  checkRace(".loc 1 7 5\nst.global.u32 [%p], %r0;\n.loc 1 8 5\nst.global.u32 [%p], %r1;\n", writeAfterWrite);
  // Several executions of it. A warp that stores nothing has come to it all the same.
  const char *loop = "mov.u32 %r2, 0; mov.u64 %rd1, %{}; again: {} add.u32 %r2, %r2, 1; setp.lt.u32 %q3, %r2, 4; @%q3 bra again;";
  checkRace(fmt::format(fmt::runtime(loop), "own", "st.global.u32 [%rd1], %r2; add.u64 %rd1, %rd1, 4;"), writeAfterWrite);
  checkNone(fmt::format(fmt::runtime(loop), "own", "st.global.u32 [%rd1], %r2; add.u64 %rd1, %rd1, 256;"));
  checkNone(fmt::format(fmt::runtime(loop), "p",
                        "setp.ne.u32 %q4, %r2, 0; setp.lt.or.u32 %q4, %r0, 32, %q4; @%q4 st.global.u32 [%rd1], %r0; add.u64 %rd1, %rd1, 4;"));
}

TEST_CASE("asynchronous copies race in global memory") {
  // The bytes are read between the start and the wait.
  checkRace("cp.async.ca.shared.global [%r11], [%near], 4; st.global.u32 [%own], %r0; cp.async.wait_all;", writeAfterRead);
  checkRace("cp.async.ca.shared.global [%r11], [%far], 4; bar.sync 0; st.global.u32 [%own], %r0; cp.async.wait_all;", readAfterWrite);
  checkNone("cp.async.ca.shared.global [%r11], [%far], 4; cp.async.wait_all; bar.sync 0; st.global.u32 [%own], %r0;");
  // A bulk copy out of shared memory.
  const char *out = R"(
    st.shared.v4.u32 [%r11], {{%r0, %r0, %r0, %r0}}; fence.proxy.async; bar.sync 0;
    @%q1 cp.async.bulk.global.shared::cta.bulk_group [%p], [%r10], 256; @%q1 cp.async.bulk.commit_group; @%q1 cp.async.bulk.wait_group 0;
    {} ld.global.u32 %r2, [%own];)";
  checkNone(fmt::format(fmt::runtime(out), "bar.sync 0;"));
  checkRace(fmt::format(fmt::runtime(out), ""), readAfterWrite);
  // One into shared memory, that the mbarrier tells of: who has waited for it may write, and whom it has told.
  const char *in = R"(
    @%q1 mbarrier.init.shared.b64 [%r12], 1; bar.sync 0;
    @%q1 mbarrier.arrive.expect_tx.shared.b64 _, [%r12], 256;
    @%q1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%p], 256, [%r12];
    {} bra wait; bra go;
    wait: mbarrier.try_wait.parity.shared.b64 %q3, [%r12], 0; @!%q3 bra wait;
    go: {} st.global.u32 [%own], %r0;)";
  checkNone(fmt::format(fmt::runtime(in), "@%q1", "bar.sync 0;"));
  checkRace(fmt::format(fmt::runtime(in), "@%q1", ""), readAfterWrite);
  checkNone(fmt::format(fmt::runtime(in), "", "")); // all wait for it
}

TEST_CASE("speed: at least 50 million thread-instructions a second of nothing but global memory", "[.speed]") {
  // Every word is loaded by a thread, and what another one has loaded is overwritten behind a barrier.
  std::string loop = R"(
    mov.u32 %r2, 0;
    again: ld.global.u32 %r3, [%own]; ld.global.u32 %r4, [%own+1024]; ld.global.u8 %r5, [%far+2048]; st.global.u32 [%own+3072], %r3;
    {}
    add.u32 %r2, %r2, 1; setp.lt.u32 %q3, %r2, 50000; @%q3 bra again;)";
  for (const char *barrier : {"", "bar.sync 0;"})
    for (bool checks : {false, true}) {
      LaunchResult result = execute(fmt::format(fmt::runtime(loop), barrier), checks);
      REQUIRE(result.text() == "");
      double rate = double(result.statistics.totalThreadInstructions()) / result.seconds / 1e6;
      WARN(fmt::format("{:.0f} million thread-instructions a second{}{}", rate, *barrier ? ", with barriers" : "", checks ? ", with checks" : ""));
      CHECK(rate > 50);
    }
}
