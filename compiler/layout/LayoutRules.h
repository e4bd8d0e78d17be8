// How layouts travel through operations that only view a tile in another way.
#pragma once
#include "dialects/ttg/TTG.h"

namespace tk::compiler {

/// Views and repetitions: the layout of the result fixes that of every operand at no cost.
bool isView(mlir::Operation *op);
/// The layout that the operand of a view must have so that the result has `result` without any movement.
ttg::TileLayout operandLayout(mlir::Operation *view, const ttg::TileLayout &result);
/// The layout that a view's result has when its operand has `operand`; nothing where it is not determined (broadcasts).
std::optional<ttg::TileLayout> resultLayout(mlir::Operation *view, const ttg::TileLayout &operand);
/// For each bit of the result's index of a tt.trans the bit of the operand's index.
llvm::SmallVector<unsigned> transposedBits(tt::TransOp op);

} // namespace tk::compiler
