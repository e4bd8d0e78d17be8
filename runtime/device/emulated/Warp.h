// A warp: 32 lanes in groups that each have a program counter.
//
// Lanes that branch apart become groups; the group that stands furthest behind (deepest call, then lowest program counter) runs first, and groups that meet
// become one. That reconverges where compilers lay code out in order, which is all of them, and it is never needed for correctness: instructions that need
// several lanes wait for them. A group that spins (Block.h) or has run long gives the others of its warp a turn, so that a lane may wait for another lane.
#pragma once
#include "runtime/device/emulated/Program.h"
#include "runtime/device/emulated/Report.h"
#include <new>

namespace tk::emulated {

class Block;
class Launch;

template <typename F> inline void forEachLane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1)
    f(__builtin_ctz(mask));
}

struct Frame {
  const Function *function = nullptr;
  uint8_t *registers = nullptr;
  Frame *caller = nullptr;
  uint32_t returnTo = 0; // in the caller
  const Instr *call = nullptr;
  uint32_t depth = 0, lanes = 0; // lanes that have not returned
  uint32_t localBase = 0;
};

struct Group {
  enum class State : uint8_t { Ready, Converge, Barrier, ClusterBarrier, Warpgroup, Registers } state = State::Ready;
  uint8_t barrier = 0;
  uint32_t pc = 0, mask = 0;
  Frame *frame = nullptr;
};

class Warp {
public:
  Warp(Block &block, uint32_t index, uint32_t lanes);
  ~Warp();
  Warp(const Warp &) = delete;
  Warp &operator=(const Warp &) = delete;

  /// Runs until all groups wait or are done, something yields, or about `budget` instructions are executed.
  void run(uint32_t budget);
  bool isDone() const { return groups.empty(); }
  bool isReady() const;
  /// After a slice: true when nothing but waiting was done.
  bool onlyPolled() const { return polled; }
  /// After a slice: true when it ended for the budget.
  bool ranOut() const { return exhausted; }

  // For handlers.
  template <typename T> T *at(int32_t offset) const { return reinterpret_cast<T *>(registers + offset); }
  uint32_t &predicate(int32_t offset) const { return *reinterpret_cast<uint32_t *>(registers + offset); }
  const int32_t *listOf(const Instr &i) const { return frame->function->lists.data() + i.list; }
  uint8_t *localMemory(int lane) { return local.data() + size_t(lane) * localStride; }
  uint32_t localLimit() const { return localStride; }
  uint32_t localBase() const { return frame->localBase; }
  [[noreturn]] void fault(const Instr &i, uint32_t lanes, std::string message, Finding::Cause cause = Finding::Cause::Other);
  void report(Finding::Kind kind, const Instr &i, uint32_t lanes, std::string message);
  uint32_t threadOf(int lane) const { return index * 32 + uint32_t(lane); }
  /// What a spinning loop does is told from this: the same instruction reads the same value over and over.
  void notePoll(const Instr &i, uint64_t value);
  void noteEffect();
  /// An instruction names registers of a wgmma (WgmmaOps.cpp).
  void touchRegisters(const Instr &i);
  /// Global memory has changed.
  void noteGlobalEffect();

  // For controllers. What they do to the running group takes effect at once.
  Outcome branch(uint32_t taken, uint32_t target);
  Outcome branchMany(const std::array<uint32_t, 32> &targets, uint32_t mask);
  Outcome call(const Instr &i, const Function &callee, uint32_t mask);
  Outcome returnFrom(uint32_t mask);
  Outcome exitLanes(uint32_t mask);
  /// The lanes wait behind the instruction until `wake`; the group's other lanes go on.
  Outcome blockAt(Group::State state, uint32_t mask, uint8_t barrier = 0);
  /// The lanes wait at the instruction until more lanes of the warp come to it.
  Outcome waitForLanes(const Instr &i, uint32_t mask);
  void wake(Group::State state, uint8_t barrier);
  Group &currentGroup() { return groups[current]; }
  uint32_t activeLanes() const { return groups[current].mask; }
  const Function &function() const { return *frame->function; }
  /// The running group goes on with `part` of `mask`; the rest of the mask comes to the instruction again.
  void keepOnly(uint32_t part, uint32_t mask);
  Outcome takeYield() {
    bool yield = wantsYield;
    wantsYield = false;
    return yield ? Outcome::Yield : Outcome::Next;
  }

  Block &block;
  Launch &launch;
  Statistics &statistics;
  const uint32_t index;
  const uint32_t initialLanes;
  uint32_t alive;   // lanes that have not exited
  uint32_t clockId; // of the race detector
  uint64_t executed = 0;
  uint32_t registerCount = 0; // of a thread, as setmaxnreg left it
  std::vector<Group> groups;
  std::array<uint64_t, 32> clusterPhase = {}; // of the cluster's barrier that a lane has arrived at
  struct Range {
    uint64_t low = 1, high = 0;
    bool readOnly = false;
  };
  std::array<Range, 4> ranges; // the last allocations that accesses fell into
  uint32_t nextRange = 0;
  std::vector<uint32_t> storeTimes; // by Instr::number: how often the warp has come to it, be it for no lane
  bool wantsYield = false;
  // Outstanding asynchronous work is kept by its own files.
  struct AsyncState;
  std::unique_ptr<AsyncState> async;

private:
  bool select();
  void use(size_t group);
  bool releaseWarpBarrier();
  Outcome collective(const Instr &i, uint32_t mask);
  Frame *enter(const Function &function, Frame *caller, uint32_t lanes);
  void fill(Frame &frame, const Constant &constant);
  void dropLanes(Frame *frame, uint32_t lanes);
  void growLocal(uint32_t bytes);
  void splitOff(uint32_t mask);
  void copyLocal(uint32_t from, uint32_t to, uint32_t bytes, uint32_t mask);

  uint8_t *registers = nullptr;
  Frame *frame = nullptr;
  size_t current = 0;
  uint32_t pc = 0, limit = ~0u;
  bool rotate = false, polled = false, exhausted = false;
  size_t turn = 0;
  struct Poll {
    const Instr *at = nullptr;
    uint64_t value = 0;
    uint32_t times = 0;
  };
  std::array<Poll, 4> polls; // of a few instructions, as a loop may wait for several values
  size_t nextPoll = 0;
  std::vector<uint8_t> local;
  uint32_t localStride = 0;
  /// Registers start where a cache line does; memory that was asked for with an alignment is given back with it.
  static constexpr std::align_val_t kFrameAlignment{64};
  struct AlignedDelete {
    void operator()(uint8_t *memory) const { operator delete[](memory, kFrameAlignment); }
  };
  struct OwnedFrame : Frame {
    std::unique_ptr<uint8_t[], AlignedDelete> memory;
  };
  std::vector<std::unique_ptr<OwnedFrame>> frames; // all that were ever needed; free ones have lanes == 0
};

} // namespace tk::emulated
