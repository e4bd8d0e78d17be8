// Puts a barrier before a store (or atomic) that may overwrite what another thread of the program has yet to load: a load before a store is ordered on every
// target.
//
// The barriers that are there for shared memory serve as well, so this comes after them. Of the loads since the last barrier, those are looked at that the
// store may overwrite. Where the addresses say at run time that no thread can meet another one, which is the usual case of two arrays, the barrier is jumped
// over; the test is some scalar arithmetic. The barrier is without a test where no address is known, for many loads at once, and in loops for the loads of
// earlier iterations.
//
//                                                        %c = <x + 4 * i and y + 4 * i overlap, and x != y>
//   %v = tt.load splat(%x) + %i                          %v = tt.load splat(%x) + %i
//   tt.store splat(%y) + %i, %v                   ->     scf.if %c { ttg.barrier }
//                                                        tt.store splat(%y) + %i, %v
//
// A store before a load is the program's own business, with one exception: what an element of a tile (or a scalar) stores, the same element loads. Where
// threads hold copies of it one of them stores and all of them load, so that a barrier stands between, by the same means.
//
// PTX ISA, barrier: "all memory accesses requested by this thread prior to the barrier are performed relative to all threads participating in the barrier".
#include "compiler/Passes.h"
#include "compiler/lower/Scratch.h"
#include "compiler/schedule/AccessRange.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_ORDERMEMORYPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

namespace {
/// A load or store, and whether it was in an earlier iteration, whose scalars are gone.
using Earlier = std::pair<Operation *, bool>;

struct Pending {
  SmallVector<Earlier> reads, writes;
  static bool add(SmallVector<Earlier> &list, const Earlier &access) {
    if (llvm::is_contained(list, access))
      return false;
    list.push_back(access);
    return true;
  }
  void add(const Pending &other) {
    for (const Earlier &read : other.reads)
      add(reads, read);
    for (const Earlier &write : other.writes)
      add(writes, write);
  }
  void clear() {
    reads.clear();
    writes.clear();
  }
};

class OrderMemoryPass : public compiler::impl::OrderMemoryPassBase<OrderMemoryPass> {
public:
  using OrderMemoryPassBase::OrderMemoryPassBase;

  void runOnOperation() override {
    always.clear();
    analysis = {};
    dominance = &getAnalysis<DominanceInfo>();
    // A barrier without a test changes what is pending after it, so that all is looked at again.
    size_t known;
    do {
      known = always.size();
      tested.clear();
      Pending pending;
      for (Block &block : getOperation().getBody())
        order(block, pending);
    } while (always.size() != known);
    insert();
  }

private:
  static constexpr size_t kMostTests = 4;

  void order(Block &block, Pending &pending) {
    for (Operation &op : block)
      order(&op, pending);
  }

  void order(Operation *op, Pending &pending) {
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Pending other = pending;
      order(*branch.thenBlock(), pending);
      if (branch.elseBlock())
        order(*branch.elseBlock(), other);
      pending.add(other);
    } else if (isa<scf::ForOp, scf::WhileOp>(op)) {
      Pending entry = pending, end;
      bool grew = true;
      while (grew) {
        end = entry;
        for (Region &region : op->getRegions())
          for (Block &body : region)
            order(body, end);
        grew = false;
        for (auto [read, stale] : end.reads)
          grew |= Pending::add(entry.reads, Earlier(read, stale || op->isProperAncestor(read)));
        for (auto [write, stale] : end.writes)
          grew |= Pending::add(entry.writes, Earlier(write, stale || op->isProperAncestor(write)));
      }
      pending.add(end);
    } else if (auto division = dyn_cast<ttg::WarpSpecializeOp>(op)) {
      // All threads of the block meet before the regions and behind them. Between regions the program says what comes first.
      Pending own;
      order(division.getDefaultRegion().front(), own);
      for (ttg::WarpPartitionOp partition : division.partitions()) {
        Pending theirs;
        order(partition.getBody().front(), theirs);
      }
      pending.clear();
    } else if (isa<ttg::BarrierOp, tt::BarrierOp, ttg::MbarrierArriveOp>(op)) { // an arrival is of all warps together
      pending.clear();
    } else if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
      access(op, pending);
    } else if (isa<ttg::AsyncWaitOp>(op)) { // copies end here, whose addresses are those of some earlier round
      Pending::add(pending.reads, Earlier(op, true));
    } else if (lower::scratchBytes(op)) { // has a barrier between its writes and its reads
      pending.clear();
    }
  }

  void access(Operation *op, Pending &pending) {
    auto sem = [&] {
      if (auto update = dyn_cast<tt::AtomicRMWOp>(op))
        return update.getSem();
      auto swap = dyn_cast<tt::AtomicCASOp>(op);
      return swap ? swap.getSem() : tt::MemSemantic::RELAXED;
    }();
    // The lowering of atomics: a barrier before what releases, and one after what acquires and is used.
    if (sem == tt::MemSemantic::RELEASE || sem == tt::MemSemantic::ACQUIRE_RELEASE || always.contains(op))
      pending.clear();
    orderAfter(op, pending);
    if (!isa<tt::StoreOp>(op) && !op->use_empty())
      Pending::add(pending.reads, Earlier(op, false));
    if (!isa<tt::LoadOp>(op))
      Pending::add(pending.writes, Earlier(op, false));
    bool acquires = sem == tt::MemSemantic::ACQUIRE || sem == tt::MemSemantic::ACQUIRE_RELEASE;
    if (lower::scratchBytes(op) || (acquires && !op->use_empty()))
      pending.clear();
  }

  /// Looks at what is pending that must come before the operation.
  void orderAfter(Operation *op, Pending &pending) {
    std::optional<AccessRange> range = rangeOf(op, analysis);
    SmallVector<Operation *> tests;
    bool mustWait = false;
    auto look = [&](Earlier before, auto meets) {
      std::optional<AccessRange> other = rangeOf(before.first, analysis);
      bool isKnown = range && other && !before.second && dominance->properlyDominates(before.first, op) && isUniform(*range) && isUniform(*other);
      Meeting meeting = meets(other, isKnown);
      mustWait |= meeting == Meeting::Always;
      if (meeting == Meeting::Sometimes)
        tests.push_back(before.first);
    };
    if (!isa<tt::LoadOp>(op))
      for (Earlier read : pending.reads)
        look(read, [&](auto &other, bool isKnown) { return isKnown ? meetingOf(*other, *range) : Meeting::Always; });
    for (Earlier write : pending.writes)
      look(write, [&](auto &other, bool isKnown) {
        Meeting meeting = sameElements(write, other, op, range);
        if (meeting != Meeting::Sometimes || (isKnown && isa<tt::LoadOp>(op)))
          return meeting;
        // Without a test: of one array they may well be the same, of two hardly.
        return other->root == range->root ? Meeting::Always : Meeting::Never;
      });
    if (mustWait || tests.size() > kMostTests) {
      always.insert(op);
      pending.clear();
    } else if (!tests.empty()) {
      tested[op] = tests;
    }
  }

  /// Whether threads may meet where each element follows its own store.
  Meeting sameElements(Earlier before, const std::optional<AccessRange> &written, Operation *op, const std::optional<AccessRange> &range) {
    Value from = before.first->getOperand(0), to = op->getOperand(0);
    bool isTile = tt::isTile(from.getType());
    // One thread stores a scalar, and updates it; it loads it too where the others get it from there.
    if (!isTile && (!isa<tt::LoadOp>(op) || lower::executesOnce(op)))
      return Meeting::Never;
    // One of those that hold copies stores, always the same.
    if (isTile && from.getType() == to.getType() && !isa<tt::LoadOp>(op))
      return Meeting::Never;
    // In an earlier iteration the same names were other addresses, unless they come from outside of the loop.
    Operation *loop = before.second ? op->getParentOp() : nullptr;
    while (loop && !(isa<LoopLikeOpInterface>(loop) && loop->isProperAncestor(before.first)))
      loop = loop->getParentOp();
    auto changes = [&](Value value) { return loop && loop->isAncestor(value.getParentRegion()->getParentOp()); };
    if (written && range) {
      SmallVector<Value> scalars;
      collectScalars(*written, scalars);
      collectScalars(*range, scalars);
      return elementsMeet(*written, *range, llvm::any_of(scalars, changes));
    }
    if (withoutConversion(from) != withoutConversion(to) || changes(from))
      return Meeting::Never;
    bool isOwn = isTile && from.getType() == to.getType() && !ttg::layoutOf(from.getType()).freeThreadBits();
    return isOwn ? Meeting::Never : Meeting::Always;
  }

  static Value withoutConversion(Value value) {
    while (auto conversion = value.getDefiningOp<ttg::ConvertLayoutOp>())
      value = conversion.getSrc();
    return value;
  }

  /// All threads of the program compute the same, and no load has to be made once for the block because of the branch.
  bool isUniform(const AccessRange &range) {
    SmallVector<Value> work;
    collectScalars(range, work);
    SmallPtrSet<Value, 16> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      Operation *op = value.getDefiningOp();
      if (!op) {
        auto argument = cast<BlockArgument>(value);
        auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
        if (!isa<tt::FuncOp, ttg::WarpPartitionOp>(argument.getOwner()->getParentOp()) && !(loop && value == loop.getInductionVar()))
          return false;
      } else if (isa<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op) || lower::executesOnce(op)) {
        continue;
      } else if (!isPure(op) || op->getNumRegions() || llvm::any_of(op->getOperandTypes(), tt::isTile)) {
        return false;
      } else {
        work.append(op->operand_begin(), op->operand_end());
      }
    }
    return true;
  }

  void insert() {
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (always.contains(op) || tested.contains(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      if (always.contains(op)) {
        ttg::BarrierOp::create(builder, loc);
        continue;
      }
      Value meets;
      for (Operation *before : tested[op]) {
        AccessRange earlier = *rangeOf(before, analysis), later = *rangeOf(op, analysis);
        Value one = isa<tt::LoadOp>(op) ? testElements(builder, loc, earlier, later) : testMeeting(builder, loc, earlier, later);
        meets = meets ? builder.createOrFold<arith::OrIOp>(loc, meets, one) : one;
      }
      auto branch = scf::IfOp::create(builder, loc, meets, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
      ttg::BarrierOp::create(builder, loc);
    }
  }

  AccessAnalysis analysis;
  DominanceInfo *dominance = nullptr;
  SmallPtrSet<Operation *, 8> always;                     // get a barrier
  DenseMap<Operation *, SmallVector<Operation *>> tested; // get one behind a test against these
};
} // namespace
