// Turns every tile of pointers into a scalar base and one tile of offsets.
//
// Why: what follows wants to know of an access which array it touches (the base), where (an integer tile with a known form) and how far (the mask); a tile
// of 64-bit addresses says none of that and costs eight bytes an element to carry. After this pass the pointer of each load, store and atomic is
// `tt.addptr(tt.splat(%base), %offset)` or `tt.splat(%base)`.
//
//   %p = tt.addptr splat(%x), %offs                               scf.for ... iter_args(%b = %x) {
//   scf.for ... iter_args(%q = %p) {                                %q = tt.addptr splat(%b), %offs
//     tt.load %q                                           ->       tt.load %q
//     %n = tt.addptr %q, splat(%step)                               %n = tt.addptr %b, %step : !tt.ptr<f32>, i32
//     scf.yield %n                                                  scf.yield %n
//
// - An offset that is the same for all elements moves the base. An i64 offset gives up its uniform summands to the base; a narrower one does not, as its
//   sum may wrap.
// - addptr(addptr(p, a), b) is p + sext(a) + sext(b): two tiles of offsets add up in i64, one stays in its own width.
// - A carried tile becomes a carried base and a carried offset tile, each dropped where it does not change.
// - What has no single base (a select between arrays, pointers that were loaded or made of integers) stays as it is.
#include "compiler/Passes.h"
#include "compiler/tile/CarriedValues.h"
#include "compiler/tile/Uniform.h"
#include "dialects/tt/Facts.h"

namespace tk::compiler {
#define GEN_PASS_DEF_REWRITEPOINTERSPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

static bool isPointerTile(Type type) { return tt::isTile(type) && isa<tt::PointerType>(tt::elementType(type)); }
static bool isView(Operation *op) { return isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(op); }
static unsigned widthOf(Value offset) { return tt::elementType(offset.getType()).getIntOrFloatBitWidth(); }

namespace {
/// An offset as a sum of scalars and a rest (null: nothing but scalars).
struct Terms {
  struct Term {
    Value uniform;
    bool negative;
  };
  SmallVector<Term> scalars;
  Value rest;
};
} // namespace

static Terms termsOf(Value offset) {
  Terms terms;
  terms.rest = offset;
  while (terms.rest) {
    if (isUniform(terms.rest)) {
      terms.scalars.push_back({terms.rest, false});
      terms.rest = {};
    } else if (widthOf(terms.rest) != 64) {
      break;
    } else if (auto add = terms.rest.getDefiningOp<arith::AddIOp>(); add && isUniform(add.getRhs())) {
      terms.scalars.push_back({add.getRhs(), false});
      terms.rest = add.getLhs();
    } else if (add && isUniform(add.getLhs())) {
      terms.scalars.push_back({add.getLhs(), false});
      terms.rest = add.getRhs();
    } else if (auto sub = terms.rest.getDefiningOp<arith::SubIOp>(); sub && isUniform(sub.getRhs())) {
      terms.scalars.push_back({sub.getRhs(), true});
      terms.rest = sub.getLhs();
    } else {
      break;
    }
  }
  return terms;
}

namespace {
/// What is known of a tile of pointers before the rewrite. `base` and `offset` are names: two tiles with one name share that part. A null offset means
/// that there is none. `width` is that of the offset tile.
struct State {
  bool opaque = false; // no single base
  Value base{}, offset{};
  unsigned width = 0;
  bool operator==(const State &other) const { return opaque == other.opaque && base == other.base && offset == other.offset && width == other.width; }
};

/// Optimistic: a value has no state until its operands have one, and then only loses knowledge.
class PointerAnalysis {
public:
  void run(Region &region) {
    region.walk([&](Operation *op) { markOpaque(op); });
    for (Value argument : region.getArguments())
      if (isPointerTile(argument.getType()))
        states[argument].opaque = true;
    bool changed = true;
    while (changed) {
      changed = false;
      region.walk<WalkOrder::PreOrder>([&](Operation *op) {
        forEachCarried(op, [&](Value carried, ArrayRef<Value> incoming) {
          if (isPointerTile(carried.getType()))
            changed |= set(carried, join(op, carried, incoming));
        });
        if (op->getNumResults() == 1 && isPointerTile(op->getResult(0).getType()))
          changed |= set(op->getResult(0), transfer(op));
      });
    }
  }

  const State *find(Value value) const {
    auto found = states.find(value);
    return found == states.end() ? nullptr : &found->second;
  }

private:
  static bool isKnown(Operation *op) { return isView(op) || isa<tt::SplatOp, tt::AddPtrOp, tt::BitcastOp, arith::SelectOp>(op); }

  void markOpaque(Operation *op) {
    if (isKnown(op) || isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      return;
    auto mark = [&](Value value) {
      if (isPointerTile(value.getType()))
        states[value].opaque = true;
    };
    llvm::for_each(op->getResults(), mark);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), mark);
  }

  bool set(Value value, std::optional<State> state) {
    if (!state)
      return false;
    auto [slot, fresh] = states.try_emplace(value, *state);
    if (!fresh && (slot->second.opaque || slot->second == *state))
      return false;
    slot->second = *state;
    return true;
  }

  std::optional<State> transfer(Operation *op) {
    Value result = op->getResult(0);
    if (auto splat = dyn_cast<tt::SplatOp>(op))
      return State{.base = splat.getSrc()};
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return transferSelect(select);
    if (!isKnown(op))
      return std::nullopt;
    const State *source = find(op->getOperand(0));
    if (!source || source->opaque)
      return source ? std::optional<State>(*source) : std::nullopt;
    State state = *source;
    if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
      Terms terms = termsOf(add.getOffset());
      if (!terms.scalars.empty())
        state.base = result;
      if (terms.rest) {
        state.width = state.offset ? 64 : widthOf(terms.rest);
        state.offset = state.offset ? result : terms.rest;
      }
    } else if (auto cast = dyn_cast<tt::BitcastOp>(op); cast && !tt::isFactCarrier(op)) {
      state.base = result;
      int64_t from = bytesOf(cast.getSrc()), to = bytesOf(result);
      if (state.offset && from % to != 0)
        state.opaque = true;
      else if (state.offset && from != to)
        state = {.base = result, .offset = result, .width = 64};
    } else if (state.offset && isView(op)) {
      state.offset = result;
    }
    return state;
  }

  std::optional<State> transferSelect(arith::SelectOp select) {
    const State *left = find(select.getTrueValue()), *right = find(select.getFalseValue());
    if (!left || !right)
      return left ? std::optional<State>(*left) : right ? std::optional<State>(*right) : std::nullopt;
    bool oneCondition = !tt::isTile(select.getCondition().getType());
    if (left->opaque || right->opaque || (left->base != right->base && !oneCondition))
      return State{.opaque = true};
    State state = *left;
    if (left->base != right->base)
      state.base = select.getResult();
    if (left->offset != right->offset)
      state.offset = select.getResult();
    state.width = std::max(left->width, right->width);
    return state;
  }

  std::optional<State> join(Operation *op, Value carried, ArrayRef<Value> incoming) {
    std::optional<State> joined;
    for (Value value : incoming) {
      const State *state = find(value);
      if (!state)
        continue;
      if (state->opaque)
        return State{.opaque = true};
      if (!joined)
        joined = *state;
      if (joined->base != state->base)
        joined->base = carried;
      if (joined->offset != state->offset)
        joined->offset = carried;
      joined->width = std::max(joined->width, state->width);
    }
    if (!joined)
      return std::nullopt;
    const State *old = find(carried);
    auto inside = [&](Value name) { return name && name != carried && op->isAncestor(name.getParentBlock()->getParentOp()); };
    if (inside(joined->base) || (old && old->base == carried))
      joined->base = carried;
    if (inside(joined->offset) || (old && old->offset == carried))
      joined->offset = carried;
    if (old)
      joined->width = std::max(joined->width, old->width);
    return joined;
  }

public:
  static int64_t bytesOf(Value pointers) { return tt::bytesOf(cast<tt::PointerType>(tt::elementType(pointers.getType())).getPointeeType()); }

private:
  DenseMap<Value, State> states;
};

struct Parts {
  Value base, offset; // a null offset: none
};

class PointerRewriter : public CarriedRewriter {
public:
  explicit PointerRewriter(const PointerAnalysis &analysis) : analysis(analysis) {}

private:
  // ---- offsets ----

  static Value widen(OpBuilder &builder, Location loc, Value offset, unsigned width) {
    if (widthOf(offset) == width)
      return offset;
    return arith::ExtSIOp::create(builder, loc, tt::withShapeOf(builder.getIntegerType(width), offset.getType()), offset);
  }
  /// The offset in `width` bits; zeros where there is none.
  static Value offsetOrZero(OpBuilder &builder, Location loc, Value offset, Type like, unsigned width) {
    if (offset)
      return widen(builder, loc, offset, width);
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(tt::withShapeOf(builder.getIntegerType(width), like)));
  }

  Value materialize(OpBuilder &builder, Location loc, Parts part, Type type) {
    Value whole = tt::SplatOp::create(builder, loc, type, part.base);
    if (part.offset)
      whole = tt::AddPtrOp::create(builder, loc, whole, part.offset);
    parts[whole] = part;
    return whole;
  }

  // ---- operations ----

  void visit(Operation *op) override {
    if (op->getNumResults() != 1 || !isPointerTile(op->getResult(0).getType()))
      return;
    Value result = op->getResult(0);
    if (auto splat = dyn_cast<tt::SplatOp>(op)) {
      parts[result] = {splat.getSrc(), {}};
      return;
    }
    OpBuilder builder(op);
    std::optional<Parts> part = partsOf(builder, op);
    if (!part)
      return;
    auto add = dyn_cast<tt::AddPtrOp>(op);
    if (auto splat = add ? add.getPtr().getDefiningOp<tt::SplatOp>() : nullptr; splat && splat.getSrc() == part->base && add.getOffset() == part->offset) {
      parts[result] = *part; // in normal form already
      return;
    }
    keepFacts(builder, op, *part);
    Value whole = materialize(builder, op->getLoc(), *part, result.getType());
    for (StringRef name : tt::kFactNames)
      if (Attribute fact = op->getAttr(name))
        whole.getDefiningOp()->setAttr(name, fact);
    result.replaceAllUsesWith(whole);
  }

  /// What the user says of runs of the pointers is true of the offsets as well, where further sums and views find it. Alignment is the whole pointer's.
  static void keepFacts(OpBuilder &builder, Operation *op, Parts &part) {
    if (!part.offset || isView(op))
      return;
    SmallVector<NamedAttribute> facts;
    for (StringRef name : {tt::kContiguity, tt::kConstancy})
      if (Attribute fact = op->getAttr(name))
        facts.push_back(builder.getNamedAttr(name, fact));
    if (facts.empty())
      return;
    auto carrier = tt::BitcastOp::create(builder, op->getLoc(), part.offset.getType(), part.offset);
    carrier->setAttrs(facts);
    part.offset = carrier;
  }

  std::optional<Parts> partsOf(OpBuilder &builder, Operation *op) {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return partsOfSelect(builder, select);
    auto found = op->getNumOperands() == 0 ? parts.end() : parts.find(op->getOperand(0));
    if (found == parts.end())
      return std::nullopt;
    Parts part = found->second;
    if (auto add = dyn_cast<tt::AddPtrOp>(op))
      return addOffset(builder, add, part);
    if (auto cast = dyn_cast<tt::BitcastOp>(op))
      return reinterpret(builder, cast, part);
    if (!isView(op))
      return std::nullopt;
    if (part.offset) { // view(p + offset) = p + view(offset)
      OperationState state(op->getLoc(), op->getName(), {part.offset}, {tt::withShapeOf(tt::elementType(part.offset.getType()), op->getResult(0).getType())},
                           op->getAttrs());
      Operation *view = builder.create(state);
      view->removeAttr(tt::kDivisibility); // in bytes, of the pointers
      part.offset = view->getResult(0);
    }
    return part;
  }

  static Parts addOffset(OpBuilder &builder, tt::AddPtrOp add, Parts part) {
    Location loc = add.getLoc();
    Terms terms = termsOf(add.getOffset());
    for (auto [uniform, negative] : terms.scalars) {
      Value scalar = uniformScalar(builder, loc, uniform);
      if (negative)
        scalar = arith::SubIOp::create(builder, loc, arith::ConstantOp::create(builder, loc, builder.getZeroAttr(scalar.getType())), scalar);
      part.base = tt::AddPtrOp::create(builder, loc, part.base, scalar);
    }
    if (terms.rest && part.offset)
      part.offset = arith::AddIOp::create(builder, loc, widen(builder, loc, part.offset, 64), widen(builder, loc, terms.rest, 64));
    else if (terms.rest)
      part.offset = terms.rest;
    return part;
  }

  /// The same address counted in elements of another size, where that is a whole number.
  static std::optional<Parts> reinterpret(OpBuilder &builder, tt::BitcastOp cast, Parts part) {
    Location loc = cast.getLoc();
    if (tt::isFactCarrier(cast))
      return part;
    int64_t from = PointerAnalysis::bytesOf(cast.getSrc()), to = PointerAnalysis::bytesOf(cast.getResult());
    if (part.offset && from % to != 0)
      return std::nullopt;
    part.base = tt::BitcastOp::create(builder, loc, tt::elementType(cast.getType()), part.base);
    if (part.offset && from != to) {
      Value wide = widen(builder, loc, part.offset, 64);
      Value factor =
          arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(mlir::cast<ShapedType>(wide.getType()), builder.getI64IntegerAttr(from / to)));
      part.offset = arith::MulIOp::create(builder, loc, wide, factor);
    }
    return part;
  }

  std::optional<Parts> partsOfSelect(OpBuilder &builder, arith::SelectOp select) {
    auto left = parts.find(select.getTrueValue()), right = parts.find(select.getFalseValue());
    if (left == parts.end() || right == parts.end())
      return std::nullopt;
    Location loc = select.getLoc();
    Value condition = select.getCondition();
    Parts a = left->second, b = right->second;
    if (a.base != b.base && tt::isTile(condition.getType()))
      return std::nullopt;
    Parts part = a;
    if (a.base != b.base)
      part.base = arith::SelectOp::create(builder, loc, condition, a.base, b.base);
    if (a.offset != b.offset) {
      unsigned width = std::max(a.offset ? widthOf(a.offset) : 0, b.offset ? widthOf(b.offset) : 0);
      part.offset = arith::SelectOp::create(builder, loc, condition, offsetOrZero(builder, loc, a.offset, select.getType(), width),
                                            offsetOrZero(builder, loc, b.offset, select.getType(), width));
    }
    return part;
  }

  // ---- carried values ----

  std::optional<SmallVector<Type>> partTypes(Value carried) override {
    const State *state = isPointerTile(carried.getType()) ? analysis.find(carried) : nullptr;
    if (!state || state->opaque)
      return std::nullopt;
    SmallVector<Type> types;
    if (state->base == carried)
      types.push_back(tt::elementType(carried.getType()));
    if (state->offset == carried)
      types.push_back(tt::withShapeOf(IntegerType::get(carried.getContext(), state->width), carried.getType()));
    return types;
  }

  SmallVector<Value> takeApart(OpBuilder &builder, Location loc, Value incoming, Value carried) override {
    const State *state = analysis.find(carried);
    Parts part = parts.lookup(incoming);
    SmallVector<Value> values;
    if (state->base == carried)
      values.push_back(part.base);
    if (state->offset == carried)
      values.push_back(offsetOrZero(builder, loc, part.offset, carried.getType(), state->width));
    return values;
  }

  Value putTogether(OpBuilder &builder, Location loc, Value carried, Value incoming, ValueRange values) override {
    const State *state = analysis.find(carried);
    Parts part = parts.lookup(incoming);
    if (state->base == carried) {
      part.base = values.front();
      values = values.drop_front();
    }
    if (state->offset == carried)
      part.offset = values.front();
    return materialize(builder, loc, part, carried.getType());
  }

  const PointerAnalysis &analysis;
  DenseMap<Value, Parts> parts; // of every rewritten tile of pointers
};

class RewritePointersPass : public compiler::impl::RewritePointersPassBase<RewritePointersPass> {
public:
  using RewritePointersPassBase::RewritePointersPassBase;

  void runOnOperation() override {
    PointerAnalysis analysis;
    analysis.run(getOperation().getBody());
    PointerRewriter(analysis).run(getOperation().getBody());
    eraseDeadOperations(getOperation().getBody());
  }
};
} // namespace
