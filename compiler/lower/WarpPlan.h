// Which warps of a block, which barriers and how many registers belong to each region of a kernel that divides its warps.
//
// Worked example: 4 warps in the function, partitions of 1 and of 4 warps. A partition begins at a multiple of its warps, or of 4 where it has more, as
// instructions of warp groups want it, and wide ones come first: warps 0 to 3 are the default region's, 4 to 7 the second partition's, 8 the first one's. The
// block has 9 warps. The barriers: 0 all warps, 1 the function's own, 2 + i those of partition i.
#pragma once
#include "dialects/ttg/TTG.h"
#include <string>

namespace tk::lower {

/// Numbers of hardware barriers.
inline constexpr unsigned kBlockBarrier = 0, kFunctionBarrier = 1, kFirstPartitionBarrier = 2, kBarriers = 16;

struct PartitionPlace {
  unsigned first = 0, warps = 0; // of the block
};
/// In the order of the partitions.
llvm::SmallVector<PartitionPlace> placePartitions(ttg::WarpSpecializeOp op);
/// Warps of the block: the function's, and behind them as many as the largest division needs; some may have nothing to do.
unsigned warpsOfBlock(tt::FuncOp function);
/// Some operation of the function divides the warps.
bool dividesWarps(tt::FuncOp function);

/// Values that partitions capture and that their warps can't know by themselves: they are handed over in shared memory, 8 bytes each. Constants, arguments of
/// the kernel and places in shared memory are the same for every warp.
llvm::SmallVector<mlir::Value> handedValues(ttg::WarpSpecializeOp op);
inline constexpr unsigned kHandedBytes = 8;
/// Of shared memory, for the number of the division that the waiting warps shall take part in.
inline constexpr unsigned kDispatchBytes = 16;

/// How registers move between the warps of a division.
struct RegisterPlan {
  unsigned own = 0;                        // of the default region's threads; 0: as at the launch
  llvm::SmallVector<unsigned> ofPartition; // likewise
  llvm::SmallVector<std::string> refused;  // why a partition's wish is not met; empty where it is, or where there was none
  bool changes() const {
    return own != 0 || llvm::any_of(ofPartition, [](unsigned count) { return count != 0; });
  }
};
/// Registers of a thread at the launch when the register file of 65536 is shared out evenly, in steps of 8; not more than `most`, 0: any number.
unsigned registersAtLaunch(unsigned warpsOfBlock, unsigned most);
/// What partitions ask for and leave; the default region gets what is left. `targetCan`: the target has warp groups whose registers can be changed. `launch`:
/// of each thread at the launch.
RegisterPlan planRegisters(ttg::WarpSpecializeOp op, bool targetCan, unsigned launch);

} // namespace tk::lower
