// Shapes of operands: padding with ones on the left, repetition along extents of one, scalars to tiles.
#include "lang/sema/Elaborator.h"

namespace tk::lang {

std::optional<llvm::SmallVector<int64_t>> Elaborator::broadcastShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  size_t rank = std::max(a.size(), b.size());
  llvm::SmallVector<int64_t> shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank], y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    shape[i] = x == 1 ? y : x;
  }
  return shape;
}

Runtime Elaborator::broadcastTo(Runtime value, llvm::ArrayRef<int64_t> shape, mlir::Location at) {
  if (value.shape() == shape)
    return value;
  if (!value.isTile()) {
    value.ssa = tt::SplatOp::create(builder, at, mlirType(value.type, shape), value.ssa);
    return value;
  }
  llvm::SmallVector<int64_t> extents(value.shape());
  while (extents.size() < shape.size()) {
    extents.insert(extents.begin(), 1);
    value.ssa = tt::ExpandDimsOp::create(builder, at, mlirType(value.type, extents), value.ssa, 0);
  }
  if (llvm::ArrayRef<int64_t>(extents) != shape)
    value.ssa = tt::BroadcastOp::create(builder, at, mlirType(value.type, shape), value.ssa);
  return value;
}

bool Elaborator::broadcastAll(llvm::MutableArrayRef<Runtime> values, const std::string &what, SourceRange range) {
  llvm::SmallVector<int64_t> shape(values[0].shape());
  bool tile = values[0].isTile();
  for (size_t i = 1; i < values.size(); ++i) {
    std::optional<llvm::SmallVector<int64_t>> joint = broadcastShape(shape, values[i].shape());
    if (!joint) {
      error(range, Diag::ShapeMismatch, what, typeText(TypeValue{values[0].type}, shape), typeText(values[i]));
      return false;
    }
    shape = *joint;
    tile = tile || values[i].isTile();
  }
  if (!tile)
    return true;
  if (!checkShape(shape, range))
    return false;
  mlir::Location at = loc(range);
  for (Runtime &value : values)
    value = broadcastTo(value, shape, at);
  return true;
}

Runtime Elaborator::reshape(const Runtime &value, llvm::ArrayRef<int64_t> shape, mlir::Location at, bool canReorder) {
  Runtime result = value;
  if (value.shape() == shape)
    return result;
  if (!value.isTile())
    return broadcastTo(value, shape, at);
  if (shape.empty()) {
    result.ssa = tt::UnsplatOp::create(builder, at, value.ssa);
    return result;
  }
  auto op = tt::ReshapeOp::create(builder, at, mlirType(value.type, shape), value.ssa);
  if (canReorder)
    op.setAllowReorder(true);
  result.ssa = op;
  return result;
}

} // namespace tk::lang
