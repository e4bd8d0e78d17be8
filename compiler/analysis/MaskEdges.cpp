// See MaskEdges.h.
#include "compiler/analysis/MaskEdges.h"
#include "compiler/analysis/AccessForm.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

/// A conjunction has at most the edges of both sides.
static MaskEdge both(MaskEdge left, MaskEdge right) {
  if (left == MaskEdge::Unknown || right == MaskEdge::Unknown)
    return MaskEdge::Unknown;
  if (left == MaskEdge::Uniform || left == right)
    return right;
  return right == MaskEdge::Uniform ? left : MaskEdge::Both;
}

/// Each aligned run of `length` elements counts up by one, without a wrap of numbers read so.
static bool countsUp(Value value, unsigned axis, int64_t length, bool isSigned, AxisInfoAnalysis &axes) {
  const AxisInfo &info = axes.of(value);
  if (info.contiguity[axis] < length)
    return false;
  if (info.divisibilityAt(axis, length) >= length)
    return true;
  // A wrap would have the type's greatest and least number side by side: as signed numbers its ends, as unsigned ones -1 and 0.
  unsigned width = tt::elementType(value.getType()).getIntOrFloatBitWidth();
  int64_t most = width >= 64 ? INT64_MAX : (int64_t(1) << (width - 1)) - 1;
  return isSigned ? info.high < most || info.low > -most - 1 : info.low >= 0 || info.high < 0;
}

static MaskEdge edgeOfComparison(arith::CmpIOp compare, unsigned axis, int64_t length, AxisInfoAnalysis &axes) {
  bool isSigned = false, fallsOnLeft = false; // with the run on the left side
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle: isSigned = true, fallsOnLeft = true; break;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule: fallsOnLeft = true; break;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge: isSigned = true; break;
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge: break;
  default: return MaskEdge::Unknown; // true or false for single elements
  }
  Value left = compare.getLhs(), right = compare.getRhs();
  if (axes.of(right).constancy[axis] >= length && countsUp(left, axis, length, isSigned, axes))
    return fallsOnLeft ? MaskEdge::Falls : MaskEdge::Rises;
  if (axes.of(left).constancy[axis] >= length && countsUp(right, axis, length, isSigned, axes))
    return fallsOnLeft ? MaskEdge::Rises : MaskEdge::Falls;
  return MaskEdge::Unknown;
}

MaskEdge compiler::maskEdge(Value mask, unsigned axis, int64_t length, AxisInfoAnalysis &axes) {
  if (axes.maskAlignment(mask, axis) >= length)
    return MaskEdge::Uniform;
  Operation *op = mask.getDefiningOp();
  if (auto conjunction = dyn_cast_or_null<arith::AndIOp>(op))
    return both(maskEdge(conjunction.getLhs(), axis, length, axes), maskEdge(conjunction.getRhs(), axis, length, axes));
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    return edgeOfComparison(compare, axis, length, axes);
  if (std::optional<SmallVector<int>> from = axesOfView(op)) // an axis along which nothing changes has a uniform mask
    return (*from)[axis] < 0 ? MaskEdge::Uniform : maskEdge(op->getOperand(0), (*from)[axis], length, axes);
  return MaskEdge::Unknown;
}

SmallVector<Value> compiler::conjunctsOf(Value mask) {
  SmallVector<Value> open{mask}, found;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto conjunction = next.getDefiningOp<arith::AndIOp>())
      open.append({conjunction.getRhs(), conjunction.getLhs()});
    else
      found.push_back(next);
  }
  return found;
}
