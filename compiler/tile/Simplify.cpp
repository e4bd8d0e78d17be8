// Canonicalization, common subexpressions, and loop-invariant code, kept to what is safe here.
//
// Why not the upstream passes: `-canonicalize` applies scf.while's pattern WhileMoveIfDown, which miscompiles a condition that yields one scf.if result
// twice (LLVM issue 219456), and scf.for's SimplifyTrivialLoops, which takes `ub - lb` for signed, so that a constant range of more than half the integers
// counts as empty. Upstream loop-invariant motion leaves divisions in loops, although in tt they never trap. This pass takes the other patterns of tt,
// arith, math, ub, scf.for and scf.if, and two of its own: loops of no or one iteration, and
//
//   %0 = tt.splat %a : i32 -> tensor<8xi32>                      %0 = arith.addi %a, %b : i32
//   %1 = tt.splat %b : i32 -> tensor<8xi32>               ->     %1 = tt.splat %0 : i32 -> tensor<8xi32>
//   %2 = arith.addi %0, %1 : tensor<8xi32>
//
// Only code without memory effects leaves a loop: never a load (the loop may run zero times), never an assumption.
#include "compiler/Passes.h"
#include "compiler/tile/Uniform.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace tk::compiler {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;

namespace {
/// f(splat(a), splat(b)) = splat(f(a, b)) for an elementwise f.
struct ScalarizeUniform : public OpTraitRewritePattern<OpTrait::Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isMemoryEffectFree(op) || !tt::isTile(op->getResult(0).getType()))
      return rewriter.notifyMatchFailure(op, "not a pure elementwise tile operation");
    if (!llvm::all_of(op->getOperands(), [](Value operand) { return !tt::isTile(operand.getType()) || compiler::isUniform(operand); }))
      return rewriter.notifyMatchFailure(op, "an operand is not uniform");
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands())
      scalars.push_back(tt::isTile(operand.getType()) ? compiler::uniformScalar(rewriter, op->getLoc(), operand) : operand);
    OperationState state(op->getLoc(), op->getName(), scalars, {tt::elementType(op->getResult(0).getType())}, op->getAttrs());
    rewriter.replaceOpWithNewOp<tt::SplatOp>(op, op->getResult(0).getType(), rewriter.create(state)->getResult(0));
    return success();
  }
};
} // namespace

/// Compares as the loop does.
static bool isLess(scf::ForOp loop, const APInt &left, const APInt &right) { return loop.getUnsignedCmp() ? left.ult(right) : left.slt(right); }

/// A loop over an empty range is its initial values; one whose step reaches the end is its body.
static LogicalResult simplifyTrivialLoop(scf::ForOp loop, PatternRewriter &rewriter) {
  APInt lower, upper, step;
  bool constant = matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) && matchPattern(loop.getUpperBound(), m_ConstantInt(&upper));
  if (loop.getLowerBound() == loop.getUpperBound() || (constant && !isLess(loop, lower, upper))) {
    rewriter.replaceOp(loop, loop.getInitArgs());
    return success();
  }
  if (!constant || !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !isLess(loop, APInt::getZero(step.getBitWidth()), step))
    return rewriter.notifyMatchFailure(loop, "the trip count is not constant");
  if ((upper - lower).ugt(step)) // the difference of ordered bounds is exact as an unsigned number
    return rewriter.notifyMatchFailure(loop, "more than one iteration");
  SmallVector<Value> arguments{loop.getLowerBound()};
  llvm::append_range(arguments, loop.getInitArgs());
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
  rewriter.replaceOp(loop, yield->getOperands());
  rewriter.eraseOp(yield);
  return success();
}

static bool isWanted(RegisteredOperationName name) {
  StringRef dialect = name.getDialectNamespace();
  if (dialect == "scf")
    return name.getTypeID() == TypeID::get<scf::ForOp>() || name.getTypeID() == TypeID::get<scf::IfOp>();
  return dialect == "tt" || dialect == "arith" || dialect == "math" || dialect == "ub";
}

/// tt's divisions never trap, so they may run where the loop body would not have.
static bool mayLeaveLoop(Operation *op) { return isPure(op) || isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op); }

static void hoistInvariants(Operation *root) {
  root->walk([](LoopLikeOpInterface loop) {
    moveLoopInvariantCode(
        loop.getLoopRegions(), [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); }, [](Operation *op, Region *) { return mayLeaveLoop(op); },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  });
}

namespace {
class SimplifyPass : public compiler::impl::SimplifyPassBase<SimplifyPass> {
public:
  using SimplifyPassBase::SimplifyPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isWanted(name))
        name.getCanonicalizationPatterns(set, context);
    for (StringRef dialect : {"tt", "arith", "math", "ub"})
      if (Dialect *loaded = context->getLoadedDialect(dialect))
        loaded->getCanonicalizationPatterns(set);
    llvm::erase_if(set.getNativePatterns(), [](const std::unique_ptr<RewritePattern> &pattern) { return pattern->getDebugName().ends_with("::SimplifyTrivialLoops"); });
    set.add(simplifyTrivialLoop);
    set.add<ScalarizeUniform>(context);
    patterns = std::make_shared<FrozenRewritePatternSet>(std::move(set));
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    mergeCommonSubexpressions();
    (void)applyPatternsGreedily(getOperation(), *patterns, config); // not reaching a fixed point is no fault: every step is right on its own
    hoistInvariants(getOperation());
    mergeCommonSubexpressions();
  }

private:
  void mergeCommonSubexpressions() {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }

  std::shared_ptr<FrozenRewritePatternSet> patterns;
};
} // namespace
