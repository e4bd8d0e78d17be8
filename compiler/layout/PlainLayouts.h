// Layouts of tiles whose place no memory access and no matrix instruction decides.
#pragma once
#include "compiler/layout/AccessLayout.h"

namespace tk::compiler {

/// Vectors of up to 16 bytes along the last axis, as a store would want it.
ttg::TileLayout plainLayout(BlockShape block, mlir::Type tile);
/// The axis first in registers, then lanes, then warps, so that order along it is order of (register, lane, warp).
ttg::TileLayout scanLayout(BlockShape block, mlir::Type tile, unsigned axis);
/// Sums of a product by multiply-adds: each thread has a piece of up to 4 x 4, so that an operand serves several products.
ttg::TileLayout multiplyAddLayout(BlockShape block, mlir::Type tile);

} // namespace tk::compiler
