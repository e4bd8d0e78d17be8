// Layouts that suit memory: neighbouring threads touch neighbouring addresses, each with the widest vector that is proven to be aligned.
#pragma once
#include "compiler/analysis/AxisInfo.h"
#include "dialects/ttg/TTG.h"

namespace tk::compiler {

/// A block's threads, as bits.
struct BlockShape {
  unsigned laneBits = 5, warpBits = 2;
};

/// The layout in which a load, store or atomic moves the fewest and widest pieces.
ttg::TileLayout coalescedLayout(mlir::Operation *access, AxisInfoAnalysis &axes, BlockShape block);
/// Bytes asked for over bytes of the 32-byte sectors that one warp touches with the first vector of each lane: 1 is best.
double sectorUse(mlir::Operation *access, const ttg::TileLayout &layout, AxisInfoAnalysis &axes);
/// Elements that one instruction of a thread may move in this layout.
unsigned accessVector(mlir::Operation *access, const ttg::TileLayout &layout, AxisInfoAnalysis &axes);

} // namespace tk::compiler
