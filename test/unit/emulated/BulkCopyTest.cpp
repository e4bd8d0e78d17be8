// Bulk copies and reductions, st.async and red.async, within a cluster of two blocks; and cp.async.mbarrier.arrive.
#include "Machine.h"
#include "Tested.h"

using namespace tk::emulated;

namespace {

const Tested tested = {"cp"};

/// A kernel `k(ptr out, ptr in)` of two blocks of 64 threads in a cluster. %r0 the thread, %r1 the shared address of its word of `tile` (512 bytes), %r2
/// `tile`, %r3 an mbarrier for one arrival, %r4 and %r5 the same two in the other block, %r9 the rank; %rd1 this thread's word of `out` (of 128), %rd2 of `in`,
/// %rd3 `out`, %rd4 `in`. %p1: thread 0.
LaunchResult run(std::string_view body, std::vector<uint32_t> *output = nullptr, AsyncTiming timing = AsyncTiming::Late) {
  Machine machine(fmt::format(R"(
.shared .align 128 .b8 tile[1024];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 po, .param .u64 pi) .reqnctapercluster 2, 1, 1 {{
  .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  .file 1 "bulk.tk"
  .loc 1 7 3
  ld.param.u64 %rd3, [po]; ld.param.u64 %rd4, [pi];
  mov.u32 %r0, %tid.x; mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p1, %r0, 0;
  mad.lo.u32 %r10, %r9, 64, %r0;
  mad.wide.u32 %rd1, %r10, 4, %rd3;
  mad.wide.u32 %rd2, %r10, 4, %rd4;
  mov.u32 %r2, tile; mov.u32 %r3, bar;
  mad.lo.u32 %r1, %r0, 4, %r2;
  xor.b32 %r11, %r9, 1;
  mapa.shared::cluster.u32 %r4, %r2, %r11;
  mapa.shared::cluster.u32 %r5, %r3, %r11;
  @%p1 mbarrier.init.shared.b64 [%r3], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  .loc 1 9 5
{}
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  ret; }})",
                              body));
  std::vector<uint32_t> values(128);
  for (uint32_t i = 0; i < 128; ++i)
    values[i] = 1000 + i * i;
  uint32_t *in = machine.array(values), *out = machine.zeros<uint32_t>(128);
  LaunchResult result = machine.launch("k", {.grid = {2, 1, 1}, .block = {64, 1, 1}, .threads = 1, .timing = timing}, out, in);
  if (output)
    output->assign(out, out + 128);
  return result;
}
uint32_t in(uint32_t i) { return 1000 + i * i; }
bool has(const LaunchResult &result, Finding::Kind kind) {
  for (const Finding &finding : result.findings)
    if (finding.kind == kind && finding.sourceLine == 9 && finding.file == "bulk.tk" && finding.ptxLine > 0)
      return true;
  return false;
}
const std::string wait = "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra wait;",
                  fetch = "ld.shared.u32 %r6, [%r1]; st.global.u32 [%rd1], %r6;", expect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;",
                  fill = "ld.global.u32 %r6, [%rd2]; st.shared.u32 [%r1], %r6;";
} // namespace

TEST_CASE("bulk copies: global to shared, shared to the other block, shared to global") {
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    std::vector<uint32_t> out;
    // Each block fetches the other's half.
    std::string load = "mad.wide.u32 %rd5, %r11, 256, %rd4; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd5], 256, [%r3];";
    CHECK(run(load + expect + wait + fetch, &out, timing).text() == "");
    for (uint32_t i = 0; i < 128; ++i)
      CHECK(out[i] == in(i ^ 64));
    // The same through the other block's shared memory.
    std::string send =
        fill + "fence.proxy.async; bar.sync 0; @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+512], [%r2], 256, [%r5];";
    CHECK(run(send + expect + wait + "ld.shared.u32 %r6, [%r1+512]; st.global.u32 [%rd1], %r6;", &out, timing).text() == "");
    for (uint32_t i = 0; i < 128; ++i)
      CHECK(out[i] == in(i ^ 64));
    // To global memory: the source may be overwritten after .read, the target is there after the full wait.
    std::string store =
        "mad.wide.u32 %rd5, %r11, 256, %rd3;" + fill +
        "fence.proxy.async; bar.sync 0; @!%p1 bra done; cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r2], 256; cp.async.bulk.commit_group;";
    CHECK(run(store + "cp.async.bulk.wait_group.read 0; st.shared.u32 [%r2+8], %r0; cp.async.bulk.wait_group 0; done:", &out, timing).text() == "");
    for (uint32_t i = 0; i < 128; ++i)
      CHECK(out[i] == in(i ^ 64));
    LaunchResult early = run(store + "st.shared.u32 [%r2+8], %r0; cp.async.bulk.wait_group 0; done:", &out, timing);
    CHECK(has(early, Finding::Kind::AsyncHazard));
    CHECK((out[2] != in(66)) == (timing == AsyncTiming::Late));
    CHECK(has(run(store + "cp.async.bulk.wait_group.read 1; st.shared.u32 [%r2+8], %r0; done:", nullptr, timing), Finding::Kind::AsyncHazard));
    // The block ends while its shared memory is read, or on its way to be written.
    CHECK(run(store + "done:", nullptr, timing).text().find("the block ends while this copy may still read") != std::string::npos);
    CHECK(has(run(fill + "bar.sync 0; @!%p1 bra done; cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r2], 256; cp.async.bulk.commit_group; "
                         "cp.async.bulk.wait_group 0; done:",
                  nullptr, timing),
              Finding::Kind::ProxyFence));
  }
  std::string load = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd4], 256, [%r3];";
  CHECK(run(load).text().find("the block ends while this copy is on its way") != std::string::npos);
  CHECK(has(run(load + expect + fetch + wait), Finding::Kind::AsyncHazard));
  // Bytes that come before they are expected leave the phase open.
  CHECK(run(load + expect + wait + fetch).text() == "");
  CHECK(run("mov.u32 %r12, 24; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd4], %r12, [%r3];")
            .text()
            .find("multiple of 16") != std::string::npos);
  CHECK(run("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+8], [%rd4], 16, [%r3];").text().find("not aligned to 16") !=
        std::string::npos);
  CHECK(run("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd4], 16, [%r3];").text().find("another block") !=
        std::string::npos);
  CHECK(run("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd4+512], 16, [%r3];").text().find("behind the end") !=
        std::string::npos);
  CHECK(run("cp.async.bulk.prefetch.L2.global [%rd4], 512;").text() == "");
}

TEST_CASE("a bulk copy to both blocks") {
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    std::vector<uint32_t> out;
    CHECK(run(expect +
                  "mov.b16 %h1, 3; setp.eq.and.u32 %p3, %r9, 1, %p1;"
                  "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd4+128], 256, [%r3], %h1;" +
                  wait + fetch,
              &out, timing)
              .text() == "");
    for (uint32_t i = 0; i < 128; ++i)
      CHECK(out[i] == in(i % 64 + 32));
  }
  CHECK(run("mov.b16 %h1, 5; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd4], 256, [%r3], %h1;")
            .text()
            .find("names blocks") != std::string::npos);
}

TEST_CASE("bulk reductions of every operation") {
  struct Case {
    const char *text;
    uint32_t (*expected)(uint32_t old, uint32_t value);
  };
  for (Case c : {Case{"add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
                 {"add.s32", [](uint32_t a, uint32_t b) { return a + b; }},
                 {"min.s32", [](uint32_t a, uint32_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); }},
                 {"max.s32", [](uint32_t a, uint32_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); }},
                 {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
                 {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
                 {"and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
                 {"or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
                 {"xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }},
                 {"inc.u32", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }},
                 {"dec.u32", [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }}})
    for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
      INFO(c.text);
      auto value = [](uint32_t i) { return in(i) * (i % 3 == 0 ? ~0u : 1u); };       // negative ones among them
      auto old = [](uint32_t i) { return i * 40 - 900 + (i % 5 == 0 ? in(i) : 0); }; // of thread i of a block
      std::string values = "ld.global.u32 %r6, [%rd2]; rem.u32 %r7, %r10, 3; setp.eq.u32 %p3, %r7, 0; @%p3 neg.s32 %r6, %r6; st.shared.u32 [%r1], %r6;";
      std::string olds = "mul.lo.u32 %r8, %r0, 40; sub.u32 %r8, %r8, 900; rem.u32 %r7, %r0, 5; setp.eq.u32 %p3, %r7, 0; mad.lo.u32 %r12, %r0, %r0, 1000;"
                         "@%p3 add.u32 %r8, %r8, %r12;";
      std::vector<uint32_t> out;
      // Into the other block's shared memory, by mbarrier.
      std::string shared =
          values + olds + "st.shared.u32 [%r1+512], %r8; fence.proxy.async; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" +
          fmt::format("@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{} [%r4+512], [%r2], 256, [%r5];", c.text) + expect +
          wait + "ld.shared.u32 %r6, [%r1+512]; st.global.u32 [%rd1], %r6;";
      CHECK(run(shared, &out, timing).text() == "");
      int wrong = 0;
      for (uint32_t i = 0; i < 128; ++i)
        wrong += out[i] != c.expected(old(i % 64), value(i ^ 64));
      CHECK(wrong == 0);
      // Into global memory, by group.
      std::string global = values + olds + "st.global.u32 [%rd1], %r8; fence.proxy.async; bar.sync 0; @!%p1 bra done;" +
                           fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.{} [%rd1], [%r2], 256;", c.text) +
                           "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:";
      CHECK(run(global, &out, timing).text() == "");
      wrong = 0;
      for (uint32_t i = 0; i < 128; ++i)
        wrong += out[i] != c.expected(old(i % 64), value(i));
      CHECK(wrong == 0);
    }
}

TEST_CASE("st.async and red.async") {
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    std::vector<uint32_t> out;
    std::string place = "mad.lo.u32 %r12, %r0, 4, %r4;";
    CHECK(run(expect + place + "ld.global.u32 %r6, [%rd2]; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r12], %r6, [%r5];" + wait + fetch,
              &out, timing)
              .text() == "");
    for (uint32_t i = 0; i < 128; ++i)
      CHECK(out[i] == in(i ^ 64));
    // Four at a time, by every fourth thread.
    CHECK(run(expect + place +
                  "and.b32 %r13, %r0, 3; setp.eq.u32 %p3, %r13, 0; mul.lo.u32 %r14, %r10, -3; add.u32 %r15, %r14, 1; add.u32 %r16, %r14, 5;"
                  "@%p3 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r12], {%r14, %r15, %r10, %r16}, [%r5];" +
                  wait + fetch,
              &out, timing)
              .text() == "");
    for (uint32_t i = 0; i < 128; ++i) {
      uint32_t from = (i ^ 64) & ~3u, three = from * uint32_t(-3), parts[] = {three, three + 1, from, three + 5};
      CHECK(out[i] == parts[i % 4]);
    }
    // All threads of the other block add to one word, which their own block has set.
    std::string set = "@%p1 st.shared.u32 [%r2], 7; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    CHECK(run(expect + set + "sub.u32 %r6, %r10, 100; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%r4], %r6, [%r5];" +
                  wait + "ld.shared.u32 %r6, [%r2]; st.global.u32 [%rd1], %r6;",
              &out, timing)
              .text() == "");
    auto sum = [](int from) {
      int total = 7;
      for (int i = from; i < from + 64; ++i)
        total += i - 100;
      return uint32_t(total);
    };
    CHECK(out[5] == sum(64));
    CHECK(out[100] == sum(0));
    CHECK(has(run(expect + place + "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r12], %r0, [%r5];" + fetch + wait, nullptr, timing),
              timing == AsyncTiming::Late ? Finding::Kind::AsyncHazard : Finding::Kind::Race));
  }
}

TEST_CASE("cp.async.mbarrier.arrive arrives when the copies are complete") {
  std::string init = "mov.u32 %r12, tile; add.u32 %r12, %r12, 1000; @%p1 mbarrier.init.shared.b64 [%r12], {}; bar.sync 0;",
              copy = "cp.async.ca.shared.global [%r1], [%rd2], 4;",
              other = "xor.b32 %r13, %r0, 63; mad.lo.u32 %r13, %r13, 4, %r2; ld.shared.u32 %r6, [%r13]; st.global.u32 [%rd1], %r6;";
  std::string waitFor = "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r12], 0; @!%p2 bra wait;";
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    std::vector<uint32_t> out;
    // With .noinc the arrivals are those of the initialisation; without it they come on top of them.
    std::string noInc = fmt::format(fmt::runtime(init), 64) + copy + "cp.async.mbarrier.arrive.noinc.shared.b64 [%r12];";
    std::string inc = fmt::format(fmt::runtime(init), 64) + copy + "cp.async.mbarrier.arrive.shared.b64 [%r12]; mbarrier.arrive.shared.b64 _, [%r12];";
    for (const std::string &start : {noInc, inc}) {
      CHECK(run(start + waitFor + other, &out, timing).text() == "");
      for (uint32_t i = 0; i < 128; ++i)
        CHECK(out[i] == in(i ^ 63));
    }
    CHECK(!run(noInc + other + waitFor, nullptr, timing).ok());
  }
  // The arrival has not happened when nothing waits for it: a test right behind it fails.
  std::vector<uint32_t> out;
  run(fmt::format(fmt::runtime(init), 64) + copy +
          "cp.async.mbarrier.arrive.noinc.shared.b64 [%r12]; mbarrier.test_wait.parity.shared.b64 %p3, [%r12], 0; selp.u32 %r6, 1, 2, %p3; st.global.u32 "
          "[%rd1], %r6;" +
          waitFor,
      &out, AsyncTiming::Late);
  CHECK(out[9] == 2);
}
