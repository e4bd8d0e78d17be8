// See Scratch.h.
#include "compiler/lower/Scratch.h"
#include "compiler/lower/MatrixPlan.h"
#include "compiler/lower/ScratchPlans.h"
#include <bit>

using namespace mlir;
using namespace tk;
using namespace tk::lower;
using namespace tk::ttg;

// ---- conversions ----

/// Bytes from which a conversion goes in rounds.
static constexpr uint64_t kRoundBytes = 32768;

namespace {
/// Vectors over F2 with an image each; answers the image of any vector of their span.
class LinearImages {
public:
  /// False when the vector is in the span already.
  bool add(uint32_t vector, uint32_t image) {
    for (auto &[row, rowImage] : rows)
      if (std::min(vector, vector ^ row) != vector)
        vector ^= row, image ^= rowImage;
    if (!vector)
      return false;
    rows.push_back({vector, image});
    return true;
  }
  bool contains(uint32_t vector) const { return !reduce(vector, nullptr); }
  uint32_t imageOf(uint32_t vector) const {
    uint32_t image = 0;
    reduce(vector, &image);
    return image;
  }

private:
  uint32_t reduce(uint32_t vector, uint32_t *image) const {
    for (auto &[row, rowImage] : rows)
      if (std::min(vector, vector ^ row) != vector) {
        vector ^= row;
        if (image)
          *image ^= rowImage;
      }
    return vector;
  }
  SmallVector<std::pair<uint32_t, uint32_t>> rows;
};
} // namespace

static bool onlyRenamesRegisters(const TileLayout &from, const TileLayout &to) {
  if (from.lane != to.lane || from.warp != to.warp)
    return false;
  LinearImages span;
  for (uint32_t base : from.reg)
    span.add(base, 0);
  return llvm::all_of(to.reg, [&](uint32_t base) { return span.contains(base); });
}

/// A place in shared memory for every element such that neither the writing nor the reading lanes of a warp meet in a bank, where that is possible: the bits above
/// one row of all banks are spanned by vectors H with (vector + H) disjoint from both sides' lanes. Source: "Linear Layouts: Robust Code Generation of Efficient Tensor
/// Computation Using F2" (2025), section on optimal swizzling.
static void placeInBanks(ConversionPlan &plan, const TileLayout &from, const TileLayout &to, unsigned indexBits, unsigned elementBytes) {
  unsigned vectorBits = plan.vector.size(), vectorBytes = elementBytes << vectorBits;
  unsigned bits = indexBits - plan.rounds.size();
  // Lanes that access the banks together: 32 of 4 bytes, 16 of 8, 8 of 16.
  unsigned phaseBits = vectorBytes <= 4 ? 5 : 5 - log2Of(vectorBytes / 4);
  unsigned bankBits = std::min<unsigned>(bits - vectorBits, vectorBytes >= 128 ? 0 : log2Of(128 / vectorBytes));
  unsigned highBits = bits - vectorBits - bankBits;

  auto side = [&](const TileLayout &layout) {
    LinearImages span;
    for (uint32_t base : plan.vector)
      span.add(base, 0);
    for (uint32_t base : plan.rounds)
      span.add(base, 0);
    SmallVector<uint32_t> added;
    for (unsigned i = 0; i < std::min<size_t>(phaseBits, layout.lane.size()); ++i)
      if (span.add(layout.lane[i], 0))
        added.push_back(layout.lane[i]);
    return std::make_pair(span, added);
  };
  auto [writers, writing] = side(from);
  auto [readers, reading] = side(to);
  LinearImages both = writers;
  for (uint32_t base : reading)
    both.add(base, 0);

  LinearImages taken; // what has a place
  unsigned next = 0;
  for (uint32_t base : plan.rounds)
    taken.add(base, 0);
  for (uint32_t base : plan.vector)
    taken.add(base, 1u << next++);
  unsigned high = 0;
  auto placeHigh = [&](uint32_t vector) {
    if (high < highBits && taken.add(vector, 1u << (vectorBits + bankBits + high)))
      ++high;
  };
  // Directions that no lane of either side moves along, then sums of one of each side.
  for (unsigned i = 0; i < indexBits; ++i)
    if (both.add(1u << i, 0))
      placeHigh(1u << i);
  SmallVector<uint32_t> onlyWriting, onlyReading;
  for (uint32_t base : writing)
    if (!readers.contains(base))
      onlyWriting.push_back(base);
  for (uint32_t base : reading)
    if (!writers.contains(base))
      onlyReading.push_back(base);
  for (size_t i = 0; i < std::min(onlyWriting.size(), onlyReading.size()); ++i)
    placeHigh(onlyWriting[i] ^ onlyReading[i]);
  for (unsigned i = indexBits; i-- > 0;) // no choice is left: some lanes will meet
    placeHigh(1u << i);
  for (unsigned i = 0; i < indexBits; ++i)
    if (next < vectorBits + bankBits && taken.add(1u << i, 1u << next))
      ++next;
  for (unsigned i = 0; i < indexBits; ++i)
    plan.offsetOfIndexBit.push_back(taken.imageOf(1u << i));
}

ConversionPlan lower::planConversion(const TileLayout &from, const TileLayout &to, unsigned indexBits, unsigned elementBytes) {
  ConversionPlan plan;
  if (from == to)
    return plan;
  if (onlyRenamesRegisters(from, to)) {
    plan.kind = ConversionPlan::Kind::Registers;
    return plan;
  }
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
  placeInBanks(plan, from, to, indexBits, elementBytes);
  return plan;
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
      if (isa<scf::ConditionOp, scf::YieldOp, scf::ForOp, scf::WhileOp>(user)) {
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

static unsigned warpsOf(Operation *op) {
  auto function = op->getParentOfType<tt::FuncOp>();
  auto warps = function ? function->getAttrOfType<IntegerAttr>(kNumWarpsName) : IntegerAttr();
  return warps ? warps.getInt() : 1;
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
  if (executesOnce(op))
    return 8;
  return 0;
}
