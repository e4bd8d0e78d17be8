// Shared memory that an operation uses while it executes: what the allocation reserves and the lowering addresses, computed in one place.
#pragma once
#include "compiler/lower/SharedPlan.h"
#include "compiler/lower/ShufflePlan.h"

namespace tk::lower {

/// How a layout conversion moves its elements.
struct ConversionPlan {
  enum class Kind { Nothing, Registers, Shuffles, Shared } kind = Kind::Nothing;
  std::optional<ShufflePlan> shuffles; // with that kind
  /// Shared memory: the offset of an element, in elements, is the XOR of these over the set bits of its index.
  llvm::SmallVector<uint32_t> offsetOfIndexBit;
  /// Images (as index) of registers that both sides move at once: they have the lowest offset bits.
  llvm::SmallVector<uint32_t> vector;
  /// Images of registers of both sides that are moved in rounds, one round for each of their values, to save memory.
  llvm::SmallVector<uint32_t> rounds;
  uint64_t elements = 0; // of one round
  uint32_t offsetOf(uint32_t index) const { return ttg::TileLayout::apply(offsetOfIndexBit, index); }
};
/// By the cheapest way.
ConversionPlan planConversion(const ttg::TileLayout &from, const ttg::TileLayout &to, unsigned indexBits, unsigned elementBytes);

/// How a reduction goes along its axis: bits of the axis in the order in which pairs are combined.
struct ReductionPlan {
  enum class Kind { Register, Lane, Warp };
  struct Step {
    Kind kind;
    unsigned bit;   // of the register, lane or warp number
    uint32_t index; // its image
  };
  llvm::SmallVector<Step> steps;       // warps are neighbours in this list
  uint32_t laneBits = 0, warpBits = 0; // bits of lane and warp number along the axis
  uint32_t idleLaneBits = 0;           // bits of the lane number without meaning
  unsigned entries = 0;                // results of a thread when warps exchange theirs
  bool crossesWarps() const { return warpBits != 0; }
  /// Warps exchange their results once, when their lanes have finished: what the lowering can do.
  bool endsWithWarps() const;
};
ReductionPlan planReduction(const ttg::TileLayout &layout, ttg::AxisBits axis, bool commutative);
/// For an operation whose operands have their layouts.
ReductionPlan planReduction(tt::ReduceOp op);
/// The combine region's operations may take their operands in any order.
bool isCommutative(mlir::Region &combine);

/// How a gather stays within warps, where it can: which bits of register and lane number count along the source's axis, and their place there.
struct WarpGather {
  struct Bit {
    unsigned number, position; // of the register or lane number, of the index along the axis
  };
  llvm::SmallVector<Bit> registers, lanes;
  unsigned registerMask = 0, laneMask = 0;
};
std::optional<WarpGather> planWarpGather(tt::GatherOp op);
/// The index without the bits of `axis`.
uint32_t outsideAxis(uint32_t index, ttg::AxisBits axis);
/// What a scan keeps of one operand for a run of warps when the lower `bitsBelow` bits of the axis are done.
uint64_t scanTotalsBytes(mlir::Type tile, unsigned bitsBelow);
/// How other threads with the same element learn what an atomic found.
enum class Sharing { None, Shuffle, Memory };
Sharing planSharing(mlir::Operation *atomic);

/// Bytes of shared memory that the lowering of `op` needs; 0: none.
uint64_t scratchBytes(mlir::Operation *op);
/// Bytes of an element there: i1 takes a byte.
unsigned sharedBytesOf(mlir::Type element);

/// A scalar access that executes once, its result being broadcast: volatile and atomic ones, and loads that decide control flow.
bool executesOnce(mlir::Operation *op);

} // namespace tk::lower
