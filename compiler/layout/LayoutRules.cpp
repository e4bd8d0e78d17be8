// See LayoutRules.h.
#include "compiler/layout/LayoutRules.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

bool compiler::isView(Operation *op) { return isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, tt::TransOp>(op); }

SmallVector<unsigned> compiler::transposedBits(tt::TransOp op) {
  SmallVector<AxisBits> from = axisBitsOf(tt::shapeOf(op.getSrc().getType())), to = axisBitsOf(tt::shapeOf(op.getType()));
  SmallVector<unsigned> bits(from.empty() ? 0 : from.front().begin + from.front().count);
  for (auto [axis, source] : llvm::enumerate(op.getOrder()))
    for (unsigned i = 0; i < to[axis].count; ++i)
      bits[to[axis].begin + i] = from[source].begin + i;
  return bits;
}

/// Bits of a broadcast's result whose axis has extent 1 in the operand.
static uint32_t repeatedBits(tt::BroadcastOp op) {
  ArrayRef<int64_t> from = tt::shapeOf(op.getSrc().getType());
  SmallVector<AxisBits> axes = axisBitsOf(tt::shapeOf(op.getType()));
  uint32_t mask = 0;
  for (auto [axis, extent] : llvm::enumerate(from))
    if (extent == 1)
      mask |= axes[axis].mask();
  return mask;
}

TileLayout compiler::operandLayout(Operation *view, const TileLayout &result) {
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(view))
    return result.restrictedTo(~repeatedBits(broadcast));
  if (auto trans = dyn_cast<tt::TransOp>(view))
    return result.permuted(transposedBits(trans));
  return result; // the row-major index is the same
}

std::optional<TileLayout> compiler::resultLayout(Operation *view, const TileLayout &operand) {
  if (isa<tt::BroadcastOp>(view))
    return std::nullopt;
  if (auto trans = dyn_cast<tt::TransOp>(view)) {
    SmallVector<unsigned> bits = transposedBits(trans), inverse(bits.size());
    for (auto [to, from] : llvm::enumerate(bits))
      inverse[from] = to;
    return operand.permuted(inverse);
  }
  return operand;
}
