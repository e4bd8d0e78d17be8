// Products of warp groups whose sum only goes from round to round of a loop, so that one may go on while the next round begins.
#pragma once
#include "dialects/ttg/TTG.h"

namespace tk::compiler {

/// The sum comes from the round before and is for the next one, whom nobody else asks; the product is waited for at once, and its left operand is in shared memory.
bool carriesSum(ttg::WarpgroupDotOp dot);

/// The load whose tile is this operand in shared memory, as it is or with its axes in another order; null: it comes from elsewhere.
tt::LoadOp loadedOperand(mlir::Value operand);

} // namespace tk::compiler
