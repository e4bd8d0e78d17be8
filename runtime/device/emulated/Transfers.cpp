#include "runtime/device/emulated/Transfers.h"
#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/Launch.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace tk::emulated {

namespace {

void fillBytes(uint8_t *to, uint32_t bytes, uint32_t pattern) {
  for (uint32_t i = 0; i < bytes; ++i)
    to[i] = uint8_t(pattern >> (i % 4 * 8));
}

void readPieces(Transfer &transfer) {
  if (std::exchange(transfer.isRead, true))
    return;
  size_t total = 0;
  for (const Transfer::Piece &piece : transfer.pieces)
    total += piece.bytes;
  transfer.data.resize(total);
  uint8_t *to = transfer.data.data();
  for (const Transfer::Piece &piece : transfer.pieces) {
    if (piece.from)
      std::memcpy(to, reinterpret_cast<const void *>(piece.from), piece.bytes);
    else
      fillBytes(to, piece.bytes, transfer.fill);
    to += piece.bytes;
  }
}

void writePieces(Transfer &transfer) {
  if (std::exchange(transfer.isWritten, true))
    return;
  if (transfer.isOfGroup)
    transfer.warp->noteGlobalEffect();
  const uint8_t *from = transfer.data.data();
  uint32_t each = uint32_t(bytesOf(transfer.type));
  for (const Transfer::Piece &piece : transfer.pieces) {
    uint8_t *to = reinterpret_cast<uint8_t *>(piece.to);
    if (!transfer.reduction)
      std::memcpy(to, from, piece.bytes);
    else
      for (uint32_t at = 0; at < piece.bytes; at += each) {
        uint64_t value = 0;
        std::memcpy(&value, from + at, each);
        updateAtomically(*transfer.reduction, transfer.type, to + at, value);
      }
    from += piece.bytes;
  }
  transfer.data = {};
}

/// Nobody has to leave the source alone any longer; those who have waited as `actor` and `lane` may write it.
void releaseSource(Transfer &transfer, uint32_t actor, uint32_t lane) {
  if (transfer.source && transfer.readSet)
    transfer.source->shared.endReading(std::exchange(transfer.readSet, 0), transfer.source->order(), actor, lane, true);
}

/// What a transfer reads or writes of global memory.
AccessHistory::Ranges globalRanges(const Transfer &transfer) {
  AccessHistory::Ranges ranges;
  for (const Transfer::Piece &piece : transfer.pieces)
    if (uint64_t address = transfer.isOfGroup ? piece.to : piece.from; address && piece.bytes)
      ranges.push_back({address, piece.bytes});
  return ranges;
}

Access globalAccess(const Transfer &transfer) { return !transfer.isOfGroup ? Access::AsyncRead : transfer.reduction ? Access::StrongWrite : Access::Write; }

/// Ends a transfer that mbarriers tell of: all at once.
void complete(Transfer &transfer) {
  Cluster &cluster = transfer.warp->block.cluster;
  Order &order = cluster.order;
  if (transfer.isThreadArrival) {
    finishThreadCopies(*transfer.warp, transfer.lane, transfer.copies, transfer.moment);
    const Transfer::Arrival &arrival = transfer.arrivals.front();
    Mbarrier &barrier = findMbarrier(*transfer.warp, *transfer.instr, transfer.lane, *arrival.block, arrival.offset);
    barrier.arrived.join(transfer.clock);
    arriveAt(*transfer.warp, *transfer.instr, transfer.lane, *arrival.block, barrier, 1, false);
    return;
  }
  readPieces(transfer);
  writePieces(transfer);
  uint32_t actor = order.asyncActor();
  releaseSource(transfer, actor, SharedMemory::manyLanes);
  for (const Transfer::SharedTarget &target : transfer.targets)
    target.block->shared.endTransfer(order, actor, SharedMemory::manyLanes, transfer.instr->line, target.offset, target.bytes);
  if (transfer.readsGlobal && cluster.history)
    cluster.history->endAsyncRead(*transfer.warp, *transfer.instr, uint32_t(transfer.lane), globalRanges(transfer));
  Clock clock;
  order.release(actor, clock);
  for (const Transfer::Arrival &arrival : transfer.arrivals) {
    Mbarrier &barrier = findMbarrier(*transfer.warp, *transfer.instr, transfer.lane, *arrival.block, arrival.offset);
    completeTransactions(barrier, arrival.bytes, clock, cluster);
  }
  ++cluster.effects;
}

bool isWaitedFor(const Transfer &transfer) {
  return std::any_of(transfer.arrivals.begin(), transfer.arrivals.end(), [](const Transfer::Arrival &arrival) {
    auto found = arrival.block->async->mbarriers.find(arrival.offset);
    return found != arrival.block->async->mbarriers.end() && found->second.isWaitedFor;
  });
}

} // namespace

/// Ranges of shared memory without the gaps of wide swizzles; `place` says where a piece is.
template <typename F> static SharedMemory::Ranges rangesOf(const Transfer &transfer, Block &block, size_t first, F place) {
  uint64_t base = reinterpret_cast<uint64_t>(block.shared.data());
  SharedMemory::Ranges all, merged;
  for (size_t k = first; k < transfer.pieces.size(); ++k) {
    uint32_t begin = uint32_t(place(transfer.pieces[k]) - base) + sharedBase;
    all.push_back({begin, begin + transfer.pieces[k].bytes});
  }
  std::sort(all.begin(), all.end());
  for (auto [begin, end] : all)
    if (!merged.empty() && merged.back().second == begin)
      merged.back().second = end;
    else
      merged.push_back({begin, end});
  return merged;
}

void beginSourceRead(Transfer &transfer) {
  SharedMemory::Ranges ranges = rangesOf(transfer, transfer.warp->block, 0, [](const Transfer::Piece &piece) { return piece.from; });
  if (ranges.empty())
    return;
  transfer.source = &transfer.warp->block;
  transfer.readSet = transfer.source->shared.beginReading(*transfer.warp, *transfer.instr, uint32_t(transfer.lane), std::move(ranges));
}

void addTargets(Transfer &transfer, Block &block, size_t first) {
  for (auto [begin, end] : rangesOf(transfer, block, first, [](const Transfer::Piece &piece) { return piece.to; }))
    transfer.targets.push_back({&block, begin, end - begin});
}

void startTransfer(Transfer transfer) {
  Warp &warp = *transfer.warp;
  const Instr &i = *transfer.instr;
  for (const Transfer::Arrival &arrival : transfer.arrivals)
    findMbarrier(warp, i, transfer.lane, *arrival.block, arrival.offset);
  for (const Transfer::SharedTarget &target : transfer.targets) {
    if (transfer.reduction) { // others may update the same bytes
      target.block->shared.note(warp, i, uint32_t(transfer.lane), target.offset, target.bytes, Access::StrongRead);
      target.block->shared.note(warp, i, uint32_t(transfer.lane), target.offset, target.bytes, Access::StrongWrite);
      continue;
    }
    target.block->shared.note(warp, i, uint32_t(transfer.lane), target.offset, target.bytes, transfer.isRead ? Access::Write : Access::AsyncWrite);
    target.block->shared.beginTransfer(warp, i, uint32_t(transfer.lane), target.offset, target.bytes);
  }
  if (transfer.reduction)
    transfer.targets.clear();
  transfer.readsGlobal = !transfer.isOfGroup && !transfer.source && !transfer.isRead;
  if (AccessHistory *history = warp.block.cluster.history.get(); history && (transfer.isOfGroup || transfer.readsGlobal))
    history->noteRanges(warp, i, uint32_t(transfer.lane), globalRanges(transfer), globalAccess(transfer));
  for (const Transfer::Piece &piece : transfer.pieces)
    warp.statistics.asyncBytes += piece.bytes;
  warp.noteEffect();
  if (warp.launch.spec.timing == AsyncTiming::Early) {
    if (!transfer.isOfGroup)
      return complete(transfer);
    readPieces(transfer);
    writePieces(transfer);
  }
  warp.block.cluster.transfers->underWay.push_back(std::move(transfer));
}

void finishBulkGroups(Warp &warp, uint32_t mask, uint64_t left, bool readOnly) {
  std::erase_if(warp.block.cluster.transfers->underWay, [&](Transfer &transfer) {
    if (!transfer.isOfGroup || transfer.warp != &warp || !(mask >> transfer.lane & 1) ||
        transfer.group + left >= warp.async->committedBulk[size_t(transfer.lane)])
      return false;
    readPieces(transfer);
    releaseSource(transfer, warp.clockId, uint32_t(transfer.lane));
    if (readOnly)
      return false;
    writePieces(transfer);
    // Written between its start and now; both ends are noted.
    if (AccessHistory *history = warp.block.cluster.history.get())
      history->noteRanges(warp, *transfer.instr, uint32_t(transfer.lane), globalRanges(transfer), globalAccess(transfer));
    return true;
  });
  warp.noteEffect();
}

void checkTransfersAtExit(Warp &warp) {
  if (!warp.launch.spec.checks)
    return;
  for (const Transfer &transfer : warp.block.cluster.transfers->underWay) {
    if (transfer.source == &warp.block && transfer.readSet)
      warp.report(Finding::Kind::AsyncHazard, *transfer.instr, 1u << transfer.lane, "the block ends while this copy may still read its shared memory");
    for (const Transfer::SharedTarget &target : transfer.targets)
      if (target.block == &warp.block)
        warp.report(Finding::Kind::AsyncHazard, *transfer.instr, 1u << transfer.lane, "the block ends while this copy is on its way to its shared memory");
  }
}

bool Cluster::applyTransfers() {
  std::list<Transfer> &list = transfers->underWay;
  auto chosen = std::find_if(list.begin(), list.end(), isWaitedFor);
  if (chosen == list.end()) // someone may wait for it in another way
    chosen = std::find_if(list.begin(), list.end(), [](const Transfer &transfer) { return !transfer.isWritten; });
  if (chosen == list.end())
    return false;
  if (chosen->isOfGroup) { // it stays with its thread, which has not waited
    readPieces(*chosen);
    writePieces(*chosen);
    ++effects;
    return true;
  }
  Transfer transfer = std::move(*chosen);
  list.erase(chosen);
  complete(transfer);
  return true;
}

void Cluster::finishTransfers() {
  for (Transfer &transfer : transfers->underWay)
    if (transfer.isOfGroup) {
      readPieces(transfer);
      writePieces(transfer);
    }
  transfers->underWay.clear();
}

} // namespace tk::emulated
