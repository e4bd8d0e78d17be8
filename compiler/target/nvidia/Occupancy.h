// How many blocks of a kernel a multiprocessor holds at once, and what bounds them.
//
// Worked example: sm_90, blocks of 4 warps with 38 registers a thread and 20000 bytes of shared memory. A warp takes 38 x 32 = 1216 registers, in units of 256:
// 1280. Each of the four parts of the register file (16384) holds 12 such warps, so 48 warps, 12 blocks. Shared memory: 20000 + 1024 bytes, in units of 128:
// 21120, of 233472: 11 blocks. Warps: 64 / 4 = 16 blocks. Blocks: 32. So 11 blocks, 44 warps of 64, bounded by shared memory.
#pragma once
#include <cstdint>

namespace tk::nvidia {

struct Occupancy {
  unsigned blocks = 0;   // resident on one multiprocessor; 0: the kernel can't be launched
  unsigned warps = 0;    // of these blocks
  unsigned maxWarps = 0; // that a multiprocessor has room for
  /// Blocks by each bound alone.
  unsigned byWarps = 0, byBlocks = 0, byShared = 0, byRegisters = 0;
  const char *bound = ""; // warps, blocks, shared memory or registers: the one that decides
};

/// `sm` of a row of Targets.def. `registers` of a thread; 0: not known, and no bound.
Occupancy occupancyOf(unsigned sm, unsigned warpsOfBlock, uint64_t sharedBytes, unsigned registers);

} // namespace tk::nvidia
