// Loads go before the reductions, scans and conversions that they don't need, so that memory works while the block's threads wait for each other.
//
// Neither the hardware nor the assembler moves a load over a barrier, and every one of those operations may have one inside. A load moves within its block
// only, so that it runs exactly as often as before (A42), with the pure operations that it needs, and over nothing that writes memory, waits, or says
// something. It stops at the load before it: their order stays. What is moved is alive for longer, so only some registers a thread may be spent on it.
//
//   %x = tt.load %p                          %x = tt.load %p
//   %s = tt.reduce %x                        %q = tt.addptr ..
//   %q = tt.addptr ..                  ->    %w = tt.load %q
//   %w = tt.load %q                          %s = tt.reduce %x
//   .. uses of %s and %w                     .. uses of %s and %w
//
// Where a later store might overwrite what was loaded, the barrier inside the reduction now serves for it too (see OrderMemory).
#include "compiler/Passes.h"
#include "compiler/lower/Scratch.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_HOISTLOADSPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;

/// Of 32 bits, for all moved loads of a block together. Wide rows need their registers, and their loads hide each other's latency anyway.
static constexpr unsigned kMostRegisters = 16;

static unsigned registersOf(tt::LoadOp load) {
  auto tile = cast<RankedTensorType>(load.getType());
  return (ttg::layoutOf(tile).registers() * std::max(tile.getElementTypeBitWidth(), 8u) + 31) / 32;
}

namespace {
/// Where a load could go and what has to go with it.
struct Move {
  Operation *before = nullptr; // the operation that it would stand before
  SmallVector<Operation *> needed;
  bool isUseful = false; // something with a barrier inside would be passed
};

class HoistLoadsPass : public compiler::impl::HoistLoadsPassBase<HoistLoadsPass> {
public:
  void runOnOperation() override {
    getOperation().walk([](Block *block) { hoist(*block); });
  }

private:
  static void hoist(Block &block) {
    unsigned registers = 0;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto load = dyn_cast<tt::LoadOp>(op);
      if (!load || load.getIsVolatile() || !tt::isTile(load.getType()) || lower::scratchBytes(load))
        continue;
      Move move = moveOf(load);
      if (!move.isUseful || registers + registersOf(load) > kMostRegisters)
        continue;
      registers += registersOf(load);
      // In their order: they were found backwards.
      for (Operation *one : llvm::reverse(move.needed))
        one->moveBefore(move.before);
      load->moveBefore(move.before);
    }
  }

  static Move moveOf(tt::LoadOp load) {
    Move move;
    SmallPtrSet<Operation *, 16> needed;
    const auto need = [&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp(); source && source->getBlock() == load->getBlock())
          needed.insert(source);
    };
    need(load);
    for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
      const bool waits = lower::scratchBytes(op) != 0;
      if (needed.contains(op)) {
        if (waits || op->getNumRegions() || !isPure(op))
          break;
        move.needed.push_back(op);
        need(op);
        continue;
      }
      if (isa<tt::LoadOp>(op) || !(isPure(op) || isa<tt::ReduceOp, tt::ScanOp>(op)) || isa<LoopLikeOpInterface, scf::IfOp>(op))
        break;
      move.isUseful |= waits;
      move.before = op;
    }
    // What is needed stays where it is unless something is passed above it.
    while (!move.needed.empty() && move.before && move.needed.back()->isBeforeInBlock(move.before))
      move.needed.pop_back();
    return move;
  }
};
} // namespace
