// Loads and stores. Before a row's lane loop each access is looked at once: whether it is contiguous along the lanes, its address at lane 0, and how far
// its mask is true (a prefix of the row). In the loop a contiguous access is one vector access, masked only in the row's rest; anything else is a gather or
// scatter. Lanes that are off never touch memory.
#include "compiler/target/cpu/Emitter.h"
#include "mlir/IR/Matchers.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace tk::cpu {

/// Takes a pointer tile in normal form apart: addptr(splat(base), offset), or splat(base) alone (offset is then null).
bool Emitter::tileAddress(mlir::Value pointer, mlir::Value &base, mlir::Value &offset) {
  offset = {};
  if (auto add = pointer.getDefiningOp<tt::AddPtrOp>()) {
    if (!tt::isTile(pointer.getType()))
      return false;
    offset = add.getOffset();
    pointer = add.getPtr();
  }
  auto *op = pointer.getDefiningOp();
  while (op && isView(op))
    op = op->getOperand(0).getDefiningOp();
  auto splat = mlir::dyn_cast_or_null<tt::SplatOp>(op);
  if (!splat)
    return false;
  base = splat.getSrc();
  return true;
}

/// i1: the value, which is at `point` for lane 0 and grows by `stride`, stays within its type over the row. Null when that is known.
Value *Emitter::noWrap(mlir::Value value, int64_t stride, const Point &point, int64_t extent) {
  int64_t low, high;
  unsigned bits = tt::elementType(value.getType()).getIntOrFloatBitWidth();
  if (stride == 0 ||
      (constantRange(value, low, high) && APInt(64, low, true).getSignificantBits() <= bits && APInt(64, high, true).getSignificantBits() <= bits))
    return nullptr;
  Value *first = evalScalar(value, point);
  APInt travel(bits, std::abs(stride) * (extent - 1));
  if (APInt(64, std::abs(stride) * (extent - 1)).getSignificantBits() > bits)
    return b.getFalse();
  if (stride > 0)
    return b.CreateICmpSLE(first, ConstantInt::get(first->getType(), APInt::getSignedMaxValue(bits) - travel));
  return b.CreateICmpSGE(first, ConstantInt::get(first->getType(), APInt::getSignedMinValue(bits) + travel));
}

/// Lowers `bound` to the number of leading lanes for which `mask` is true, when the mask is a prefix of the row: a conjunction of conditions that are
/// uniform along the lanes and comparisons like `index < n` whose left side grows by 1. Conditions for that (no wrap) are added to `exact`.
bool Emitter::boundOfMask(mlir::Value mask, const Point &point, int laneDim, int64_t extent, Value *&bound, SmallVectorImpl<Value *> &exact) {
  if (auto stride = laneStride(mask, laneDim); stride && *stride == 0) {
    mlir::Attribute attribute;
    auto dense = matchPattern(mask, mlir::m_Constant(&attribute)) ? mlir::dyn_cast<mlir::SplatElementsAttr>(attribute) : mlir::SplatElementsAttr();
    if (dense && dense.getSplatValue<bool>())
      return true;
    bound = b.CreateSelect(evalScalar(mask, point), bound, i64(0));
    return true;
  }
  mlir::Operation *op = mask.getDefiningOp();
  if (!op || buffers.count(mask))
    return false;
  if (isView(op)) {
    Point inner = point;
    inner.laneDim = laneDim; // follow the lane dimension through the view
    inner.lanes = 1;
    inner = throughView(op, inner);
    int dim = inner.laneDim;
    inner.laneDim = -1, inner.lanes = 0;
    return boundOfMask(op->getOperand(0), inner, dim, extent, bound, exact);
  }
  if (mlir::isa<mlir::arith::AndIOp>(op))
    return boundOfMask(op->getOperand(0), point, laneDim, extent, bound, exact) && boundOfMask(op->getOperand(1), point, laneDim, extent, bound, exact);
  auto compare = mlir::dyn_cast<mlir::arith::CmpIOp>(op);
  if (!compare)
    return false;
  using Predicate = mlir::arith::CmpIPredicate;
  mlir::Value index = compare.getLhs(), limit = compare.getRhs();
  Predicate predicate = compare.getPredicate();
  if (predicate == Predicate::sgt || predicate == Predicate::sge) {
    std::swap(index, limit);
    predicate = predicate == Predicate::sgt ? Predicate::slt : Predicate::sle;
  }
  if (predicate != Predicate::slt && predicate != Predicate::sle)
    return false;
  SmallVector<Growth> wraps;
  auto grows = laneStride(index, laneDim, &wraps, &point), fixed = laneStride(limit, laneDim);
  if (!grows || *grows != 1 || !fixed || *fixed != 0)
    return false;
  wraps.push_back({index, 1, point});
  for (const Growth &item : wraps)
    if (Value *condition = noWrap(item.value, item.growth, item.point, extent))
      exact.push_back(condition);
  Type *wide = b.getInt64Ty();
  Value *first = b.CreateSExt(evalScalar(index, point), wide), *end = b.CreateSExt(evalScalar(limit, point), wide);
  if (predicate == Predicate::sle)
    end = b.CreateBinaryIntrinsic(Intrinsic::sadd_sat, end, i64(1));
  Value *count = b.CreateBinaryIntrinsic(Intrinsic::ssub_sat, end, first);
  count = b.CreateBinaryIntrinsic(Intrinsic::smax, count, i64(0));
  bound = b.CreateBinaryIntrinsic(Intrinsic::smin, bound, count, {}, "bound");
  return true;
}

Row Emitter::beginRow(Group &group, const Point &rowPoint) {
  Row row;
  int64_t extent = group.laneDim < 0 ? 1 : group.shape[group.laneDim];
  Value *bound = i64(extent);
  SmallVector<Value *> exact;
  if (group.lanes == 1)
    return row;
  DenseMap<mlir::Value, bool> masks;
  for (mlir::Operation *op : group.ops) {
    mlir::Value pointer, mask;
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
      pointer = load.getPtr(), mask = load.getMask();
    else if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
      pointer = store.getPtr(), mask = store.getMask();
    else
      continue;
    AccessInfo access;
    if (mask) {
      auto known = masks.find(mask);
      if (known == masks.end()) {
        Value *candidate = bound;
        SmallVector<Value *> conditions;
        bool structural = boundOfMask(mask, rowPoint, group.laneDim, extent, candidate, conditions);
        if (structural)
          bound = candidate, exact.append(conditions);
        known = masks.insert({mask, structural}).first;
      }
      access.structuralMask = known->second;
    }
    mlir::Value base, offset;
    if (tileAddress(pointer, base, offset) && offset) {
      SmallVector<Growth> wraps;
      auto stride = laneStride(offset, group.laneDim, &wraps, &rowPoint);
      if (stride && *stride == 1) {
        // The address is the one at lane 0 plus the lane only if nothing wraps before it is widened to 64 bits.
        if (!tt::elementType(offset.getType()).isInteger(64))
          wraps.push_back({offset, 1, rowPoint});
        for (const Growth &item : wraps)
          if (Value *condition = noWrap(item.value, item.growth, item.point, extent))
            exact.push_back(condition);
        access.contiguous = true;
        mlir::Type element = mlir::cast<tt::PointerType>(tt::elementType(pointer.getType())).getPointeeType();
        Value *first = b.CreateSExt(evalScalar(offset, rowPoint), b.getInt64Ty());
        access.rowBase = b.CreateGEP(b.getInt8Ty(), scalar(base), b.CreateMul(first, i64(tt::bytesOf(element))), "row");
      }
    }
    row.accesses[op] = access;
  }
  if (bound != i64(extent))
    row.bound = bound;
  for (Value *condition : exact)
    row.exact = row.exact ? b.CreateAnd(row.exact, condition) : condition;
  return row;
}

// ---- elements and vectors of memory ----

Value *Emitter::fromMemory(Value *bits, mlir::Type element) {
  if (isNarrowFloat(element))
    return decodeFloat(b, bits, element);
  if (element.isInteger(1))
    return b.CreateICmpNE(bits, Constant::getNullValue(bits->getType()));
  return bits;
}

Value *Emitter::toMemory(Value *value, mlir::Type element) {
  if (isNarrowFloat(element))
    return encodeFloat(b, value, element);
  if (element.isInteger(1))
    return b.CreateZExt(value, likeType(value->getType(), b.getInt8Ty()));
  return value;
}

Value *Emitter::loadElement(mlir::Type element, Value *address, Value *mask, Value *other, bool isVolatile) {
  auto read = [&]() -> Value * {
    LoadInst *load = b.CreateAlignedLoad(memoryType(element), address, Align(tt::bytesOf(element)), isVolatile);
    if (isVolatile) // another program may be writing it
      load->setAtomic(AtomicOrdering::Monotonic);
    return fromMemory(load, element);
  };
  if (!mask)
    return read();
  Type *type = registerType(element);
  Value *off = other ? other : Constant::getNullValue(type);
  BasicBlock *before = b.GetInsertBlock(), *on = BasicBlock::Create(context, "load", function), *after = BasicBlock::Create(context, "loaded", function);
  b.CreateCondBr(mask, on, after);
  b.SetInsertPoint(on);
  Value *value = read();
  BasicBlock *end = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  PHINode *phi = b.CreatePHI(type, 2);
  phi->addIncoming(value, end);
  phi->addIncoming(off, before);
  return phi;
}

void Emitter::storeElement(mlir::Type element, Value *value, Value *address, Value *mask) {
  auto write = [&] { b.CreateAlignedStore(toMemory(value, element), address, Align(tt::bytesOf(element))); };
  if (mask)
    ifThen(mask, write);
  else
    write();
}

static Value *both(IRBuilder<> &b, Value *lhs, Value *rhs) { return lhs && rhs ? b.CreateAnd(lhs, rhs) : lhs ? lhs : rhs; }

LaneValue Emitter::emitLoad(tt::LoadOp op, const Row &row, const Point &point, Value *valid, BodyMode mode) {
  mlir::Type element = tt::elementType(op.getType());
  if (mode == BodyMode::Single) {
    Value *mask = op.getMask() ? evalScalar(op.getMask(), point) : nullptr;
    Value *other = op.getOther() ? evalScalar(op.getOther(), point) : nullptr;
    return {loadElement(element, evalScalar(op.getPtr(), point), mask, other, op.getIsVolatile()), false};
  }
  const AccessInfo &access = row.accesses.find(op)->second;
  Value *mask = valid;
  bool allOn = mode == BodyMode::Full && access.structuralMask;
  if (op.getMask() && !allOn)
    mask = both(b, mask, evalVector(op.getMask(), point));
  auto *type = FixedVectorType::get(memoryType(element), point.lanes);
  Align align(tt::bytesOf(element));
  Value *bits;
  if (access.contiguous) {
    Value *address = b.CreateGEP(b.getInt8Ty(), access.rowBase, b.CreateMul(point.index[point.laneDim], i64(tt::bytesOf(element)), "", true, true));
    bits = mask ? b.CreateMaskedLoad(type, address, align, mask, Constant::getNullValue(type)) : (Value *)b.CreateAlignedLoad(type, address, align);
  } else {
    Value *addresses = evalVector(op.getPtr(), point);
    bits = b.CreateMaskedGather(type, addresses, align, mask ? mask : Constant::getAllOnesValue(FixedVectorType::get(b.getInt1Ty(), point.lanes)),
                                Constant::getNullValue(type));
  }
  Value *value = fromMemory(bits, element);
  if (op.getOther() && op.getMask() && !allOn)
    value = b.CreateSelect(mask, value, evalVector(op.getOther(), point));
  return {value, true};
}

void Emitter::emitStore(tt::StoreOp op, const Row &row, const Point &point, Value *valid, BodyMode mode) {
  mlir::Type element = tt::elementType(op.getValue().getType());
  if (mode == BodyMode::Single) {
    storeElement(element, evalScalar(op.getValue(), point), evalScalar(op.getPtr(), point), op.getMask() ? evalScalar(op.getMask(), point) : nullptr);
    return;
  }
  const AccessInfo &access = row.accesses.find(op)->second;
  Value *mask = valid;
  if (op.getMask() && !(mode == BodyMode::Full && access.structuralMask))
    mask = both(b, mask, evalVector(op.getMask(), point));
  Value *bits = toMemory(evalVector(op.getValue(), point), element);
  Align align(tt::bytesOf(element));
  if (!access.contiguous) {
    b.CreateMaskedScatter(bits, evalVector(op.getPtr(), point), align,
                          mask ? mask : Constant::getAllOnesValue(FixedVectorType::get(b.getInt1Ty(), point.lanes)));
    return;
  }
  Value *address = b.CreateGEP(b.getInt8Ty(), access.rowBase, b.CreateMul(point.index[point.laneDim], i64(tt::bytesOf(element)), "", true, true));
  if (mask)
    b.CreateMaskedStore(bits, address, align, mask);
  else
    b.CreateAlignedStore(bits, address, align);
}

// ---- atomics, one element at a time ----

static AtomicOrdering orderingOf(tt::MemSemantic semantic) {
  switch (semantic) {
  case tt::MemSemantic::RELAXED: return AtomicOrdering::Monotonic;
  case tt::MemSemantic::ACQUIRE: return AtomicOrdering::Acquire;
  case tt::MemSemantic::RELEASE: return AtomicOrdering::Release;
  case tt::MemSemantic::ACQUIRE_RELEASE: return AtomicOrdering::AcquireRelease;
  }
  return AtomicOrdering::AcquireRelease;
}

void Emitter::emitAtomic(mlir::Operation *op, const Point &point) {
  mlir::Value result = op->getResult(0);
  mlir::Type element = tt::elementType(result.getType());
  auto at = [&](mlir::Value value) { return evalScalar(value, point); };
  Type *type = registerType(element), *memory = memoryType(element);
  // Through a slot that holds 0 where the mask is off.
  auto masked = [&](mlir::Value mask, function_ref<void(Value *)> make) {
    Value *slot = local(type, "old");
    b.CreateStore(Constant::getNullValue(type), slot);
    mask ? ifThen(at(mask), [&] { make(slot); }) : make(slot);
    return b.CreateLoad(type, slot);
  };
  Value *old;
  if (auto swap = mlir::dyn_cast<tt::AtomicCASOp>(op)) {
    auto asBits = [&](Value *value) { // compared as bits
      Value *bits = toMemory(value, element);
      return bits->getType()->isFloatingPointTy() ? b.CreateBitCast(bits, b.getIntNTy(bits->getType()->getPrimitiveSizeInBits())) : bits;
    };
    AtomicOrdering order = orderingOf(swap.getSem());
    old = masked(swap.getMask(), [&](Value *slot) {
      Value *pair = b.CreateAtomicCmpXchg(at(swap.getPtr()), asBits(at(swap.getCmp())), asBits(at(swap.getVal())), Align(tt::bytesOf(element)), order,
                                          AtomicCmpXchgInst::getStrongestFailureOrdering(order));
      Value *bits = b.CreateExtractValue(pair, 0);
      b.CreateStore(fromMemory(bits->getType() == memory ? bits : b.CreateBitCast(bits, memory), element), slot);
    });
  } else {
    auto rmw = mlir::cast<tt::AtomicRMWOp>(op);
    Value *address = at(rmw.getPtr()), *value = at(rmw.getVal());
    old = masked(rmw.getMask(), [&](Value *slot) {
      static const std::pair<tt::RMWOp, AtomicRMWInst::BinOp> table[] = {{tt::RMWOp::AND, AtomicRMWInst::And},   {tt::RMWOp::OR, AtomicRMWInst::Or},
                                                                         {tt::RMWOp::XOR, AtomicRMWInst::Xor},   {tt::RMWOp::ADD, AtomicRMWInst::Add},
                                                                         {tt::RMWOp::FADD, AtomicRMWInst::FAdd}, {tt::RMWOp::MAX, AtomicRMWInst::Max},
                                                                         {tt::RMWOp::MIN, AtomicRMWInst::Min},   {tt::RMWOp::UMAX, AtomicRMWInst::UMax},
                                                                         {tt::RMWOp::UMIN, AtomicRMWInst::UMin}, {tt::RMWOp::XCHG, AtomicRMWInst::Xchg}};
      AtomicOrdering order = orderingOf(rmw.getSem());
      if (isNarrowFloat(element)) {
        // Compare-and-swap of the bits until nobody came between.
        BasicBlock *before = b.GetInsertBlock(), *loop = BasicBlock::Create(context, "retry", function),
                   *after = BasicBlock::Create(context, "updated", function);
        LoadInst *first = b.CreateAlignedLoad(memory, address, Align(tt::bytesOf(element)));
        first->setAtomic(AtomicOrdering::Monotonic);
        b.CreateBr(loop);
        b.SetInsertPoint(loop);
        PHINode *seen = b.CreatePHI(memory, 2);
        seen->addIncoming(first, before);
        Value *was = decodeFloat(b, seen, element);
        Value *sum = rmw.getAtomicRmwOp() == tt::RMWOp::XCHG ? value : roundFloat(b, b.CreateFAdd(was, value), element);
        Value *pair = b.CreateAtomicCmpXchg(address, seen, encodeFloat(b, sum, element), Align(tt::bytesOf(element)), order,
                                            AtomicCmpXchgInst::getStrongestFailureOrdering(order));
        seen->addIncoming(b.CreateExtractValue(pair, 0), loop);
        b.CreateCondBr(b.CreateExtractValue(pair, 1), after, loop);
        b.SetInsertPoint(after);
        b.CreateStore(was, slot);
        return;
      }
      for (auto [kind, operation] : table)
        if (kind == rmw.getAtomicRmwOp())
          b.CreateStore(b.CreateAtomicRMW(operation, address, value, Align(tt::bytesOf(element)), order), slot);
    });
  }
  if (tt::isTile(result.getType()))
    remember(result, point, {old, false});
  else
    scalars[result] = old;
}

} // namespace tk::cpu
