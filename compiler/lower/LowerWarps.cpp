// Regions of warps. The block has more warps than the function: those beyond wait until an operation divides the block, execute their partition, and wait
// again.
//
//   entry:    warp < the function's? start : workers          workers:  barrier 0; read the number
//   start:    ...                                                       number 1: by the warp's number to one of its partitions
//             hand over captures, number = 1; barrier 0                 number 0: return
//             default region, with barrier 1                  partition: read captures; ..., with its own barrier
//             barrier 0                                                 barrier 0; back to workers
//             ...                                             idle:     barrier 0; back to workers
//             number = 0; barrier 0; return
//
// So an operation may stand anywhere: in a loop, in a branch, after another one. Barrier 0 is for all threads of the block and orders everything before against
// everything after it; between two of them each region has a barrier of its own.
#include "compiler/RecordRemark.h"
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/WarpPlan.h"

using namespace llvm;
namespace tk::lower {

void GpuEmitter::blockBarrier() { target.barrier(b, kBlockBarrier, 0); }

void GpuEmitter::beginWorkers(tt::FuncOp kernel) {
  workers.emplace();
  workers->head = BasicBlock::Create(context, "workers", function);
  workers->idle = BasicBlock::Create(context, "idle", function);
  workers->dispatch = scratchOffset(kernel);
  BasicBlock *own = BasicBlock::Create(context, "own", function);
  b.CreateCondBr(b.CreateICmpULT(thread, word(numWarps * target.lanes())), own, workers->head);
  // What partitions compute must not be hoisted in front of the loop, where the registers of all of them would be alive at once.
  b.SetInsertPoint(workers->head);
  blockBarrier();
  workers->number = loadShared(sharedAddress(workers->dispatch), b.getInt32Ty());
  workers->thread = target.opaque(b, thread);
  workers->warp = b.CreateLShr(workers->thread, Log2_32(target.lanes()), "block.warp");
  b.SetInsertPoint(workers->idle);
  blockBarrier();
  b.CreateBr(workers->head);
  b.SetInsertPoint(own);
  entry = own; // the workers have no use for the numbers of the function's threads
  barrierId = kFunctionBarrier;
}

void GpuEmitter::dispatch(unsigned number) {
  ifThen(b.CreateICmpEQ(thread, word(0)), [&] { storeShared(sharedAddress(workers->dispatch), word(number)); });
  blockBarrier();
}

void GpuEmitter::endWorkers() {
  dispatch(0);
  IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(workers->head);
  for (auto [index, division] : enumerate(workers->divisions)) {
    BasicBlock *next = BasicBlock::Create(context, "division", function);
    b.CreateCondBr(b.CreateICmpEQ(workers->number, word(index + 1)), division, next);
    b.SetInsertPoint(next);
  }
  b.CreateRetVoid();
}

/// Who has too many gives them back before all meet, and who needs more takes them behind that: else one who has given some away might take them again before
/// another one, who waits for them, has got them.
void GpuEmitter::meet(unsigned launch, unsigned changed) {
  if (changed > launch)
    target.setRegisters(b, launch, false);
  blockBarrier();
  if (changed && changed < launch)
    target.setRegisters(b, launch, true);
}

void GpuEmitter::emitWarpSpecialize(ttg::WarpSpecializeOp op) {
  SmallVector<ttg::WarpPartitionOp> partitions = op.partitions();
  if (partitions.size() > kBarriers - kFirstPartitionBarrier)
    return fail(op, "a block has " + Twine(kBarriers) + " barriers, enough for " + Twine(kBarriers - kFirstPartitionBarrier) + " partitions; found " +
                        Twine(partitions.size()));
  SmallVector<PartitionPlace> places = placePartitions(op);
  unsigned launch = registersAtLaunch(warpsOfBlock(op->getParentOfType<tt::FuncOp>()), target.mostRegisters());
  RegisterPlan registerPlan = planRegisters(op, target.changesRegisters(), launch);
  for (auto [partition, place, count, why] : zip(partitions, places, registerPlan.ofPartition, registerPlan.refused))
    if (compiler::RecordRemark remark(partition, compiler::RemarkKind::Warps); remark) {
      remark.fact("warps", place.warps).fact("first", place.first);
      if (partition.getRegisters())
        remark.fact("wanted", *partition.getRegisters());
      if (count)
        remark.fact("registers", count);
      if (!why.empty())
        remark.fact("reason", why);
    }

  Handed handed;
  SmallVector<mlir::Value> toHand = handedValues(op);
  for (auto [index, value] : enumerate(toHand))
    handed[value] = {scratchOffset(op) + index * kHandedBytes, scalar(value)->getType()};
  if (!toHand.empty())
    ifThen(b.CreateICmpEQ(thread, word(0)), [&] {
      for (mlir::Value value : toHand)
        storeShared(sharedAddress(handed[value].first), scalar(value));
    });
  BasicBlock *division = BasicBlock::Create(context, "division.start", function);
  workers->divisions.push_back(division);
  dispatch(workers->divisions.size());
  if (registerPlan.own)
    target.setRegisters(b, registerPlan.own, registerPlan.own > launch);
  emitBlock(op.getDefaultRegion().front());
  if (!error.empty())
    return;
  meet(launch, registerPlan.own);
  for (auto [result, yielded] : zip(op.getResults(), op.yield().getOperands())) {
    Registers copy = registers(yielded);
    define(result, copy);
  }

  IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(division);
  for (auto [index, partition] : enumerate(partitions)) {
    setLocation(partition);
    BasicBlock *start = BasicBlock::Create(context, "partition", function), *next = BasicBlock::Create(context, "division.next", function);
    // Unsigned: warps below the first one are far beyond.
    Value *number = b.CreateSub(workers->warp, word(places[index].first));
    b.CreateCondBr(b.CreateICmpULT(number, word(places[index].warps)), start, next);
    b.SetInsertPoint(start);
    emitPartition(partition, places[index].first, kFirstPartitionBarrier + index, launch, registerPlan.ofPartition[index], handed);
    if (!error.empty())
      return;
    b.SetInsertPoint(next);
  }
  b.CreateBr(workers->idle);
}

void GpuEmitter::emitPartition(ttg::WarpPartitionOp op, unsigned first, unsigned barrierNumber, unsigned launch, unsigned changed, Handed &handed) {
  WarpRegion region;
  region.entry = b.GetInsertBlock();
  region.numWarps = op.getNumWarps();
  region.barrierId = barrierNumber;
  region.thread = b.CreateSub(workers->thread, word(first * target.lanes()), "thread");
  region.lane = region.numWarps == 1 ? region.thread : b.CreateAnd(region.thread, word(target.lanes() - 1), "lane");
  region.warp = region.numWarps == 1 ? word(0) : b.CreateLShr(region.thread, Log2_32(target.lanes()), "warp");
  for (auto [argument, capture] : zip(op.getBody().getArguments(), op.getCaptures())) {
    auto found = handed.find(capture);
    if (found != handed.end())
      define(argument, {loadShared(sharedAddress(found->second.first), found->second.second)});
    else
      define(argument, {isa<Constant>(scalar(capture)) ? scalar(capture) : target.opaque(b, scalar(capture))});
  }
  BasicBlock *body = BasicBlock::Create(context, "partition.body", function);
  b.CreateBr(body);
  b.SetInsertPoint(body);
  std::swap(static_cast<WarpRegion &>(*this), region);
  if (changed)
    target.setRegisters(b, changed, changed > launch);
  emitBlock(op.getBody().front());
  if (error.empty()) {
    // Who comes after may use the memory that copies still go to.
    if (op.getBody().walk([](ttg::AsyncCopyOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted())
      target.asyncWait(b, 0);
    meet(launch, changed);
    b.CreateBr(workers->head);
  }
  std::swap(static_cast<WarpRegion &>(*this), region);
}

// ---- barriers between regions ----

void GpuEmitter::emitMbarrier(mlir::Operation *op) {
  if (!target.hasMbarriers())
    return fail(op, "`" + op->getName().getStringRef() + "` needs barriers in shared memory, which came with sm_80");
  Value *address = memory(op->getOperand(0));
  auto byFirst = [&](function_ref<void()> then) { ifThen(b.CreateICmpEQ(thread, word(0)), then); };
  if (auto init = mlir::dyn_cast<ttg::MbarrierInitOp>(op))
    return byFirst([&] { target.mbarrierInit(b, address, init.getCount()); });
  if (mlir::isa<ttg::MbarrierInvalOp>(op))
    return byFirst([&] { target.mbarrierInval(b, address); });
  if (mlir::isa<ttg::MbarrierArriveOp>(op)) {
    barrier(); // what all threads of the region have done
    return byFirst([&] { target.mbarrierArrive(b, address); });
  }
  Value *phase = scalar(mlir::cast<ttg::MbarrierWaitOp>(op).getPhase());
  BasicBlock *ask = BasicBlock::Create(context, "wait", function), *after = BasicBlock::Create(context, "wait.end", function);
  b.CreateBr(ask);
  b.SetInsertPoint(ask);
  b.CreateCondBr(target.mbarrierTest(b, address, phase), after, ask);
  b.SetInsertPoint(after);
}

} // namespace tk::lower
