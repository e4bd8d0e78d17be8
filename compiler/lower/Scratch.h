// Shared memory that an operation uses while it executes: what the allocation reserves and the lowering addresses, computed in one place.
#pragma once
#include "dialects/ttg/TTG.h"

namespace tk::lower {

/// How a layout conversion moves its elements.
struct ConversionPlan {
  enum class Kind { Nothing, Registers, Shuffles, Shared } kind = Kind::Nothing;
  /// Shared memory: bit i of an element's offset (in elements) is bit position in `offset`: offset = XOR of offset[i] over the bits i of the tile's index.
  llvm::SmallVector<uint32_t> offsetOfIndexBit;
  unsigned vectorBits = 0; // elements that both sides move at once, as a power of two
};
ConversionPlan planConversion(const ttg::TileLayout &from, const ttg::TileLayout &to, unsigned indexBits, unsigned elementBytes);

/// Bytes of shared memory that the lowering of `op` needs; 0: none.
uint64_t scratchBytes(mlir::Operation *op);
/// Bytes of an element there: i1 takes a byte.
unsigned sharedBytesOf(mlir::Type element);

/// A reduction or scan across warps: which bits of the warp number run along the axis.
uint32_t warpBitsAlong(const ttg::TileLayout &layout, ttg::AxisBits axis);
/// A scalar access that executes once, its result being broadcast (volatile and atomic ones, and loads that decide control flow).
bool executesOnce(mlir::Operation *op);

} // namespace tk::lower
