// cp.async, the copies that single threads start: PTX ISA 9.7.9.25.3. The bulk forms are handed to BulkOps.cpp.
//
// From its start to the thread's wait a copy's target belongs to nobody. Late, the bytes move when the thread waits; early, at once.
#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/Launch.h"
#include "runtime/device/emulated/Mbarrier.h"
#include "runtime/device/emulated/MemoryAccess.h"
#include "runtime/device/emulated/Transfers.h"
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

namespace {

void moveBytes(Warp &warp, const ThreadCopy &copy) {
  uint8_t *to = warp.block.shared.at(copy.offset);
  std::memcpy(to, reinterpret_cast<const void *>(copy.source), copy.sourceBytes);
  std::memset(to + copy.sourceBytes, 0, size_t(copy.bytes - copy.sourceBytes));
}

// flags: 1 the source size is in c, 2 the predicate in c says that the source is ignored, 4 that is negated
enum CopyFlags : uint32_t { hasSourceSize = 1, hasIgnore = 2, negatesIgnore = 4, sourceWide = 8 };

void startCopies(Warp &warp, const Instr &i, uint32_t mask) {
  LaneAddresses to, from;
  addressesOf(warp, i, i.a, mask, to);
  if (i.flags & sourceWide)
    forEachLane(mask, [&](int lane) { from.address[lane] = warp.at<uint64_t>(i.b)[lane] + uint64_t(int64_t(int32_t(i.target))); });
  else
    forEachLane(mask, [&](int lane) { from.address[lane] = warp.at<uint32_t>(i.b)[lane] + uint64_t(int64_t(int32_t(i.target))); });
  uint32_t bytes = i.count, reads = 0;
  uint32_t sizes[32];
  forEachLane(mask, [&](int lane) {
    sizes[lane] = bytes;
    if (i.flags & hasSourceSize)
      sizes[lane] = warp.at<uint32_t>(i.c)[lane];
    if (i.flags & hasIgnore)
      if (bool(warp.predicate(i.c) >> lane & 1) != bool(i.flags & negatesIgnore))
        sizes[lane] = 0;
    if (sizes[lane] > bytes)
      warp.fault(i, 1u << lane, fmt::format("a source of {} bytes for a copy of {}", sizes[lane], bytes));
    reads |= uint32_t(sizes[lane] != 0) << lane;
  });
  if (i.space == Space::Generic)
    splitByWindow(warp, i, mask, to);
  if (reads) {
    checkGlobal(warp, i, reads, from, 1, bytes, false);
    forEachLane(reads, [&](int lane) { checkGlobal(warp, i, 1u << lane, from, sizes[lane], 1, false); });
    countGlobal(warp, reads, from, bytes);
    // The bytes are read between now and the thread's wait, and both ends are noted.
    if (warp.block.cluster.history)
      forEachLane(reads, [&](int lane) { warp.block.cluster.history->noteRanges(warp, i, uint32_t(lane), {{from.address[lane], sizes[lane]}}, Access::Read); });
  }
  countShared(warp, mask, to, bytes);
  warp.noteEffect();
  forEachLane(mask, [&](int lane) {
    Block &block = sharedBlock(warp, i, lane, to.address[lane], bytes, bytes);
    if (&block != &warp.block)
      warp.fault(i, 1u << lane, "the target is in another block's shared memory", Finding::Cause::Address);
    uint32_t offset = sharedOffset(to.address[lane]);
    block.shared.note(warp, i, uint32_t(lane), offset, bytes, Access::Write);
    block.shared.beginTransfer(warp, i, uint32_t(lane), offset, bytes);
    ThreadCopy copy{
        &i, uint8_t(lane), uint8_t(bytes), uint8_t(sizes[lane]), offset, from.address[lane], warp.async->committed[size_t(lane)], warp.async->startedCopies++};
    if (warp.launch.spec.timing == AsyncTiming::Early)
      moveBytes(warp, copy);
    warp.async->copies.push_back(copy);
    warp.statistics.asyncBytes += bytes;
  });
}

void commit(Warp &warp, const Instr &, uint32_t mask) {
  forEachLane(mask, [&](int lane) { ++warp.async->committed[size_t(lane)]; });
}

void noteEnd(Warp &warp, const ThreadCopy &copy, uint32_t moment) {
  warp.block.shared.endTransferAt(moment, warp.clockId, copy.lane, copy.instr->line, copy.offset, copy.bytes);
  if (warp.block.cluster.history && copy.sourceBytes)
    warp.block.cluster.history->noteRanges(warp, *copy.instr, copy.lane, {{copy.source, copy.sourceBytes}}, Access::Read, moment);
}

/// All but the `left` youngest groups of each lane; ~0: also what is not committed.
void finishCopies(Warp &warp, uint32_t mask, uint64_t left) {
  std::erase_if(warp.async->copies, [&](const ThreadCopy &copy) {
    if (!(mask >> copy.lane & 1) || (left != ~uint64_t(0) && copy.group + left >= warp.async->committed[copy.lane]))
      return false;
    if (warp.launch.spec.timing == AsyncTiming::Late)
      moveBytes(warp, copy);
    noteEnd(warp, copy, warp.block.order().now(warp.clockId));
    return true;
  });
}
void waitCopies(Warp &warp, const Instr &i, uint32_t mask) { finishCopies(warp, mask, uint64_t(i.imm)); }

// The barrier is arrived at when the copies that the thread has started are complete, which is for the asynchronous unit to say.
Outcome arriveAfterCopies(Warp &warp, const Instr &i, uint32_t mask) {
  LaneAddresses addresses;
  addressesOf(warp, i, i.a, mask, addresses);
  if (i.space == Space::Generic)
    splitByWindow(warp, i, mask, addresses);
  Order &order = warp.block.order();
  uint32_t moment = order.now(warp.clockId);
  Clock clock;
  order.release(warp.clockId, clock);
  forEachLane(mask, [&](int lane) {
    Block &block = sharedBlock(warp, i, lane, addresses.address[lane], 8, 8);
    uint32_t offset = sharedOffset(addresses.address[lane]);
    Mbarrier &barrier = findMbarrier(warp, i, lane, block, offset);
    if (!(i.flags & 1)) // counted up now, and down again by the arrival
      ++barrier.pending;
    Transfer transfer;
    transfer.instr = &i;
    transfer.warp = &warp;
    transfer.lane = lane;
    transfer.isThreadArrival = true;
    transfer.arrivals = {{&block, offset, 0}};
    transfer.copies = warp.async->startedCopies;
    transfer.clock = clock;
    transfer.moment = moment;
    startTransfer(std::move(transfer));
  });
  return Outcome::Next;
}

} // namespace

void finishThreadCopies(Warp &warp, int lane, uint64_t number, uint32_t moment) {
  std::erase_if(warp.async->copies, [&](const ThreadCopy &copy) {
    if (copy.lane != lane || copy.number >= number)
      return false;
    if (warp.launch.spec.timing == AsyncTiming::Late)
      moveBytes(warp, copy);
    noteEnd(warp, copy, moment);
    return true;
  });
}

void decodeCp(Decoding &d) {
  bool reduces = d.take("reduce");
  if (!d.take("async"))
    d.fail(".async is missing");
  d.i.kind = Class::Async;
  if (d.take("bulk"))
    return decodeBulk(d, reduces);
  if (d.take("commit_group")) {
    d.expectOperands(0, 0);
    d.i.run = &commit;
    return;
  }
  if (d.take("wait_all")) {
    d.expectOperands(0, 0);
    d.i.imm = -1;
    d.i.run = &waitCopies;
    return;
  }
  if (d.take("wait_group")) {
    d.expectOperands(1, 1);
    d.i.imm = d.integer(0);
    d.i.run = &waitCopies;
    return;
  }
  if (d.take("mbarrier")) {
    if (!d.take("arrive"))
      d.fail(".arrive is missing");
    bool noInc = d.take("noinc");
    d.i.space = d.takeOneOf({"shared", "shared::cta"}) >= 0 ? Space::Shared : Space::Generic;
    d.takeType();
    d.expectOperands(1, 1);
    d.i.a = d.address(d.operand(0), d.i.space);
    d.i.flags |= noInc;
    d.i.control = &arriveAfterCopies;
    return;
  }
  bool bypasses = d.take("cg");
  if (!bypasses && !d.take("ca"))
    d.fail("one of .ca .cg is missing");
  if (d.takeOneOf({"shared", "shared::cta"}) < 0 || !d.take("global"))
    d.fail("only .shared.global exists");
  bool hint = d.take("L2::cache_hint");
  for (std::string_view word : {"L2::64B", "L2::128B", "L2::256B"})
    d.take(word);
  d.expectOperands(hint ? 4 : 3, hint ? 5 : 4);
  Space global = Space::Global;
  d.i.b = d.address(d.operand(1), global);
  uint32_t wide = d.i.flags & addressWide ? uint32_t(sourceWide) : 0u;
  if (d.i.imm != int32_t(d.i.imm))
    d.fail("the offset of the source is too large");
  d.i.target = uint32_t(int32_t(d.i.imm));
  d.i.flags = 0;
  d.i.space = Space::Shared;
  d.i.a = d.address(d.operand(0), d.i.space);
  d.i.flags |= wide;
  int64_t bytes = d.integer(2);
  if (bytes != 16 && (bypasses || (bytes != 4 && bytes != 8)))
    d.fail(".ca copies 4, 8 or 16 bytes, .cg 16");
  d.i.count = uint16_t(bytes);
  if (d.operands() == (hint ? 5u : 4u)) {
    if (d.registerType(d.operand(3)) == Type::Pred) {
      bool negated;
      d.i.c = d.predicate(d.operand(3), negated);
      d.i.flags |= hasIgnore | (negated ? negatesIgnore : 0u);
    } else {
      d.i.c = d.source(3, Type::U32);
      d.i.flags |= hasSourceSize;
    }
  }
  d.i.run = &startCopies;
}

} // namespace tk::emulated
