// Taking apart the values that structured control flow carries.
#include "compiler/tile/CarriedValues.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tk::compiler;

void tk::compiler::eraseDeadOperations(Region &region) {
  SmallVector<Operation *> operations;
  region.walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : llvm::reverse(operations)) // users before what they use
    if (op->getNumRegions() == 0 && isOpTriviallyDead(op))
      op->erase();
}

struct CarriedRewriter::Slot {
  Value carried;
  std::optional<SmallVector<Type>> types;
};

struct CarriedRewriter::Plan {
  SmallVector<Slot> slots;
  bool changes() const {
    return llvm::any_of(slots, [](const Slot &slot) { return slot.types.has_value(); });
  }
  SmallVector<Type> types() const {
    SmallVector<Type> all;
    for (const Slot &slot : slots)
      if (slot.types)
        all.append(*slot.types);
      else
        all.push_back(slot.carried.getType());
    return all;
  }
};

CarriedRewriter::Plan CarriedRewriter::planFor(ValueRange carried) {
  Plan plan;
  for (Value value : carried)
    plan.slots.push_back({value, partTypes(value)});
  return plan;
}

SmallVector<Value> CarriedRewriter::apart(OpBuilder &builder, Location loc, ValueRange incoming, const Plan &plan) {
  SmallVector<Value> values;
  for (auto [slot, value] : llvm::zip(plan.slots, incoming))
    if (slot.types)
      values.append(takeApart(builder, loc, value, slot.carried));
    else
      values.push_back(value);
  return values;
}

/// Replaces every value of the plan by what `parts` (the new arguments or results) make of it.
void CarriedRewriter::replace(OpBuilder &builder, Location loc, ValueRange incoming, const Plan &plan, ValueRange parts) {
  for (auto [slot, value] : llvm::zip(plan.slots, incoming)) {
    size_t count = slot.types ? slot.types->size() : 1;
    Value whole = slot.types ? putTogether(builder, loc, slot.carried, value, parts.take_front(count)) : parts.front();
    parts = parts.drop_front(count);
    Value carried = slot.carried;
    carried.replaceAllUsesWith(whole);
  }
}

/// Moves the operations of `from` to the end of `to`.
static void moveBody(Block *from, Block *to) { to->getOperations().splice(to->end(), from->getOperations()); }

void CarriedRewriter::run(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        rewriteFor(loop);
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        rewriteWhile(loop);
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        rewriteIf(branch);
      } else {
        visit(&op);
        for (Region &inner : op.getRegions())
          run(inner);
      }
    }
}

void CarriedRewriter::rewriteFor(scf::ForOp loop) {
  Plan arguments = planFor(loop.getRegionIterArgs()), results = planFor(loop.getResults());
  if (!arguments.changes())
    return run(loop.getRegion());
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<Value> initial(loop.getInitArgs());
  auto fresh = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), apart(builder, loc, initial, arguments));
  fresh->setAttrs(loop->getAttrDictionary());
  Block *body = fresh.getBody();
  body->clear(); // without carried values a loop is born with its terminator
  loop.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
  builder.setInsertionPointToStart(body);
  replace(builder, loc, initial, arguments, fresh.getRegionIterArgs());
  moveBody(loop.getBody(), body);
  run(fresh.getRegion());

  Operation *yield = body->getTerminator();
  builder.setInsertionPoint(yield);
  yield->setOperands(apart(builder, yield->getLoc(), SmallVector<Value>(yield->getOperands()), arguments));
  builder.setInsertionPointAfter(fresh);
  replace(builder, loc, initial, results, fresh.getResults());
  loop.erase();
}

void CarriedRewriter::rewriteWhile(scf::WhileOp loop) {
  Plan before = planFor(loop.getBeforeArguments()), after = planFor(loop.getAfterArguments()), results = planFor(loop.getResults());
  if (!before.changes() && !after.changes()) {
    run(loop.getBefore());
    return run(loop.getAfter());
  }
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<Value> initial(loop.getInits());
  auto fresh = scf::WhileOp::create(builder, loc, after.types(), apart(builder, loc, initial, before), nullptr, nullptr);
  fresh->setAttrs(loop->getAttrDictionary());
  builder.setInsertionPointToStart(fresh.getBeforeBody());
  replace(builder, loc, initial, before, fresh.getBeforeArguments());
  moveBody(loop.getBeforeBody(), fresh.getBeforeBody());
  run(fresh.getBefore());

  scf::ConditionOp condition = fresh.getConditionOp();
  builder.setInsertionPoint(condition);
  SmallVector<Value> passed(condition.getArgs());
  condition.getArgsMutable().assign(apart(builder, condition.getLoc(), passed, after));
  builder.setInsertionPointToStart(fresh.getAfterBody());
  replace(builder, loc, passed, after, fresh.getAfterArguments());
  moveBody(loop.getAfterBody(), fresh.getAfterBody());
  run(fresh.getAfter());

  scf::YieldOp yield = fresh.getYieldOp();
  builder.setInsertionPoint(yield);
  yield->setOperands(apart(builder, yield.getLoc(), SmallVector<Value>(yield->getOperands()), before));
  builder.setInsertionPointAfter(fresh);
  replace(builder, loc, passed, results, fresh.getResults());
  loop.erase();
}

void CarriedRewriter::rewriteIf(scf::IfOp branch) {
  run(branch.getThenRegion());
  run(branch.getElseRegion());
  Plan results = planFor(branch.getResults());
  if (!results.changes())
    return;
  Location loc = branch.getLoc();
  OpBuilder builder(branch);
  auto fresh = scf::IfOp::create(builder, loc, results.types(), branch.getCondition(), /*addThenBlock=*/true, /*addElseBlock=*/true);
  fresh->setAttrs(branch->getAttrDictionary());
  SmallVector<Value> passed(branch.thenYield().getOperands());
  for (auto [from, to] : llvm::zip(branch.getRegions(), fresh.getRegions())) {
    to->front().clear(); // without results a branch is born with its terminators
    moveBody(&from->front(), &to->front());
    Operation *yield = to->front().getTerminator();
    builder.setInsertionPoint(yield);
    yield->setOperands(apart(builder, yield->getLoc(), SmallVector<Value>(yield->getOperands()), results));
  }
  builder.setInsertionPointAfter(fresh);
  replace(builder, loc, passed, results, fresh.getResults());
  branch.erase();
}
