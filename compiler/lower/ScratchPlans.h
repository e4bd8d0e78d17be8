// Shared memory that single families need: what scratchBytes (Scratch.h) is made of.
#pragma once
#include "dialects/ttg/TTG.h"

namespace tk::lower {
uint64_t scratchOf(tt::ScanOp op);
uint64_t scratchOf(tt::GatherOp op);
uint64_t scratchOf(tt::HistogramOp op);
uint64_t scratchOfAtomic(mlir::Operation *op);
} // namespace tk::lower
