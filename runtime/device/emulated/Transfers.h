// Transfers of the asynchronous units: from the instruction that starts them to the mbarrier or the group that tells of their end.
//
// A transfer is pieces of memory to read and to write, found when it starts. Late, it is read and written when someone waits for it and nothing else can go on:
// one that a waiting warp needs comes first, so that all others stay under way. Early, at its start.
#pragma once
#include "runtime/device/emulated/AtomicOperation.h"
#include "runtime/device/emulated/Block.h"
#include <list>
#include <optional>

namespace tk::emulated {

struct Transfer {
  struct Piece {
    uint64_t from, to; // addresses of the host; from 0: filled
    uint32_t bytes;
  };
  struct SharedTarget {
    Block *block;
    uint32_t offset, bytes;
  };
  struct Arrival { // an mbarrier, and the bytes of complete_tx
    Block *block;
    uint32_t offset, bytes;
  };
  const Instr *instr = nullptr;
  Warp *warp = nullptr;
  int lane = 0;
  std::vector<Piece> pieces;
  std::vector<SharedTarget> targets; // marked as under way
  std::vector<Arrival> arrivals;
  Block *source = nullptr; // whose shared memory it reads
  uint64_t readSet = 0;
  std::vector<uint8_t> data; // once it is read
  bool isRead = false, isWritten = false;
  bool readsGlobal = false;
  bool isOfGroup = false;
  uint64_t group = 0; // commits of the lane before it
  uint32_t fill = 0;  // pattern of what is out of bounds
  std::optional<AtomicOperation> reduction;
  Type type = Type::B8; // of a reduction's elements
  // cp.async.mbarrier.arrive: an arrival when the lane's copies up to this one are complete.
  bool isThreadArrival = false;
  uint64_t copies = 0;
  Clock clock;
  uint32_t moment = 0;
};

struct Cluster::Transfers {
  std::list<Transfer> underWay;
};

/// Begins it, with its pieces, targets and arrivals filled in: checks, marks, and what early timing does at once.
void startTransfer(Transfer transfer);
/// Marks what the pieces read of the issuing block's shared memory until the transfer has done so.
void beginSourceRead(Transfer &transfer);
/// Adds what the pieces from `first` on write of a block's shared memory to the targets.
void addTargets(Transfer &transfer, Block &block, size_t first);
/// The lane's groups but the `left` youngest: read, or complete.
void finishBulkGroups(Warp &warp, uint32_t mask, uint64_t left, bool readOnly);
/// Reports what still uses the block's shared memory when its last thread exits.
void checkTransfersAtExit(Warp &warp);

} // namespace tk::emulated
