// How a matrix product without a matrix unit goes through shared memory: what the allocation reserves and the lowering addresses (LowerMultiplyAdd.cpp).
#pragma once
#include "dialects/ttg/TTG.h"

namespace tk::lower {

/// Both operands lie in shared memory row by row, in the type that is computed with, `depth` of K at a time: a as [rows of all batches, depth], b as [batch * depth, N].
struct MultiplyAddPlan {
  unsigned elementBytes = 4;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t depth = 1;               // of K at a time, a power of two
  uint64_t aStride = 0, bStride = 0; // of a row, in elements
  uint64_t bOffset = 0, bytes = 0;
};
MultiplyAddPlan planMultiplyAdd(tt::DotOp op);

} // namespace tk::lower
