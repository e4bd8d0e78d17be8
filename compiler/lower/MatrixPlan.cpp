// See MatrixPlan.h.
#include "compiler/lower/MatrixPlan.h"

using namespace mlir;
using namespace tk;
using namespace tk::lower;

/// Bytes of both operands from which K is cut: a block with more shares its multiprocessor with few others.
static constexpr uint64_t kMostBytes = 49152;

MultiplyAddPlan lower::planMultiplyAdd(tt::DotOp op) {
  MultiplyAddPlan plan;
  ArrayRef<int64_t> a = tt::shapeOf(op.getA().getType()), d = tt::shapeOf(op.getType());
  size_t rank = d.size();
  for (int64_t extent : d.drop_back(2))
    plan.batch *= extent;
  plan.m = d[rank - 2], plan.n = d[rank - 1], plan.k = a[rank - 1];
  plan.elementBytes = tt::elementType(op.getType()).isF64() ? 8 : 4;
  // Rows begin 16 bytes further than they would, so that the same place of neighbouring rows lies in different banks; vectors stay aligned.
  uint64_t pad = 16 / plan.elementBytes;
  auto strideOf = [&](int64_t extent) { return uint64_t(extent) + (extent * plan.elementBytes >= 16 ? pad : 0); };
  auto settle = [&] {
    plan.aStride = strideOf(plan.depth), plan.bStride = strideOf(plan.n);
    plan.bOffset = (uint64_t(plan.batch * plan.m) * plan.aStride * plan.elementBytes + 15) / 16 * 16;
    plan.bytes = plan.bOffset + uint64_t(plan.batch * plan.depth) * plan.bStride * plan.elementBytes;
  };
  for (plan.depth = plan.k, settle(); plan.bytes > kMostBytes && plan.depth > 1; settle())
    plan.depth /= 2;
  return plan;
}
