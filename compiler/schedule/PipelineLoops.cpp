// Loads that feed products run ahead of their loop: while one round multiplies, the tiles of the rounds to come are on their way.
//
// What a load of round n needs (its address, its mask, the carried values of these) is a small program of its own, the fetch. It is cloned with its own carried
// values, so that it can run `ahead` rounds earlier: `ahead` times before the loop, then once a round. A fetch past the last round reads nothing. With n
// stages, n - 1 rounds are under way and there are n slots, so that one barrier a round is enough: it makes the arrived tile known to all, and tells that all
// are done with the slot that is filled next.
//
// What can't be copied asynchronously (elements too scattered, `other` that is not zero, targets without cp.async) is loaded into registers one round ahead.
//
//   scf.for iter_args(%p) {                          %m = ttg.local_alloc : !ttg.memdesc<.., slots = 3, mutable>
//     %a = tt.load %p                                ..                                   copies of rounds 0 and 1
//     %d = ttg.convert_layout %a            ->       scf.for iter_args(%slot, %q, %t0, %t1) {
//     %c = tt.dot %d, ..                               %w = ttg.async_wait %t0 {pending = 1}
//     %n = tt.addptr %p, ..                            ttg.async_copy %q, %m[%slot + 2] if %more; %t2 = ttg.async_commit
//                                                      %d = ttg.local_load %m[%slot], %w
//                                                      %c = tt.dot %d, ..
//
// It stands after the layouts, which say what the conversions behind the loads are, and before shared memory is placed.
#include "compiler/Passes.h"
#include "compiler/layout/AccessLayout.h"
#include "compiler/lower/Scratch.h"
#include "compiler/schedule/CarriedProducts.h"
#include "compiler/schedule/Fetch.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_PIPELINELOOPSPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::ttg;
using namespace tk::compiler;

/// A longer way to an address would be done twice for too little.
static constexpr size_t kMostOperations = 256;

/// Stages where the user says nothing.
static constexpr unsigned kDefaultStages = 3;

/// The tile goes into an operand of a product of the same block, maybe by way of conversions and arithmetic.
static bool feedsProduct(tt::LoadOp load) {
  SmallVector<Value> work{load.getResult()};
  SmallPtrSet<Operation *, 16> seen;
  while (!work.empty() && seen.size() < 64)
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != load->getBlock() || !seen.insert(user).second)
        continue;
      if (isa<tt::DotOp, WarpgroupDotOp>(user)) {
        if (use.getOperandNumber() < 2)
          return true;
      } else if (auto alloc = dyn_cast<LocalAllocOp>(user)) {
        work.push_back(alloc.getResult());
      } else if (isPure(user)) {
        for (Value result : user->getResults())
          if (tt::isTile(result.getType()))
            work.push_back(result);
      }
    }
  return false;
}

/// Reading earlier than the program says is only right while nobody writes.
static bool writesMemory(scf::ForOp loop) {
  return loop.getBody()
      ->walk([](Operation *op) {
        return isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::BarrierOp, tt::CallOp, ttg::WarpSpecializeOp>(op) ? WalkResult::interrupt()
                                                                                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The places in shared memory that a loaded tile is written to as it is, or with its axes in another order.
static void forEachOperand(const AsyncTile &tile, function_ref<void(LocalAllocOp, ArrayRef<int32_t>)> visit) {
  for (Operation *user : tile.load->getUsers()) {
    if (auto alloc = dyn_cast<LocalAllocOp>(user))
      visit(alloc, {});
    if (auto trans = dyn_cast<tt::TransOp>(user))
      for (Operation *next : trans->getUsers())
        if (auto alloc = dyn_cast<LocalAllocOp>(next))
          visit(alloc, trans.getOrder());
  }
}

/// A descriptor's type before its axes were brought into `order`; empty: they are as they were.
static MemDescType untransposed(MemDescType type, ArrayRef<int32_t> order) {
  SmallVector<int32_t> inverse(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    inverse[from] = to;
  return order.empty() ? type : MemDescTransOp::resultType(type, inverse);
}

namespace {
/// The loads of one loop that run ahead.
struct Plan {
  SmallVector<AsyncTile> async;
  SmallVector<tt::LoadOp> early; // into registers
  uint64_t slotBytes = 0;        // of all async tiles
  unsigned extraSlots = 0;       // that products read which go on in the next round
};

class PipelineLoopsPass : public compiler::impl::PipelineLoopsPassBase<PipelineLoopsPass> {
public:
  using PipelineLoopsPassBase::PipelineLoopsPassBase;

  void runOnOperation() override {
    tt::FuncOp function = getOperation();
    const nvidia::Target *found = nvidia::findTarget(target);
    if (!found) {
      function.emitError() << "unknown target `" << target << "`";
      return signalPassFailure();
    }
    AxisInfoAnalysis axes(function);
    SmallVector<scf::ForOp> loops;
    function.walk([&](scf::ForOp loop) {
      // Who divides the warps has said what runs ahead of what.
      if (!ttg::warpRegionOf(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      unsigned stages = wantedStages(loop, *found);
      if (stages < 2 || writesMemory(loop))
        continue;
      Plan plan = planOf(loop, axes, *found);
      if (plan.async.empty() && plan.early.empty())
        continue;
      // What the loop's own tiles had for a round goes into their slots.
      uint64_t others = bytesBeside(loop) - replacedBytes(plan);
      stages = stagesThatFit(loop, plan, stages, found->maxSharedBytes - std::min<uint64_t>(found->maxSharedBytes, others));
      rewrite(loop, plan, stages);
    }
  }

private:
  /// Shared memory that is in use while the loop runs: scratch of what is in it, tiles of it and of what is around it. Slots of a loop before this one have no
  /// reader here.
  uint64_t bytesBeside(scf::ForOp loop) {
    uint64_t scratch = 0, tiles = 0;
    loop.getBody()->walk([&](Operation *op) { scratch = std::max(scratch, lower::scratchBytes(op)); });
    getOperation().walk([&](LocalAllocOp alloc) {
      bool isNeeded = llvm::any_of(alloc->getUsers(), [&](Operation *user) { return !isBefore(user, loop); });
      if (isNeeded && alloc->getParentRegion()->isAncestor(loop.getBody()->getParent()))
        tiles += alloc.getType().getSlots() * alloc.getType().slotBytes();
      else if (loop->isAncestor(alloc))
        tiles += alloc.getType().getSlots() * alloc.getType().slotBytes();
    });
    return scratch + tiles;
  }

  /// Is an operation, with all that it contains, over when the loop begins, however often both run?
  static bool isBefore(Operation *op, scf::ForOp loop) {
    Operation *here = loop->getBlock()->findAncestorOpInBlock(*op);
    return here && here->isBeforeInBlock(loop);
  }

  unsigned wantedStages(scf::ForOp loop, const nvidia::Target &machine) {
    if (auto own = loop->getAttrOfType<IntegerAttr>("tt.num_stages"); own && own.getInt() > 0)
      return own.getInt();
    return numStages ? unsigned(numStages) : machine.has(nvidia::CpAsync) ? kDefaultStages : 1;
  }

  Plan planOf(scf::ForOp loop, AxisInfoAnalysis &axes, const nvidia::Target &machine) {
    Plan plan;
    SmallVector<tt::LoadOp> loads;
    for (auto load : loop.getBody()->getOps<tt::LoadOp>())
      if (tt::isTile(load.getType()) && !load.getIsVolatile() && feedsProduct(load))
        loads.push_back(load);
    // What another load's address comes from stays in its place; a fetch loads it again.
    SmallVector<tt::LoadOp> candidates;
    for (tt::LoadOp load : loads) {
      bool isNeeded = llvm::any_of(loads, [&](tt::LoadOp other) {
        Fetch fetch(loop);
        return other != load && fetch.include(other) && fetch.contains(load);
      });
      if (Fetch own(loop); own.include(load) && own.size() <= kMostOperations && !isNeeded)
        candidates.push_back(load);
    }
    for (tt::LoadOp load : candidates) {
      if (std::optional<AsyncTile> tile = asyncTile(load, axes, machine)) {
        plan.slotBytes += tile->type.slotBytes();
        plan.async.push_back(*tile);
      } else {
        plan.early.push_back(load);
      }
    }
    for (auto dot : loop.getBody()->getOps<WarpgroupDotOp>())
      if (goesOnInNextRound(dot, loop, plan))
        plan.extraSlots = 1;
    return plan;
  }

  static bool goesOnInNextRound(WarpgroupDotOp dot, scf::ForOp loop, const Plan &plan) {
    return isForNextRound(dot) && llvm::all_of(ValueRange{dot.getA(), dot.getB()}, [&](Value operand) {
             tt::LoadOp load = loadedOperand(operand);
             return !isa<MemDescType>(operand.getType()) || loop.isDefinedOutsideOfLoop(operand) ||
                    llvm::any_of(plan.async, [&](const AsyncTile &tile) { return tile.load == load; });
           });
  }

  /// Shared memory of tiles that are written there from registers now.
  static uint64_t replacedBytes(const Plan &plan) {
    uint64_t bytes = 0;
    for (const AsyncTile &tile : plan.async)
      forEachOperand(tile, [&](LocalAllocOp alloc, ArrayRef<int32_t>) { bytes += alloc.getType().slotBytes(); });
    return bytes;
  }

  /// How a load's tile lies in shared memory, if it can be copied there.
  std::optional<AsyncTile> asyncTile(tt::LoadOp load, AxisInfoAnalysis &axes, const nvidia::Target &machine) {
    Type element = tt::elementType(load.getType());
    bool cacheFits = load.getCache() == tt::CacheModifier::NONE || load.getCache() == tt::CacheModifier::CA || load.getCache() == tt::CacheModifier::CG;
    if (!machine.has(nvidia::CpAsync) || isa<tt::PointerType>(element) || element.isInteger(1) || !cacheFits ||
        (load.getOther() && !tt::isZero(load.getOther())))
      return std::nullopt;
    TileLayout layout = layoutOf(load.getType());
    unsigned bytes = tt::bytesOf(element), each = std::min(layout.registers(), accessVector(load, layout, axes));
    if (each * bytes < 4)
      return std::nullopt;
    AsyncTile tile;
    tile.load = load;
    ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
    SharedAttr place;
    forEachOperand(tile, [&](LocalAllocOp alloc, ArrayRef<int32_t> order) { place = untransposed(alloc.getType(), order).getLayout(); });
    if (!place) {
      TileLayout reader = layout;
      for (Operation *user : load->getUsers())
        if (auto conversion = dyn_cast<ConvertLayoutOp>(user))
          reader = layoutOf(conversion.getType());
      place = SharedAttr::get(load.getContext(), lower::planShared(layout, log2Of(each), reader, log2Of(ShapedType::getNumElements(shape)), bytes));
    }
    tile.type = MemDescType::get(load.getContext(), shape, element, place, 1, /*isMutable=*/true);
    while (each * bytes >= 4 && !AsyncCopyOp::moves(each, layout, tile.type))
      each /= 2;
    tile.contiguity = each;
    return each * bytes < 4 ? std::nullopt : std::optional(tile);
  }

  /// Fewer stages, and in the end fewer tiles, where shared memory does not suffice for as many as were asked for.
  unsigned stagesThatFit(scf::ForOp loop, Plan &plan, unsigned stages, uint64_t bytes) {
    unsigned wanted = stages;
    auto needed = [&](unsigned stages) { return plan.slotBytes * (stages + plan.extraSlots); };
    while (stages > 2 && needed(stages) > bytes)
      --stages;
    if (needed(stages) > bytes)
      plan.extraSlots = 0;
    while (needed(stages) > bytes && !plan.async.empty()) {
      plan.slotBytes -= plan.async.back().type.slotBytes();
      plan.early.push_back(plan.async.pop_back_val().load);
    }
    if (stages != wanted)
      mlir::emitRemark(loop.getLoc()) << "pipelined with " << stages << " stages: " << wanted << " need " << needed(wanted) << " bytes of shared memory, "
                                      << bytes << " are there";
    return stages;
  }

  void rewrite(scf::ForOp loop, Plan &plan, unsigned stages);
};
} // namespace

/// The users of an async tile read it from its slot, in the layouts that they want.
static void readFromSlot(AsyncTile &tile, Value slot, Value token) {
  OpBuilder builder(tile.load);
  Location where = tile.load.getLoc();
  Value view = MemDescIndexOp::create(builder, where, tile.type, tile.memory, slot);
  SmallVector<std::pair<LocalAllocOp, Value>> operands;
  forEachOperand(tile, [&](LocalAllocOp alloc, ArrayRef<int32_t> order) {
    if (untransposed(alloc.getType(), order).getLayout() != tile.type.getLayout())
      return;
    Value operand = view;
    if (!order.empty())
      operand = MemDescTransOp::create(builder, where, MemDescTransOp::resultType(tile.type, order), view, order);
    operands.push_back({alloc, operand});
  });
  for (auto [alloc, operand] : operands) {
    Operation *source = alloc.getSrc().getDefiningOp();
    alloc.replaceAllUsesWith(operand);
    alloc.erase();
    while (source != tile.load && isOpTriviallyDead(source)) {
      Operation *before = source->getOperand(0).getDefiningOp();
      source->erase();
      source = before;
    }
  }
  for (Operation *user : llvm::make_early_inc_range(tile.load->getUsers()))
    if (auto conversion = dyn_cast<ConvertLayoutOp>(user)) {
      builder.setInsertionPoint(conversion);
      conversion.replaceAllUsesWith(LocalLoadOp::create(builder, where, conversion.getType(), view, token).getResult());
      conversion.erase();
    }
  builder.setInsertionPoint(tile.load);
  if (!tile.load->use_empty())
    tile.load.replaceAllUsesWith(LocalLoadOp::create(builder, where, tile.load.getType(), view, token).getResult());
  tile.load->erase();
}

void PipelineLoopsPass::rewrite(scf::ForOp loop, Plan &plan, unsigned stages) {
  OpBuilder builder(loop);
  Location where = loop.getLoc();
  unsigned ahead = stages - 1;
  Type i32 = builder.getI32Type();
  auto number = [&](OpBuilder &at, int64_t value) { return arith::ConstantOp::create(at, where, at.getIntegerAttr(i32, value)).getResult(); };

  Fetch copies(loop), loads(loop);
  for (AsyncTile &tile : plan.async) {
    copies.include(tile.load);
    MemDescType all =
        MemDescType::get(builder.getContext(), tile.type.getShape(), tile.type.getElementType(), tile.type.getLayout(), stages + plan.extraSlots, true);
    tile.memory = LocalAllocOp::create(builder, where, all, Value());
  }
  for (tt::LoadOp load : plan.early)
    loads.include(load);

  // The rounds before the loop.
  SmallVector<Value> copyState = copies.initial(), loadState = loads.initial(), tokens, arrived;
  Value first = number(builder, 0);
  for (unsigned round = 0; !plan.async.empty() && round < ahead; ++round)
    tokens.push_back(copies.copy(builder, plan.async, copyState, copies.inductionAt(builder, loop.getLowerBound(), round),
                                 copies.isWithin(builder, loop.getLowerBound(), round, /*mayBeEmpty=*/true), first, round));
  if (!plan.early.empty())
    arrived = loads.load(builder, plan.early, loadState, loop.getLowerBound(), loads.isWithin(builder, loop.getLowerBound(), 0, /*mayBeEmpty=*/true));

  // The loop, with the slot of its round, the states of the fetches, and what is under way.
  SmallVector<Value> inits(loop.getInitArgs());
  size_t own = inits.size();
  inits.push_back(first);
  for (auto *group : {&copyState, &tokens, &loadState, &arrived})
    inits.append(*group);
  auto next = scf::ForOp::create(builder, where, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits, nullptr, loop.getUnsignedCmp());
  next->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  ValueRange arguments = next.getRegionIterArgs();
  size_t position = own + 1;
  auto take = [&](SmallVector<Value> &group) {
    ValueRange part = arguments.slice(position, group.size());
    position += group.size();
    group.assign(part.begin(), part.end());
  };
  for (auto *group : {&copyState, &tokens, &loadState, &arrived})
    take(*group);
  Value slot = arguments[own], index = next.getInductionVar();
  // The fetches clone the operations of the old body, so they go first.
  OpBuilder body = OpBuilder::atBlockEnd(next.getBody());
  Value token;
  if (!plan.async.empty()) {
    token = AsyncWaitOp::create(body, where, ValueRange(tokens.front()), ahead - 1);
    tokens.erase(tokens.begin());
    tokens.push_back(copies.copy(body, plan.async, copyState, copies.inductionAt(body, index, ahead), copies.isWithin(body, index, ahead, false), slot, ahead));
  }
  SmallVector<Value> coming;
  if (!plan.early.empty())
    coming = loads.load(body, plan.early, loadState, loads.inductionAt(body, index, 1), loads.isWithin(body, index, 1, false));

  Block *old = loop.getBody();
  SmallVector<Value> yielded(old->getTerminator()->getOperands());
  old->getTerminator()->erase();
  next.getBody()->getOperations().splice(next.getBody()->end(), old->getOperations());
  auto renew = [&](Value value) -> Value { // the old loop's arguments
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == old ? Value(next.getBody()->getArgument(argument.getArgNumber())) : value;
  };
  for (Value &value : yielded)
    value = renew(value);
  for (BlockArgument argument : old->getArguments())
    argument.replaceAllUsesWith(renew(argument));

  body.setInsertionPointToEnd(next.getBody());
  Value following = arith::AddIOp::create(body, where, slot, number(body, 1));
  Value wraps = arith::CmpIOp::create(body, where, arith::CmpIPredicate::eq, following, number(body, stages + plan.extraSlots));
  yielded.push_back(arith::SelectOp::create(body, where, wraps, number(body, 0), following));
  for (auto *group : {&copyState, &tokens, &loadState, &coming})
    yielded.append(*group);
  scf::YieldOp::create(body, where, yielded);

  for (AsyncTile &tile : plan.async)
    readFromSlot(tile, slot, token);
  for (auto [load, value] : llvm::zip(plan.early, arrived)) {
    load.replaceAllUsesWith(value);
    load->erase();
  }
  // Addresses and masks that only the loads needed.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*next.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
  // Nothing is under way behind the loop; this says so.
  builder.setInsertionPointAfter(next);
  if (!plan.async.empty())
    AsyncWaitOp::create(builder, where, next.getResults().slice(own + 1 + copyState.size(), tokens.size()), 0);
  loop.replaceAllUsesWith(next.getResults().take_front(own));
  loop->erase();
}
