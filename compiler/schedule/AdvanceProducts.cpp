// Products of the next round begin before the work of this one.
//
// A product whose sum begins at zero and that reads what has been copied to shared memory alone could be done as soon as its tiles are there. Where it is for
// its own round, as the scores of attention are, it moves to the round before: it goes on there while that round works on its own product, and the matrix unit
// needn't wait for the arithmetic between products.
//
//   scf.for {                                            %first = ttg.warpgroup_dot %q, %k[%slot0], 0
//     ttg.async_wait .. {pending = 1}                    scf.for iter_args(%s = %first) {
//     %s = ttg.warpgroup_dot %q, %k[%slot], 0              ttg.async_wait .. {pending = 0}
//     .. %s ..                                     ->      %next = ttg.warpgroup_dot %q, %k[%slot + 1], 0
//   }                                                      .. %s ..
//                                                          scf.yield %next
//
// The last round begins one for nobody. What it reads is zero: copies of rounds that there are not fill their slot instead of leaving it as it is.
#include "compiler/Passes.h"
#include "compiler/schedule/CarriedProducts.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_ADVANCEPRODUCTSPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::ttg;
using namespace tk::compiler;

/// The memory's slots of this round, and the loop's copies leave the next round's alone.
static bool isReadyAhead(Value operand, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(operand))
    return true;
  SmallVector<Operation *> views = viewsOf(operand, loop);
  auto slot = views.empty() ? MemDescIndexOp() : dyn_cast<MemDescIndexOp>(views.front());
  auto number = slot ? dyn_cast<BlockArgument>(slot.getSlot()) : BlockArgument();
  if (!number || number.getOwner() != loop.getBody() || slot.getAhead() != 0 || !loop.isDefinedOutsideOfLoop(slot.getSrc()))
    return false;
  return llvm::all_of(slot.getSrc().getUsers(), [&](Operation *user) {
    auto other = dyn_cast<MemDescIndexOp>(user);
    return !loop->isAncestor(user) || (other && other.getSlot() == slot.getSlot() && other.getAhead() != 1);
  });
}

/// Copies to the slots of this operand write zeros where there is no such round.
static void fillWhereNothingIsRead(Value operand, scf::ForOp loop) {
  SmallVector<Operation *> views = viewsOf(operand, loop);
  if (views.empty())
    return;
  for (Operation *slot : views.front()->getOperand(0).getUsers())
    for (Operation *user : slot->getUsers()) {
      auto copy = dyn_cast<AsyncCopyOp>(user);
      if (!copy || !copy.getPred())
        continue;
      OpBuilder builder(copy);
      Type mask = cast<RankedTensorType>(copy.getPtr().getType()).clone(builder.getI1Type());
      Value isRound = tt::SplatOp::create(builder, copy.getLoc(), mask, copy.getPred());
      if (copy.getMask())
        isRound = arith::AndIOp::create(builder, copy.getLoc(), copy.getMask(), isRound);
      copy.getMaskMutable().assign(isRound);
      copy.getPredMutable().clear();
    }
}

namespace {
class AdvanceProductsPass : public compiler::impl::AdvanceProductsPassBase<AdvanceProductsPass> {
public:
  using AdvanceProductsPassBase::AdvanceProductsPassBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (AsyncWaitOp arrived = arrival(loop))
        if (WarpgroupDotOp dot = early(loop))
          advance(loop, arrived, dot);
  }

private:
  /// The loop's one wait for copies, if a later round's are on their way there.
  static AsyncWaitOp arrival(scf::ForOp loop) {
    AsyncWaitOp found;
    for (auto wait : loop.getBody()->getOps<AsyncWaitOp>()) {
      if (found)
        return {};
      found = wait;
    }
    bool isCarried = found && llvm::all_of(found.getGroups(), [&](Value group) {
                       auto argument = dyn_cast<BlockArgument>(group);
                       return argument && argument.getOwner() == loop.getBody();
                     });
    return isCarried && found.getPending() > 0 ? found : AsyncWaitOp();
  }

  /// The first product of the loop. Others wait for it in the end, so that it alone has something to gain.
  static WarpgroupDotOp early(scf::ForOp loop) {
    auto products = loop.getBody()->getOps<WarpgroupDotOp>();
    if (products.empty())
      return {};
    WarpgroupDotOp dot = *products.begin();
    bool isCopied = !viewsOf(dot.getA(), loop).empty() || !viewsOf(dot.getB(), loop).empty();
    return tt::isZero(dot.getC()) && waitOf(dot) && isCopied && isReadyAhead(dot.getA(), loop) && isReadyAhead(dot.getB(), loop) ? dot : WarpgroupDotOp();
  }

  /// The product of another round at the builder's place, with the values that `map` has for this round's.
  static WarpgroupDotOp another(OpBuilder &builder, WarpgroupDotOp dot, scf::ForOp loop, IRMapping &map, unsigned ahead) {
    for (Value operand : {dot.getA(), Value(dot.getB())})
      for (Operation *view : viewsOf(operand, loop))
        if (Operation *copy = builder.clone(*view, map); auto slot = dyn_cast<MemDescIndexOp>(copy))
          slot.setAhead(slot.getAhead() + ahead);
    if (Operation *zero = dot.getC().getDefiningOp(); zero && loop->isAncestor(zero))
      builder.clone(*zero, map);
    return cast<WarpgroupDotOp>(builder.clone(*dot, map));
  }

  void advance(scf::ForOp loop, AsyncWaitOp arrived, WarpgroupDotOp dot) {
    for (Value operand : {dot.getA(), Value(dot.getB())})
      fillWhereNothingIsRead(operand, loop);
    IRRewriter rewriter(loop);
    Location where = dot.getLoc();
    IRMapping initial;
    for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
      initial.map(argument, init);
    rewriter.clone(*arrived, initial);
    Value first = another(rewriter, dot, loop, initial, 0);
    first = WarpgroupWaitOp::create(rewriter, where, first, 0).getResult(0);

    WarpgroupWaitOp wait = waitOf(dot);
    auto yields = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument>) -> SmallVector<Value> { // the body is still the old loop's
      OpBuilder early(loop->getContext());
      early.setInsertionPointAfter(arrived);
      IRMapping same;
      Value next = another(early, dot, loop, same, 1);
      return {WarpgroupWaitOp::create(builder, where, next, 0).getResult(0)};
    };
    FailureOr<LoopLikeOpInterface> wider = loop.replaceWithAdditionalYields(rewriter, first, /*replaceInitOperandUsesInLoop=*/false, yields);
    if (failed(wider))
      return signalPassFailure();
    auto next = cast<scf::ForOp>(wider->getOperation());
    arrived.setPending(arrived.getPending() - 1);
    rewriter.replaceAllUsesWith(wait.getResult(0), next.getRegionIterArgs().back());
    SmallVector<Operation *> unused = viewsOf(dot.getA(), next);
    unused.append(viewsOf(dot.getB(), next));
    rewriter.eraseOp(wait);
    rewriter.eraseOp(dot);
    for (Operation *view : llvm::reverse(unused))
      if (view->use_empty())
        rewriter.eraseOp(view);
  }
};
} // namespace
