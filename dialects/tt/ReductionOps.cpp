// Reductions, scans and histograms: builders and verifiers.
#include "dialects/tt/TT.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tk::tt;

/// The operand type without `axis`; its element type when nothing is left. Null when there is no such axis.
static Type reducedType(RankedTensorType type, int64_t axis) {
  if (axis < 0 || axis >= type.getRank())
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return shape.empty() ? type.getElementType() : RankedTensorType::get(shape, type.getElementType());
}

/// 0 <= axis < rank [RD1, SC1].
static LogicalResult verifyAxis(Operation *op, OperandRange sources, uint32_t axis, StringRef id) {
  if (sources.empty())
    return op->emitOpError() << "needs at least one operand [" << id << "]";
  int64_t rank = cast<RankedTensorType>(sources.front().getType()).getRank();
  if (int64_t(int32_t(axis)) < 0 || int64_t(axis) >= rank)
    return op->emitOpError() << "axis must be in [0, " << rank << "), found " << int32_t(axis) << " [" << id << "]";
  return success();
}

/// 2n scalars in, n scalars out, each of its operand's element type [RD3, SC3].
template <typename ReturnOp>
static LogicalResult verifyCombine(Operation *op, Region &region, OperandRange sources, StringRef id) {
  if (region.empty())
    return op->emitOpError() << "needs a combine region [" << id << "]";
  Block &block = region.front();
  SmallVector<Type> elements;
  for (Value source : sources)
    elements.push_back(elementType(source.getType()));
  SmallVector<Type> arguments(elements);
  arguments.append(elements);
  if (block.getArgumentTypes() != TypeRange(arguments))
    return op->emitOpError() << "the combine region must take (" << arguments << "), found (" << block.getArgumentTypes() << ") [" << id << "]";
  auto end = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!end)
    return op->emitOpError() << "the combine region must end with `" << ReturnOp::getOperationName() << "` [" << id << "]";
  if (end->getOperandTypes() != TypeRange(elements))
    return op->emitOpError() << "the combine region must return (" << elements << "), found (" << end->getOperandTypes() << ") [" << id << "]";
  return success();
}

// ---- tt.reduce ----

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange sources, int axis) {
  SmallVector<Type> types;
  for (Value source : sources)
    types.push_back(reducedType(cast<RankedTensorType>(source.getType()), axis));
  build(builder, state, types, sources, axis);
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyAxis(*this, getSrcs(), getAxis(), "RD1")))
    return failure();
  if (getNumResults() != getSrcs().size())
    return emitOpError() << "needs one result per operand, found " << getNumResults() << " for " << getSrcs().size() << " [RD2]";
  for (auto [source, result] : llvm::zip(getSrcs(), getResults()))
    if (Type expected = reducedType(cast<RankedTensorType>(source.getType()), getAxis()); shapeOf(expected) != shapeOf(result.getType()) || elementType(expected) != elementType(result.getType()))
      return emitOpError() << "must give " << expected << " for " << source.getType() << ", found " << result.getType() << " [RD2]";
  return success();
}

LogicalResult ReduceOp::verifyRegions() { return verifyCombine<ReduceReturnOp>(*this, getCombineOp(), getSrcs(), "RD3"); }

// ---- tt.scan ----

void ScanOp::build(OpBuilder &builder, OperationState &state, ValueRange sources, int axis, bool reverse) {
  build(builder, state, SmallVector<Type>(sources.getTypes()), sources, axis, reverse);
}

LogicalResult ScanOp::verify() {
  if (failed(verifyAxis(*this, getSrcs(), getAxis(), "SC1")))
    return failure();
  if (getSrcs().getTypes() != getResultTypes())
    return emitOpError() << "must give the operands' types (" << getSrcs().getTypes() << "), found (" << getResultTypes() << ") [SC2]";
  return success();
}

LogicalResult ScanOp::verifyRegions() { return verifyCombine<ScanReturnOp>(*this, getCombineOp(), getSrcs(), "SC3"); }

// ---- tt.histogram ----

LogicalResult HistogramOp::verify() {
  auto isCounts = [](Type type) { return cast<RankedTensorType>(type).getRank() == 1 && elementType(type).isInteger(32); };
  if (!isCounts(getSrc().getType()))
    return emitOpError() << "needs a rank-1 tile of i32, found " << getSrc().getType() << " [H1]";
  if (!isCounts(getResult().getType()))
    return emitOpError() << "must give a rank-1 tile of i32, found " << getResult().getType() << " [H2]";
  if (getMask() && getMask().getType() != maskTypeFor(getSrc().getType()))
    return emitOpError() << "the mask must be " << maskTypeFor(getSrc().getType()) << ", found " << getMask().getType() << " [H3]";
  return success();
}
