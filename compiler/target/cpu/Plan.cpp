// Grouping of tile operations (see Plan.h). One pass in program order with one open group.
#include "compiler/target/cpu/Plan.h"

using namespace mlir;
namespace tk::cpu {

bool isView(Operation *op) { return isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp>(op); }

bool isElementwise(Operation *op) {
  if (isa<tt::ReduceOp, tt::ScanOp>(op) || op->getNumRegions() != 0)
    return false;
  StringRef dialect = op->getDialect() ? op->getDialect()->getNamespace() : "";
  if (dialect == "arith" || dialect == "math")
    return !isa<arith::ConstantOp>(op);
  return isa<tt::AddPtrOp, tt::PtrToIntOp, tt::IntToPtrOp, tt::BitcastOp, tt::FpToFpOp, tt::ClampFOp, tt::PreciseSqrtOp, tt::PreciseDivFOp, tt::MulhiUIOp>(op);
}

/// Cheap enough to be computed again at every use.
static bool isCheapIndexOp(Operation *op) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::CmpIOp, arith::SelectOp,
           arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, tt::AddPtrOp, tt::BitcastOp>(op))
    return false;
  Type element = tt::elementType(op->getResult(0).getType());
  return isa<IntegerType, tt::PointerType>(element);
}

bool isVirtual(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !tt::isTile(value.getType()))
    return false;
  if (isView(op) || isa<tt::SplatOp, tt::MakeRangeOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (!isCheapIndexOp(op))
    return false;
  return llvm::all_of(op->getOperands(), [](Value operand) { return !tt::isTile(operand.getType()) || isa<BlockArgument>(operand) || isVirtual(operand); });
}

void visitLeaves(Value value, bool identity, llvm::function_ref<void(Value, bool)> visit) {
  SmallVector<std::pair<Value, bool>> work{{value, identity}};
  DenseSet<std::pair<void *, int>> seen;
  while (!work.empty()) {
    auto [current, same] = work.pop_back_val();
    if (!seen.insert({current.getAsOpaquePointer(), same}).second)
      continue;
    if (!isVirtual(current)) {
      visit(current, same);
      continue;
    }
    Operation *op = current.getDefiningOp();
    for (Value operand : op->getOperands())
      work.push_back({operand, same && !isView(op)});
  }
}

static bool touchesMemory(Operation &op) { return !isMemoryEffectFree(&op); }

/// The iteration shape of an operation that may be in a group, nothing when it stands alone or is scalar.
static std::optional<ArrayRef<int64_t>> groupShape(Operation &op) {
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return tt::shapeOf(reduce.getSrcs()[0].getType());
  if (auto store = dyn_cast<tt::StoreOp>(op))
    return tt::isTile(store.getPtr().getType()) ? std::optional(tt::shapeOf(store.getPtr().getType())) : std::nullopt;
  if (auto check = dyn_cast<tt::AssertOp>(op))
    return tt::isTile(check.getCondition().getType()) ? std::optional(tt::shapeOf(check.getCondition().getType())) : std::nullopt;
  if (isElementwise(&op) || isa<tt::LoadOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
    Type type = op.getResult(0).getType();
    if (tt::isTile(type))
      return tt::shapeOf(type);
  }
  return std::nullopt;
}

static bool isAtomic(Operation &op) { return isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AssertOp>(op); }

Plan::Plan(Block &block) {
  for (Operation &op : block.without_terminator())
    place(op);
  planYield(*block.getTerminator());
  close();
  findMemory(block);
}

void Plan::close() {
  if (!isOpen)
    return;
  for (Operation *op : open.ops)
    stepOfOp[op] = steps.size();
  steps.push_back(std::move(open));
  open = Step();
  inOpen.clear();
  isOpen = false;
}

/// Like a scalar it goes before the open group where it can, so that the group isn't cut in two.
void Plan::placeOperandLoad(Operation &op) {
  bool depends = llvm::any_of(open.ops, [](Operation *other) { return touchesMemory(*other) && !isa<tt::LoadOp>(other); });
  for (Value operand : op.getOperands())
    visitLeaves(operand, true, [&](Value leaf, bool) { depends |= leaf.getDefiningOp() && inOpen.contains(leaf.getDefiningOp()); });
  if (depends)
    close();
  stepOfOp[&op] = steps.size();
  Step step;
  step.kind = Step::Alone;
  step.ops.push_back(&op);
  steps.push_back(std::move(step));
}

void Plan::place(Operation &op) {
  if (op.getNumResults() == 1 && isVirtual(op.getResult(0)))
    return;
  if (isOperandLoad(&op))
    return placeOperandLoad(op);
  if (auto shape = groupShape(op)) {
    if (isOpen && (open.shape != SmallVector<int64_t>(*shape) || !joins(op)))
      close();
    if (!isOpen) {
      open.kind = Step::Group;
      open.shape.assign(shape->begin(), shape->end());
      isOpen = true;
    }
    open.ops.push_back(&op);
    inOpen.insert(&op);
    return;
  }
  // Scalars that don't depend on the open group go before it; everything else ends it.
  bool isScalar = op.getNumRegions() == 0 && llvm::none_of(op.getOperandTypes(), tt::isTile) && llvm::none_of(op.getResultTypes(), tt::isTile);
  bool depends = llvm::any_of(op.getOperands(), [&](Value operand) { return operand.getDefiningOp() && inOpen.contains(operand.getDefiningOp()); });
  if (!isScalar || depends || touchesMemory(op))
    close();
  Step step;
  step.kind = isScalar ? Step::Scalar : Step::Alone;
  step.ops.push_back(&op);
  stepOfOp[&op] = steps.size();
  steps.push_back(std::move(step));
}

/// Whether an operand can be had at one point of the open group's loop.
bool Plan::joins(Value operand) {
  bool ok = true;
  visitLeaves(operand, true, [&](Value leaf, bool identity) {
    Operation *source = leaf.getDefiningOp();
    if (source && inOpen.contains(source) && (!identity || isa<tt::ReduceOp>(source)))
      ok = false;
  });
  return ok;
}

/// Whether `op`, of the open group's shape, may run in the same loop.
bool Plan::joins(Operation &op) {
  if (!llvm::all_of(op.getOperands(), [&](Value operand) { return joins(operand); }))
    return false;
  // A load after a store of the loop would not see it, or see too much of it. Loads before stores are decided at run time (EmitOverlap.cpp).
  bool opLoads = isa<tt::LoadOp>(op);
  for (Operation *other : open.ops) {
    if (opLoads && isa<tt::StoreOp>(other))
      return false;
    if ((isAtomic(op) && touchesMemory(*other)) || (isAtomic(*other) && touchesMemory(op)))
      return false;
    auto volatileLoad = [](Operation *o) { auto load = dyn_cast<tt::LoadOp>(o); return load && load.getIsVolatile(); };
    if ((volatileLoad(&op) && touchesMemory(*other)) || (volatileLoad(other) && touchesMemory(op)))
      return false;
  }
  return true;
}

/// Virtual tiles that a loop or branch hands on are written by a group, the last one if they fit there.
void Plan::planYield(Operation &terminator) {
  if (isa<tt::ReturnOp, tt::ReduceReturnOp, tt::ScanReturnOp>(terminator))
    return;
  // scf.condition's first operand is the condition; slots count the values handed on.
  unsigned first = isa<scf::ConditionOp>(terminator) ? 1 : 0;
  for (unsigned slot = 0; slot + first < terminator.getNumOperands(); ++slot) {
    Value value = terminator.getOperand(slot + first);
    if (!tt::isTile(value.getType()))
      continue;
    Operation *source = value.getDefiningOp();
    if (source && source->getBlock() == terminator.getBlock() && !isVirtual(value))
      continue; // the step that makes it writes it in place where that is safe (EmitControl.cpp)
    auto loop = dyn_cast<scf::ForOp>(terminator.getParentOp());
    if (loop && loop.getRegionIterArg(slot) == value)
      continue; // unchanged
    if (isOpen && (open.shape != SmallVector<int64_t>(tt::shapeOf(value.getType())) || !joins(value)))
      close();
    if (!isOpen) {
      open.kind = Step::Group;
      open.shape = SmallVector<int64_t>(tt::shapeOf(value.getType()));
      isOpen = true;
    }
    open.copies.push_back({value, slot});
  }
}

unsigned Plan::stepOf(Value value) const {
  Operation *op = value.getDefiningOp();
  auto it = op ? stepOfOp.find(op) : stepOfOp.end();
  return it == stepOfOp.end() ? steps.size() : it->second;
}

/// Operands of an operation and of everything nested in it that come from outside of it.
static void visitOperands(Operation *op, llvm::function_ref<void(Value)> visit) {
  for (Value operand : op->getOperands())
    visit(operand);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          visit(operand);
    });
}

void Plan::findMemory(Block &block) {
  for (unsigned index = 0; index < steps.size(); ++index) {
    auto note = [&](Value operand) {
      visitLeaves(operand, true, [&](Value leaf, bool) {
        if (tt::isTile(leaf.getType()) && leaf.getDefiningOp() && (stepOf(leaf) != index || steps[index].kind == Step::Alone))
          inMemory.insert(leaf);
      });
    };
    for (Operation *op : steps[index].ops)
      visitOperands(op, note);
    for (Copy &copy : steps[index].copies)
      note(copy.value);
    for (Operation *op : steps[index].ops)
      if (steps[index].kind == Step::Alone || isa<tt::ReduceOp>(op))
        for (Value result : op->getResults())
          if (tt::isTile(result.getType()) && !op->use_empty())
            inMemory.insert(result);
  }
  if (isa<tt::ReturnOp, tt::ReduceReturnOp, tt::ScanReturnOp>(block.getTerminator()))
    return;
  for (Value operand : block.getTerminator()->getOperands())
    if (tt::isTile(operand.getType()) && !isVirtual(operand) && operand.getDefiningOp() && operand.getDefiningOp()->getBlock() == &block)
      inMemory.insert(operand);
}

bool Plan::reads(unsigned step, Value value, bool &identity) const {
  bool found = false;
  identity = true;
  bool alone = steps[step].kind == Step::Alone;
  auto note = [&](Value operand) {
    visitLeaves(operand, true, [&](Value leaf, bool same) {
      if (leaf == value)
        found = true, identity &= same && !alone;
    });
  };
  for (Operation *op : steps[step].ops)
    visitOperands(op, note);
  for (const Copy &copy : steps[step].copies)
    note(copy.value);
  return found;
}

} // namespace tk::cpu
