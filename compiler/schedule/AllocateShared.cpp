// Gives everything that needs shared memory its place, and orders the accesses with barriers.
//
// What is allocated has its place from there to its last use, with everything in loops between. Scratch lives only while its operation executes, so one region
// behind what is allocated serves all of it; small pieces take turns between two halves, so that most of them need no barrier against the one before.
//
// One analysis decides the barriers, over accesses (bytes, slot, read or write, by the thread or under way). An access must not meet what another thread may
// still read or write since the last barrier. A copy under way does not end at barriers: a wait makes its bytes the thread's own writes, and only the barrier
// after it makes them everybody's. The analysis follows structured control flow: what is pending after a branch is what is pending after either side, and a
// loop's body starts with what its end leaves, where it is no longer known which slots these were.
//
// Regions of warps execute at the same time: what one of them has is never where another one has something, whatever the order in the text. What is handed to
// partitions stays until they have ended. All threads of the block meet before the regions and behind them.
//
//   %1 = "tt.reduce"(%0) ..                      %1 = "tt.reduce"(%0) .. {ttg.offset = 0}
//   %3 = ttg.convert_layout %2 : ..      ->      ttg.barrier
//                                                %3 = ttg.convert_layout %2 {ttg.offset = 0} : ..
#include "compiler/Passes.h"
#include "compiler/RecordRemark.h"
#include "compiler/lower/Scratch.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_ALLOCATESHAREDPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;

/// What an operation needs its bytes for, in words.
static StringRef useOf(Operation *op) {
  if (isa<ttg::ConvertLayoutOp>(op))
    return "a change of layout";
  if (isa<tt::DotOp>(op))
    return "the operands of a product";
  if (isa<tt::ReduceOp>(op))
    return "a reduction across warps";
  if (isa<ttg::LocalAllocOp>(op))
    return "the rounds of a loop that are under way";
  if (isa<tt::LoadOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op))
    return "a result that one thread tells the others";
  if (isa<ttg::WarpSpecializeOp>(op))
    return "what is handed to partitions";
  if (isa<tt::FuncOp>(op))
    return "the number of a division of warps";
  return op->getName().getStringRef().split('.').second; // scan, gather, histogram
}

namespace {
/// One access that other threads may have to be protected from.
struct Access {
  uint64_t begin = 0, end = 0; // bytes
  bool isWrite = false;
  bool isUnderWay = false; // goes on beyond barriers, until it is waited for
  Value slot;              // with `ahead`: which slot of these bytes, where that is known
  unsigned ahead = 0;
  bool operator==(const Access &) const = default;

  bool overlaps(const Access &other) const {
    if (end <= other.begin || other.end <= begin)
      return false;
    bool sameSlots = slot && slot == other.slot && begin == other.begin && end == other.end;
    return !(sameSlots && ahead != other.ahead);
  }
};

struct Pending {
  SmallVector<Access> accesses;
  /// What is under way is ordered by its tokens.
  bool conflicts(const Access &next) const {
    return llvm::any_of(accesses, [&](const Access &before) { return !before.isUnderWay && (before.isWrite || next.isWrite) && before.overlaps(next); });
  }
  bool add(const Access &access) {
    if (llvm::is_contained(accesses, access))
      return false;
    accesses.push_back(access);
    return true;
  }
  /// False when nothing is new.
  bool add(const Pending &other) {
    bool isNew = false;
    for (const Access &access : other.accesses)
      isNew |= add(access);
    return isNew;
  }
  void barrier() {
    llvm::erase_if(accesses, [](const Access &access) { return !access.isUnderWay; });
  }
  void wait(bool forAll) {
    SmallVector<Access> landed;
    for (const Access &access : accesses)
      if (access.isUnderWay) {
        landed.push_back(access);
        landed.back().isUnderWay = false;
      }
    if (forAll)
      llvm::erase_if(accesses, [](const Access &access) { return access.isUnderWay; });
    for (const Access &access : landed)
      add(access);
  }
  void forgetSlots() {
    SmallVector<Access> before = std::move(accesses);
    accesses.clear();
    for (Access access : before) {
      access.slot = Value(), access.ahead = 0;
      add(access);
    }
  }
};

/// A place in shared memory, for the operations `first` to `last` in their order in the function.
struct Place {
  uint64_t begin = 0, end = 0;
  unsigned first = 0, last = 0;
  Region *warps = nullptr;       // that execute the operations, where only some do
  Operation *division = nullptr; // to which they belong

  bool meets(const Place &other) const {
    return (first <= other.last && other.first <= last) || (division && division == other.division && warps != other.warps);
  }
};

static Operation *divisionOf(Region *warps) {
  Operation *owner = warps ? warps->getParentOp() : nullptr;
  return isa_and_nonnull<ttg::WarpPartitionOp>(owner) ? owner->getParentOp() : owner;
}

class AllocateSharedPass : public compiler::impl::AllocateSharedPassBase<AllocateSharedPass> {
public:
  using AllocateSharedPassBase::AllocateSharedPassBase;

  void runOnOperation() override {
    number(getOperation());
    uint64_t total = 0;
    SmallVector<Place> placed;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      uint64_t bytes = bytesOf(op);
      if (!bytes)
        return;
      auto alloc = dyn_cast<ttg::LocalAllocOp>(op);
      Region *warps = ttg::warpRegionOf(op);
      Place place{0, 0, numbers.lookup(op).first, alloc ? lastUse(alloc) : numbers.lookup(op).second, warps, divisionOf(warps)};
      place.begin = free(placed, place, bytes);
      place.end = place.begin + bytes;
      placed.push_back(place);
      settle(op, place, total);
    });
    bool second = false;
    Region *lastWarps = nullptr;
    SmallVector<Place> elsewhere; // scratch of regions that come before in the text, which no later region may touch
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      uint64_t bytes = bytesOf(op) ? 0 : lower::scratchBytes(op);
      if (!bytes)
        return;
      // Behind what is allocated while the operation executes.
      unsigned now = numbers.lookup(op).first;
      Region *warps = ttg::warpRegionOf(op);
      Place place{0, 0, now, now, warps, divisionOf(warps)};
      for (const SmallVector<Place> *others : {&placed, &elsewhere})
        for (const Place &other : *others)
          if (place.meets(other))
            place.begin = std::max(place.begin, llvm::alignTo(other.end, others == &elsewhere ? kAlignment : 1));
      second &= warps == lastWarps;
      lastWarps = warps;
      place.begin += bytes <= kSmall && second ? kSmall : 0;
      second = bytes <= kSmall && !second;
      place.end = place.begin + bytes;
      if (warps)
        elsewhere.push_back(place);
      settle(op, place, total);
    });
    Builder builder(&getContext());
    getOperation()->setAttr(ttg::kSharedName, builder.getI64IntegerAttr((total + 15) / 16 * 16));
    Pending pending;
    for (Block &block : getOperation().getBody())
      order(block, pending);
  }

private:
  static constexpr uint64_t kSmall = 4096, kAlignment = 128; // all banks once

  // ---- places ----

  /// Of what has its place for longer than while one operation without others inside executes.
  static uint64_t bytesOf(Operation *op) {
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op))
      return alloc.getType().getSlots() * alloc.getType().slotBytes();
    return isa<ttg::WarpSpecializeOp, tt::FuncOp>(op) ? lower::scratchBytes(op) : 0;
  }

  /// Numbers the operations; the second number is that of the last one inside.
  void number(Operation *op) {
    unsigned first = count++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    numbers[op] = {first, count - 1};
  }

  /// The last operation that may access the memory: users of views too, copies until they are waited for, and what is used in a loop until the loop's end.
  unsigned lastUse(ttg::LocalAllocOp op) {
    unsigned last = numbers.lookup(op).first;
    SmallVector<Value> work{op.getResult()};
    DenseSet<Value> seen;
    auto follow = [&](Value value) {
      if (isa<ttg::MemDescType, ttg::TokenType>(value.getType()) && seen.insert(value).second)
        work.push_back(value);
    };
    while (!work.empty())
      for (OpOperand &use : work.pop_back_val().getUses()) {
        Operation *user = use.getOwner();
        for (Value result : user->getResults())
          if (!isa<ttg::AsyncWaitOp>(user))
            follow(result);
        if (isa<scf::YieldOp, ttg::WarpYieldOp>(user))
          for (Value result : user->getParentOp()->getResults())
            follow(result);
        if (Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user))
          last = std::max(last, numbers.lookup(ancestor).second);
      }
    return last;
  }

  /// The lowest place that nothing has at the same time.
  static uint64_t free(ArrayRef<Place> placed, const Place &wanted, uint64_t bytes) {
    SmallVector<Place> others;
    for (const Place &place : placed)
      if (place.meets(wanted))
        others.push_back(place);
    llvm::sort(others, [](const Place &a, const Place &b) { return a.begin < b.begin; });
    uint64_t begin = 0;
    for (const Place &place : others)
      if (place.begin < begin + bytes)
        begin = std::max(begin, llvm::alignTo(place.end, kAlignment));
    return begin;
  }

  void settle(Operation *op, const Place &place, uint64_t &total) {
    op->setAttr(ttg::kOffsetName, Builder(&getContext()).getI64IntegerAttr(place.begin));
    if (compiler::RecordRemark remark(op, compiler::RemarkKind::Shared); remark)
      remark.fact("use", useOf(op)).fact("bytes", place.end - place.begin).fact("offset", place.begin);
    places[op] = place;
    total = std::max(total, place.end);
  }

  // ---- order ----

  void order(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block))
      order(&op, pending);
  }

  /// The bytes of a descriptor.
  Access accessOf(Value descriptor, bool isWrite) {
    Access access;
    access.isWrite = isWrite;
    for (;;) {
      if (auto index = descriptor.getDefiningOp<ttg::MemDescIndexOp>()) {
        if (index.getSrc().getType().getSlots() > 1)
          access.slot = index.getSlot(), access.ahead = index.getAhead();
        descriptor = index.getSrc();
      } else if (auto argument = dyn_cast<BlockArgument>(descriptor); argument && isa<ttg::WarpPartitionOp>(argument.getOwner()->getParentOp())) {
        descriptor = cast<ttg::WarpPartitionOp>(argument.getOwner()->getParentOp()).getCaptures()[argument.getArgNumber()];
      } else {
        break;
      }
    }
    if (auto alloc = descriptor.getDefiningOp<ttg::LocalAllocOp>()) {
      Place place = places.lookup(alloc);
      access.begin = place.begin, access.end = place.end;
    } else { // one of several, as control flow will have it
      access.end = UINT64_MAX, access.slot = Value(), access.ahead = 0;
    }
    return access;
  }

  void access(Operation *op, const Access &next, Pending &pending) {
    if (pending.conflicts(next)) {
      OpBuilder builder(op);
      ttg::BarrierOp::create(builder, op->getLoc());
      pending.barrier();
    }
    pending.add(next);
  }

  void order(Operation *op, Pending &pending) {
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op)) {
      if (alloc.getSrc())
        access(op, accessOf(alloc, true), pending);
    } else if (auto division = dyn_cast<ttg::WarpSpecializeOp>(op)) {
      if (auto place = places.find(op); place != places.end())
        access(op, {place->second.begin, place->second.end, true}, pending);
      pending.barrier();
      Pending copies = pending; // still under way
      order(division.getDefaultRegion().front(), pending);
      for (ttg::WarpPartitionOp partition : division.partitions()) {
        Pending theirs = copies;
        order(partition.getBody().front(), theirs);
      }
      pending.barrier();
    } else if (auto place = places.find(op); place != places.end()) {
      Access use{place->second.begin, place->second.end, true};
      access(op, use, pending);
      // The operation writes, has a barrier of its own, and reads.
      pending.barrier();
      use.isWrite = false;
      pending.add(use);
    } else if (auto load = dyn_cast<ttg::LocalLoadOp>(op)) {
      access(op, accessOf(load.getSrc(), false), pending);
    } else if (auto store = dyn_cast<ttg::LocalStoreOp>(op)) {
      access(op, accessOf(store.getDst(), true), pending);
    } else if (auto copy = dyn_cast<ttg::AsyncCopyOp>(op)) {
      Access use = accessOf(copy.getDst(), true);
      use.isUnderWay = true;
      access(op, use, pending);
    } else if (auto wait = dyn_cast<ttg::AsyncWaitOp>(op)) {
      pending.wait(wait.getPending() == 0);
    } else if (isa<ttg::BarrierOp, tt::BarrierOp>(op)) {
      pending.barrier();
    } else if (isa<ttg::MbarrierInitOp, ttg::MbarrierInvalOp>(op)) {
      access(op, accessOf(op->getOperand(0), true), pending);
    } else if (isa<ttg::MbarrierWaitOp>(op)) {
      access(op, accessOf(op->getOperand(0), false), pending);
    } else if (isa<ttg::MbarrierArriveOp>(op)) { // the region's threads meet, then one of them arrives
      pending.barrier();
      pending.add(accessOf(op->getOperand(0), false));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Pending other = pending;
      order(*branch.thenBlock(), pending);
      if (branch.elseBlock())
        order(*branch.elseBlock(), other);
      pending.add(other);
    } else if (isa<scf::ForOp, scf::WhileOp>(op)) {
      // Barriers only become more, so what is pending grows until nothing is new.
      Pending entry = pending, end = pending;
      do {
        end = entry;
        for (Region &region : op->getRegions())
          for (Block &body : region)
            order(body, end);
        end.forgetSlots();
      } while (entry.add(end));
      pending.add(end);
    }
  }

  unsigned count = 0;
  DenseMap<Operation *, std::pair<unsigned, unsigned>> numbers;
  DenseMap<Operation *, Place> places;
};
} // namespace
