// A block, and the cluster that is scheduled as one unit on one host thread.
#pragma once
#include "runtime/device/emulated/AccessHistory.h"
#include "runtime/device/emulated/SharedMemory.h"
#include "runtime/device/emulated/Warp.h"
#include <functional>

namespace tk::emulated {

class Cluster;

/// One of the 16 barriers of a block (PTX ISA 9.7.13.1).
struct NamedBarrier {
  uint32_t expected = 0;             // threads; 0: all that are alive
  bool counted = false;              // `expected` was given
  uint32_t arrived = 0;              // threads
  uint32_t line = 0;                 // of the first that arrived
  uint32_t trueVotes = 0, votes = 0; // of bar.red
  Clock clock;
  struct Waiter {
    Warp *warp;
    const Instr *instr;
    uint32_t mask;
    uint8_t *registers; // of the frame that waits
  };
  std::vector<Waiter> waiters;
};

class Block {
public:
  Block(Cluster &cluster, uint32_t rank, const std::array<uint32_t, 3> &id);
  ~Block();
  bool isDone() const { return liveThreads == 0; }
  Order &order();
  uint32_t warpCount() const { return uint32_t(warps.size()); }

  /// Lanes arrive; true when the barrier is complete with them, and then all that waited go on.
  bool arrive(Warp &warp, const Instr &i, uint32_t mask, uint32_t barrier, uint32_t expected, bool waits, bool aligned, uint32_t votes);
  void threadsExited(Warp &warp, uint32_t count);

  Cluster &cluster;
  Launch &launch;
  const uint32_t rank;
  const std::array<uint32_t, 3> id; // %ctaid
  SharedMemory shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<NamedBarrier, 16> barriers;
  uint32_t liveThreads = 0, threads = 0;
  // mbarriers and transfers of the asynchronous units are kept by their own files.
  struct AsyncState;
  std::unique_ptr<AsyncState> async;

private:
  void completeIfFull(uint32_t barrier);
};

class Cluster {
public:
  Cluster(Launch &launch, Statistics &statistics, uint64_t index);
  ~Cluster();
  enum class Result : uint8_t { Done, Waiting, Running };
  /// Runs its warps in turn until all are done, all of them only wait for other clusters, or the budget is spent.
  Result run(uint64_t budget);

  Launch &launch;
  Statistics &statistics;
  std::vector<std::unique_ptr<Block>> blocks;
  std::array<uint32_t, 3> id = {0, 0, 0};
  Order order;
  std::unique_ptr<AccessHistory> history; // of global memory; none without checks
  uint64_t effects = 0;                   // stores, arrivals and the like: what may let a waiting warp go on
  uint64_t globalEffects = 0;             // changes of global memory: what may let another cluster go on
  bool pollsMemory = false;               // some warp waits for a value in global memory
  uint32_t idleRounds = 0;
  // barrier.cluster
  uint32_t arrivedThreads = 0;
  Clock arrivedClock, completeClock;
  uint64_t phase = 0;
  std::string describeWaiting() const;
  void arriveBarrier(Warp &warp, uint32_t mask, bool releases);
  void threadsExited();
  uint32_t liveThreads() const;

  struct Transfers; // of the asynchronous units (Transfers.h)
  std::unique_ptr<Transfers> transfers;

private:
  void finishTransfers();
  bool anyReady() const;
  void completeBarrier();
  bool applyTransfers();
};

} // namespace tk::emulated
