// Gives every operation that needs shared memory its place, and orders the accesses with barriers.
//
// Scratch lives only while its operation executes, so one region serves all; small pieces take turns between two halves, so that most of them need no barrier against
// the one before. One analysis decides the barriers: an operation's writes must not meet bytes that another thread may still read or write since the last barrier. It
// follows structured control flow: what is pending after a branch is what is pending after either side, and a loop's body starts with what its end leaves.
//
//   %1 = "tt.reduce"(%0) ..                      %1 = "tt.reduce"(%0) .. {ttg.offset = 0}
//   %3 = ttg.convert_layout %2 : ..      ->      ttg.barrier
//                                                %3 = ttg.convert_layout %2 {ttg.offset = 0} : ..
#include "compiler/Passes.h"
#include "compiler/lower/Scratch.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_ALLOCATESHAREDPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;

namespace {
/// Bytes that threads may still access since the last barrier.
struct Pending {
  SmallVector<std::pair<uint64_t, uint64_t>> ranges; // begin, end
  bool overlaps(uint64_t begin, uint64_t end) const {
    return llvm::any_of(ranges, [&](auto range) { return range.first < end && begin < range.second; });
  }
  /// False when nothing is new.
  bool add(const Pending &other) {
    size_t before = ranges.size();
    for (auto range : other.ranges)
      if (!llvm::is_contained(ranges, range))
        ranges.push_back(range);
    return ranges.size() != before;
  }
};

class AllocateSharedPass : public compiler::impl::AllocateSharedPassBase<AllocateSharedPass> {
public:
  using AllocateSharedPassBase::AllocateSharedPassBase;

  void runOnOperation() override {
    Builder builder(&getContext());
    uint64_t total = 0;
    bool second = false;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      uint64_t bytes = lower::scratchBytes(op);
      if (!bytes)
        return;
      uint64_t offset = bytes <= kSmall && second ? kSmall : 0;
      second = bytes <= kSmall && !second;
      op->setAttr(ttg::kOffsetName, builder.getI64IntegerAttr(offset));
      sizes[op] = {offset, offset + bytes};
      total = std::max(total, offset + bytes);
    });
    getOperation()->setAttr(ttg::kSharedName, builder.getI64IntegerAttr((total + 15) / 16 * 16));
    Pending pending;
    for (Block &block : getOperation().getBody())
      order(block, pending);
  }

private:
  static constexpr uint64_t kSmall = 4096;

  void order(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block))
      order(&op, pending);
  }

  void order(Operation *op, Pending &pending) {
    if (auto range = sizes.find(op); range != sizes.end()) {
      auto [begin, end] = range->second;
      if (pending.overlaps(begin, end)) {
        OpBuilder builder(op);
        ttg::BarrierOp::create(builder, op->getLoc());
      }
      // The operation writes, has a barrier of its own, and reads.
      pending.ranges = {{begin, end}};
    } else if (isa<ttg::BarrierOp, tt::BarrierOp>(op)) {
      pending.ranges.clear();
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
      } while (entry.add(end));
      pending.add(end);
    }
  }

  DenseMap<Operation *, std::pair<uint64_t, uint64_t>> sizes;
};
} // namespace
