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
/// A load, and whether it was in an earlier iteration, whose scalars are gone.
using Read = std::pair<Operation *, bool>;

struct Pending {
  SmallVector<Read> reads;
  bool add(const Read &read) {
    if (llvm::is_contained(reads, read))
      return false;
    reads.push_back(read);
    return true;
  }
  bool add(const Pending &other) {
    bool grew = false;
    for (const Read &read : other.reads)
      grew |= add(read);
    return grew;
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
          grew |= entry.add(Read(read, stale || op->isProperAncestor(read)));
      }
      pending.add(end);
    } else if (isa<ttg::BarrierOp, tt::BarrierOp>(op)) {
      pending.reads.clear();
    } else if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
      access(op, pending);
    } else if (isa<ttg::AsyncWaitOp>(op)) { // copies end here, whose addresses are those of some earlier round
      pending.add(Read(op, true));
    } else if (lower::scratchBytes(op)) { // has a barrier between its writes and its reads
      pending.reads.clear();
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
    if (sem == tt::MemSemantic::RELEASE || sem == tt::MemSemantic::ACQUIRE_RELEASE)
      pending.reads.clear();
    if (!isa<tt::LoadOp>(op))
      write(op, pending);
    if (!isa<tt::StoreOp>(op) && !op->use_empty())
      pending.add(Read(op, false));
    bool acquires = sem == tt::MemSemantic::ACQUIRE || sem == tt::MemSemantic::ACQUIRE_RELEASE;
    if (lower::scratchBytes(op) || (acquires && !op->use_empty()))
      pending.reads.clear();
  }

  void write(Operation *op, Pending &pending) {
    if (always.contains(op)) {
      pending.reads.clear();
      return;
    }
    std::optional<AccessRange> written = rangeOf(op, analysis);
    SmallVector<Operation *> tests;
    bool mustWait = false;
    for (auto [read, stale] : pending.reads) {
      std::optional<AccessRange> range = rangeOf(read, analysis);
      bool isKnown = written && range && !stale && dominance->properlyDominates(read, op) && isUniform(*written) && isUniform(*range);
      Meeting meeting = isKnown ? meetingOf(*range, *written) : Meeting::Always;
      mustWait |= meeting == Meeting::Always;
      if (meeting == Meeting::Sometimes)
        tests.push_back(read);
    }
    if (mustWait || tests.size() > kMostTests) {
      always.insert(op);
      pending.reads.clear();
    } else if (!tests.empty()) {
      tested[op] = tests;
    }
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
        if (!isa<tt::FuncOp>(argument.getOwner()->getParentOp()) && !(loop && value == loop.getInductionVar()))
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
    SmallVector<Operation *> stores;
    getOperation().walk([&](Operation *op) {
      if (always.contains(op) || tested.contains(op))
        stores.push_back(op);
    });
    for (Operation *op : stores) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      if (always.contains(op)) {
        ttg::BarrierOp::create(builder, loc);
        continue;
      }
      Value meets;
      for (Operation *read : tested[op]) {
        Value one = testMeeting(builder, loc, *rangeOf(read, analysis), *rangeOf(op, analysis));
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
  DenseMap<Operation *, SmallVector<Operation *>> tested; // get one behind a test against these loads
};
} // namespace
