// See PaddedShapes.h.
#include "compiler/tile/PaddedShapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;

bool compiler::needsPadding(Type type) {
  return llvm::any_of(tt::shapeOf(type), [](int64_t extent) { return !isPowerOfTwo(extent); });
}

SmallVector<int64_t> compiler::paddedShape(ArrayRef<int64_t> shape) {
  return SmallVector<int64_t>(llvm::map_range(shape, [](int64_t extent) { return int64_t(llvm::PowerOf2Ceil(extent)); }));
}

Type compiler::paddedType(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? RankedTensorType::get(paddedShape(tile.getShape()), tile.getElementType(), tile.getEncoding()) : type;
}

Value compiler::splatOf(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type element, int64_t value) {
  return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(RankedTensorType::get(shape, element), builder.getIntegerAttr(element, value)));
}

/// A tile of rank 1 along `axis` of a padded shape, repeated along the others.
static Value alongAxis(OpBuilder &builder, Location loc, Value line, ArrayRef<int64_t> padded, unsigned axis) {
  for (unsigned i = 0; i < padded.size(); ++i)
    if (i != axis) {
      SmallVector<int64_t> shape(tt::shapeOf(line.getType()));
      shape.insert(shape.begin() + i, 1);
      line = tt::ExpandDimsOp::create(builder, loc, RankedTensorType::get(shape, tt::elementType(line.getType())), line, i);
    }
  auto type = RankedTensorType::get(padded, tt::elementType(line.getType()));
  return type == line.getType() ? line : Value(tt::BroadcastOp::create(builder, loc, type, line));
}

static Value range(OpBuilder &builder, Location loc, int64_t extent) {
  return tt::MakeRangeOp::create(builder, loc, RankedTensorType::get({extent}, builder.getI32Type()), 0, uint32_t(extent));
}

Value compiler::trueElements(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, ArrayRef<unsigned> axes) {
  SmallVector<int64_t> padded = paddedShape(shape);
  Value all;
  for (unsigned axis : axes) {
    if (isPowerOfTwo(shape[axis]))
      continue;
    Value extent = splatOf(builder, loc, {padded[axis]}, builder.getI32Type(), shape[axis]);
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, range(builder, loc, padded[axis]), extent);
    inside = alongAxis(builder, loc, inside, padded, axis);
    all = all ? Value(arith::AndIOp::create(builder, loc, all, inside)) : inside;
  }
  return all;
}

Value compiler::trueElements(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape) {
  SmallVector<unsigned> axes = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  return trueElements(builder, loc, shape, axes);
}

Value compiler::positions(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, unsigned axis) {
  SmallVector<int64_t> padded = paddedShape(shape);
  return alongAxis(builder, loc, range(builder, loc, padded[axis]), padded, axis);
}

/// The runs, innermost first, between which padding lies: axes whose inner neighbour is a power of two go on from it without a gap. Shapes with equal lists
/// have their elements at equal places.
static SmallVector<int64_t> gaplessRuns(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> runs;
  int64_t run = 1;
  for (int64_t extent : llvm::reverse(shape)) {
    if (extent == 1)
      continue;
    if (!compiler::isPowerOfTwo(run)) {
      runs.push_back(run);
      run = 1;
    }
    run *= extent;
  }
  runs.push_back(run);
  return runs;
}

bool compiler::reshapesInPlace(ArrayRef<int64_t> from, ArrayRef<int64_t> to) { return gaplessRuns(from) == gaplessRuns(to); }

Value compiler::reshapeByPlace(OpBuilder &builder, Location loc, Value source, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Type element = tt::elementType(source.getType());
  int64_t sourceCount = ShapedType::getNumElements(paddedShape(from)), count = ShapedType::getNumElements(paddedShape(to));
  auto flatten = [&](Value tile, ArrayRef<int64_t> shape) -> Value {
    auto type = RankedTensorType::get(shape, tt::elementType(tile.getType()));
    return type == tile.getType() ? tile : Value(tt::ReshapeOp::create(builder, loc, type, tile, false, false));
  };
  auto constant = [&](int64_t value) { return splatOf(builder, loc, {count}, builder.getI32Type(), value); };
  // The sum over the runs of (number / stride % extent) * newStride; the outermost run takes what is left.
  auto place = [&](Value number, ArrayRef<int64_t> extents, ArrayRef<int64_t> newExtents) {
    Value sum;
    int64_t stride = 1, newStride = 1;
    for (size_t i = 0; i < extents.size(); ++i) {
      Value digit = stride == 1 ? number : Value(arith::DivUIOp::create(builder, loc, number, constant(stride)));
      if (i + 1 < extents.size())
        digit = arith::RemUIOp::create(builder, loc, digit, constant(extents[i]));
      if (newStride != 1)
        digit = arith::MulIOp::create(builder, loc, digit, constant(newStride));
      sum = sum ? Value(arith::AddIOp::create(builder, loc, sum, digit)) : digit;
      stride *= extents[i], newStride *= newExtents[i];
    }
    return sum;
  };
  SmallVector<int64_t> fromRuns = gaplessRuns(from), toRuns = gaplessRuns(to);
  Value number = place(range(builder, loc, count), paddedShape(toRuns), toRuns); // among the true elements
  Value index = place(number, fromRuns, paddedShape(fromRuns));                  // in the padded source; of padding it may lie outside and is clamped
  Value gathered = tt::GatherOp::create(builder, loc, RankedTensorType::get({count}, element), flatten(source, {sourceCount}), index, 0);
  return flatten(gathered, paddedShape(to));
}
