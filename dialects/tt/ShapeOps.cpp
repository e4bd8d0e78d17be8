// Creation of tiles and movement of their elements: verifiers, folders and canonicalizations.
#include "dialects/tt/TT.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include <numeric>

using namespace mlir;
using namespace tk::tt;

// ---- what the views share ----

static RankedTensorType tileType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A view of a tile whose elements are all one constant is that constant in the new shape.
static OpFoldResult foldView(Attribute source, Value result) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(source);
  return splat ? splat.resizeSplat(tileType(result)) : DenseElementsAttr();
}

/// view(splat(x)) = splat(x)
template <typename View>
static LogicalResult viewOfSplat(View op, PatternRewriter &rewriter) {
  auto splat = op.getSrc().template getDefiningOp<SplatOp>();
  if (!splat)
    return rewriter.notifyMatchFailure(op, "the source is not a splat");
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
  return success();
}

static LogicalResult verifySameElements(Operation *op, Value source, Value result, StringRef id) {
  Type from = elementType(source.getType()), to = elementType(result.getType());
  if (from == to)
    return success();
  return op->emitOpError() << "must keep the element type " << from << ", found " << to << " [" << id << "]";
}

// ---- tt.make_range ----

LogicalResult MakeRangeOp::verify() {
  int64_t start = int32_t(getStart()), end = int32_t(getEnd());
  if (end <= start)
    return emitOpError() << "end must be greater than start, found [" << start << ", " << end << ") [MR1]";
  if (tileType(getResult()).getRank() != 1 || tileType(getResult()).getDimSize(0) != end - start)
    return emitOpError() << "must give a rank-1 tile of extent " << end - start << ", found " << getType() << " [MR2]";
  return success();
}

/// A range of one element is a constant.
OpFoldResult MakeRangeOp::fold(FoldAdaptor) {
  if (tileType(getResult()).getNumElements() != 1)
    return {};
  return DenseElementsAttr::get(tileType(getResult()), int32_t(getStart()));
}

// ---- tt.splat and tt.unsplat ----

LogicalResult SplatOp::verify() {
  if (elementType(getType()) != getSrc().getType())
    return emitOpError() << "must give a tile of " << getSrc().getType() << ", found " << getType() << " [SP1]";
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (isa_and_nonnull<IntegerAttr, FloatAttr>(adaptor.getSrc()))
    return SplatElementsAttr::get(cast<ShapedType>(getType()), adaptor.getSrc());
  return {};
}

LogicalResult UnsplatOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr, OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  if (operands.empty())
    return failure();
  types.push_back(elementType(operands.front().getType()));
  return success();
}

LogicalResult UnsplatOp::verify() {
  if (tileType(getSrc()).getNumElements() != 1)
    return emitOpError() << "needs a tile of one element, found " << getSrc().getType() << " [US1]";
  if (getType() != elementType(getSrc().getType()))
    return emitOpError() << "must give " << elementType(getSrc().getType()) << ", found " << getType() << " [US2]";
  return success();
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto splat = getSrc().getDefiningOp<SplatOp>()) // unsplat(splat(x)) = x
    return splat.getSrc();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc()))
    return splat.getSplatValue<Attribute>();
  return {};
}

// ---- tt.expand_dims ----

LogicalResult ExpandDimsOp::verify() {
  RankedTensorType from = tileType(getSrc()), to = tileType(getResult());
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis > from.getRank())
    return emitOpError() << "axis must be in [0, " << from.getRank() << "], found " << axis << " [ED1]";
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + axis, 1);
  if (to.getShape() != ArrayRef<int64_t>(shape) || to.getElementType() != from.getElementType())
    return emitOpError() << "must give " << RankedTensorType::get(shape, from.getElementType()) << ", found " << to << " [ED2]";
  return success();
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) { return foldView(adaptor.getSrc(), getResult()); }
void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(viewOfSplat<ExpandDimsOp>); }

// ---- tt.broadcast ----

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = tileType(getSrc()), to = tileType(getResult());
  if (from.getRank() != to.getRank())
    return emitOpError() << "must keep the rank, found " << from << " -> " << to << " [BC1]";
  if (failed(verifySameElements(*this, getSrc(), getResult(), "BC1")))
    return failure();
  for (auto [axis, extents] : llvm::enumerate(llvm::zip(from.getShape(), to.getShape())))
    if (auto [source, result] = extents; source != 1 && source != result)
      return emitOpError() << "cannot repeat extent " << source << " to " << result << " on axis " << axis << " [BC2]";
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<BroadcastOp>()) { // broadcast(broadcast(x)) = broadcast(x)
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return foldView(adaptor.getSrc(), getResult());
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(viewOfSplat<BroadcastOp>); }

// ---- tt.reshape ----

LogicalResult ReshapeOp::verify() {
  if (tileType(getSrc()).getNumElements() != tileType(getResult()).getNumElements())
    return emitOpError() << "must keep the number of elements, found " << getSrc().getType() << " -> " << getType() << " [RS1]";
  return verifySameElements(*this, getSrc(), getResult(), "RS1");
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<ReshapeOp>()) { // reshape(reshape(x)) = reshape(x); row-major order is one of the free ones
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return foldView(adaptor.getSrc(), getResult());
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(viewOfSplat<ReshapeOp>); }

// ---- tt.trans ----

LogicalResult TransOp::verify() {
  RankedTensorType from = tileType(getSrc()), to = tileType(getResult());
  SmallVector<int32_t> sorted(getOrder()), axes(from.getRank());
  llvm::sort(sorted);
  std::iota(axes.begin(), axes.end(), 0);
  if (sorted != axes)
    return emitOpError() << "order must be a permutation of the " << from.getRank() << " axes, found [" << getOrder() << "] [T1]";
  SmallVector<int64_t> shape;
  for (int32_t axis : getOrder())
    shape.push_back(from.getDimSize(axis));
  if (to.getShape() != ArrayRef<int64_t>(shape) || to.getElementType() != from.getElementType())
    return emitOpError() << "must give " << RankedTensorType::get(shape, from.getElementType()) << ", found " << to << " [T2]";
  return success();
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  SmallVector<int32_t> axes(getOrder().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (getOrder() == ArrayRef<int32_t>(axes))
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<TransOp>()) { // result axis i is axis inner[outer[i]] of the first source
    SmallVector<int32_t> order;
    for (int32_t axis : getOrder())
      order.push_back(inner.getOrder()[axis]);
    setOrder(order);
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return foldView(adaptor.getSrc(), getResult());
}
void TransOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(viewOfSplat<TransOp>); }

// ---- tt.join, tt.split, tt.cat, tt.gather ----

LogicalResult JoinOp::verify() {
  SmallVector<int64_t> shape(tileType(getLhs()).getShape());
  shape.push_back(2);
  auto expected = RankedTensorType::get(shape, elementType(getLhs().getType()));
  if (tileType(getResult()).getShape() != expected.getShape() || elementType(getType()) != expected.getElementType())
    return emitOpError() << "must give " << expected << ", found " << getType() << " [J1]";
  return success();
}

LogicalResult SplitOp::verify() {
  RankedTensorType from = tileType(getSrc()), to = tileType(getOutLHS());
  if (from.getRank() < 2 || from.getShape().back() != 2)
    return emitOpError() << "needs a tile of rank 2 or more with a last extent of 2, found " << from << " [SL1]";
  if (to.getShape() != from.getShape().drop_back() || to.getElementType() != from.getElementType())
    return emitOpError() << "must give " << RankedTensorType::get(from.getShape().drop_back(), from.getElementType()) << ", found " << to << " [SL2]";
  return success();
}

LogicalResult CatOp::verify() {
  RankedTensorType left = tileType(getLhs()), right = tileType(getRhs()), result = tileType(getResult());
  bool fits = left.getRank() == right.getRank() && left.getRank() == result.getRank() && left.getElementType() == right.getElementType() &&
              left.getElementType() == result.getElementType() && left.getDimSize(0) + right.getDimSize(0) == result.getDimSize(0) &&
              left.getShape().drop_front() == right.getShape().drop_front() && left.getShape().drop_front() == result.getShape().drop_front();
  if (!fits)
    return emitOpError() << "needs shapes that agree but for axis 0, whose extents add up, found " << left << ", " << right << " -> " << result << " [CT1]";
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType from = tileType(getSrc()), indices = tileType(getIndices()), to = tileType(getResult());
  int64_t axis = int32_t(getAxis());
  bool fits = from.getRank() == indices.getRank() && axis >= 0 && axis < from.getRank();
  for (int64_t other = 0; fits && other < from.getRank(); ++other)
    fits = other == axis || from.getDimSize(other) == indices.getDimSize(other);
  if (!fits)
    return emitOpError() << "needs a source and indices of one shape except on axis " << axis << ", found " << from << " and " << indices << " [G1]";
  if (to.getShape() != indices.getShape() || to.getElementType() != from.getElementType())
    return emitOpError() << "must give " << RankedTensorType::get(indices.getShape(), from.getElementType()) << ", found " << to << " [G2]";
  return success();
}

bool tk::tt::isZero(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>())
    return isZero(splat.getSrc());
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  if (auto elements = dyn_cast<SplatElementsAttr>(constant))
    constant = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(constant);
  return integer && integer.getValue().isZero();
}
