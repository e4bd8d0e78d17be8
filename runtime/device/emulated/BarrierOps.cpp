// Barriers of warps, blocks and clusters, and fences: PTX ISA 9.7.13.1 to 9.7.13.4.
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Decoder.h"
#include "runtime/device/emulated/Launch.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

namespace {

enum BarrierFlags : uint32_t { aligned = 1, waits = 2, negatesVote = 4, releases = 8 };

Outcome barrier(Warp &warp, const Instr &i, uint32_t mask) {
  if (i.flags & aligned) {
    // All lanes of the warp that have not exited come together.
    if (mask != warp.alive)
      return warp.waitForLanes(i, mask);
    uint32_t whole = warp.initialLanes;
    if (warp.alive != whole)
      warp.report(Finding::Kind::NonUniformBarrier, i, mask,
                  fmt::format("lanes {:08x} of the warp have exited and don't come to this aligned barrier", whole & ~warp.alive));
  }
  int first = std::countr_zero(mask);
  uint32_t number = warp.at<uint32_t>(i.a)[first], expected = i.b < 0 ? 0 : warp.at<uint32_t>(i.b)[first];
  forEachLane(mask, [&](int lane) {
    if (warp.at<uint32_t>(i.a)[lane] != number)
      warp.fault(i, mask, "the lanes name different barriers");
  });
  uint32_t votes = 0;
  if (i.c >= 0) {
    votes = warp.predicate(i.c);
    votes = (i.flags & negatesVote ? ~votes : votes) & mask;
  }
  bool doesWait = i.flags & waits;
  // First asleep, then counted: the last one to come wakes all.
  if (!doesWait) {
    warp.block.arrive(warp, i, mask, number, expected, false, i.flags & aligned, votes);
    return Outcome::Next;
  }
  Outcome outcome = warp.blockAt(Group::State::Barrier, mask, uint8_t(number));
  warp.block.arrive(warp, i, mask, number, expected, true, i.flags & aligned, votes);
  return outcome;
}

void warpBarrier(Warp &warp, const Instr &, uint32_t) { warp.block.order().tick(warp.clockId); }

Outcome clusterArrive(Warp &warp, const Instr &i, uint32_t mask) {
  if ((i.flags & aligned) && mask != warp.alive)
    return warp.waitForLanes(i, mask);
  forEachLane(mask, [&](int lane) { warp.clusterPhase[size_t(lane)] = warp.block.cluster.phase + 1; });
  warp.block.cluster.arriveBarrier(warp, mask, i.flags & releases);
  return Outcome::Next;
}
Outcome clusterWait(Warp &warp, const Instr &i, uint32_t mask) {
  if ((i.flags & aligned) && mask != warp.alive)
    return warp.waitForLanes(i, mask);
  Cluster &cluster = warp.block.cluster;
  bool complete = true;
  forEachLane(mask, [&](int lane) { complete &= cluster.phase >= warp.clusterPhase[size_t(lane)]; });
  if (!complete) {
    Outcome outcome = warp.blockAt(Group::State::ClusterBarrier, mask);
    --warp.currentGroup().pc; // it looks again
    return outcome;
  }
  warp.block.order().acquire(warp.clockId, cluster.completeClock);
  return Outcome::Next;
}

void fence(Warp &warp, const Instr &i, uint32_t) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  Order &order = warp.block.order();
  order.release(warp.clockId, order.memory);
  order.acquire(warp.clockId, order.memory);
  if (i.flags)
    order.proxyFence(warp.clockId);
}

void nothing(Warp &, const Instr &, uint32_t) {}

// setmaxnreg, PTX ISA 9.7.19.5. Threads begin with the registers of .maxnreg. Without it, what ptxas gives a kernel is not in its text, and they begin with as
// many as the file of 64 Ki has for each, which is the most that they can have. More are waited for until others have given them back.
Outcome changeRegisters(Warp &warp, const Instr &i, uint32_t mask) {
  if (warp.index / 4 * 4 + 4 > warp.block.warpCount())
    warp.fault(i, mask, "setmaxnreg needs a warpgroup of four warps");
  uint32_t wanted = uint32_t(i.imm), total = 0;
  bool increases = i.flags & 1;
  if (increases ? wanted < warp.registerCount : wanted > warp.registerCount)
    warp.fault(i, mask,
               fmt::format("setmaxnreg.{} to {} registers, {} than the warp has: {}", increases ? "inc" : "dec", wanted, increases ? "fewer" : "more",
                           warp.registerCount));
  for (auto &other : warp.block.warps)
    total += other.get() == &warp ? wanted : other->registerCount;
  uint32_t most = warp.launch.kernel.maxRegisters * warp.block.warpCount(); // what the block was given at its launch
  if (total > (most ? most : 65536 / 32)) {
    Outcome outcome = warp.blockAt(Group::State::Registers, mask);
    --warp.currentGroup().pc; // it asks again
    return outcome;
  }
  warp.registerCount = wanted;
  warp.noteEffect();
  if (!increases)
    for (auto &other : warp.block.warps)
      other->wake(Group::State::Registers, 0);
  return Outcome::Next;
}

void decodeClusterBarrier(Decoding &d) {
  d.i.kind = Class::Barrier;
  bool arrives = d.take("arrive");
  if (!arrives && !d.take("wait"))
    d.fail("one of .arrive .wait is missing");
  bool relaxed = d.take("relaxed");
  d.take("release");
  d.take("acquire");
  d.i.flags = (d.take("aligned") ? aligned : 0u) | (relaxed ? 0u : releases);
  d.expectOperands(0, 0);
  d.i.control = arrives ? &clusterArrive : &clusterWait;
}

} // namespace

void decodeBar(Decoding &d) {
  bool isBar = d.statement.opcode == "bar";
  if (!isBar && d.take("cluster"))
    return decodeClusterBarrier(d);
  d.i.kind = Class::Barrier;
  if (d.take("warp")) {
    d.take("sync");
    d.expectOperands(1, 1);
    d.i.e = d.source(0, Type::B32);
    d.i.isCollective = true;
    d.i.flags = warpBarrierFlag;
    d.i.run = &warpBarrier;
    return;
  }
  d.take("cta");
  int what = d.takeOneOf({"sync", "arrive", "red"});
  if (what < 0)
    d.fail("one of .sync .arrive .red is missing");
  bool isAligned = d.take("aligned") || isBar;
  d.i.flags = (isAligned ? aligned : 0u) | (what != 1 ? waits : 0u);
  size_t at = 0;
  if (what == 2) {
    d.i.imm = d.takeOneOf({"popc", "and", "or"});
    Type type = d.takeType();
    if (d.i.imm < 0 || (type == Type::Pred) == (d.i.imm == 0))
      d.fail("this combination of types and modifiers is not supported");
    d.expectOperands(3, 4);
    d.i.d = d.destination(0, type);
    at = 1;
  }
  d.expectOperands(at + 1 + (what == 2 ? 1 : 0), at + 2 + (what == 2 ? 1 : 0));
  d.i.a = d.source(at, Type::U32);
  size_t last = d.operands() - (what == 2 ? 1 : 0);
  if (last > at + 1)
    d.i.b = d.source(at + 1, Type::U32);
  else if (what == 1)
    d.fail("the number of threads is missing");
  if (what == 2) {
    bool negated;
    d.i.c = d.predicate(d.operand(d.operands() - 1), negated);
    d.i.flags |= negated ? negatesVote : 0u;
  }
  d.i.control = &barrier;
}

// fence.proxy.* orders the proxies; of those only the asynchronous one is told apart here.
void decodeFence(Decoding &d) {
  d.i.kind = Class::Barrier;
  bool isProxy = d.take("proxy");
  bool isAsync = d.take("async") || d.take("async::generic") || d.take("async.global");
  for (std::string_view word : {"alias", "tensormap", "tensormap::generic", "sc", "acq_rel", "acquire", "release", "mbarrier_init", "op_restrict",
                                "sync_restrict::shared::cta", "sync_restrict::shared::cluster", "op_restrict::mbarrier_init"})
    d.take(word);
  for (std::string_view word : {"cta", "cluster", "gpu", "sys", "gl", "level", "global", "shared::cta", "shared::cluster"})
    d.take(word);
  while (d.operands() && !d.takeAny().empty()) { // fence.proxy.tensormap::generic.acquire.gpu [addr], 128
  }
  d.i.flags = isProxy && isAsync;
  d.i.run = &fence;
}

// Kernels of one launch never wait for another launch here: it is complete.
void decodeGriddepcontrol(Decoding &d) {
  if (d.takeOneOf({"launch_dependents", "wait"}) < 0)
    d.fail("one of .launch_dependents .wait is missing");
  d.i.kind = Class::Control;
  d.i.run = &nothing;
}

void decodeSetmaxnreg(Decoding &d) {
  int what = d.takeOneOf({"inc", "dec"});
  if (what < 0)
    d.fail("one of .inc .dec is missing");
  d.take("sync");
  d.take("aligned");
  Type type = d.takeType();
  int64_t count = d.integer(0);
  if (type != Type::U32 || count < 24 || count > 256 || count % 8)
    d.fail("a number of registers must be a multiple of 8 from 24 to 256");
  d.i.isCollective = true;
  d.i.kind = Class::Control;
  d.i.imm = count;
  d.i.flags = what == 0;
  d.i.control = &changeRegisters;
}

} // namespace tk::emulated
