// Gives everything that needs shared memory its place, and orders the accesses with barriers.
//
// What is allocated has its place from there to its last use, with everything in loops between. Scratch lives only while its operation executes, so one region
// behind what is allocated serves all of it; small pieces take turns between two halves, so that most of them need no barrier against the one before.
//
// One analysis decides the barriers, over accesses (bytes, slot, read or write, by the thread or under way). An access must not meet what another thread may
// still read or write since the last barrier. A copy under way does not end at barriers: a wait makes its bytes the thread's own writes, and only the barrier
// after it makes them everybody's. Units that read shared memory by themselves (wgmma) see what threads have written only after a fence of the writers and then
// a barrier: barriers behind such writes get the fence. The analysis follows structured control flow: what is pending after a branch is what is pending after
// either side, and a loop's body starts with what its end leaves, where it is no longer known which slots these were.
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
  if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op))
    return alloc.getSrc() ? "an operand of a product" : "the rounds of a loop that are under way";
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
  bool byUnit = false;     // a unit's that reads by itself
  bool needsFence = false; // written by threads for such a unit
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
  SmallVector<Access> unfenced; // writes that threads know of since a barrier, and units don't
  /// What is under way is ordered by its tokens.
  bool conflicts(const Access &next) const {
    auto meets = [&](const Access &before) { return !before.isUnderWay && (before.isWrite || next.isWrite) && before.overlaps(next); };
    return llvm::any_of(accesses, meets) || (next.byUnit && llvm::any_of(unfenced, meets));
  }
  static bool add(SmallVector<Access> &list, const Access &access) {
    if (llvm::is_contained(list, access))
      return false;
    list.push_back(access);
    return true;
  }
  bool add(const Access &access) { return add(accesses, access); }
  /// False when nothing is new.
  bool add(const Pending &other) {
    bool isNew = false;
    for (const Access &access : other.accesses)
      isNew |= add(access);
    for (const Access &access : other.unfenced)
      isNew |= add(unfenced, access);
    return isNew;
  }
  void barrier() {
    for (const Access &access : accesses)
      if (access.needsFence && !access.isUnderWay)
        add(unfenced, access);
    llvm::erase_if(accesses, [](const Access &access) { return !access.isUnderWay; });
  }
  /// Whether a barrier before `next` has to follow a fence.
  bool wantsFence(const Access &next) const {
    return llvm::any_of(accesses, [](const Access &access) { return access.needsFence && !access.isUnderWay; }) ||
           (next.byUnit && llvm::any_of(unfenced, [&](const Access &access) { return access.overlaps(next); }));
  }
  /// By all threads. What they know of by now has to pass a barrier again.
  void fence() {
    for (const Access &access : unfenced)
      add(access);
    unfenced.clear();
    SmallVector<Access> before = std::move(accesses);
    accesses.clear();
    for (Access access : before) {
      access.needsFence &= access.isUnderWay;
      add(access);
    }
  }
  /// For writes (copies), or for reads (products).
  void wait(bool isWrite, bool forAll) {
    SmallVector<Access> landed;
    for (const Access &access : accesses)
      if (access.isUnderWay && access.isWrite == isWrite) {
        landed.push_back(access);
        landed.back().isUnderWay = false;
      }
    if (forAll)
      llvm::erase_if(accesses, [&](const Access &access) { return access.isUnderWay && access.isWrite == isWrite; });
    for (const Access &access : landed)
      add(access);
  }
  void forgetSlots() {
    for (SmallVector<Access> *list : {&accesses, &unfenced}) {
      SmallVector<Access> before = std::move(*list);
      list->clear();
      for (Access access : before) {
        access.slot = Value(), access.ahead = 0;
        add(*list, access);
      }
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
    getOperation().walk([&](ttg::WarpgroupDotOp dot) {
      for (Value operand : dot->getOperands())
        if (isa<ttg::MemDescType>(operand.getType()))
          readByUnits.insert(originOf(operand));
    });
    uint64_t total = 0;
    SmallVector<Place> placed;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      uint64_t bytes = bytesOf(op);
      if (!bytes)
        return;
      auto alloc = dyn_cast<ttg::LocalAllocOp>(op);
      Region *warps = ttg::warpRegionOf(op);
      Place place{0, 0, numbers.lookup(op).first, alloc ? lastUse(alloc) : numbers.lookup(op).second, warps, divisionOf(warps)};
      place.begin = free(placed, place, bytes, alloc ? alignmentOf(alloc.getType()) : kAlignment);
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
  static constexpr uint64_t kPatternBytes = 1024;

  // ---- places ----

  /// The exchange of chunks goes by bits of the address.
  static uint64_t alignmentOf(ttg::MemDescType type) { return ttg::swizzleOf(type) ? kPatternBytes : kAlignment; }

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
        // A product reads until it has been waited for, which may be behind its loop.
        if (auto dot = dyn_cast<ttg::WarpgroupDotOp>(user))
          for (Operation *next : dot->getUsers())
            if (isa<scf::YieldOp>(next) && op->getBlock()->findAncestorOpInBlock(*next))
              for (Operation *behind = next->getParentOp(); behind; behind = behind->getNextNode())
                if (isa<ttg::WarpgroupWaitOp>(behind)) {
                  if (Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*behind))
                    last = std::max(last, numbers.lookup(ancestor).second);
                  break;
                }
        if (isa<scf::YieldOp, ttg::WarpYieldOp>(user))
          for (Value result : user->getParentOp()->getResults())
            follow(result);
        if (Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user))
          last = std::max(last, numbers.lookup(ancestor).second);
      }
    return last;
  }

  /// The lowest place that nothing has at the same time.
  static uint64_t free(ArrayRef<Place> placed, const Place &wanted, uint64_t bytes, uint64_t alignment) {
    SmallVector<Place> others;
    for (const Place &place : placed)
      if (place.meets(wanted))
        others.push_back(place);
    llvm::sort(others, [](const Place &a, const Place &b) { return a.begin < b.begin; });
    uint64_t begin = 0;
    for (const Place &place : others)
      if (place.begin < begin + bytes)
        begin = std::max(begin, llvm::alignTo(place.end, alignment));
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

  /// What a descriptor is a view of: an allocation, or what control flow makes of several.
  static Value originOf(Value descriptor, function_ref<void(ttg::MemDescIndexOp)> slot = [](ttg::MemDescIndexOp) {}) {
    for (;;) {
      if (auto index = descriptor.getDefiningOp<ttg::MemDescIndexOp>()) {
        slot(index);
        descriptor = index.getSrc();
      } else if (auto view = descriptor.getDefiningOp<ttg::MemDescTransOp>()) {
        descriptor = view.getSrc();
      } else if (auto argument = dyn_cast<BlockArgument>(descriptor); argument && isa<ttg::WarpPartitionOp>(argument.getOwner()->getParentOp())) {
        descriptor = cast<ttg::WarpPartitionOp>(argument.getOwner()->getParentOp()).getCaptures()[argument.getArgNumber()];
      } else {
        return descriptor;
      }
    }
  }

  /// The bytes of a descriptor.
  Access accessOf(Value descriptor, bool isWrite) {
    Access access;
    access.isWrite = isWrite;
    Value origin = originOf(descriptor, [&](ttg::MemDescIndexOp index) {
      if (index.getSrc().getType().getSlots() > 1)
        access.slot = index.getSlot(), access.ahead = index.getAhead();
    });
    access.needsFence = isWrite && llvm::any_of(readByUnits, [&](Value read) { return read == origin || !read.getDefiningOp<ttg::LocalAllocOp>(); });
    descriptor = origin;
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
      if (pending.wantsFence(next)) {
        ttg::ProxyFenceOp::create(builder, op->getLoc());
        pending.fence();
      }
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
      pending.wait(/*isWrite=*/true, wait.getPending() == 0);
    } else if (auto dot = dyn_cast<ttg::WarpgroupDotOp>(op)) {
      for (Value operand : {dot.getA(), Value(dot.getB())})
        if (isa<ttg::MemDescType>(operand.getType())) {
          Access use = accessOf(operand, false);
          use.isUnderWay = use.byUnit = true;
          access(op, use, pending);
        }
    } else if (auto wait = dyn_cast<ttg::WarpgroupWaitOp>(op)) {
      pending.wait(/*isWrite=*/false, wait.getPending() == 0);
    } else if (isa<ttg::ProxyFenceOp>(op)) {
      pending.fence();
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
  SetVector<Value> readByUnits; // the memory that products read
  DenseMap<Operation *, std::pair<unsigned, unsigned>> numbers;
  DenseMap<Operation *, Place> places;
};
} // namespace
