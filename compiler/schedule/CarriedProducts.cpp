// See CarriedProducts.h.
#include "compiler/schedule/CarriedProducts.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

WarpgroupWaitOp compiler::waitOf(WarpgroupDotOp dot) {
  auto wait = dot->hasOneUse() ? dyn_cast<WarpgroupWaitOp>(*dot->user_begin()) : WarpgroupWaitOp();
  return wait && wait->getBlock() == dot->getBlock() && wait.getNumOperands() == 1 && wait.getPending() == 0 ? wait : WarpgroupWaitOp();
}

bool compiler::isForNextRound(WarpgroupDotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  WarpgroupWaitOp wait = waitOf(dot);
  return loop && wait && wait->hasOneUse() && *wait->user_begin() == loop.getBody()->getTerminator();
}

bool compiler::carriesSum(WarpgroupDotOp dot) {
  if (!isForNextRound(dot) || !isa<MemDescType>(dot.getA().getType()))
    return false;
  auto loop = cast<scf::ForOp>(dot->getParentOp());
  BlockArgument argument = loop.getRegionIterArg(waitOf(dot)->use_begin()->getOperandNumber());
  return dot.getC() == argument && argument.hasOneUse();
}

tt::LoadOp compiler::loadedOperand(Value operand) {
  auto alloc = operand.getDefiningOp<LocalAllocOp>();
  Operation *source = alloc && alloc.getSrc() ? alloc.getSrc().getDefiningOp() : nullptr;
  if (auto trans = dyn_cast_or_null<tt::TransOp>(source))
    source = trans.getSrc().getDefiningOp();
  return dyn_cast_or_null<tt::LoadOp>(source);
}

SmallVector<Operation *> compiler::viewsOf(Value operand, scf::ForOp loop) {
  SmallVector<Operation *> views;
  for (Operation *op = operand.getDefiningOp(); op && op->getBlock() == loop.getBody() && isa<MemDescTransOp, MemDescIndexOp>(op);
       op = op->getOperand(0).getDefiningOp())
    views.push_back(op);
  std::reverse(views.begin(), views.end());
  return views;
}
