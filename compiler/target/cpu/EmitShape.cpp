// Operations that move whole tiles, element by element through memory: reshape, join, split, cat, gather, scan, histogram.
#include "compiler/target/cpu/Emitter.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace tk::cpu {

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int dim = int(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

/// Row-major memory is the same for every shape of it.
void Emitter::emitReshape(tt::ReshapeOp op) {
  Buffer from = bufferOf(op.getSrc());
  auto shape = tt::shapeOf(op.getSrc().getType());
  if (from.strides != rowMajor(shape)) {
    Buffer packed = allocate(op.getSrc().getType());
    copyBuffer(from, packed, op.getSrc().getType());
    from = packed;
  } else if (mlir::isa<mlir::BlockArgument>(op.getSrc())) {
    // A carried tile's memory changes; its reshaped value doesn't.
    Buffer copy = allocate(op.getSrc().getType());
    copyBuffer(from, copy, op.getSrc().getType());
    from = copy;
  }
  from.strides = rowMajor(tt::shapeOf(op.getType()));
  buffers[op] = from;
}

void Emitter::emitElementMoves(mlir::Operation *op) {
  auto make = [&](mlir::Value result) {
    auto target = targets.find(result);
    return buffers[result] = target != targets.end() ? target->second : allocate(result.getType());
  };
  auto move = [&](mlir::Value from, ArrayRef<Value *> fromIndex, const Buffer &to, ArrayRef<Value *> toIndex) {
    Point source, place;
    source.index.assign(fromIndex.begin(), fromIndex.end());
    place.index.assign(toIndex.begin(), toIndex.end());
    mlir::Type element = tt::elementType(from.getType());
    storeBuffer(to, element, place, {evalScalar(from, source), false}, nullptr);
  };
  if (auto join = mlir::dyn_cast<tt::JoinOp>(op)) {
    Buffer to = make(join);
    forEach(tt::shapeOf(join.getLhs().getType()), [&](ArrayRef<Value *> index) {
      SmallVector<Value *> place(index.begin(), index.end());
      place.push_back(i64(0));
      move(join.getLhs(), index, to, place);
      place.back() = i64(1);
      move(join.getRhs(), index, to, place);
    });
  } else if (auto split = mlir::dyn_cast<tt::SplitOp>(op)) {
    Buffer left = make(split.getOutLHS()), right = make(split.getOutRHS());
    forEach(tt::shapeOf(split.getOutLHS().getType()), [&](ArrayRef<Value *> index) {
      SmallVector<Value *> from(index.begin(), index.end());
      from.push_back(i64(0));
      move(split.getSrc(), from, left, index);
      from.back() = i64(1);
      move(split.getSrc(), from, right, index);
    });
  } else if (auto cat = mlir::dyn_cast<tt::CatOp>(op)) {
    Buffer to = make(cat);
    int64_t first = tt::shapeOf(cat.getLhs().getType())[0];
    forEach(tt::shapeOf(cat.getLhs().getType()), [&](ArrayRef<Value *> index) { move(cat.getLhs(), index, to, index); });
    forEach(tt::shapeOf(cat.getRhs().getType()), [&](ArrayRef<Value *> index) {
      SmallVector<Value *> place(index.begin(), index.end());
      place[0] = b.CreateAdd(place[0], i64(first));
      move(cat.getRhs(), index, to, place);
    });
  } else {
    auto gather = mlir::cast<tt::GatherOp>(op);
    Buffer to = make(gather);
    bufferOf(gather.getSrc());
    int64_t extent = tt::shapeOf(gather.getSrc().getType())[gather.getAxis()];
    forEach(tt::shapeOf(gather.getType()), [&](ArrayRef<Value *> index) {
      Point point;
      point.index.assign(index.begin(), index.end());
      Value *picked = b.CreateSExtOrTrunc(evalScalar(gather.getIndices(), point), b.getInt64Ty());
      picked = b.CreateBinaryIntrinsic(Intrinsic::smin, b.CreateBinaryIntrinsic(Intrinsic::smax, picked, i64(0)), i64(extent - 1));
      SmallVector<Value *> from(index.begin(), index.end());
      from[gather.getAxis()] = picked;
      move(gather.getSrc(), from, to, index);
    });
  }
}

/// In order along the axis, innermost; the accumulated value is the combine region's first operand.
void Emitter::emitScan(tt::ScanOp op) {
  int axis = op.getAxis();
  SmallVector<int64_t> outer(tt::shapeOf(op.getSrcs()[0].getType()));
  int64_t extent = outer[axis];
  outer.erase(outer.begin() + axis);
  SmallVector<Value *> carried;
  for (mlir::Value result : op.getResult()) {
    auto target = targets.find(result);
    buffers[result] = target != targets.end() ? target->second : allocate(result.getType());
    carried.push_back(local(registerType(tt::elementType(result.getType())), "scanned"));
    b.CreateStore(Constant::getNullValue(registerType(tt::elementType(result.getType()))), carried.back());
  }
  forEach(outer, [&](ArrayRef<Value *> index) {
    forLoop(i64(0), i64(extent), 1, "scan", [&](Value *step) {
      Point point;
      point.index.assign(index.begin(), index.end());
      point.index.insert(point.index.begin() + axis, op.getReverse() ? b.CreateSub(i64(extent - 1), step) : step);
      SmallVector<LaneValue> sides, items;
      for (auto [slot, source] : llvm::zip(carried, op.getSrcs())) {
        sides.push_back({b.CreateLoad(registerType(tt::elementType(source.getType())), slot), false});
        items.push_back({evalScalar(source, point), false});
      }
      SmallVector<Value *> values = combineAfterFirst(op.getCombineOp(), b.CreateICmpEQ(step, i64(0)), sides, items, 0);
      for (unsigned i = 0; i < values.size(); ++i) {
        b.CreateStore(values[i], carried[i]);
        mlir::Value result = op.getResult()[i];
        storeBuffer(buffers[result], tt::elementType(result.getType()), point, {values[i], false}, nullptr);
      }
    });
  });
}

void Emitter::emitHistogram(tt::HistogramOp op) {
  int64_t bins = tt::shapeOf(op.getType())[0];
  auto target = targets.find(op.getResult());
  Buffer counts = buffers[op] = target != targets.end() ? target->second : allocate(op.getType());
  b.CreateMemSet(counts.base, b.getInt8(0), bins * 4, Align(64));
  forEach(tt::shapeOf(op.getSrc().getType()), [&](ArrayRef<Value *> index) {
    Point point;
    point.index.assign(index.begin(), index.end());
    Value *value = b.CreateSExt(evalScalar(op.getSrc(), point), b.getInt64Ty());
    Value *counted = b.CreateICmpULT(value, i64(bins));
    if (op.getMask())
      counted = b.CreateAnd(counted, evalScalar(op.getMask(), point));
    ifThen(counted, [&] {
      Value *place = b.CreateInBoundsGEP(b.getInt32Ty(), counts.base, value);
      b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt32Ty(), place), b.getInt32(1)), place);
    });
  });
}

} // namespace tk::cpu
