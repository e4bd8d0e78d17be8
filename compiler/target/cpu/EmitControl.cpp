// Blocks and structured control flow. A carried scalar is a stack slot (SROA makes it a register), a carried tile is one buffer for
// all iterations: the step that makes the next value writes it there when nothing reads the old value later, else it is copied at the end.
#include "compiler/target/cpu/Emitter.h"

using namespace llvm;
namespace tk::cpu {

/// Emits a block whose terminator hands on values: tiles into `slots`, scalars into `scalarSlots` (null for positions of the other kind).
void Emitter::emitBlock(mlir::Block &block, ArrayRef<Buffer> slots, ArrayRef<Value *> scalarSlots) {
  uint64_t mark = arenaTop;
  Plan plan(block);
  mlir::Operation *terminator = block.getTerminator();
  unsigned first = mlir::isa<mlir::scf::ConditionOp>(terminator) ? 1 : 0;

  // Where each handed-on tile is made: in its slot, or in a buffer that is copied at the end.
  SmallVector<Buffer> made(slots.begin(), slots.end());
  bool isLoop = mlir::isa<mlir::scf::ForOp>(block.getParentOp()) || (mlir::isa<mlir::scf::WhileOp>(block.getParentOp()) && mlir::isa<mlir::scf::YieldOp>(terminator));
  unsigned firstArgument = mlir::isa<mlir::scf::ForOp>(block.getParentOp()) ? 1 : 0;
  auto writesSafely = [&](unsigned slot, unsigned step) {
    if (!isLoop)
      return true;
    // In a while loop the body's arguments are other buffers than the ones that its yield fills.
    if (mlir::isa<mlir::scf::WhileOp>(block.getParentOp()))
      return true;
    mlir::Value carried = block.getArgument(slot + firstArgument);
    bool identity;
    for (unsigned later = step + 1; later < plan.steps.size(); ++later)
      if (plan.reads(later, carried, identity))
        return false;
    if (plan.reads(step, carried, identity) && !identity) {
      // A dot may add to its own accumulator in place.
      auto dot = plan.steps[step].ops.empty() ? nullptr : mlir::dyn_cast<tt::DotOp>(plan.steps[step].ops[0]);
      return plan.steps[step].kind == Step::Alone && dot && dot.getC() == carried && dot.getA() != carried && dot.getB() != carried;
    }
    return true;
  };
  DenseSet<mlir::Value> claimed;
  for (unsigned slot = 0; slot < slots.size(); ++slot) {
    if (!slots[slot].base)
      continue;
    mlir::Value value = terminator->getOperand(slot + first);
    mlir::Operation *definer = value.getDefiningOp();
    if (!definer || definer->getBlock() != &block || isVirtual(value))
      continue;
    unsigned step = plan.stepOf(value);
    if (claimed.insert(value).second && writesSafely(slot, step) && !mlir::isa<tt::ReshapeOp>(definer))
      targets[value] = slots[slot];
  }
  for (unsigned index = 0; index < plan.steps.size(); ++index) {
    for (const Copy &copy : plan.steps[index].copies)
      if (!writesSafely(copy.slot, index))
        made[copy.slot] = allocate(copy.value.getType());
    emitStep(plan, index, made);
    if (!error.empty())
      return;
  }
  setLocation(terminator);
  // Remaining transfers, after every read.
  SmallVector<std::pair<Value *, Value *>> stores;
  for (unsigned slot = 0; slot < slots.size(); ++slot) {
    mlir::Value value = terminator->getOperand(slot + first);
    if (!slots[slot].base) {
      if (scalarSlots[slot])
        stores.push_back({scalar(value), scalarSlots[slot]});
      continue;
    }
    if (value.getDefiningOp() && value.getDefiningOp()->getBlock() == &block && !isVirtual(value))
      made[slot] = bufferOf(value);
    if (made[slot].base != slots[slot].base)
      copyBuffer(made[slot], slots[slot], value.getType());
  }
  for (auto [value, slot] : stores)
    b.CreateStore(value, slot);
  arenaTop = mark;
}

void Emitter::emitStep(Plan &plan, unsigned index, ArrayRef<Buffer> copyTargets) {
  const Step &step = plan.steps[index];
  if (!step.ops.empty())
    setLocation(step.ops.front());
  switch (step.kind) {
  case Step::Scalar:
    return emitScalar(step.ops[0]);
  case Step::Alone:
    return emitAlone(step.ops[0]);
  case Step::Group: {
    SmallVector<GroupOut> outs;
    int laneDim = chooseLaneDim(step);
    for (mlir::Operation *op : step.ops)
      for (mlir::Value result : op->getResults()) {
        if (!plan.inMemory.contains(result))
          continue;
        auto target = targets.find(result);
        bool sameShape = !mlir::isa<tt::ReduceOp>(op);
        buffers[result] = target != targets.end() ? target->second : allocate(result.getType(), sameShape ? laneDim : -1);
        if (sameShape)
          outs.push_back({result, buffers[result]});
      }
    for (const Copy &copy : step.copies)
      outs.push_back({copy.value, copyTargets[copy.slot]});
    return emitGroup(step, outs, choosePrefetches(plan, index));
  }
  }
}

void Emitter::emitScalar(mlir::Operation *op) {
  if (mlir::isa<mlir::arith::ConstantOp>(op))
    return; // found where it is used
  if (auto id = mlir::dyn_cast<tt::GetProgramIdOp>(op)) {
    scalars[id] = programIds[unsigned(id.getAxis())];
  } else if (auto count = mlir::dyn_cast<tt::GetNumProgramsOp>(op)) {
    scalars[count] = gridSizes[unsigned(count.getAxis())];
  } else if (auto load = mlir::dyn_cast<tt::LoadOp>(op)) {
    Value *mask = load.getMask() ? scalar(load.getMask()) : nullptr;
    Value *other = load.getOther() ? scalar(load.getOther()) : nullptr;
    scalars[load] = loadElement(load.getType(), scalar(load.getPtr()), mask, other, load.getIsVolatile());
  } else if (auto store = mlir::dyn_cast<tt::StoreOp>(op)) {
    storeElement(store.getValue().getType(), scalar(store.getValue()), scalar(store.getPtr()), store.getMask() ? scalar(store.getMask()) : nullptr);
  } else if (mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
    emitAtomic(op, Point());
  } else if (auto check = mlir::dyn_cast<tt::AssertOp>(op)) {
    emitAssert(check, scalar(check.getCondition()));
  } else if (auto print = mlir::dyn_cast<tt::PrintOp>(op)) {
    emitPrint(print);
  } else if (mlir::isa<tt::BarrierOp, tt::AssumeOp>(op)) {
    // One thread runs a program: memory is in order; assumptions aren't used.
  } else if (auto poison = mlir::dyn_cast<mlir::ub::PoisonOp>(op)) {
    scalars[poison.getResult()] = Constant::getNullValue(registerType(poison.getType()));
  } else if (isElementwise(op)) {
    SmallVector<LaneValue> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back({scalar(operand), false});
    scalars[op->getResult(0)] = evalElementwise(op, operands, 0).value;
  } else {
    fail(op, "`" + op->getName().getStringRef() + "` is not supported on the CPU yet");
  }
}

void Emitter::emitAlone(mlir::Operation *op) {
  if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto dot = mlir::dyn_cast<tt::DotOp>(op))
    return emitDot(dot);
  if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
    return emitOperandLoad(load);
  if (auto reshape = mlir::dyn_cast<tt::ReshapeOp>(op))
    return emitReshape(reshape);
  if (auto scan = mlir::dyn_cast<tt::ScanOp>(op))
    return emitScan(scan);
  if (auto print = mlir::dyn_cast<tt::PrintOp>(op))
    return emitPrint(print);
  if (auto histogram = mlir::dyn_cast<tt::HistogramOp>(op))
    return emitHistogram(histogram);
  if (mlir::isa<tt::JoinOp, tt::SplitOp, tt::CatOp, tt::GatherOp>(op))
    return emitElementMoves(op);
  if (auto unsplat = mlir::dyn_cast<tt::UnsplatOp>(op)) {
    Point point;
    point.index.assign(tt::shapeOf(unsplat.getSrc().getType()).size(), i64(0));
    scalars[unsplat] = evalScalar(unsplat.getSrc(), point);
    return;
  }
  if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(op)) {
    auto dense = mlir::cast<mlir::DenseElementsAttr>(constant.getValue());
    mlir::Type element = dense.getElementType();
    SmallVector<Constant *> values;
    for (mlir::Attribute value : dense.getValues<mlir::Attribute>()) {
      Constant *item = this->constant(value, element);
      values.push_back(element.isInteger(1) ? ConstantInt::get(b.getInt8Ty(), item->isOneValue()) : item);
    }
    auto *type = ArrayType::get(bufferType(element), values.size());
    auto *global = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, ConstantArray::get(type, values), "dense");
    Buffer buffer;
    buffer.base = global, buffer.type = bufferType(element);
    int64_t stride = 1;
    buffer.strides.resize(dense.getType().getRank());
    for (int dim = dense.getType().getRank() - 1; dim >= 0; --dim)
      buffer.strides[dim] = stride, stride *= dense.getType().getShape()[dim];
    buffers[constant] = buffer;
    return;
  }
  fail(op, "`" + op->getName().getStringRef() + "` is not supported on the CPU yet");
}

/// Evaluates any tile into a buffer.
void Emitter::materializeInto(mlir::Value value, const Buffer &target) {
  Step step;
  step.kind = Step::Group;
  step.shape.assign(tt::shapeOf(value.getType()).begin(), tt::shapeOf(value.getType()).end());
  step.copies.push_back({value, 0});
  emitGroup(step, {GroupOut{value, target}});
}

/// The memory of a tile, made now when it is virtual.
Buffer Emitter::bufferOf(mlir::Value value) {
  auto it = buffers.find(value);
  if (it != buffers.end())
    return it->second;
  Buffer buffer = allocate(value.getType());
  materializeInto(value, buffer);
  return buffer;
}

void Emitter::copyBuffer(const Buffer &from, const Buffer &to, mlir::Type tile) {
  auto shape = tt::shapeOf(tile);
  if (from.strides == to.strides && from.type == to.type) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    b.CreateMemCpy(to.base, Align(64), from.base, Align(64), count * (from.type->isPointerTy() ? 8 : from.type->getPrimitiveSizeInBits() / 8));
    return;
  }
  forEach(shape, [&](ArrayRef<Value *> index) {
    Point point;
    point.index.assign(index.begin(), index.end());
    storeBuffer(to, tt::elementType(tile), point, loadBuffer(from, tt::elementType(tile), point), nullptr);
  });
}

/// The results of a region operation: tiles are its buffers, scalars are read from their slots.
void Emitter::defineResults(mlir::Operation *op, ArrayRef<Buffer> tiles, ArrayRef<Value *> locals) {
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (tiles[index].base)
      buffers[result] = tiles[index];
    else
      scalars[result] = b.CreateLoad(registerType(result.getType()), locals[index]);
  }
}

void Emitter::emitFor(mlir::scf::ForOp op) {
  // Initial values first: they may read what the loop's buffers will hold.
  SmallVector<Buffer> tiles(op.getNumResults());
  SmallVector<Value *> locals(op.getNumResults());
  for (auto [index, init] : llvm::enumerate(op.getInitArgs())) {
    if (tt::isTile(init.getType())) {
      auto target = targets.find(op.getResult(index));
      tiles[index] = target != targets.end() ? target->second : allocate(init.getType());
      materializeInto(init, tiles[index]);
    } else {
      locals[index] = local(registerType(init.getType()), "carried");
      b.CreateStore(scalar(init), locals[index]);
    }
  }
  uint64_t mark = arenaTop;
  Value *lower = scalar(op.getLowerBound()), *upper = scalar(op.getUpperBound()), *step = scalar(op.getStep());
  BasicBlock *before = b.GetInsertBlock();
  BasicBlock *loop = BasicBlock::Create(context, "for", function), *after = BasicBlock::Create(context, "for.end", function);
  bool isUnsigned = op.getUnsignedCmp();
  auto less = [&](Value *lhs, Value *rhs) { return isUnsigned ? b.CreateICmpULT(lhs, rhs) : b.CreateICmpSLT(lhs, rhs); };
  b.CreateCondBr(less(lower, upper), loop, after);
  b.SetInsertPoint(loop);
  PHINode *index = b.CreatePHI(lower->getType(), 2, "iv");
  index->addIncoming(lower, before);
  scalars[op.getInductionVar()] = index;
  {
    MemoScope scope(*this);
    for (auto [position, argument] : llvm::enumerate(op.getRegionIterArgs())) {
      if (tiles[position].base)
        buffers[argument] = tiles[position];
      else
        scalars[argument] = b.CreateLoad(registerType(argument.getType()), locals[position]);
    }
    emitBlock(*op.getBody(), tiles, locals);
  }
  // The distance to the bound is compared, so that the last step can't overflow.
  Value *left = b.CreateSub(upper, index);
  Value *more = b.CreateICmpUGT(left, step);
  Value *next = b.CreateAdd(index, step);
  index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(more, loop, after);
  b.SetInsertPoint(after);
  arenaTop = mark;
  defineResults(op, tiles, locals);
}

void Emitter::emitIf(mlir::scf::IfOp op) {
  SmallVector<Buffer> tiles(op.getNumResults());
  SmallVector<Value *> locals(op.getNumResults());
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    if (tt::isTile(result.getType())) {
      auto target = targets.find(result);
      tiles[index] = target != targets.end() ? target->second : allocate(result.getType());
    } else {
      locals[index] = local(registerType(result.getType()), "merged");
    }
  }
  auto branch = [&](mlir::Region &region) { emitBlock(region.front(), tiles, locals); };
  if (op.getElseRegion().empty())
    ifThen(scalar(op.getCondition()), [&] { branch(op.getThenRegion()); });
  else
    ifThen(scalar(op.getCondition()), [&] { branch(op.getThenRegion()); }, [&] { branch(op.getElseRegion()); });
  defineResults(op, tiles, locals);
}

/// A loop that may wait for another program: it reads memory that others change.
static bool maySpin(mlir::scf::WhileOp op) {
  return op.walk([](mlir::Operation *inner) {
             auto load = mlir::dyn_cast<tt::LoadOp>(inner);
             return mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp>(inner) || (load && load.getIsVolatile()) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
           }).wasInterrupted();
}

void Emitter::emitWhile(mlir::scf::WhileOp op) {
  // Two sets of slots: what the test's block gets (init, yield), and what it hands on (to the body and out of the loop).
  SmallVector<Buffer> beforeTiles(op.getInits().size()), afterTiles(op.getNumResults());
  SmallVector<Value *> beforeLocals(op.getInits().size()), afterLocals(op.getNumResults());
  for (auto [index, init] : llvm::enumerate(op.getInits())) {
    if (tt::isTile(init.getType())) {
      beforeTiles[index] = allocate(init.getType());
      materializeInto(init, beforeTiles[index]);
    } else {
      beforeLocals[index] = local(registerType(init.getType()), "carried");
      b.CreateStore(scalar(init), beforeLocals[index]);
    }
  }
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    if (tt::isTile(result.getType()))
      afterTiles[index] = allocate(result.getType());
    else
      afterLocals[index] = local(registerType(result.getType()), "handed");
  }
  uint64_t mark = arenaTop;
  auto bind = [&](mlir::Block &block, ArrayRef<Buffer> tiles, ArrayRef<Value *> locals) {
    for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
      if (tiles[index].base)
        buffers[argument] = tiles[index];
      else
        scalars[argument] = b.CreateLoad(registerType(argument.getType()), locals[index]);
    }
  };
  BasicBlock *test = BasicBlock::Create(context, "while", function), *body = BasicBlock::Create(context, "while.body", function), *after = BasicBlock::Create(context, "while.end", function);
  b.CreateBr(test);
  b.SetInsertPoint(test);
  {
    MemoScope scope(*this);
    bind(op.getBefore().front(), beforeTiles, beforeLocals);
    emitBlock(op.getBefore().front(), afterTiles, afterLocals);
    b.CreateCondBr(scalar(op.getConditionOp().getCondition()), body, after);
  }
  b.SetInsertPoint(body);
  {
    MemoScope scope(*this);
    bind(op.getAfter().front(), afterTiles, afterLocals);
    emitBlock(op.getAfter().front(), beforeTiles, beforeLocals);
    if (maySpin(op))
      emitYield();
    b.CreateBr(test);
  }
  b.SetInsertPoint(after);
  arenaTop = mark;
  defineResults(op, afterTiles, afterLocals);
}

} // namespace tk::cpu
