#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/MemoryAccess.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

Mbarrier &findMbarrier(Warp &warp, const Instr &i, int lane, Block &block, uint32_t offset) {
  auto found = block.async->mbarriers.find(offset);
  if (found == block.async->mbarriers.end())
    warp.fault(i, 1u << lane, fmt::format("there is no mbarrier at byte {} of shared memory: mbarrier.init has not been executed", offset - sharedBase));
  return found->second;
}

static void completeIfDone(Mbarrier &barrier, Cluster &cluster) {
  if (barrier.pending || barrier.transactions)
    return;
  ++barrier.phase;
  barrier.isWaitedFor = false;
  barrier.pending = barrier.expected;
  barrier.complete.join(barrier.arrived);
  barrier.arrived.clear();
  ++cluster.effects;
}

void arriveAt(Warp &warp, const Instr &i, int lane, Block &block, Mbarrier &barrier, uint32_t count, bool releases) {
  if (count > barrier.pending)
    warp.fault(i, 1u << lane,
               fmt::format("{} arrivals at an mbarrier (initialised in line {}) whose phase needs {} more", count, barrier.line, barrier.pending));
  if (releases)
    warp.block.order().release(warp.clockId, barrier.arrived);
  barrier.pending -= count;
  warp.noteEffect();
  completeIfDone(barrier, block.cluster);
}

void completeTransactions(Mbarrier &barrier, uint64_t bytes, const Clock &clock, Cluster &cluster) {
  barrier.arrived.join(clock);
  barrier.transactions -= int64_t(bytes);
  ++cluster.effects;
  completeIfDone(barrier, cluster);
}

namespace {

enum class Operation : uint8_t { Init, Inval, Arrive, ArriveDrop, ExpectTx, CompleteTx, TestWait, TryWait };
enum MbarrierFlags : uint32_t { expectsTx = 1, parity = 2, releases = 4, acquires = 8 };

/// A phase's token: its number and how many arrivals were missing (for pending_count).
uint64_t tokenOf(const Mbarrier &barrier) { return barrier.phase << 20 | (barrier.pending & 0xFFFFF); }

uint32_t valueOf(Warp &warp, int32_t offset, int lane, uint32_t otherwise) { return offset < 0 ? otherwise : warp.at<uint32_t>(offset)[lane]; }

void init(Warp &warp, const Instr &i, int lane, Block &block, uint32_t offset) {
  uint32_t count = warp.at<uint32_t>(i.b)[lane];
  if (count == 0 || count >= 1u << 20)
    warp.fault(i, 1u << lane, fmt::format("an mbarrier for {} arrivals", count));
  block.shared.note(warp, i, uint32_t(lane), offset, 8, Access::Write);
  Mbarrier barrier;
  barrier.expected = barrier.pending = count;
  barrier.line = i.line;
  // The one who initialises publishes by a barrier of the block; what it has written before is no business of the mbarrier's.
  block.async->mbarriers[offset] = barrier;
}

/// The count of transactions has 21 bits (section "Valid range of each sub-counts").
void expect(Warp &warp, const Instr &i, int lane, Mbarrier &barrier) {
  barrier.transactions += valueOf(warp, i.b, lane, 0);
  if (barrier.transactions >= 1 << 20)
    warp.fault(i, 1u << lane, fmt::format("an mbarrier that expects {} bytes; 2^20 - 1 are the most", barrier.transactions));
}

Outcome execute(Warp &warp, const Instr &i, uint32_t mask) {
  LaneAddresses addresses;
  addressesOf(warp, i, i.a, mask, addresses);
  if (i.space == Space::Generic)
    splitByWindow(warp, i, mask, addresses);
  Operation operation = Operation(i.target);
  bool waits = operation == Operation::TestWait || operation == Operation::TryWait, allReady = true;
  uint32_t outcome = 0;
  forEachLane(mask, [&](int lane) {
    Block &block = sharedBlock(warp, i, lane, addresses.address[lane], 8, 8);
    uint32_t offset = sharedOffset(addresses.address[lane]);
    if (waits && &block != &warp.block)
      warp.fault(i, 1u << lane, "the mbarrier is in another block's shared memory, and can only be waited for there", Finding::Cause::Address);
    if (operation == Operation::Init)
      return init(warp, i, lane, block, offset);
    Mbarrier &barrier = findMbarrier(warp, i, lane, block, offset);
    block.shared.note(warp, i, uint32_t(lane), offset, 8, operation == Operation::Inval ? Access::Write : Access::StrongRead);
    switch (operation) {
    case Operation::Inval: block.async->mbarriers.erase(offset); break;
    case Operation::Arrive:
    case Operation::ArriveDrop: {
      uint64_t token = tokenOf(barrier);
      if (i.flags & expectsTx)
        expect(warp, i, lane, barrier);
      uint32_t count = i.flags & expectsTx ? 1 : valueOf(warp, i.b, lane, 1);
      if (operation == Operation::ArriveDrop)
        barrier.expected -= std::min(count, barrier.expected);
      if (i.d >= 0)
        warp.at<uint64_t>(i.d)[lane] = token;
      arriveAt(warp, i, lane, block, barrier, count, i.flags & releases);
      break;
    }
    case Operation::ExpectTx:
      expect(warp, i, lane, barrier);
      warp.noteEffect();
      break;
    case Operation::CompleteTx: completeTransactions(barrier, valueOf(warp, i.b, lane, 0), {}, block.cluster); break;
    default: {
      bool ready = i.flags & parity ? (barrier.phase & 1) != (warp.at<uint32_t>(i.b)[lane] & 1) : barrier.phase > warp.at<uint64_t>(i.b)[lane] >> 20;
      if (ready && (i.flags & acquires))
        warp.block.order().acquire(warp.clockId, barrier.complete);
      barrier.isWaitedFor |= !ready;
      allReady &= ready;
      outcome |= uint32_t(ready) << lane;
    }
    }
  });
  if (!waits) {
    warp.noteEffect();
    return Outcome::Next;
  }
  uint32_t &p = warp.predicate(i.d);
  p = (p & ~mask) | outcome;
  return allReady ? Outcome::Next : Outcome::Yield;
}

void pendingCount(Warp &warp, const Instr &i, uint32_t mask) {
  forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = uint32_t(warp.at<uint64_t>(i.a)[lane]) & 0xFFFFF; });
}

} // namespace

void decodeMbarrier(Decoding &d) {
  d.i.kind = Class::Barrier;
  if (d.take("pending_count")) {
    d.takeType();
    d.expectOperands(2, 2);
    d.i.d = d.destination(0, Type::U32);
    d.i.a = d.source(1, Type::B64);
    d.i.run = &pendingCount;
    return;
  }
  int operation = d.takeOneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait"});
  if (operation < 0)
    d.fail("the operation is missing");
  bool expects = d.take("expect_tx"), isParity = d.take("parity");
  d.take("noComplete");
  bool relaxed = d.take("relaxed");
  d.take("release");
  d.take("acquire");
  d.takeOneOf({"cta", "cluster"});
  int space = d.takeOneOf({"shared", "shared::cta", "shared::cluster"});
  d.takeType();
  d.i.space = space < 0 ? Space::Generic : Space::SharedCluster;
  size_t at = 0;
  Operation what = Operation(operation);
  if (what == Operation::TestWait || what == Operation::TryWait) {
    d.expectOperands(3, 4);
    d.i.d = d.destination(0, Type::Pred);
    at = 1;
  } else if (what == Operation::Arrive || what == Operation::ArriveDrop) {
    // Without a token: arrivals from other blocks may leave it out or write `_`.
    if (d.operand(0).kind != Operand::Kind::Address) {
      if (d.operand(0).kind != Operand::Kind::Sink)
        d.i.d = d.destination(0, Type::B64);
      at = 1;
    }
  }
  d.i.a = d.address(d.operand(at), d.i.space);
  if (at + 1 < d.operands())
    d.i.b = d.source(at + 1, (what == Operation::TestWait || what == Operation::TryWait) && !isParity ? Type::B64 : Type::U32);
  if (at + 2 < d.operands())
    d.source(at + 2, Type::U32); // how long to sleep at most
  if (d.i.b < 0 && (what == Operation::Init || expects || what >= Operation::ExpectTx))
    d.fail("an operand is missing");
  d.i.flags |= (expects ? expectsTx : 0u) | (isParity ? parity : 0u) | (relaxed ? 0u : releases | acquires);
  d.i.target = uint32_t(operation);
  d.i.control = &execute;
}

} // namespace tk::emulated
