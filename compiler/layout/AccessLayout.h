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
/// What bounds the elements that one instruction of a thread may move, all powers of two.
struct AccessWidth {
  unsigned axis = 0;       // along which they lie
  int64_t held = 1;        // neighbours that the layout gives a thread
  int64_t address = 1;     // that are proven to be neighbours in memory, and aligned together
  int64_t mask = 1;        // that are proven to have one mask
  int64_t instruction = 1; // that fit the widest instruction
  unsigned elements() const { return std::min({held, address, mask, instruction}); }
};
AccessWidth accessWidth(mlir::Operation *access, const ttg::TileLayout &layout, AxisInfoAnalysis &axes);
/// Elements that one instruction of a thread may move in this layout.
unsigned accessVector(mlir::Operation *access, const ttg::TileLayout &layout, AxisInfoAnalysis &axes);
/// The same for a load or store that moves the vectors for which its mask has two minds element by element, and all others whole: accessWidth, but with the
/// mask's edges (MaskEdges.h) no bound, wherever that is worth while.
AccessWidth edgedWidth(mlir::Operation *access, const ttg::TileLayout &layout, AxisInfoAnalysis &axes);

} // namespace tk::compiler
