// Control flow: structured loops and branches become blocks; every register that is carried becomes a phi.
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/Scratch.h"

using namespace llvm;
namespace scf = mlir::scf;
namespace tk::lower {

void GpuEmitter::emitBlock(mlir::Block &block) {
  for (mlir::Operation &op : block) {
    if (!error.empty())
      return;
    setLocation(&op);
    emitOperation(&op);
  }
}

void GpuEmitter::emitOperation(mlir::Operation *op) {
  if (op->hasTrait<mlir::OpTrait::IsTerminator>())
    return;
  if (auto loop = mlir::dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = mlir::dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = mlir::dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto id = mlir::dyn_cast<tt::GetProgramIdOp>(op))
    return define(id, {target.programId(b, unsigned(id.getAxis()))});
  if (auto count = mlir::dyn_cast<tt::GetNumProgramsOp>(op))
    return define(count, {target.numPrograms(b, unsigned(count.getAxis()))});
  if (mlir::isa<mlir::arith::ConstantOp, tt::SplatOp, mlir::ub::PoisonOp>(op))
    return emitConstant(op);
  if (auto range = mlir::dyn_cast<tt::MakeRangeOp>(op))
    return emitMakeRange(range);
  if (mlir::isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, tt::TransOp, tt::UnsplatOp>(op))
    return emitView(op);
  if (auto join = mlir::dyn_cast<tt::JoinOp>(op))
    return emitJoin(join);
  if (auto split = mlir::dyn_cast<tt::SplitOp>(op))
    return emitSplit(split);
  if (auto cat = mlir::dyn_cast<tt::CatOp>(op))
    return emitCat(cat);
  if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
    return emitLoad(load);
  if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
    return emitStore(store);
  if (mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op))
    return emitAtomic(op);
  if (auto conversion = mlir::dyn_cast<ttg::ConvertLayoutOp>(op))
    return emitConversion(conversion);
  if (auto alloc = mlir::dyn_cast<ttg::LocalAllocOp>(op))
    return emitLocalAlloc(alloc);
  if (auto index = mlir::dyn_cast<ttg::MemDescIndexOp>(op))
    return emitMemDescIndex(index);
  if (auto view = mlir::dyn_cast<ttg::MemDescTransOp>(op))
    return define(view, {memory(view.getSrc())});
  if (auto load = mlir::dyn_cast<ttg::LocalLoadOp>(op))
    return emitLocalLoad(load);
  if (auto store = mlir::dyn_cast<ttg::LocalStoreOp>(op))
    return storeTile(store.getValue(), store.getDst());
  if (auto copy = mlir::dyn_cast<ttg::AsyncCopyOp>(op))
    return emitAsyncCopy(copy);
  if (mlir::isa<ttg::AsyncCommitOp>(op)) {
    target.asyncCommit(b);
    return define(op->getResult(0), {});
  }
  if (auto division = mlir::dyn_cast<ttg::WarpSpecializeOp>(op))
    return emitWarpSpecialize(division);
  if (mlir::isa<ttg::MbarrierInitOp, ttg::MbarrierInvalOp, ttg::MbarrierArriveOp, ttg::MbarrierWaitOp>(op))
    return emitMbarrier(op);
  if (auto wait = mlir::dyn_cast<ttg::AsyncWaitOp>(op)) {
    target.asyncWait(b, wait.getPending());
    return define(wait, {});
  }
  if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op))
    return emitReduce(reduce);
  if (auto scan = mlir::dyn_cast<tt::ScanOp>(op))
    return emitScan(scan);
  if (auto gather = mlir::dyn_cast<tt::GatherOp>(op))
    return emitGather(gather);
  if (auto histogram = mlir::dyn_cast<tt::HistogramOp>(op))
    return emitHistogram(histogram);
  if (auto dot = mlir::dyn_cast<tt::DotOp>(op))
    return emitDot(dot);
  if (auto dot = mlir::dyn_cast<ttg::WarpgroupDotOp>(op))
    return emitWarpgroupDot(dot);
  if (auto wait = mlir::dyn_cast<ttg::WarpgroupWaitOp>(op))
    return emitWarpgroupWait(wait);
  if (mlir::isa<ttg::ProxyFenceOp>(op))
    return target.proxyFence(b);
  if (auto print = mlir::dyn_cast<tt::PrintOp>(op))
    return emitPrint(print);
  if (auto check = mlir::dyn_cast<tt::AssertOp>(op))
    return emitAssert(check);
  if (mlir::isa<tt::BarrierOp, ttg::BarrierOp>(op))
    return barrier();
  if (auto fact = mlir::dyn_cast<tt::AssumeOp>(op)) {
    b.CreateAssumption(scalar(fact.getCondition()));
    return;
  }
  if (op->hasTrait<mlir::OpTrait::Elementwise>() || op->getNumResults() == 1)
    return emitElementwise(op);
  fail(op, "`" + op->getName().getStringRef() + "` is not supported on this target yet");
}

/// Phis for a list of values, all their registers in order.
struct GpuEmitter::Phis {
  SmallVector<PHINode *> nodes;
  /// At the current place, which is the start of a block.
  void create(GpuEmitter &emitter, mlir::ValueRange owners, mlir::TypeRange types) {
    for (auto [owner, type] : zip(owners, types)) {
      if (mlir::isa<ttg::TokenType>(type)) { // order, which needs no register
        emitter.define(owner, {});
        continue;
      }
      unsigned count = tt::isTile(type) ? ttg::layoutOf(type).registers() : 1;
      Registers made;
      for (unsigned i = 0; i < count; ++i) {
        nodes.push_back(emitter.b.CreatePHI(emitter.valueType(tt::elementType(type)), 2));
        made.push_back(nodes.back());
      }
      emitter.define(owner, std::move(made));
    }
  }
  /// The values on the edge from the current block.
  void arrive(GpuEmitter &emitter, mlir::ValueRange incoming) {
    size_t next = 0;
    BasicBlock *from = emitter.b.GetInsertBlock();
    for (mlir::Value value : incoming)
      for (Value *item : emitter.registers(value))
        nodes[next++]->addIncoming(item, from);
  }
};

void GpuEmitter::emitFor(scf::ForOp op) {
  Value *low = scalar(op.getLowerBound()), *high = scalar(op.getUpperBound()), *step = scalar(op.getStep());
  bool isUnsigned = op.getUnsignedCmp();
  auto less = [&](Value *x, Value *y) { return isUnsigned ? b.CreateICmpULT(x, y) : b.CreateICmpSLT(x, y); };
  BasicBlock *body = BasicBlock::Create(context, "for", function), *after = BasicBlock::Create(context, "for.end", function);
  // Carried registers must be known where the edges leave, so they are looked up before the blocks change.
  for (mlir::Value init : op.getInitArgs())
    registers(init);
  BasicBlock *before = b.GetInsertBlock();
  b.CreateCondBr(less(low, high), body, after);

  b.SetInsertPoint(after);
  Phis results;
  results.create(*this, op.getResults(), op.getResultTypes());
  b.SetInsertPoint(before);
  results.arrive(*this, op.getInitArgs());

  b.SetInsertPoint(body);
  PHINode *index = b.CreatePHI(low->getType(), 2, "i");
  index->addIncoming(low, before);
  define(op.getInductionVar(), {index});
  Phis carried;
  carried.create(*this, op.getRegionIterArgs(), mlir::ValueRange(op.getRegionIterArgs()).getTypes());
  b.SetInsertPoint(before);
  carried.arrive(*this, op.getInitArgs());
  b.SetInsertPoint(body);
  emitBlock(*op.getBody());
  if (!error.empty())
    return;
  mlir::ValueRange yielded = op.getBody()->getTerminator()->getOperands();
  for (mlir::Value value : yielded)
    registers(value);
  // The next index may pass the type's end only when the loop ends before it: compare the distance left instead of the sum.
  Value *left = b.CreateSub(high, index), *next = b.CreateAdd(index, step);
  carried.arrive(*this, yielded);
  index->addIncoming(next, b.GetInsertBlock());
  results.arrive(*this, yielded);
  b.CreateCondBr(b.CreateICmpULT(step, left), body, after);
  b.SetInsertPoint(after);
}

void GpuEmitter::emitIf(scf::IfOp op) {
  BasicBlock *yes = BasicBlock::Create(context, "then", function), *after = BasicBlock::Create(context, "endif", function);
  BasicBlock *no = op.elseBlock() ? BasicBlock::Create(context, "else", function) : after;
  b.CreateCondBr(scalar(op.getCondition()), yes, no);
  b.SetInsertPoint(after);
  Phis results;
  results.create(*this, op.getResults(), op.getResultTypes());
  auto emitSide = [&](BasicBlock *start, mlir::Block &body) {
    b.SetInsertPoint(start);
    emitBlock(body);
    results.arrive(*this, body.getTerminator()->getOperands());
    b.CreateBr(after);
  };
  emitSide(yes, *op.thenBlock());
  if (op.elseBlock() && error.empty())
    emitSide(no, *op.elseBlock());
  b.SetInsertPoint(after);
}

void GpuEmitter::emitWhile(scf::WhileOp op) {
  BasicBlock *head = BasicBlock::Create(context, "while", function), *body = BasicBlock::Create(context, "while.body", function), *after = BasicBlock::Create(context, "while.end", function);
  for (mlir::Value init : op.getInits())
    registers(init);
  BasicBlock *before = b.GetInsertBlock();
  b.CreateBr(head);
  b.SetInsertPoint(head);
  Phis carried;
  carried.create(*this, op.getBeforeArguments(), mlir::ValueRange(op.getBeforeArguments()).getTypes());
  b.SetInsertPoint(before);
  carried.arrive(*this, op.getInits());
  b.SetInsertPoint(head);
  emitBlock(*op.getBeforeBody());
  if (!error.empty())
    return;
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [passed, argument, result] : zip(condition.getArgs(), op.getAfterArguments(), op.getResults())) {
    Registers copy = registers(passed);
    define(argument, copy);
    define(result, copy);
  }
  b.CreateCondBr(scalar(condition.getCondition()), body, after);
  b.SetInsertPoint(body);
  emitBlock(*op.getAfterBody());
  if (!error.empty())
    return;
  carried.arrive(*this, op.getYieldOp().getOperands());
  b.CreateBr(head);
  b.SetInsertPoint(after);
}

} // namespace tk::lower
