// Prefetches in loops that leave the memory idle.
//
// A kernel that loads a tile, computes on it and stores it alternates between waiting for memory and keeping it idle. So a group without accesses of its own, in the kernel's
// outermost block, touches ahead what comes next: the rows that a later group of this program will store to, and those that the next program will load first. Addresses are
// evaluated ahead of their place: scalar code that depends on arguments and program ids alone is repeated, with the next id for the next program. A prefetch never faults,
// so a wrong guess (the last program, a masked-off lane) costs one instruction.
#include "compiler/target/cpu/Emitter.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace tk::cpu {

/// A scalar before its operation has been emitted, or as the next program will have it; null when it depends on more than arguments and ids.
Value *Emitter::scalarAhead(mlir::Value value) {
  if (auto known = ahead->known.find(value); known != ahead->known.end())
    return known->second;
  Value *result = nullptr;
  mlir::Operation *op = value.getDefiningOp();
  if (!op) {
    bool isKernelArgument = mlir::isa<tt::FuncOp>(mlir::cast<mlir::BlockArgument>(value).getOwner()->getParentOp());
    result = isKernelArgument ? scalars.lookup(value) : nullptr;
  } else if (auto id = mlir::dyn_cast<tt::GetProgramIdOp>(op)) {
    result = programIds[unsigned(id.getAxis())];
    if (ahead->nextProgram && id.getAxis() == tt::ProgramDim::X)
      result = b.CreateAdd(result, b.getInt32(1));
  } else if (auto count = mlir::dyn_cast<tt::GetNumProgramsOp>(op)) {
    result = gridSizes[unsigned(count.getAxis())];
  } else if (mlir::isa<mlir::arith::ConstantOp>(op)) {
    ahead->active = false;
    result = scalar(value);
    ahead->active = true;
  } else if (isElementwise(op)) {
    SmallVector<LaneValue> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back({scalarAhead(operand), false});
    if (llvm::all_of(operands, [](LaneValue operand) { return operand.value != nullptr; }))
      result = evalElementwise(op, operands, 0).value;
  }
  if (!result)
    ahead->failed = true;
  return ahead->known[value] = result;
}

/// The tiles of pointers that step `index` of the kernel's outermost block should prefetch.
SmallVector<Emitter::Prefetch> Emitter::choosePrefetches(const Plan &plan, unsigned index) {
  SmallVector<Prefetch> chosen;
  const Step &step = plan.steps[index];
  auto isQuiet = [](const Step &candidate) { return candidate.kind == Step::Group && llvm::all_of(candidate.ops, [](mlir::Operation *op) { return mlir::isMemoryEffectFree(op) || mlir::isa<tt::ReduceOp>(op); }); };
  if (step.ops.empty() || !isQuiet(step) || step.ops.front()->getParentOfType<tt::FuncOp>() != step.ops.front()->getParentOp())
    return chosen;
  bool isFirst = true;
  for (unsigned earlier = 0; earlier < index; ++earlier)
    isFirst &= !isQuiet(plan.steps[earlier]);
  if (!isFirst)
    return chosen; // one group does it for all
  constexpr unsigned most = 6;
  for (unsigned other = 0; other < plan.steps.size(); ++other) {
    if (plan.steps[other].kind != Step::Group || plan.steps[other].shape != step.shape)
      continue;
    for (mlir::Operation *op : plan.steps[other].ops) {
      if (auto load = mlir::dyn_cast<tt::LoadOp>(op); load && other < index)
        chosen.push_back({load.getPtr(), true, false});
      else if (auto store = mlir::dyn_cast<tt::StoreOp>(op); store && other > index)
        chosen.push_back({store.getPtr(), false, true});
    }
  }
  if (chosen.size() > most)
    chosen.truncate(most);
  return chosen;
}

/// Addresses at lane 0 of this row for what the group prefetches.
void Emitter::beginPrefetches(const Group &group, Row &row, const Point &point) {
  for (const Prefetch &prefetch : group.prefetches) {
    mlir::Value base, offset;
    if (!tileAddress(prefetch.pointer, base, offset) || !offset || laneStride(offset, group.laneDim) != 1)
      continue;
    Ahead state;
    state.nextProgram = prefetch.nextProgram;
    state.active = true;
    std::map<std::pair<void *, Point>, LaneValue> kept;
    std::vector<std::pair<void *, Point>> keptTrail;
    std::swap(memo, kept), std::swap(memoTrail, keptTrail);
    ahead = &state;
    Value *start = scalarAhead(base), *first = start ? evalScalar(offset, point) : nullptr;
    ahead = nullptr;
    std::swap(memo, kept), std::swap(memoTrail, keptTrail);
    if (!start || state.failed)
      continue; // what was emitted is unused and goes away
    int64_t size = tt::bytesOf(mlir::cast<tt::PointerType>(tt::elementType(prefetch.pointer.getType())).getPointeeType());
    Value *address = b.CreateGEP(b.getInt8Ty(), start, b.CreateMul(b.CreateSExt(first, b.getInt64Ty()), i64(size)), "ahead");
    row.prefetches.push_back({address, size, prefetch.write});
  }
}

/// One prefetch for each cache line that the body's lanes stand for.
void Emitter::emitPrefetches(const Row &row, const Point &point) {
  constexpr int64_t line = 64;
  for (const auto &prefetch : row.prefetches) {
    Value *address = b.CreateGEP(b.getInt8Ty(), prefetch.address, b.CreateMul(point.index[point.laneDim], i64(prefetch.size), "", true, true));
    for (int64_t offset = 0; offset < int64_t(point.lanes) * prefetch.size; offset += line)
      b.CreateIntrinsic(Intrinsic::prefetch, {b.getPtrTy()}, {b.CreateConstGEP1_64(b.getInt8Ty(), address, offset), b.getInt32(prefetch.write), b.getInt32(3), b.getInt32(1)});
  }
}

} // namespace tk::cpu
