// Which two operations want a tile in different layouts, when it has to go through shared memory or shuffles.
#include "compiler/RecordRemark.h"
#include "compiler/lower/GpuRemarks.h"
#include "compiler/lower/SourcePlace.h"

using namespace mlir;
using namespace tk;

/// Operations that take a layout as it comes; the reason for it is further on.
static bool passesLayoutOn(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<tt::ReshapeOp, tt::TransOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::SplatOp, scf::YieldOp>(op);
}

/// Where the layout of a value comes from.
static Operation *originOf(Value value) {
  for (unsigned steps = 0; steps < 64; ++steps) {
    Operation *op = value.getDefiningOp();
    if (!op) { // carried by a loop: it has the layout of what the loop's end leaves
      auto argument = cast<BlockArgument>(value);
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || argument.getArgNumber() == 0)
        return argument.getOwner()->getParentOp();
      value = loop.getYieldedValues()[argument.getArgNumber() - 1];
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      value = loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
      continue;
    }
    if (!passesLayoutOn(op) || op->getNumOperands() == 0)
      return op;
    Value next;
    for (Value operand : op->getOperands())
      if (tt::isTile(operand.getType()) && (!next || isa_and_nonnull<tt::LoadOp, tt::DotOp>(operand.getDefiningOp())))
        next = operand;
    if (!next)
      return op;
    value = next;
  }
  return value.getDefiningOp();
}

/// Who wants the value in its layout.
static Operation *wantedBy(Operation *op) {
  for (unsigned steps = 0; steps < 64; ++steps) {
    if (op->use_empty())
      return op;
    Operation *user = *op->getUsers().begin();
    if (isa<ttg::ConvertLayoutOp>(user)) // what is computed from it goes on to yet another layout
      return op;
    if (!passesLayoutOn(user) || user->getNumResults() == 0)
      return user;
    op = user;
  }
  return op;
}

static std::string nameOf(Operation *op) {
  if (isa<ttg::WarpgroupDotOp, ttg::WarpgroupWaitOp>(op))
    return "dot";
  StringRef name = op->getName().getStringRef();
  return name.substr(name.find('.') + 1).str();
}

void lower::remarkConversion(ttg::ConvertLayoutOp op, const ConversionPlan &plan) {
  compiler::RecordRemark remark(op, compiler::RemarkKind::Conversion);
  if (!remark)
    return;
  Type tile = op.getType();
  std::string shape, element;
  for (int64_t extent : tt::shapeOf(tile))
    shape += (shape.empty() ? "" : " x ") + std::to_string(extent);
  llvm::raw_string_ostream(element) << tt::elementType(tile);
  if (plan.shuffles) {
    remark.fact("shuffles", plan.shuffles->shuffles).fact("selects", plan.shuffles->selects);
  } else {
    remark.fact("bytes", int64_t(plan.elements) * sharedBytesOf(tt::elementType(tile)));
    if (!plan.rounds.empty())
      remark.fact("rounds", int64_t(1) << plan.rounds.size());
  }
  remark.fact("shape", shape).fact("element", element);
  auto side = [&](StringRef role, Operation *other) {
    if (!other)
      return;
    remark.fact(role, nameOf(other));
    if (FileLineColLoc place = placeOf(other->getLoc()))
      remark.fact((role + "-line").str(), place.getLine());
  };
  side("from", originOf(op.getSrc()));
  side("to", wantedBy(op));
}
