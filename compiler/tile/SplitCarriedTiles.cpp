// Carries a scalar instead of an integer tile that control flow only shifts.
//
// Why: `offs_k += BLOCK_K` in a loop changes every element alike. Carried as a scalar it costs one register instead of a tile, and what is known of the
// tile (a run of consecutive integers) stays visible in the loop. Integer arithmetic wraps, so the rewrite is exact in the tile's own width.
//
//   %r = scf.for ... iter_args(%t = %init) -> tensor<8xi32> {      %d = scf.for ... iter_args(%d = %c0) -> i32 {
//     use(%t)                                                        %t = arith.addi %init, splat(%d)
//     %n = arith.addi %t, splat(%s)                           ->     use(%t)
//     scf.yield %n                                                   %n = arith.addi %d, %s : i32
//   }                                                                scf.yield %n : i32
//                                                                  }
//                                                                  %r = arith.addi %init, splat(%d)
#include "compiler/Passes.h"
#include "compiler/tile/CarriedValues.h"
#include "compiler/tile/Uniform.h"

namespace tk::compiler {
#define GEN_PASS_DEF_SPLITCARRIEDTILESPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

static bool isIntegerTile(Type type) { return tt::isTile(type) && isa<IntegerType>(tt::elementType(type)); }

/// `value = tile + splat(scalar)` or `value = tile - splat(scalar)`.
namespace {
struct Shift {
  Value tile, scalarTile;
  bool negative = false;
};
} // namespace

static std::optional<Shift> matchShift(Value value) {
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    if (isUniform(add.getRhs()))
      return Shift{add.getLhs(), add.getRhs()};
    if (isUniform(add.getLhs()))
      return Shift{add.getRhs(), add.getLhs()};
  } else if (auto sub = value.getDefiningOp<arith::SubIOp>(); sub && isUniform(sub.getRhs())) {
    return Shift{sub.getLhs(), sub.getRhs(), true};
  }
  return std::nullopt;
}

namespace {
/// What is known of a value: it is the tile `tile` plus a scalar that `shift` names (null: nothing added). Two values of one name have one scalar.
struct State {
  Value tile, shift;
  bool operator==(const State &other) const { return tile == other.tile && shift == other.shift; }
};

class Splitter : public CarriedRewriter {
public:
  /// Optimistic: a carried value has no state until an incoming value has one, and then only loses knowledge.
  void analyse(Region &region) {
    region.walk([&](Operation *op) { forEachCarried(op, [&](Value carried, ArrayRef<Value>) { unknown.insert(carried); }); });
    bool changed = true;
    while (changed) {
      changed = false;
      region.walk<WalkOrder::PreOrder>([&](Operation *op) {
        forEachCarried(op, [&](Value carried, ArrayRef<Value> incoming) {
          if (isIntegerTile(carried.getType()))
            changed |= update(op, carried, incoming);
        });
      });
    }
  }

private:
  std::optional<State> stateOf(Value value) {
    for (Value name;;) {
      if (auto found = states.find(value); found != states.end())
        return State{found->second.tile, name ? name : found->second.shift};
      if (unknown.contains(value))
        return std::nullopt;
      auto shift = matchShift(value);
      if (!shift)
        return State{value, name};
      if (!name)
        name = value;
      value = shift->tile;
    }
  }

  bool update(Operation *op, Value carried, ArrayRef<Value> incoming) {
    std::optional<State> joined;
    for (Value value : incoming) {
      auto state = stateOf(value);
      if (!state)
        continue;
      if (!joined)
        joined = state;
      if (joined->tile != state->tile)
        joined = State{carried, {}};
      else if (joined->shift != state->shift)
        joined->shift = carried;
    }
    if (!joined)
      return false;
    auto inside = [&](Value name) { return name && name != carried && op->isAncestor(name.getParentBlock()->getParentOp()); };
    auto old = states.find(carried);
    if (inside(joined->tile) || (old != states.end() && old->second.tile == carried))
      joined = State{carried, {}};
    else if (inside(joined->shift) || (old != states.end() && old->second.shift == carried))
      joined->shift = carried;
    if (old != states.end() && old->second == *joined)
      return false;
    states[carried] = *joined;
    return true;
  }

  /// The tile that `value` shifts, and by how much (null: not at all).
  Value tileOf(Value value) {
    for (;;) {
      if (auto found = parts.find(value); found != parts.end())
        return found->second.first;
      auto shift = matchShift(value);
      if (!shift)
        return value;
      value = shift->tile;
    }
  }
  Value shiftOf(OpBuilder &builder, Location loc, Value value) {
    SmallVector<Shift> shifts;
    auto found = parts.end();
    for (; (found = parts.find(value)) == parts.end(); value = shifts.back().tile) {
      auto shift = matchShift(value);
      if (!shift)
        break;
      shifts.push_back(*shift);
    }
    Value sum = found == parts.end() ? Value() : found->second.second;
    for (const Shift &shift : llvm::reverse(shifts)) {
      Value by = uniformScalar(builder, loc, shift.scalarTile);
      if (shift.negative)
        sum = arith::SubIOp::create(builder, loc, sum ? sum : zero(builder, loc, by.getType()), by);
      else
        sum = sum ? arith::AddIOp::create(builder, loc, sum, by).getResult() : by;
    }
    return sum;
  }
  static Value zero(OpBuilder &builder, Location loc, Type type) { return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0)); }

  std::optional<SmallVector<Type>> partTypes(Value carried) override {
    auto found = states.find(carried);
    if (found == states.end() || found->second.tile == carried)
      return std::nullopt;
    SmallVector<Type> types;
    if (found->second.shift == carried)
      types.push_back(tt::elementType(carried.getType()));
    return types;
  }
  SmallVector<Value> takeApart(OpBuilder &builder, Location loc, Value incoming, Value carried) override {
    if (states[carried].shift != carried)
      return {};
    Value shift = shiftOf(builder, loc, incoming);
    return {shift ? shift : zero(builder, loc, tt::elementType(carried.getType()))};
  }
  Value putTogether(OpBuilder &builder, Location loc, Value carried, Value incoming, ValueRange values) override {
    Value whole, tile = tileOf(incoming), name = states[carried].shift;
    if (!name) {
      whole = tile;
    } else if (values.empty()) { // it is what has the name: a sum outside, or a carried value outside, which has been replaced
      whole = replaced.count(name) ? replaced[name] : name;
    } else {
      whole = arith::AddIOp::create(builder, loc, tile, tt::SplatOp::create(builder, loc, tile.getType(), values.front()));
      parts[whole] = {tile, values.front()};
    }
    return replaced[carried] = whole;
  }
  void visit(Operation *) override {}

  DenseMap<Value, State> states;                   // of carried values, before the rewrite
  DenseSet<Value> unknown;                         // carried values, for those without a state yet
  DenseMap<Value, std::pair<Value, Value>> parts;  // of the sums that putTogether made
  DenseMap<Value, Value> replaced;                 // what took the place of carried values
};

class SplitCarriedTilesPass : public compiler::impl::SplitCarriedTilesPassBase<SplitCarriedTilesPass> {
public:
  using SplitCarriedTilesPassBase::SplitCarriedTilesPassBase;

  void runOnOperation() override {
    Splitter splitter;
    splitter.analyse(getOperation().getBody());
    splitter.run(getOperation().getBody());
    eraseDeadOperations(getOperation().getBody());
  }
};
} // namespace
