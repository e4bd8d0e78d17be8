// Verifier of matrix products.
#include "dialects/tt/TT.h"

using namespace mlir;
using namespace tk::tt;

static bool isEightBitFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

/// Whether a product of elements of type `operand` may be summed in `result` [D4].
static bool sumsIn(Type operand, Type result) {
  if (operand.isInteger(8))
    return result.isInteger(32);
  if (operand.isF64())
    return result.isF64();
  if (operand.isBF16() || operand.isF32())
    return result.isF32();
  return (operand.isF16() || isEightBitFloat(operand)) && (result.isF32() || result.isF16());
}

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType()), d = cast<RankedTensorType>(getD().getType());
  int64_t rank = d.getRank();
  if (rank < 2 || a.getRank() != rank || b.getRank() != rank)
    return emitOpError() << "needs operands of one rank of at least 2, found " << a << " * " << b << " -> " << d << " [D1]";
  bool fits = a.getDimSize(rank - 1) == b.getDimSize(rank - 2) && a.getDimSize(rank - 2) == d.getDimSize(rank - 2) && b.getDimSize(rank - 1) == d.getDimSize(rank - 1);
  for (int64_t axis = 0; axis < rank - 2; ++axis)
    fits &= a.getDimSize(axis) == d.getDimSize(axis) && b.getDimSize(axis) == d.getDimSize(axis);
  if (!fits)
    return emitOpError() << "needs shapes [.., M, K] * [.., K, N] -> [.., M, N], found " << a << " * " << b << " -> " << d << " [D2]";
  Type left = a.getElementType(), right = b.getElementType();
  if (left != right && !(isEightBitFloat(left) && isEightBitFloat(right)))
    return emitOpError() << "needs operands of one element type or two 8-bit floats, found " << left << " and " << right << " [D3]";
  if (!sumsIn(left, d.getElementType()))
    return emitOpError() << "cannot sum products of " << left << " in " << d.getElementType() << " [D4]";
  return success();
}
