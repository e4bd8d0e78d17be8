// Facts of what creates tiles and moves their elements.
#include "compiler/analysis/AxisTransfer.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

using Axis = unsigned;

static constexpr int64_t kMost = AxisInfo::kMost;

/// Nothing along any axis, but what holds of each element.
static AxisInfo anyOf(Type type, const AxisInfo &source) {
  AxisInfo result = AxisInfo::unknown(type);
  result.divisibility.assign(result.divisibility.size(), source.divisibilityOfAll());
  result.constant = source.constant;
  result.low = source.low, result.high = source.high;
  return result;
}

static void setAxis(AxisInfo &result, Axis axis, int64_t contiguity, int64_t divisibility, int64_t constancy) {
  result.contiguity[axis] = contiguity;
  result.divisibility[axis] = divisibility;
  result.constancy[axis] = constancy;
}

static void copyAxis(AxisInfo &result, Axis axis, const AxisInfo &source, Axis from) {
  setAxis(result, axis, source.contiguity[from], source.divisibility[from], source.constancy[from]);
}

/// Runs of at most `length` elements.
static void copyRuns(AxisInfo &result, Axis axis, const AxisInfo &source, Axis from, int64_t length) {
  int64_t run = std::min(source.contiguity[from], length);
  setAxis(result, axis, run, source.divisibilityAt(from, run), std::min(source.constancy[from], length));
}

/// In row-major order, elements are neighbours in both shapes along the last axes, in runs that divide both of their extents. The axes are taken in the smallest
/// groups of equal size, so that leading axes that don't change keep their facts; axes of extent 1 belong to none.
static AxisInfo reshaped(tt::ReshapeOp op, const AxisInfo &source) {
  AxisInfo result = anyOf(op.getType(), source);
  if (op.getAllowReorder())
    return result;
  SmallVector<std::pair<Axis, int64_t>> from, to;
  for (auto [axis, extent] : llvm::enumerate(tt::shapeOf(op.getSrc().getType())))
    if (extent != 1)
      from.push_back({axis, extent});
  for (auto [axis, extent] : llvm::enumerate(tt::shapeOf(op.getType())))
    if (extent != 1)
      to.push_back({axis, extent});
  size_t left = 0, right = 0;
  while (left < from.size() && right < to.size()) {
    int64_t sizes[2] = {from[left].second, to[right].second};
    size_t begins[2] = {left, right};
    while (sizes[0] != sizes[1]) // equal products end together
      if (sizes[0] < sizes[1])
        sizes[0] *= from[++left].second;
      else
        sizes[1] *= to[++right].second;
    auto [axis, extent] = from[left];
    if (left == begins[0] && right == begins[1])
      copyAxis(result, to[right].first, source, axis);
    else
      copyRuns(result, to[right].first, source, axis, std::min(powerOfTwoPart(extent), powerOfTwoPart(to[right].second)));
    ++left, ++right;
  }
  return result;
}

static AxisInfo concatenated(tt::CatOp op, const AxisInfo &left, const AxisInfo &right) {
  AxisInfo both = AxisInfo::join(left, right);
  AxisInfo result = both;
  copyRuns(result, 0, both, 0, powerOfTwoPart(tt::shapeOf(op.getLhs().getType())[0])); // where the second tile's runs begin
  return result;
}

static AxisInfo broadcast(tt::BroadcastOp op, const AxisInfo &source) {
  AxisInfo result = source;
  for (auto [axis, extents] : llvm::enumerate(llvm::zip(tt::shapeOf(op.getSrc().getType()), tt::shapeOf(op.getType()))))
    if (auto [from, to] = extents; from != to)
      setAxis(result, axis, 1, source.divisibilityAt(axis, 1), kMost);
  return result;
}

static AxisInfo constant(arith::ConstantOp op) {
  AxisInfo result = AxisInfo::unknown(op.getType());
  auto read = [&](const APInt &value) { return value.getBitWidth() == 1 ? int64_t(value.getZExtValue()) : value.getSExtValue(); };
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue())) {
    if (isa<IntegerType>(op.getType()))
      result.constant = read(integer.getValue());
  } else if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue())) {
    result.constancy.assign(result.constancy.size(), kMost);
    if (isa<IntegerType>(tt::elementType(op.getType())))
      result.constant = read(splat.getSplatValue<APInt>());
  }
  return result;
}

static AxisInfo inRange(Type type, int64_t low, int64_t high) {
  AxisInfo result = AxisInfo::unknown(type);
  result.low = low, result.high = high;
  return result;
}

std::optional<AxisInfo> AxisTransfer::shape() {
  Type type = op->getResult(0).getType();
  auto in = [&](unsigned i) -> const AxisInfo & { return *operands[i]; };
  if (auto value = dyn_cast<arith::ConstantOp>(op))
    return constant(value);
  if (isa<tt::GetProgramIdOp>(op))
    return inRange(type, 0, INT32_MAX - 1);
  if (isa<tt::GetNumProgramsOp>(op))
    return inRange(type, 1, INT32_MAX);
  if (isa<tt::HistogramOp>(op))
    return inRange(type, 0, tt::kMaxTileElements);
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    int64_t start = int32_t(range.getStart()), end = int32_t(range.getEnd());
    AxisInfo result = inRange(type, start, end - 1);
    setAxis(result, 0, int64_t(llvm::PowerOf2Ceil(uint64_t(end - start))), powerOfTwoPart(start), 1);
    return result;
  }
  if (isa<tt::SplatOp>(op)) {
    AxisInfo result = anyOf(type, in(0));
    result.constancy.assign(result.constancy.size(), kMost);
    return result;
  }
  if (isa<tt::UnsplatOp, tt::GatherOp>(op))
    return anyOf(type, in(0));
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    AxisInfo result = anyOf(type, in(0));
    for (Axis axis = 0, from = 0; axis < result.contiguity.size(); ++axis)
      if (axis != expand.getAxis())
        copyAxis(result, axis, in(0), from++);
    return result;
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    AxisInfo result = anyOf(type, in(0));
    for (auto [axis, from] : llvm::enumerate(trans.getOrder()))
      copyAxis(result, axis, in(0), from);
    return result;
  }
  if (auto repeat = dyn_cast<tt::BroadcastOp>(op))
    return broadcast(repeat, in(0));
  if (auto view = dyn_cast<tt::ReshapeOp>(op))
    return reshaped(view, in(0));
  if (auto cat = dyn_cast<tt::CatOp>(op))
    return concatenated(cat, in(0), in(1));
  if (isa<tt::JoinOp, tt::SplitOp>(op)) { // the last axis, of extent 2, comes or goes
    AxisInfo source = isa<tt::JoinOp>(op) ? AxisInfo::join(in(0), in(1)) : in(0);
    AxisInfo result = anyOf(type, source);
    for (Axis axis = 0; axis < std::min(source.contiguity.size(), result.contiguity.size()); ++axis)
      copyAxis(result, axis, source, axis);
    return result;
  }
  return std::nullopt;
}
