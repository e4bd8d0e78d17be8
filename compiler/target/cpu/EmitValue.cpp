// The value of a tile at a point: from memory, from what was already computed there, or by evaluating its operation's operands there.
#include "compiler/target/cpu/Emitter.h"
#include "mlir/IR/Matchers.h"

using namespace llvm;
namespace tk::cpu {

void Emitter::remember(mlir::Value value, const Point &point, LaneValue result) {
  std::pair<void *, Point> key{value.getAsOpaquePointer(), point};
  if (memo.insert({key, result}).second)
    memoTrail.push_back(key);
}

/// 0, 1, 2 ... as a vector.
Value *Emitter::laneIndices(unsigned lanes, Type *element) {
  SmallVector<Constant *> values;
  for (unsigned i = 0; i < lanes; ++i)
    values.push_back(ConstantInt::get(element, i));
  return ConstantVector::get(values);
}

Value *Emitter::vectorize(LaneValue value, unsigned lanes) {
  if (value.isVector || lanes == 0)
    return value.value;
  return b.CreateVectorSplat(lanes, value.value);
}

Value *Emitter::evalVector(mlir::Value value, const Point &point) { return vectorize(eval(value, point), point.lanes); }

Value *Emitter::evalScalar(mlir::Value value, const Point &point) {
  Point single = point;
  single.laneDim = -1, single.lanes = 0;
  return eval(value, single).value;
}

/// The point of a view's operand that gives the view's value at `point`.
Point Emitter::throughView(mlir::Operation *view, const Point &point) {
  Point inner = point;
  if (auto expand = mlir::dyn_cast<tt::ExpandDimsOp>(view)) {
    int axis = expand.getAxis();
    inner.index.erase(inner.index.begin() + axis);
    if (point.laneDim == axis)
      inner.laneDim = -1, inner.lanes = 0;
    else if (point.laneDim > axis)
      --inner.laneDim;
  } else if (auto broadcast = mlir::dyn_cast<tt::BroadcastOp>(view)) {
    auto from = tt::shapeOf(broadcast.getSrc().getType());
    for (unsigned dim = 0; dim < from.size(); ++dim)
      if (from[dim] == 1) {
        inner.index[dim] = i64(0);
        if (point.laneDim == int(dim))
          inner.laneDim = -1, inner.lanes = 0;
      }
  } else {
    auto order = mlir::cast<tt::TransOp>(view).getOrder();
    for (unsigned dim = 0; dim < order.size(); ++dim) {
      inner.index[order[dim]] = point.index[dim];
      if (point.laneDim == int(dim))
        inner.laneDim = order[dim];
    }
  }
  return inner;
}

LaneValue Emitter::eval(mlir::Value value, const Point &point) {
  if (!tt::isTile(value.getType()))
    return {scalar(value), false};
  auto known = memo.find({value.getAsOpaquePointer(), point});
  if (known != memo.end())
    return known->second;
  LaneValue result;
  mlir::Operation *op = value.getDefiningOp();
  mlir::Type element = tt::elementType(value.getType());
  if (ahead && ahead->active && !isVirtual(value)) {
    ahead->failed = true; // nothing is loaded or read back ahead of its time
    return {PoisonValue::get(registerType(element)), false};
  }
  if (auto buffer = buffers.find(value); buffer != buffers.end()) {
    result = loadBuffer(buffer->second, element, point);
  } else if (!op) {
    fail(source, "a tile argument is used before it is known");
    result = {PoisonValue::get(registerType(element)), false};
  } else if (isView(op)) {
    result = eval(op->getOperand(0), throughView(op, point));
  } else if (auto splat = mlir::dyn_cast<tt::SplatOp>(op)) {
    result = {scalar(splat.getSrc()), false};
  } else if (auto range = mlir::dyn_cast<tt::MakeRangeOp>(op)) {
    Value *start = b.CreateTrunc(b.CreateAdd(point.index[0], i64(range.getStartAttr().getInt())), b.getInt32Ty());
    if (point.lanes > 0)
      result = {b.CreateAdd(b.CreateVectorSplat(point.lanes, start), laneIndices(point.lanes, b.getInt32Ty())), true};
    else
      result = {start, false};
  } else if (auto constantOp = mlir::dyn_cast<mlir::arith::ConstantOp>(op)) {
    auto splat = mlir::dyn_cast<mlir::SplatElementsAttr>(constantOp.getValue());
    if (!splat) {
      emitAlone(op);
      return loadBuffer(buffers[value], element, point);
    }
    result = {constant(splat.getSplatValue<mlir::Attribute>(), element), false};
  } else if (mlir::isa<mlir::ub::PoisonOp>(op)) {
    result = {Constant::getNullValue(registerType(element)), false};
  } else if (isElementwise(op)) {
    SmallVector<LaneValue> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(eval(operand, point));
    result = evalElementwise(op, operands, point.lanes);
  } else {
    fail(op, "the tile of `" + op->getName().getStringRef() + "` is used where it isn't known");
    result = {PoisonValue::get(registerType(element)), false};
  }
  remember(value, point, result);
  return result;
}

LaneValue Emitter::evalElementwise(mlir::Operation *op, ArrayRef<LaneValue> operands, unsigned lanes) {
  bool anyVector = llvm::any_of(operands, [](LaneValue operand) { return operand.isVector; });
  SmallVector<Value *> values;
  for (LaneValue operand : operands)
    values.push_back(anyVector ? vectorize(operand, lanes) : operand.value);
  return {arithmetic(op, values), anyVector};
}

static Value *elementAddress(IRBuilder<> &b, const Buffer &buffer, const Point &point) {
  Value *offset = b.getInt64(0);
  for (auto [index, stride] : llvm::zip(point.index, buffer.strides))
    offset = b.CreateAdd(offset, b.CreateMul(index, b.getInt64(stride), "", true, true), "", true, true);
  return b.CreateInBoundsGEP(buffer.type, buffer.base, offset);
}

static uint64_t sizeOf(Type *type) { return type->isPointerTy() ? 8 : type->getPrimitiveSizeInBits() / 8; }

LaneValue Emitter::loadBuffer(const Buffer &buffer, mlir::Type element, const Point &point) {
  Value *address = elementAddress(b, buffer, point);
  Align align(sizeOf(buffer.type));
  Value *value;
  if (point.lanes == 0) {
    value = b.CreateAlignedLoad(buffer.type, address, align);
  } else if (buffer.strides[point.laneDim] == 1) {
    value = b.CreateAlignedLoad(FixedVectorType::get(buffer.type, point.lanes), address, align);
  } else {
    auto *type = FixedVectorType::get(buffer.type, point.lanes);
    value = PoisonValue::get(type);
    for (unsigned lane = 0; lane < point.lanes; ++lane) {
      Value *item = b.CreateAlignedLoad(buffer.type, b.CreateConstInBoundsGEP1_64(buffer.type, address, int64_t(lane) * buffer.strides[point.laneDim]), align);
      value = b.CreateInsertElement(value, item, lane);
    }
  }
  if (element.isInteger(1))
    value = b.CreateICmpNE(value, Constant::getNullValue(value->getType()));
  return {value, point.lanes > 0};
}

void Emitter::storeBuffer(const Buffer &buffer, mlir::Type element, const Point &point, LaneValue item, Value *valid) {
  Value *value = vectorize(item, point.lanes);
  if (element.isInteger(1))
    value = b.CreateZExt(value, likeType(value->getType(), b.getInt8Ty()));
  Value *address = elementAddress(b, buffer, point);
  Align align(sizeOf(buffer.type));
  if (point.lanes == 0 || (buffer.strides[point.laneDim] == 1 && !valid)) {
    b.CreateAlignedStore(value, address, align);
    return;
  }
  if (buffer.strides[point.laneDim] == 1) {
    b.CreateMaskedStore(value, address, align, valid);
    return;
  }
  for (unsigned lane = 0; lane < point.lanes; ++lane) {
    Value *place = b.CreateConstInBoundsGEP1_64(buffer.type, address, int64_t(lane) * buffer.strides[point.laneDim]);
    auto store = [&] { b.CreateAlignedStore(b.CreateExtractElement(value, lane), place, align); };
    if (valid)
      ifThen(b.CreateExtractElement(valid, lane), store);
    else
      store();
  }
}

// ---- facts about index tiles along one dimension ----

static bool splatConstant(mlir::Value value, int64_t &constant) {
  mlir::APInt bits;
  if (matchPattern(value, mlir::m_ConstantInt(&bits))) {
    constant = bits.getSExtValue();
    return true;
  }
  if (auto splat = value.getDefiningOp<tt::SplatOp>())
    return splatConstant(splat.getSrc(), constant);
  if (auto *op = value.getDefiningOp(); op && isView(op))
    return splatConstant(op->getOperand(0), constant);
  return false;
}

/// How much an integer tile grows from one index of `dim` to the next, when that is one constant everywhere (0: the tile is uniform along it). The tile's
/// arithmetic wraps, so where a value is widened the claim holds only if it doesn't wrap there: those values are added to `wraps`; `point` is where lane 0 is.
std::optional<int64_t> Emitter::laneStride(mlir::Value value, int dim, SmallVectorImpl<Growth> *wraps, const Point *point) {
  if (!tt::isTile(value.getType()) || dim < 0 || tt::shapeOf(value.getType())[dim] == 1)
    return 0;
  mlir::Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (mlir::isa<tt::MakeRangeOp>(op))
    return 1;
  if (mlir::isa<tt::SplatOp>(op))
    return 0;
  if (auto constantOp = mlir::dyn_cast<mlir::arith::ConstantOp>(op))
    return mlir::isa<mlir::SplatElementsAttr>(constantOp.getValue()) ? std::optional<int64_t>(0) : std::nullopt;
  if (isView(op)) {
    int inner = dim;
    if (auto expand = mlir::dyn_cast<tt::ExpandDimsOp>(op)) {
      int axis = expand.getAxis();
      if (dim == axis)
        return 0;
      inner = dim > axis ? dim - 1 : dim;
    } else if (auto trans = mlir::dyn_cast<tt::TransOp>(op)) {
      inner = trans.getOrder()[dim];
    }
    if (!point)
      return laneStride(op->getOperand(0), inner, wraps);
    Point place = throughView(op, *point);
    return laneStride(op->getOperand(0), inner, wraps, &place);
  }
  if (!isElementwise(op))
    return std::nullopt;
  SmallVector<int64_t> strides;
  for (mlir::Value operand : op->getOperands()) {
    auto stride = laneStride(operand, dim, wraps, point);
    if (!stride)
      return std::nullopt;
    strides.push_back(*stride);
  }
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 0; }))
    return 0;
  int64_t factor;
  if (mlir::isa<mlir::arith::AddIOp>(op))
    return strides[0] + strides[1];
  if (mlir::isa<mlir::arith::SubIOp>(op))
    return strides[0] - strides[1];
  if (mlir::isa<mlir::arith::MulIOp>(op)) {
    if (strides[1] == 0 && splatConstant(op->getOperand(1), factor))
      return strides[0] * factor;
    if (strides[0] == 0 && splatConstant(op->getOperand(0), factor))
      return strides[1] * factor;
  }
  if (mlir::isa<mlir::arith::ShLIOp>(op) && strides[1] == 0 && splatConstant(op->getOperand(1), factor) && factor >= 0 && factor < 32)
    return strides[0] << factor;
  if (mlir::isa<mlir::arith::TruncIOp>(op))
    return strides[0];
  if (mlir::isa<mlir::arith::ExtSIOp>(op)) {
    if (wraps)
      wraps->push_back({op->getOperand(0), strides[0], point ? *point : Point()});
    return strides[0];
  }
  return std::nullopt;
}

/// The least and greatest value of an index tile that depends on constants alone.
bool Emitter::constantRange(mlir::Value value, int64_t &low, int64_t &high) {
  mlir::APInt bits;
  if (matchPattern(value, mlir::m_ConstantInt(&bits))) {
    low = high = bits.getSExtValue();
    return true;
  }
  mlir::Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto range = mlir::dyn_cast<tt::MakeRangeOp>(op)) {
    low = range.getStartAttr().getInt(), high = range.getEndAttr().getInt() - 1;
    return true;
  }
  if (isView(op) || mlir::isa<tt::SplatOp, mlir::arith::ExtSIOp>(op))
    return constantRange(op->getOperand(0), low, high);
  int64_t low2, high2;
  if (!mlir::isa<mlir::arith::AddIOp, mlir::arith::MulIOp>(op) || !constantRange(op->getOperand(0), low, high) || !constantRange(op->getOperand(1), low2, high2))
    return false;
  auto small = [](int64_t v) { return v >= -(int64_t(1) << 30) && v <= (int64_t(1) << 30); };
  if (!small(low) || !small(high) || !small(low2) || !small(high2))
    return false;
  if (mlir::isa<mlir::arith::AddIOp>(op)) {
    low += low2, high += high2;
    return true;
  }
  int64_t corners[] = {low * low2, low * high2, high * low2, high * high2};
  low = *std::min_element(corners, corners + 4), high = *std::max_element(corners, corners + 4);
  return true;
}

} // namespace tk::cpu
