// Shared memory: barriers, copies under way, mbarriers, and the findings that silicon would hide.
#include "Machine.h"
#include "Tested.h"

using namespace tk::emulated;

namespace {

const Tested tested = {"mbarrier"};
/// A kernel of 64 threads `k(ptr out, ptr in)`: %r0 is the thread, %r1 the shared address of its word of `tile`, %r2 that of thread 63 - %r0.
LaunchResult runPair(std::string_view body, std::vector<uint32_t> *output = nullptr, AsyncTiming timing = AsyncTiming::Late, unsigned threads = 64) {
  Machine machine(fmt::format(R"(
.shared .align 16 .b8 tile[1024];
.shared .align 8 .b64 mbar;
.visible .entry k(.param .u64 po, .param .u64 pi) {{
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [po]; ld.param.u64 %rd2, [pi];
  mov.u32 %r0, %tid.x;
  mad.wide.u32 %rd1, %r0, 4, %rd1;
  mad.wide.u32 %rd2, %r0, 4, %rd2;
  mov.u32 %r1, tile;
  sub.u32 %r2, 63, %r0;
  mad.lo.u32 %r2, %r2, 4, %r1;
  mad.lo.u32 %r1, %r0, 4, %r1;
{}
  ret; }})",
                              body));
  std::vector<uint32_t> values(64);
  for (uint32_t i = 0; i < 64; ++i)
    values[i] = 1000 + i * i;
  uint32_t *in = machine.array(values), *out = machine.zeros<uint32_t>(64);
  LaunchResult result = machine.launch("k", {.block = {threads, 1, 1}, .threads = 1, .timing = timing}, out, in);
  if (output)
    output->assign(out, out + 64);
  return result;
}
bool has(const LaunchResult &result, Finding::Kind kind) {
  for (const Finding &finding : result.findings)
    if (finding.kind == kind)
      return true;
  return false;
}
} // namespace

TEST_CASE("an exchange through shared memory needs its barrier") {
  std::vector<uint32_t> out;
  std::string store = "ld.global.u32 %r3, [%rd2]; st.shared.u32 [%r1], %r3;", load = "ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd1], %r4;";
  LaunchResult right = runPair(store + "bar.sync 0;" + load, &out);
  CHECK(right.text() == "");
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(out[i] == 1000 + (63 - i) * (63 - i));
  CHECK(right.statistics.bankConflicts() == 0);
  CHECK(has(runPair(store + load), Finding::Kind::Uninitialised));
  // The second round overwrites what others may still read.
  CHECK(has(runPair(store + "bar.sync 0;" + load + store), Finding::Kind::Race));
  CHECK(runPair(store + "bar.sync 0;" + load + "bar.sync 0;" + store).text() == "");
  // The warps' own barriers do not order one warp after the other.
  CHECK(has(runPair(store + "bar.warp.sync 0xffffffff; bar.sync 0; " + load + "bar.warp.sync 0xffffffff;" + store), Finding::Kind::Race));
}

TEST_CASE("lanes of one warp need a barrier too, and named barriers order those that use them") {
  std::string exchange = R"(ld.global.u32 %r3, [%rd2]; st.shared.u32 [%r1], %r3; {} xor.b32 %r5, %r1, 4; ld.shared.u32 %r4, [%r5]; st.global.u32 [%rd1], %r4;)";
  CHECK(has(runPair(fmt::format(fmt::runtime(exchange), "")), Finding::Kind::Race));
  CHECK(runPair(fmt::format(fmt::runtime(exchange), "bar.warp.sync 0xffffffff;")).text() == "");
  // Warp 0 writes and arrives, warp 1 waits and reads.
  std::vector<uint32_t> out;
  LaunchResult result = runPair(R"(
    setp.lt.u32 %p1, %r0, 32;
    @!%p1 bra reader;
    ld.global.u32 %r3, [%rd2]; st.shared.u32 [%r1], %r3;
    bar.arrive 3, 64;
    bra done;
  reader:
    bar.sync 3, 64;
    ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd1], %r4;
  done:)",
                                &out);
  CHECK(result.text() == "");
  CHECK(out[40] == 1000 + 23 * 23);
}

TEST_CASE("bank conflicts are counted") {
  LaunchResult result = runPair("mov.u32 %r3, tile; and.b32 %r4, %r0, 7; mad.lo.u32 %r3, %r4, 128, %r3; st.volatile.shared.u32 [%r3], %r0;");
  CHECK(result.statistics.sharedWavefronts == 16); // two warps, eight words of one bank each
  CHECK(result.statistics.sharedIdeal == 2);
}

TEST_CASE("barriers that not all come to end in a report of who waits where") {
  LaunchResult result = runPair("setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1; @!%p1 bar.sync 2;");
  REQUIRE(result.failed);
  CHECK(result.findings[0].kind == Finding::Kind::Deadlock);
  CHECK(result.text().find("barrier 1: 32 of 64 threads have arrived") != std::string::npos);
  CHECK(result.text().find("barrier 2: 32 of 64 threads have arrived") != std::string::npos);
  LaunchResult apart = runPair("and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra even; bar.sync 0; bra done; even: bar.sync 0; done:");
  REQUIRE(apart.failed);
  CHECK(apart.text().find("wait for other lanes of the warp") != std::string::npos);
}

TEST_CASE("barriers that reduce") {
  std::vector<uint32_t> out;
  LaunchResult result =
      runPair("setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r3, 0, %p1; bar.red.and.pred %p2, 1, %p1; bar.red.or.pred %p3, 2, %p1;"
              "selp.u32 %r4, 100, 0, %p2; selp.u32 %r5, 1000, 0, %p3; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; st.global.u32 [%rd1], %r3;",
              &out);
  CHECK(result.text() == "");
  CHECK(out[0] == 1040);
  CHECK(out[63] == 1040);
}

TEST_CASE("cp.async: groups, zero fill, and what is touched too early") {
  std::string start = "mov.u32 %r6, tile; add.u32 %r7, %r1, 256; cp.async.ca.shared.global [%r1], [%rd2], 4; cp.async.commit_group;"
                      "setp.lt.u32 %p1, %r0, 10; selp.u32 %r8, 0, 4, %p1; cp.async.ca.shared.global [%r7], [%rd2], 4, %r8; cp.async.commit_group;";
  std::string first = "ld.shared.u32 %r3, [%r2];",
              second = "add.u32 %r9, %r2, 256; ld.shared.u32 %r4, [%r9]; add.u32 %r3, %r3, %r4; st.global.u32 [%rd1], %r3;";
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    std::vector<uint32_t> out;
    LaunchResult right = runPair(start + "cp.async.wait_group 1; bar.sync 0;" + first + "cp.async.wait_group 0; bar.sync 0;" + second, &out, timing);
    CHECK(right.text() == "");
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t from = 63 - i, value = 1000 + from * from;
      CHECK(out[i] == value + (from < 10 ? 0 : value));
    }
    CHECK(has(runPair(start + "cp.async.wait_group 1; bar.sync 0;" + first + second, nullptr, timing), Finding::Kind::AsyncHazard));
    CHECK(has(runPair(start + "cp.async.wait_all;" + first + second, nullptr, timing), Finding::Kind::Race)); // a wait is for the own copies
  }
}

TEST_CASE("mbarriers: phases, parity, order, and a wait that nobody ends") {
  std::string init = "mov.u32 %r10, mbar; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r10], 64; bar.sync 0;";
  std::string wait = "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; @!%p2 bra wait;";
  std::string body = "ld.global.u32 %r3, [%rd2]; st.shared.u32 [%r1], %r3; mbarrier.arrive.shared.b64 %rd5, [%r10];",
              load = "ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd1], %r4;";
  std::vector<uint32_t> out;
  LaunchResult right = runPair(init + body + wait + load, &out);
  CHECK(right.text() == "");
  CHECK(out[5] == 1000 + 58 * 58);
  std::string token = "wait: mbarrier.test_wait.shared.b64 %p2, [%r10], %rd5; @!%p2 bra wait;";
  CHECK(runPair(init + body + token + load).text() == "");
  LaunchResult stuck = runPair(init + "@%p1 bra wait; mbarrier.arrive.shared.b64 _, [%r10];" + wait);
  REQUIRE(stuck.failed);
  CHECK(stuck.findings[0].kind == Finding::Kind::Deadlock);
  CHECK(stuck.text().find("phase 0, 1 of 64 arrivals and 0 bytes missing") != std::string::npos);
  CHECK(runPair("mov.u32 %r10, mbar; mbarrier.arrive.shared.b64 _, [%r10];").text().find("no mbarrier at byte") != std::string::npos);
}
