// Prefetches for the next program.
//
// A kernel that loads a tile, computes on it and stores it alternates between waiting for memory and keeping it idle. So the groups of the kernel's outermost block touch ahead what
// the next program will load and store, each group a share that goes by its work: a loop that only computes takes most. Addresses are evaluated ahead of their place: scalar
// code that depends on arguments and program ids alone is repeated, with the next id. A prefetch never faults, so a wrong guess (the last program, a masked-off lane) costs one
// instruction.
#include "compiler/target/cpu/Emitter.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace tk::cpu {

static constexpr int64_t kCacheLine = 64;

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
    if (id.getAxis() == tt::ProgramDim::X)
      result = b.CreateAdd(result, b.getInt32(1)), ahead->moves = true;
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

/// What a vector of the group costs, about.
static int64_t workOf(const Step &step) { return int64_t(step.ops.size() + step.copies.size()) + 1; }

/// The lines of `pointer`'s rows that step `index` touches, after those that the groups before it do.
Emitter::Prefetch Emitter::prefetchShare(const Plan &plan, ArrayRef<unsigned> groups, unsigned index, mlir::Value pointer, bool write) {
  Prefetch prefetch{pointer, write, 0, 0};
  int64_t total = 0, before = 0, size = tt::bytesOf(mlir::cast<tt::PointerType>(tt::elementType(pointer.getType())).getPointeeType());
  for (unsigned group : groups)
    total += workOf(plan.steps[group]);
  for (unsigned position : groups) {
    const Step &step = plan.steps[position];
    Group group;
    group.ops = step.ops, group.shape = step.shape, group.laneDim = chooseLaneDim(step);
    group.lanes = chooseLanes(group);
    if (group.laneDim < 0)
      break;
    int64_t bodies = std::max<int64_t>(1, group.shape[group.laneDim] / group.lanes), lines = (group.shape[group.laneDim] * size + kCacheLine - 1) / kCacheLine;
    before += workOf(step);
    int64_t left = lines * before / total - prefetch.firstLine;
    bool isLast = position == groups.back();
    prefetch.linesPerBody = std::max<int64_t>(0, isLast ? (left + bodies - 1) / bodies : (2 * left + bodies) / (2 * bodies));
    if (position == index)
      return prefetch;
    prefetch.firstLine += prefetch.linesPerBody * bodies;
  }
  prefetch.linesPerBody = 0;
  return prefetch;
}

/// The tiles of pointers that step `index` of the kernel's outermost block should prefetch.
SmallVector<Emitter::Prefetch> Emitter::choosePrefetches(const Plan &plan, unsigned index) {
  SmallVector<Prefetch> chosen;
  const Step &step = plan.steps[index];
  if (step.ops.empty() || step.ops.front()->getParentOfType<tt::FuncOp>() != step.ops.front()->getParentOp())
    return chosen;
  SmallVector<unsigned> groups;
  SmallVector<std::pair<mlir::Value, bool>> pointers;
  for (auto [position, other] : llvm::enumerate(plan.steps)) {
    if (other.kind != Step::Group || other.shape != step.shape || other.ops.empty())
      continue;
    groups.push_back(position);
    for (mlir::Operation *op : other.ops) {
      if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
        pointers.push_back({load.getPtr(), false});
      else if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
        pointers.push_back({store.getPtr(), true});
    }
  }
  if (groups.size() < 2)
    return chosen; // one loop has its loads and stores in flight together
  constexpr unsigned most = 6;
  if (pointers.size() > most)
    pointers.truncate(most);
  for (auto [pointer, write] : pointers)
    if (Prefetch share = prefetchShare(plan, groups, index, pointer, write); share.linesPerBody > 0)
      chosen.push_back(share);
  return chosen;
}

/// Addresses at lane 0 of this row for what the group prefetches.
void Emitter::beginPrefetches(const Group &group, Row &row, const Point &point) {
  for (const Prefetch &prefetch : group.prefetches) {
    mlir::Value base, offset;
    if (!tileAddress(prefetch.pointer, base, offset) || !offset || laneStride(offset, group.laneDim) != 1)
      continue;
    Ahead state;
    state.active = true;
    std::map<std::pair<void *, Point>, LaneValue> kept;
    std::vector<std::pair<void *, Point>> keptTrail;
    std::swap(memo, kept), std::swap(memoTrail, keptTrail);
    ahead = &state;
    Value *start = scalarAhead(base), *first = start ? evalScalar(offset, point) : nullptr;
    ahead = nullptr;
    std::swap(memo, kept), std::swap(memoTrail, keptTrail);
    if (!start || state.failed || !state.moves)
      continue; // what was emitted is unused and goes away
    int64_t size = tt::bytesOf(mlir::cast<tt::PointerType>(tt::elementType(prefetch.pointer.getType())).getPointeeType());
    Value *address = b.CreateGEP(b.getInt8Ty(), start, b.CreateMul(b.CreateSExt(first, b.getInt64Ty()), i64(size)), "ahead");
    row.prefetches.push_back({b.CreateConstGEP1_64(b.getInt8Ty(), address, prefetch.firstLine * kCacheLine), prefetch.linesPerBody, prefetch.write});
  }
}

/// The body's share of the lines.
void Emitter::emitPrefetches(const Row &row, const Point &point) {
  for (const auto &prefetch : row.prefetches) {
    Value *line = b.CreateLShr(b.CreateMul(point.index[point.laneDim], i64(prefetch.lines * kCacheLine)), i64(Log2_32(point.lanes)));
    Value *address = b.CreateGEP(b.getInt8Ty(), prefetch.address, line);
    for (int64_t i = 0; i < prefetch.lines; ++i)
      b.CreateIntrinsic(Intrinsic::prefetch, {b.getPtrTy()}, {b.CreateConstGEP1_64(b.getInt8Ty(), address, i * kCacheLine), b.getInt32(prefetch.write), b.getInt32(3), b.getInt32(1)});
  }
}

} // namespace tk::cpu
