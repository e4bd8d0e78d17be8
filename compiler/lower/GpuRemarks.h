// What the lowering of ttg says of memory: why an access is as wide as it is, and who wants a tile in another layout.
#pragma once
#include "compiler/analysis/AxisInfo.h"
#include "compiler/lower/Scratch.h"

namespace tk::lower {

/// Of a load, store or atomic of a scalar, or of a tile in `layout`. `elements` of one access; `accesses` of a thread.
void remarkAccess(mlir::Operation *op, const ttg::TileLayout *layout, unsigned elements, unsigned accesses, compiler::AxisInfoAnalysis &axes);
/// Of a conversion through shared memory or shuffles.
void remarkConversion(ttg::ConvertLayoutOp op, const ConversionPlan &plan);

} // namespace tk::lower
