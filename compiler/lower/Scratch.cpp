// See Scratch.h.
#include "compiler/lower/Scratch.h"
#include "compiler/lower/MatrixPlan.h"
#include "compiler/lower/ScratchPlans.h"
#include "compiler/lower/SharedPlan.h"
#include "compiler/lower/WarpPlan.h"
#include <bit>

using namespace mlir;
using namespace tk;
using namespace tk::lower;
using namespace tk::ttg;

// ---- conversions ----

/// Bytes from which a conversion goes in rounds.
static constexpr uint64_t kRoundBytes = 32768;

static bool onlyRenamesRegisters(const TileLayout &from, const TileLayout &to) {
  if (from.lane != to.lane || from.warp != to.warp)
    return false;
  LinearImages span;
  for (uint32_t base : from.reg)
    span.add(base, 0);
  return llvm::all_of(to.reg, [&](uint32_t base) { return span.contains(base); });
}

static ConversionPlan throughShared(const TileLayout &from, const TileLayout &to, unsigned indexBits, unsigned elementBytes) {
  ConversionPlan plan;
  plan.kind = ConversionPlan::Kind::Shared;
  SmallVector<uint32_t> common; // registers of both sides
  LinearImages seen;
  for (uint32_t base : to.reg)
    if (base && llvm::is_contained(from.reg, base) && seen.add(base, 0))
      common.push_back(base);
  // Both layouts must own these bits outright, else registers of different threads would differ in them.
  llvm::erase_if(common, [&](uint32_t base) {
    for (const TileLayout *layout : {&from, &to})
      for (auto *group : {&layout->reg, &layout->lane, &layout->warp})
        for (uint32_t other : *group)
          if (other != base && other & base)
            return true;
    return !std::has_single_bit(base);
  });
  while (!common.empty() && (elementBytes << plan.vector.size()) < 16) {
    plan.vector.push_back(common.front());
    common.erase(common.begin());
  }
  while (!common.empty() && (uint64_t(elementBytes) << (indexBits - plan.rounds.size())) > kRoundBytes)
    plan.rounds.push_back(common.pop_back_val());
  plan.elements = uint64_t(1) << (indexBits - plan.rounds.size());
  plan.offsetOfIndexBit = placeInBanks({plan.vector, plan.rounds, from.lane, to.lane}, indexBits, elementBytes);
  return plan;
}

/// Instructions of a thread, a select as dear as a shuffle or a word of shared memory (README.md says why).
static unsigned costOf(const ShufflePlan &plan) { return plan.shuffles + plan.selects; }

/// Words that a thread writes and reads, and a barrier before and behind the writing.
static unsigned costOfShared(const ConversionPlan &plan, const TileLayout &from, const TileLayout &to, unsigned elementBytes) {
  unsigned words = 0;
  for (const TileLayout *layout : {&from, &to}) {
    LinearImages span;
    unsigned bits = 0;
    for (uint32_t base : layout->reg)
      bits += span.add(base, 0);
    words += std::max(1u, (elementBytes << plan.vector.size()) / 4) << (bits - plan.vector.size());
  }
  return words + (2u << plan.rounds.size());
}

ConversionPlan lower::planConversion(const TileLayout &from, const TileLayout &to, unsigned indexBits, unsigned elementBytes) {
  ConversionPlan plan;
  if (from == to)
    return plan;
  if (onlyRenamesRegisters(from, to)) {
    plan.kind = ConversionPlan::Kind::Registers;
    return plan;
  }
  ConversionPlan shared = throughShared(from, to, indexBits, elementBytes);
  plan.kind = ConversionPlan::Kind::Shuffles;
  plan.shuffles = planShuffles(from, to, elementBytes);
  return plan.shuffles && costOf(*plan.shuffles) <= costOfShared(shared, from, to, elementBytes) ? plan : shared;
}

// ---- reductions ----

bool lower::isCommutative(Region &combine) {
  Block &body = combine.front();
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body.without_terminator(), 1))
    return false;
  Operation &op = body.front();
  return isa<arith::AddIOp, arith::AddFOp, arith::MulIOp, arith::MulFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
         body.getTerminator()->getOperand(0) == op.getResult(0) && op.getOperand(0) != op.getOperand(1);
}

bool ReductionPlan::endsWithWarps() const {
  auto isWarp = [](const Step &step) { return step.kind == Kind::Warp; };
  const Step *first = llvm::find_if(steps, isWarp), *after = std::find_if_not(first, steps.end(), isWarp);
  return std::all_of(after, steps.end(), [](const Step &step) { return step.kind == Kind::Register; });
}

ReductionPlan lower::planReduction(tt::ReduceOp op) {
  Type tile = op.getSrcs()[0].getType();
  return planReduction(layoutOf(tile), axisBitsOf(tt::shapeOf(tile))[op.getAxis()], isCommutative(op.getCombineOp()));
}

ReductionPlan lower::planReduction(const TileLayout &layout, AxisBits axisBits, bool commutative) {
  uint32_t axis = axisBits.mask();
  ReductionPlan plan;
  unsigned others = 0;
  uint32_t seen = 0;
  auto collect = [&](ArrayRef<uint32_t> bases, ReductionPlan::Kind kind) {
    for (auto [bit, base] : llvm::enumerate(bases)) {
      if (base & axis & ~seen)
        plan.steps.push_back({kind, unsigned(bit), base});
      else if (kind == ReductionPlan::Kind::Register && base & ~seen)
        ++others;
      else if (kind == ReductionPlan::Kind::Lane && !(base & ~seen))
        plan.idleLaneBits |= 1u << bit;
      seen |= base;
    }
  };
  collect(layout.reg, ReductionPlan::Kind::Register);
  collect(layout.lane, ReductionPlan::Kind::Lane);
  collect(layout.warp, ReductionPlan::Kind::Warp);
  auto key = [&](const ReductionPlan::Step &step) { return std::make_pair(commutative ? int(step.kind) : 0, step.index); };
  llvm::sort(plan.steps, [&](auto &a, auto &b) { return key(a) < key(b); });
  bool warpsDone = false;
  unsigned registersAfter = 0;
  for (const ReductionPlan::Step &step : plan.steps) {
    if (step.kind == ReductionPlan::Kind::Lane)
      plan.laneBits |= 1u << step.bit;
    if (step.kind == ReductionPlan::Kind::Warp)
      plan.warpBits |= 1u << step.bit, warpsDone = true;
    if (step.kind == ReductionPlan::Kind::Register && warpsDone)
      ++registersAfter;
  }
  plan.entries = 1u << (others + registersAfter);
  return plan;
}

// ---- sizes ----

unsigned lower::sharedBytesOf(Type element) { return tt::bytesOf(element); }

static bool decidesControlFlow(Value value) {
  SmallVector<Value> work{value};
  SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (!seen.insert(user).second)
        continue;
      if (isa<scf::IfOp>(user) || (isa<scf::ForOp>(user) && use.getOperandNumber() < 3))
        return true;
      if (isa<scf::ConditionOp, scf::YieldOp, scf::ForOp, scf::WhileOp, WarpYieldOp>(user)) {
        if (isa<scf::ConditionOp>(user) || isa<scf::WhileOp>(user->getParentOp()))
          return true;
        if (use.get().getType().isIntOrIndex()) // carried: it may decide later
          return true;
        continue;
      }
      for (Value result : user->getResults())
        if (!tt::isTile(result.getType()) && result.getType().isIntOrIndex())
          work.push_back(result);
    }
  }
  return false;
}

bool lower::executesOnce(Operation *op) {
  if (op->getNumResults() != 1 || tt::isTile(op->getResult(0).getType()))
    return false;
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile() || decidesControlFlow(load.getResult());
  return isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op);
}

uint64_t lower::scratchBytes(Operation *op) {
  if (auto conversion = dyn_cast<ConvertLayoutOp>(op)) {
    Type tile = conversion.getType();
    unsigned bytes = sharedBytesOf(tt::elementType(tile));
    ConversionPlan plan = planConversion(layoutOf(conversion.getSrc().getType()), layoutOf(tile), log2Of(ShapedType::getNumElements(tt::shapeOf(tile))), bytes);
    return plan.elements * bytes;
  }
  if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
    ReductionPlan plan = planReduction(reduce);
    if (!plan.crossesWarps())
      return 0;
    unsigned lanes = 32 >> std::popcount(plan.laneBits | plan.idleLaneBits);
    uint64_t bytes = 0;
    for (Value source : reduce.getSrcs())
      bytes += uint64_t(sharedBytesOf(tt::elementType(source.getType()))) * lanes * plan.entries * warpsOf(op);
    return bytes + 8 * reduce.getSrcs().size();
  }
  if (auto dot = dyn_cast<tt::DotOp>(op))
    return isa<MmaAttr>(cast<RankedTensorType>(dot.getType()).getEncoding()) ? 0 : planMultiplyAdd(dot).bytes;
  if (auto scan = dyn_cast<tt::ScanOp>(op))
    return scratchOf(scan);
  if (auto gather = dyn_cast<tt::GatherOp>(op))
    return scratchOf(gather);
  if (auto histogram = dyn_cast<tt::HistogramOp>(op))
    return scratchOf(histogram);
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op))
    return scratchOfAtomic(op);
  if (auto division = dyn_cast<WarpSpecializeOp>(op))
    return kHandedBytes * handedValues(division).size();
  if (auto function = dyn_cast<tt::FuncOp>(op))
    return dividesWarps(function) ? kDispatchBytes : 0;
  if (executesOnce(op))
    return 8;
  return 0;
}
