// See CarriedProducts.h.
#include "compiler/schedule/CarriedProducts.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

bool compiler::carriesSum(WarpgroupDotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto argument = dyn_cast<BlockArgument>(dot.getC());
  if (!loop || !argument || argument.getOwner() != loop.getBody() || !argument.hasOneUse() || !dot->hasOneUse() || !isa<MemDescType>(dot.getA().getType()))
    return false;
  auto wait = dyn_cast<WarpgroupWaitOp>(*dot->user_begin());
  if (!wait || wait.getNumOperands() != 1 || wait.getPending() != 0 || !wait->hasOneUse())
    return false;
  OpOperand &use = *wait->use_begin();
  return use.getOwner() == loop.getBody()->getTerminator() && use.getOperandNumber() + 1 == argument.getArgNumber();
}

tt::LoadOp compiler::loadedOperand(Value operand) {
  auto alloc = operand.getDefiningOp<LocalAllocOp>();
  Operation *source = alloc && alloc.getSrc() ? alloc.getSrc().getDefiningOp() : nullptr;
  if (auto trans = dyn_cast_or_null<tt::TransOp>(source))
    source = trans.getSrc().getDefiningOp();
  return dyn_cast_or_null<tt::LoadOp>(source);
}
