// What the asynchronous units have under way, of a warp and of a block.
#pragma once
#include "runtime/device/emulated/Mbarrier.h"
#include "runtime/device/emulated/Wgmma.h"

namespace tk::emulated {

/// cp.async of one lane (PTX ISA 9.7.9.25): bytes from global to shared memory, the rest of `bytes` zero.
struct ThreadCopy {
  const Instr *instr;
  uint8_t lane;
  uint8_t bytes, sourceBytes;
  uint32_t offset; // in shared memory
  uint64_t source;
  uint64_t group;  // commits of the lane before it
  uint64_t number; // in the warp
};

struct Warp::AsyncState {
  std::vector<ThreadCopy> copies;              // under way, in order
  std::array<uint64_t, 32> committed = {};     // groups of each lane
  std::array<uint64_t, 32> committedBulk = {}; // the same of bulk copies
  uint64_t startedCopies = 0;
  // wgmma
  std::vector<PendingWgmma> wgmmas;
  uint64_t issuedWgmmas = 0, committedWgmmas = 0; // committed: groups
  bool hasFenced = false;
  std::map<uint8_t *, std::vector<uint32_t>> touched; // by frame: the lines that have named each wgmma register since the last wgmma.fence
};

struct Block::AsyncState {
  std::map<uint32_t, Mbarrier> mbarriers; // by offset in shared memory
  std::array<Warpgroup, 8> warpgroups;
};

} // namespace tk::emulated
