// See WarpPlan.h.
#include "compiler/lower/WarpPlan.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace tk;
using namespace tk::lower;
using namespace tk::ttg;

static constexpr unsigned kWarpGroup = 4;

SmallVector<PartitionPlace> lower::placePartitions(WarpSpecializeOp op) {
  SmallVector<WarpPartitionOp> partitions = op.partitions();
  SmallVector<unsigned> order(partitions.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return partitions[a].getNumWarps() > partitions[b].getNumWarps(); });
  SmallVector<PartitionPlace> places(partitions.size());
  unsigned next = warpsOf(op->getParentOfType<tt::FuncOp>());
  for (unsigned i : order) {
    unsigned warps = partitions[i].getNumWarps();
    places[i] = {unsigned(llvm::alignTo(next, std::min(warps, kWarpGroup))), warps};
    next = places[i].first + warps;
  }
  return places;
}

unsigned lower::warpsOfBlock(tt::FuncOp function) {
  unsigned warps = warpsOf(function);
  function.walk([&](WarpSpecializeOp op) {
    for (PartitionPlace place : placePartitions(op))
      warps = std::max(warps, place.first + place.warps);
  });
  return warps;
}

bool lower::dividesWarps(tt::FuncOp function) {
  return function.walk([](WarpSpecializeOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

SmallVector<Value> lower::handedValues(WarpSpecializeOp op) {
  llvm::SetVector<Value> result;
  for (WarpPartitionOp partition : op.partitions())
    for (Value capture : partition.getCaptures()) {
      auto argument = dyn_cast<BlockArgument>(capture);
      bool isKnown =
          argument ? isa<tt::FuncOp>(argument.getOwner()->getParentOp()) : matchPattern(capture, m_Constant()) || capture.getDefiningOp<LocalAllocOp>();
      if (!isKnown)
        result.insert(capture);
    }
  return result.takeVector();
}

// ---- registers ----

static constexpr unsigned kRegisterFile = 65536, kLanes = 32, kStep = 8, kLeastRegisters = 24;
static constexpr unsigned kMostRegisters = 248; // in steps; a thread has 255 at most

unsigned lower::registersAtLaunch(unsigned warps, unsigned most) {
  return std::min({kRegisterFile / (warps * kLanes), kMostRegisters, most ? most : kMostRegisters}) / kStep * kStep;
}

RegisterPlan lower::planRegisters(WarpSpecializeOp op, bool targetCan, unsigned launch) {
  auto function = op->getParentOfType<tt::FuncOp>();
  unsigned ownWarps = warpsOf(function), blockWarps = warpsOfBlock(function);
  SmallVector<WarpPartitionOp> partitions = op.partitions();
  SmallVector<PartitionPlace> places = placePartitions(op);
  RegisterPlan plan;
  plan.ofPartition.assign(partitions.size(), 0);
  plan.refused.assign(partitions.size(), "");
  int64_t left = int64_t(launch) * blockWarps; // of a lane of every warp
  for (auto [i, partition] : llvm::enumerate(partitions)) {
    unsigned wanted = partition.getRegisters().value_or(launch);
    if (!partition.getRegisters() || wanted == launch)
      continue;
    if (!targetCan)
      plan.refused[i] = "the target gives every thread of a block the same number";
    else if (launch < kLeastRegisters)
      plan.refused[i] = "fewer than 24 at the launch can't be changed";
    else if (places[i].warps % kWarpGroup || places[i].first % kWarpGroup)
      plan.refused[i] = "only whole groups of 4 warps can change theirs";
    else
      plan.ofPartition[i] = wanted;
  }
  unsigned others = blockWarps - ownWarps;
  for (auto [place, count] : llvm::zip(places, plan.ofPartition))
    if (count)
      left -= int64_t(count) * place.warps, others -= place.warps;
  left -= int64_t(launch) * others;
  if (!plan.changes())
    return plan;
  int64_t own = std::min<int64_t>(left / ownWarps / kStep * kStep, kMostRegisters);
  bool canChange = ownWarps % kWarpGroup == 0;
  if (own >= (canChange ? kLeastRegisters : launch)) {
    plan.own = canChange && own != launch ? own : 0;
    return plan;
  }
  for (auto [count, why] : llvm::zip(plan.ofPartition, plan.refused))
    if (count)
      count = 0, why = "all partitions together leave too few to the function's own warps";
  return plan;
}
