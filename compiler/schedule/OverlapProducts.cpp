// Products of warp groups go on while the next round of their loop begins.
//
// A product that is waited for where it stands leaves the matrix unit idle from there to the next one. Where its sum is only carried to the next round, the
// wait moves: a round starts its product as soon as its tiles are there, before it starts the copies for later rounds, and waits at its end for the product of
// the round before. What that one has read may be overwritten from the next barrier on, which the pipeliner's additional slot allows for.
//
//   scf.for iter_args(%sum) {                          %last = scf.for iter_args(%sum) {
//     %w = ttg.async_wait ..                             %w = ttg.async_wait ..
//     ttg.async_copy .., %m[%slot + 2] ..                %d = ttg.warpgroup_dot %m[%slot], .., %sum
//     %d = ttg.warpgroup_dot %m[%slot], .., %sum   ->    ttg.async_copy .., %m[%slot + 2] ..
//     %e = ttg.warpgroup_wait %d {pending = 0}           ttg.warpgroup_wait {pending = 1}
//     scf.yield %e                                       scf.yield %d
//   }                                                  }
//                                                      %e = ttg.warpgroup_wait %last {pending = 0}
//
// Where the next round changes the sum before it goes on, the wait moves to the first one there who asks for it. Products end in the order in which they begin,
// so that each wait leaves those pending that began after the one it is for.
#include "compiler/Passes.h"
#include "compiler/schedule/CarriedProducts.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_OVERLAPPRODUCTSPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::ttg;
using namespace tk::compiler;

/// The tile stays as it is until the round after the next one has passed its barrier.
static bool outlivesRound(Value descriptor, scf::ForOp loop) {
  while (auto view = descriptor.getDefiningOp<MemDescTransOp>())
    descriptor = view.getSrc();
  if (loop.isDefinedOutsideOfLoop(descriptor))
    return true;
  auto view = descriptor.getDefiningOp<MemDescIndexOp>();
  if (!view || view.getAhead() != 0 || !loop.isDefinedOutsideOfLoop(view.getSrc()))
    return false;
  unsigned slots = view.getSrc().getType().getSlots();
  // Whoever fills a slot of this memory in the loop fills one that was read two rounds ago or more.
  return llvm::all_of(view.getSrc().getUsers(), [&](Operation *user) {
    auto other = dyn_cast<MemDescIndexOp>(user);
    return !loop->isAncestor(user) || (other && other.getSlot() == view.getSlot() && (other.getAhead() == 0 || other.getAhead() + 1 < slots));
  });
}

static bool outlivesRound(WarpgroupDotOp dot, scf::ForOp loop) {
  return llvm::all_of(ValueRange{dot.getA(), dot.getB()}, [&](Value operand) { return !isa<MemDescType>(operand.getType()) || outlivesRound(operand, loop); });
}

/// Products of loops and branches inside are not counted here.
static bool hasInner(scf::ForOp loop) {
  return loop.getBody()
      ->walk([&](Operation *op) {
        return isa<WarpgroupDotOp, WarpgroupWaitOp>(op) && op->getBlock() != loop.getBody() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
class OverlapProductsPass : public compiler::impl::OverlapProductsPassBase<OverlapProductsPass> {
public:
  using OverlapProductsPassBase::OverlapProductsPassBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      SmallVector<WarpgroupDotOp> products(loop.getBody()->getOps<WarpgroupDotOp>());
      if (products.empty() || products.size() > kMostPending || hasInner(loop))
        continue;
      if (llvm::all_of(products, [&](WarpgroupDotOp dot) { return carriesSum(dot) && outlivesRound(dot, loop); })) {
        overlap(loop, products);
        continue;
      }
      for (WarpgroupDotOp dot : products)
        if (isForNextRound(dot) && outlivesRound(dot, loop))
          waitInNextRound(loop, dot);
      countPending(loop, products);
    }
  }

private:
  static constexpr size_t kMostPending = 7;

  /// Right behind the wait for the round's tiles, with the views that it reads.
  void moveUp(WarpgroupDotOp dot, Operation *&after) {
    for (Value operand : {dot.getA(), Value(dot.getB())})
      for (Operation *op : viewsOf(operand, cast<scf::ForOp>(dot->getParentOp())))
        if (after->isBeforeInBlock(op)) {
          op->moveAfter(after);
          after = op;
        }
    dot->moveAfter(after);
    after = dot;
  }

  void overlap(scf::ForOp loop, ArrayRef<WarpgroupDotOp> products) {
    OpBuilder builder(loop.getBody()->getTerminator());
    Operation *after = nullptr;
    for (auto wait : loop.getBody()->getOps<AsyncWaitOp>())
      after = after ? after : wait.getOperation();
    WarpgroupWaitOp::create(builder, loop.getLoc(), ValueRange(), products.size());
    for (WarpgroupDotOp dot : products) {
      yieldAtOnce(loop, dot);
      if (after)
        moveUp(dot, after);
    }
  }

  /// The loop carries what is still under way; behind it, it is waited for. The argument that has it in the next round.
  BlockArgument yieldAtOnce(scf::ForOp loop, WarpgroupDotOp dot) {
    WarpgroupWaitOp wait = waitOf(dot);
    unsigned number = wait->use_begin()->getOperandNumber();
    wait.getResult(0).replaceAllUsesWith(dot.getResult());
    wait.erase();
    Value result = loop.getResult(number);
    OpBuilder builder(loop->getContext());
    builder.setInsertionPointAfter(loop);
    auto done = WarpgroupWaitOp::create(builder, loop.getLoc(), result, 0);
    result.replaceAllUsesExcept(done.getResult(0), done);
    return loop.getRegionIterArg(number);
  }

  void waitInNextRound(scf::ForOp loop, WarpgroupDotOp dot) {
    BlockArgument argument = yieldAtOnce(loop, dot);
    Operation *first = loop.getBody()->getTerminator();
    for (Operation *user : argument.getUsers())
      if (Operation *here = loop.getBody()->findAncestorOpInBlock(*user); here->isBeforeInBlock(first))
        first = here;
    OpBuilder builder(first);
    auto done = WarpgroupWaitOp::create(builder, dot.getLoc(), argument, 0);
    argument.replaceAllUsesExcept(done.getResult(0), done);
  }

  /// A wait for a product of the round before is for all: ptxas does not count them across rounds, and would execute each by itself (C7514).
  void countPending(scf::ForOp loop, ArrayRef<WarpgroupDotOp> products) {
    for (auto wait : loop.getBody()->getOps<WarpgroupWaitOp>())
      if (auto dot = wait.getNumOperands() == 1 ? wait.getOperand(0).getDefiningOp<WarpgroupDotOp>() : WarpgroupDotOp();
          dot && dot->getBlock() == loop.getBody())
        wait.setPending(llvm::count_if(products, [&](WarpgroupDotOp other) { return dot->isBeforeInBlock(other) && other->isBeforeInBlock(wait); }));
  }
};
} // namespace
