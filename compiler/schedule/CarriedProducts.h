// How products of warp groups depend on the rounds of their loop: which of them may go on while the next round begins.
#pragma once
#include "dialects/ttg/TTG.h"

namespace tk::compiler {

/// The wait right for this product alone; null: there is none, or others are waited for with it.
ttg::WarpgroupWaitOp waitOf(ttg::WarpgroupDotOp dot);

/// The sum comes from the round before and is for the next one, whom nobody else asks; the product is waited for at once, and its left operand is in shared
/// memory.
bool carriesSum(ttg::WarpgroupDotOp dot);

/// Only the next round, or who comes behind the loop, asks for the sum; the product is waited for at once. The next round may change it before it is a sum
/// again.
bool isForNextRound(ttg::WarpgroupDotOp dot);

/// The load whose tile is this operand in shared memory, as it is or with its axes in another order; null: it comes from elsewhere.
tt::LoadOp loadedOperand(mlir::Value operand);

/// The views, and the slot of the memory, that an operand is; outermost last. Empty where it is something else.
llvm::SmallVector<mlir::Operation *> viewsOf(mlir::Value operand, mlir::scf::ForOp loop);

} // namespace tk::compiler
