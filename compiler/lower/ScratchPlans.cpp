// Scans, gathers, histograms and atomics: how they go, and what they need of shared memory (see Scratch.h).
#include "compiler/lower/ScratchPlans.h"
#include "compiler/lower/Scratch.h"
#include <bit>

using namespace mlir;
using namespace tk;
using namespace tk::lower;
using namespace tk::ttg;

static AxisBits axisOf(Type tile, unsigned axis) { return axisBitsOf(tt::shapeOf(tile))[axis]; }
static uint64_t tileBytes(Type tile) { return ShapedType::getNumElements(tt::shapeOf(tile)) * sharedBytesOf(tt::elementType(tile)); }

// ---- scans ----

uint64_t lower::scanTotalsBytes(Type tile, unsigned bitsBelow) {
  return llvm::alignTo((ShapedType::getNumElements(tt::shapeOf(tile)) >> bitsBelow) * sharedBytesOf(tt::elementType(tile)), 16);
}

/// The first run in warps has the most totals; later ones use its memory again.
uint64_t lower::scratchOf(tt::ScanOp op) {
  AxisBits axis = axisOf(op.getSrcs()[0].getType(), op.getAxis());
  uint32_t warpBits = 0;
  for (uint32_t basis : layoutOf(op.getSrcs()[0].getType()).warp)
    warpBits |= basis & axis.mask();
  uint64_t bytes = 0;
  if (warpBits)
    for (Value source : op.getSrcs())
      bytes += scanTotalsBytes(source.getType(), std::countr_zero(warpBits) - axis.begin);
  return bytes;
}

// ---- gathers, histograms ----

uint32_t lower::outsideAxis(uint32_t index, AxisBits axis) {
  uint32_t low = index & ((1u << axis.begin) - 1);
  return low | index >> (axis.begin + axis.count) << axis.begin;
}

/// Elements of one result register come from at most this many registers of another lane, or of the own one.
static constexpr unsigned kMostShuffles = 4, kMostSelects = 8;

std::optional<WarpGather> lower::planWarpGather(tt::GatherOp op) {
  TileLayout source = layoutOf(op.getSrc().getType()), result = layoutOf(op.getType());
  AxisBits from = axisOf(op.getSrc().getType(), op.getAxis()), to = axisOf(op.getType(), op.getAxis());
  if (!source.isPermutation())
    return std::nullopt;
  for (auto [own, other] : llvm::zip(source.lane, result.lane))
    if (outsideAxis(own, from) != outsideAxis(other, to))
      return std::nullopt;
  for (auto [own, other] : llvm::zip(source.warp, result.warp))
    if (own & from.mask() || outsideAxis(own, from) != outsideAxis(other, to))
      return std::nullopt;
  WarpGather plan;
  for (auto [bit, basis] : llvm::enumerate(source.reg))
    if (basis & from.mask()) {
      plan.registers.push_back({unsigned(bit), log2Of(basis) - from.begin});
      plan.registerMask |= 1u << bit;
    }
  for (auto [bit, basis] : llvm::enumerate(source.lane))
    if (basis & from.mask()) {
      plan.lanes.push_back({unsigned(bit), log2Of(basis) - from.begin});
      plan.laneMask |= 1u << bit;
    }
  unsigned each = 1u << plan.registers.size();
  return each <= (plan.lanes.empty() ? kMostSelects : kMostShuffles) ? std::optional(plan) : std::nullopt;
}

uint64_t lower::scratchOf(tt::GatherOp op) { return planWarpGather(op) ? 0 : tileBytes(op.getSrc().getType()); }
uint64_t lower::scratchOf(tt::HistogramOp op) { return tileBytes(op.getType()); }

// ---- atomics ----

Sharing lower::planSharing(Operation *atomic) {
  Type type = atomic->getResult(0).getType();
  if (atomic->use_empty())
    return Sharing::None;
  if (!tt::isTile(type))
    return Sharing::Memory;
  TileLayout layout = layoutOf(type);
  uint32_t free = layout.freeThreadBits();
  if (!free)
    return Sharing::None;
  // Only where every bit stands for itself is the lane with the free bits 0 the one with the same element.
  return free >> layout.lane.size() || !layout.isPermutation() ? Sharing::Memory : Sharing::Shuffle;
}

uint64_t lower::scratchOfAtomic(Operation *op) {
  if (planSharing(op) != Sharing::Memory)
    return 0;
  Type type = op->getResult(0).getType();
  return tt::isTile(type) ? tileBytes(type) : 8;
}
