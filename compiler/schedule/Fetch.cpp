// See Fetch.h.
#include "compiler/schedule/Fetch.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;
using namespace tk::compiler;

bool Fetch::include(tt::LoadOp load) { return includeOperation(load); }

bool Fetch::include(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody() || argument == loop.getInductionVar())
      return true; // of an outer block: the same in every round
    unsigned number = argument.getArgNumber() - 1;
    return !carried.insert(number) || include(loop.getBody()->getTerminator()->getOperand(number));
  }
  Operation *op = value.getDefiningOp();
  return op->getBlock() != loop.getBody() || includeOperation(op);
}

bool Fetch::includeOperation(Operation *op) {
  if (slice.contains(op))
    return true;
  bool isLoad = isa<tt::LoadOp>(op) && !cast<tt::LoadOp>(op).getIsVolatile();
  bool mayRunEarlier = isLoad || (isPure(op) && !isa<tt::DotOp>(op) && op->getNumRegions() == 0);
  if (!mayRunEarlier)
    return false;
  slice.insert(op);
  return llvm::all_of(op->getOperands(), [&](Value operand) { return include(operand); });
}

SmallVector<Value> Fetch::initial() const {
  SmallVector<Value> state;
  for (unsigned number : carried)
    state.push_back(loop.getInitArgs()[number]);
  return state;
}

Value Fetch::inductionAt(OpBuilder &builder, Value index, unsigned rounds) const {
  Location where = loop.getLoc();
  if (rounds == 0)
    return index;
  Value count = arith::ConstantOp::create(builder, where, builder.getIntegerAttr(index.getType(), rounds));
  return arith::AddIOp::create(builder, where, index, arith::MulIOp::create(builder, where, loop.getStep(), count));
}

Value Fetch::isWithin(OpBuilder &builder, Value index, unsigned rounds, bool mayBeEmpty) const {
  Location where = loop.getLoc();
  Value high = loop.getUpperBound();
  Value condition;
  if (mayBeEmpty)
    condition = arith::CmpIOp::create(builder, where, loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, index, high);
  if (rounds == 0)
    return condition ? condition : arith::ConstantOp::create(builder, where, builder.getBoolAttr(true)).getResult();
  // The distance to the end is exact as an unsigned number, where a sum could pass the type's end.
  Value left = arith::SubIOp::create(builder, where, high, index), reached;
  Type type = left.getType();
  APInt step;
  bool isKnown = matchPattern(loop.getStep(), m_ConstantInt(&step));
  bool overflows = false;
  APInt distance = isKnown ? step.umul_ov(APInt(step.getBitWidth(), rounds), overflows) : APInt();
  if (isKnown && !overflows) {
    Value limit = arith::ConstantOp::create(builder, where, builder.getIntegerAttr(type, distance));
    reached = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ugt, left, limit);
  } else {
    // Rounds behind this one: (left - 1) / step.
    Value one = arith::ConstantOp::create(builder, where, builder.getIntegerAttr(type, 1)),
          count = arith::ConstantOp::create(builder, where, builder.getIntegerAttr(type, rounds));
    Value behind = arith::DivUIOp::create(builder, where, arith::SubIOp::create(builder, where, left, one), loop.getStep());
    reached = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::uge, behind, count);
  }
  return condition ? arith::AndIOp::create(builder, where, condition, reached).getResult() : reached;
}

/// A load reads only when the condition holds too.
static void restrict(OpBuilder &builder, tt::LoadOp load, Value condition) {
  Value all = condition;
  if (tt::isTile(load.getType())) {
    auto type = cast<RankedTensorType>(load.getType());
    all = tt::SplatOp::create(builder, load.getLoc(), RankedTensorType::get(type.getShape(), builder.getI1Type(), type.getEncoding()), condition);
  }
  if (load.getMask())
    all = arith::AndIOp::create(builder, load.getLoc(), load.getMask(), all);
  load.getMaskMutable().assign(all);
}

IRMapping Fetch::run(OpBuilder &builder, SmallVector<Value> &state, Value index, Value condition, function_ref<bool(Operation *, IRMapping &)> replace) const {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), index);
  for (auto [number, value] : llvm::zip(carried, state))
    mapping.map(loop.getRegionIterArgs()[number], value);
  SmallVector<Operation *> order(slice.begin(), slice.end());
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : order) {
    if (replace(op, mapping))
      continue;
    Operation *clone = builder.clone(*op, mapping);
    if (auto load = dyn_cast<tt::LoadOp>(clone)) {
      builder.setInsertionPoint(load);
      restrict(builder, load, condition);
      builder.setInsertionPointAfter(load);
    }
  }
  for (auto [number, value] : llvm::zip(carried, state))
    value = mapping.lookupOrDefault(loop.getBody()->getTerminator()->getOperand(number));
  return mapping;
}

Value Fetch::copy(OpBuilder &builder, ArrayRef<AsyncTile> tiles, SmallVector<Value> &state, Value index, Value condition, Value slot, unsigned ahead) const {
  SmallVector<Value> copies;
  run(builder, state, index, condition, [&](Operation *op, IRMapping &mapping) {
    const AsyncTile *tile = llvm::find_if(tiles, [&](const AsyncTile &tile) { return tile.load == op; });
    if (tile == tiles.end())
      return false;
    tt::LoadOp load = tile->load;
    Location where = load.getLoc();
    Value view = MemDescIndexOp::create(builder, where, tile->type, tile->memory, slot, ahead);
    Value mask = load.getMask() ? mapping.lookupOrDefault(load.getMask()) : Value();
    copies.push_back(AsyncCopyOp::create(builder, where, TokenType::get(builder.getContext()), mapping.lookupOrDefault(load.getPtr()), view, mask, condition,
                                         tile->contiguity));
    return true;
  });
  return AsyncCommitOp::create(builder, loop.getLoc(), TokenType::get(builder.getContext()), copies);
}

SmallVector<Value> Fetch::load(OpBuilder &builder, ArrayRef<tt::LoadOp> loads, SmallVector<Value> &state, Value index, Value condition) const {
  IRMapping mapping = run(builder, state, index, condition, [](Operation *, IRMapping &) { return false; });
  SmallVector<Value> values;
  for (tt::LoadOp load : loads)
    values.push_back(mapping.lookup(load.getResult()));
  return values;
}
