// wgmma under way: what the four warps of a warpgroup share of it, and the multiplication itself.
#pragma once
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/MatrixDescriptor.h"
#include <deque>

namespace tk::emulated {

/// In Instr::target.
struct WgmmaShape {
  uint32_t n : 9, k : 9, a : 6, b : 6;
};
enum WgmmaFlags : uint32_t {
  wgmmaNegatesA = 1,
  wgmmaNegatesB = 2,
  wgmmaTransposesA = 4,
  wgmmaTransposesB = 8,
  wgmmaSaturates = 16,
  wgmmaNegatesPredicate = 32,
  wgmmaIsFloat = 64
};

/// One wgmma.mma_async of a warpgroup. Operands in shared memory are read once for all warps, when the first one needs them.
struct Wgmma {
  const Instr *instr = nullptr;
  uint64_t aDescriptor = 0, bDescriptor = 0;
  bool accumulates = false;
  uint32_t issued = 0, done = 0; // a bit for each warp
  uint64_t readSet = 0;          // in SharedMemory
  bool isRead = false;
  std::vector<float> a, b; // a: 64 x k, b: k x n; of integers the words are integers
};

struct Warpgroup {
  uint64_t first = 0; // number of operations.front()
  std::deque<Wgmma> operations;
};

/// What a warp has under way.
struct PendingWgmma {
  const Instr *instr;
  const Function *function;
  uint8_t *registers;
  uint64_t number; // in the warpgroup
  uint64_t group;  // commits before it
  bool applied = false;
};

/// The chunks of 16 bytes that the descriptors name, as sorted ranges of bytes of shared memory without gaps or overlaps.
std::vector<std::pair<uint32_t, uint32_t>> rangesOf(const Instr &i, uint64_t aDescriptor, uint64_t bDescriptor);
/// Computes this warp's 16 rows: from the registers and shared memory as they are now.
void multiply(Warp &warp, Wgmma &operation, const PendingWgmma &pending);

} // namespace tk::emulated
