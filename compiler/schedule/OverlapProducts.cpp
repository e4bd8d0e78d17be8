// Products of warp groups go on while the next round of their loop begins.
//
// A product that is waited for where it stands leaves the matrix unit idle from there to the next one. Where its sum is only carried to the next round, the wait
// moves: a round starts its product as soon as its tiles are there, before it starts the copies for later rounds, and waits at its end for the product of the
// round before. What that one has read may be overwritten from the next barrier on, which the pipeliner's additional slot allows for.
//
//   scf.for iter_args(%sum) {                          %last = scf.for iter_args(%sum) {
//     %w = ttg.async_wait ..                             %w = ttg.async_wait ..
//     ttg.async_copy .., %m[%slot + 2] ..                %d = ttg.warpgroup_dot %m[%slot], .., %sum
//     %d = ttg.warpgroup_dot %m[%slot], .., %sum   ->    ttg.async_copy .., %m[%slot + 2] ..
//     %e = ttg.warpgroup_wait %d {pending = 0}           ttg.warpgroup_wait {pending = 1}
//     scf.yield %e                                       scf.yield %d
//   }                                                  }
//                                                      %e = ttg.warpgroup_wait %last {pending = 0}
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

namespace {
class OverlapProductsPass : public compiler::impl::OverlapProductsPassBase<OverlapProductsPass> {
public:
  using OverlapProductsPassBase::OverlapProductsPassBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      SmallVector<WarpgroupDotOp> products;
      for (auto dot : loop.getBody()->getOps<WarpgroupDotOp>()) {
        if (!carriesSum(dot) || !outlivesRound(dot.getA(), loop) || !outlivesRound(dot.getB(), loop)) {
          products.clear(); // one that is waited for would end the others too
          break;
        }
        products.push_back(dot);
      }
      if (!products.empty() && products.size() <= kMostPending)
        overlap(loop, products);
    }
  }

private:
  static constexpr size_t kMostPending = 7;

  /// Right behind the wait for the round's tiles, with the views that it reads.
  void moveUp(WarpgroupDotOp dot, Operation *&after) {
    SmallVector<Operation *> chain;
    for (Value operand : {dot.getA(), Value(dot.getB())})
      for (Operation *op = operand.getDefiningOp(); op && op->getBlock() == dot->getBlock() && isa<MemDescTransOp, MemDescIndexOp>(op);
           op = op->getOperand(0).getDefiningOp())
        chain.push_back(op);
    for (Operation *op : llvm::reverse(chain))
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
      auto wait = cast<WarpgroupWaitOp>(*dot->user_begin());
      OpResult result = loop->getResult(wait->use_begin()->getOperandNumber());
      wait.getResult(0).replaceAllUsesWith(dot.getResult());
      wait.erase();
      if (after)
        moveUp(dot, after);
      builder.setInsertionPointAfter(loop);
      auto done = WarpgroupWaitOp::create(builder, loop.getLoc(), TypeRange(result.getType()), ValueRange(result), 0);
      result.replaceAllUsesExcept(done.getResult(0), done);
    }
  }
};
} // namespace
