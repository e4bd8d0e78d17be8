// Products by wgmma, and the views of shared memory that they read.
#include "dialects/ttg/TTG.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

MemDescType MemDescTransOp::resultType(MemDescType from, ArrayRef<int32_t> order) {
  SmallVector<int64_t> shape;
  for (int32_t axis : order)
    shape.push_back(from.getShape()[axis]);
  SmallVector<AxisBits> before = axisBitsOf(from.getShape()), after = axisBitsOf(shape);
  SmallVector<uint32_t> image(from.getLayout().getOffset().size());
  for (auto [axis, source] : llvm::enumerate(order))
    for (unsigned i = 0; i < after[axis].count; ++i)
      image[before[source].begin + i] = uint32_t(1) << (after[axis].begin + i);
  SmallVector<uint32_t> offset;
  for (uint32_t index : from.getLayout().getOffset())
    offset.push_back(TileLayout::apply(image, index));
  return MemDescType::get(from.getContext(), shape, from.getElementType(), SharedAttr::get(from.getContext(), offset), from.getSlots(), from.getIsMutable());
}

LogicalResult MemDescTransOp::verify() {
  MemDescType from = getSrc().getType();
  SmallVector<int32_t> sorted(getOrder());
  llvm::sort(sorted);
  bool isPermutation = sorted.size() == from.getShape().size();
  for (auto [i, axis] : llvm::enumerate(sorted))
    isPermutation &= axis == int32_t(i);
  if (!isPermutation)
    return emitOpError() << "expected a permutation of the axes of " << from << " [MT1]";
  if (MemDescType expected = resultType(from, getOrder()); getType() != expected)
    return emitOpError() << "expected the result " << expected << ", found " << getType() << " [MT2]";
  return success();
}

unsigned WarpgroupDotOp::depth() { return 32 / tt::bytesOf(getB().getType().getElementType()); }

static bool isEightBitFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// PTX ISA, "wgmma.mma_async": the table of types.
static bool hasInstruction(Type a, Type b, Type sum) {
  if (isEightBitFloat(a))
    return isEightBitFloat(b) && (sum.isF32() || sum.isF16());
  if (a != b)
    return false;
  return (a.isF16() && (sum.isF32() || sum.isF16())) || ((a.isBF16() || a.isF32()) && sum.isF32()) || (a.isInteger(8) && sum.isInteger(32));
}

LogicalResult WarpgroupDotOp::verify() {
  auto sum = cast<RankedTensorType>(getType());
  auto unit = dyn_cast_or_null<MmaAttr>(sum.getEncoding());
  if (!unit || unit.getUnit() != MatrixUnit::Wgmma || sum.getRank() != 2)
    return emitOpError() << "expected a sum of two axes in `#ttg.mma<wgmma>`, found " << sum << " [WD1]";
  if (sum.getDimSize(0) < 16 * unit.getWarpsM() || sum.getDimSize(1) < 8 * unit.getWarpsN())
    return emitOpError() << "has less than an instruction's rows and columns for each group of warps in " << sum << " [WD1]";
  MemDescType b = getB().getType();
  auto memory = dyn_cast<MemDescType>(getA().getType());
  ArrayRef<int64_t> aShape = memory ? memory.getShape() : tt::shapeOf(getA().getType());
  Type aElement = memory ? memory.getElementType() : tt::elementType(getA().getType());
  if (aShape.size() != 2 || b.getShape().size() != 2 || aShape[1] != b.getShape()[0] || aShape[0] != sum.getDimSize(0) || b.getShape()[1] != sum.getDimSize(1))
    return emitOpError() << "expected [M, K] and [K, N] for a sum of [M, N], found " << getA().getType() << " and " << b << " [WD2]";
  if (!hasInstruction(aElement, b.getElementType(), sum.getElementType()) || b.getShape()[0] % depth())
    return emitOpError() << "has no instruction for these types or this depth [WD3]";
  std::optional<SwizzledMatrix> right = swizzleOf(b), left = memory ? swizzleOf(memory) : std::nullopt;
  if (b.getSlots() != 1 || !right || (memory && (memory.getSlots() != 1 || !left)))
    return emitOpError() << "expected descriptors of one slot whose tile lies as the instruction reads it, found " << getA().getType() << " and " << b
                         << " [WD2]";
  if (!memory && layoutOf(getA().getType()) != matrixLayout(unit, MatrixOperand::A, aShape, 4 / tt::bytesOf(aElement)))
    return emitOpError() << "expected the fragments of the instruction, found " << getA().getType() << " [WD2]";
  if (tt::bytesOf(aElement) != 2 && (right->fastAxis != 0 || (left && left->fastAxis != 1)))
    return emitOpError() << "operands of " << aElement << " need K as their fast axis [WD4]";
  return success();
}

LogicalResult WarpgroupWaitOp::verify() {
  if (getSums().getTypes() != getResultTypes())
    return emitOpError() << "expected results of the operands' types [WW1]";
  for (Value sum : getSums())
    if (auto unit = dyn_cast_or_null<MmaAttr>(cast<RankedTensorType>(sum.getType()).getEncoding()); !unit || unit.getUnit() != MatrixUnit::Wgmma)
      return emitOpError() << "waits for sums of products, found " << sum.getType() << " [WW1]";
  if (getPending() > 7)
    return emitOpError() << "can't leave " << int32_t(getPending()) << " products pending [WW2]";
  return success();
}
