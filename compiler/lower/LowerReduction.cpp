// Reductions along an axis: registers of a thread, then lanes by shuffles, then warps through shared memory, as planReduction orders it.
//
// Each step halves the axis: pairs that differ in one bit of the axis are combined, the lower one on the left. In the order of ascending bits this keeps the
// elements' order for combine regions that need it; where they don't, the cheap steps come first. After a lane step both lanes hold the result, so lanes along
// the axis end up equal.
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/Scratch.h"
#include <bit>

using namespace llvm;
namespace tk::lower {

namespace {
/// The partial results of a thread for one place outside the axis: the image of its registers, and a value an operand.
struct Entry {
  uint32_t index = 0;
  SmallVector<Value *> values;
};
} // namespace

void GpuEmitter::emitReduce(tt::ReduceOp op) {
  mlir::Type tile = op.getSrcs()[0].getType();
  ttg::TileLayout layout = ttg::layoutOf(tile);
  ttg::AxisBits axis = ttg::axisBitsOf(tt::shapeOf(tile))[op.getAxis()];
  ReductionPlan plan = planReduction(op);
  bool hasEffects = !mlir::isMemoryEffectFree(op);
  // Threads that differ in these bits hold the same, and combine the same.
  uint32_t sameLanes = layout.freeThreadBits() & ((1u << layout.lane.size()) - 1), sameWarps = layout.freeThreadBits() >> layout.lane.size();
  auto join = [&](ArrayRef<Value *> left, ArrayRef<Value *> right) {
    SmallVector<Value *> operands(left);
    operands.append(right.begin(), right.end());
    return combine(op.getCombineOp(), operands, hasEffects ? areZero(sameLanes, sameWarps) : nullptr);
  };

  std::vector<Entry> entries;
  for (unsigned i = 0; i < layout.registers(); ++i) {
    if (layout.isDuplicateRegister(i))
      continue;
    Entry entry{layout.indexOfRegister(i), {}};
    for (mlir::Value source : op.getSrcs())
      entry.values.push_back(registers(source)[i]);
    entries.push_back(std::move(entry));
  }

  // Registers of which any two may be combined: two running results, each of which takes one element after the other. So a product that feeds the combination
  // can fuse with it (a sum of squares), which it can't where products are added to each other in pairs. Other warps hide the latency.
  auto runningResults = [&](uint32_t bits) {
    constexpr size_t kMostRunning = 2;
    std::map<uint32_t, std::vector<Entry>> places;
    for (Entry &entry : entries)
      places[entry.index & ~bits].push_back(std::move(entry));
    entries.clear();
    for (auto &[index, parts] : places) {
      size_t running = std::min(kMostRunning, parts.size());
      for (size_t i = running; i < parts.size(); ++i)
        parts[i % running].values = join(parts[i % running].values, parts[i].values);
      for (; running > 1; running /= 2)
        for (size_t i = 0; i < running / 2; ++i)
          parts[i].values = join(parts[i].values, parts[i + running / 2].values);
      entries.push_back({index, std::move(parts[0].values)});
    }
  };
  auto registerStep = [&](uint32_t index) {
    std::map<uint32_t, Entry> uppers;
    std::vector<Entry> lowers;
    for (Entry &entry : entries)
      if (entry.index & index)
        uppers[entry.index ^ index] = std::move(entry);
      else
        lowers.push_back(std::move(entry));
    for (Entry &lower : lowers)
      lower.values = join(lower.values, uppers[lower.index].values);
    entries = std::move(lowers);
  };
  auto laneStep = [&](unsigned bit) {
    bool ordered = !isCommutative(op.getCombineOp());
    sameLanes |= 1u << bit;
    Value *isUpper = ordered ? b.CreateICmpNE(b.CreateAnd(lane, word(1u << bit)), word(0)) : nullptr;
    for (Entry &entry : entries) {
      SmallVector<Value *> other, left, right;
      for (Value *value : entry.values)
        other.push_back(byWords(value, [&](Value *item) { return target.shuffleXor(b, item, 1u << bit); }));
      for (auto [own, theirs] : zip(entry.values, other)) {
        left.push_back(ordered ? b.CreateSelect(isUpper, theirs, own) : own);
        right.push_back(ordered ? b.CreateSelect(isUpper, own, theirs) : theirs);
      }
      entry.values = join(left, right);
    }
  };
  // Every warp leaves its results; every thread reads those of all warps along the axis and combines them in order.
  auto warpStep = [&](ArrayRef<ReductionPlan::Step> steps) {
    uint32_t idle = plan.laneBits | plan.idleLaneBits;
    SmallVector<uint32_t> laneBases, warpBases;
    unsigned lanes = 0;
    for (unsigned bit = 0; bit < layout.lane.size(); ++bit)
      laneBases.push_back(idle >> bit & 1 ? 0 : entries.size() << lanes++);
    uint64_t warpStride = uint64_t(entries.size()) << lanes, base = scratchOffset(op);
    for (unsigned bit = 0; bit < layout.warp.size(); ++bit)
      warpBases.push_back(plan.warpBits >> bit & 1 ? 0 : warpStride << bit);
    // Slots are counted with the warps along the axis set to 0; a thread adds its own for writing.
    Value *slot = threadIndex(laneBases, warpBases);
    SmallVector<uint32_t> ownBases;
    for (unsigned bit = 0; bit < layout.warp.size(); ++bit)
      ownBases.push_back(plan.warpBits >> bit & 1 ? warpStride << bit : 0);
    Value *ownSlot = b.CreateAdd(slot, threadIndex({}, ownBases));
    SmallVector<uint64_t> bases;
    for (mlir::Value source : op.getSrcs()) {
      unsigned bytes = sharedBytesOf(tt::elementType(source.getType()));
      base = (base + bytes - 1) / bytes * bytes;
      bases.push_back(base);
      base += bytes * warpStride << layout.warp.size();
    }
    auto address = [&](unsigned operand, Value *from, uint64_t further) {
      unsigned bytes = sharedBytesOf(tt::elementType(op.getSrcs()[operand].getType()));
      return b.CreateConstGEP1_32(b.getInt8Ty(), sharedAddress(bases[operand], b.CreateMul(from, word(bytes))), further * bytes);
    };
    auto write = [&] {
      for (auto [number, entry] : enumerate(entries))
        for (auto [operand, value] : enumerate(entry.values))
          storeShared(address(operand, ownSlot, number), value);
    };
    if (idle)
      ifThen(b.CreateICmpEQ(b.CreateAnd(lane, word(idle)), word(0)), write);
    else
      write();
    barrier();
    sameWarps |= plan.warpBits;
    // Results of many warps: lanes that would read the same read one each and combine by shuffles, for fewer accesses and registers.
    constexpr unsigned kLeastShared = 4;
    if (steps.size() >= kLeastShared && unsigned(std::popcount(idle)) >= steps.size() && !hasEffects) {
      SmallVector<unsigned> readers;
      for (unsigned bit = 0; bit < layout.lane.size() && readers.size() < steps.size(); ++bit)
        if (idle >> bit & 1)
          readers.push_back(bit);
      SmallVector<uint32_t> partBases(layout.lane.size());
      for (auto [step, bit] : zip(steps, readers))
        partBases[bit] = warpStride << step.bit;
      Value *part = b.CreateAdd(slot, threadIndex(partBases, {}));
      for (auto [number, entry] : enumerate(entries))
        for (auto [operand, value] : enumerate(entry.values))
          value = loadShared(address(operand, part, number), value->getType());
      for (unsigned bit : readers)
        laneStep(bit);
      return;
    }
    for (auto [number, entry] : enumerate(entries)) {
      std::vector<SmallVector<Value *>> parts;
      for (unsigned k = 0; k < 1u << steps.size(); ++k) {
        uint64_t further = number;
        for (auto [i, step] : enumerate(steps))
          if (k >> i & 1)
            further += warpStride << step.bit;
        SmallVector<Value *> &part = parts.emplace_back();
        for (auto [operand, source] : enumerate(op.getSrcs()))
          part.push_back(loadShared(address(operand, slot, further), valueType(tt::elementType(source.getType()))));
      }
      while (parts.size() > 1) {
        std::vector<SmallVector<Value *>> halved;
        for (size_t i = 0; i < parts.size(); i += 2)
          halved.push_back(join(parts[i], parts[i + 1]));
        parts = std::move(halved);
      }
      entry.values = parts.front();
    }
  };

  for (size_t i = 0; i < plan.steps.size() && error.empty();) {
    const ReductionPlan::Step &step = plan.steps[i];
    size_t end = i + 1;
    if (step.kind == ReductionPlan::Kind::Register && isCommutative(op.getCombineOp())) {
      uint32_t bits = step.index;
      for (; end < plan.steps.size() && plan.steps[end].kind == ReductionPlan::Kind::Register; ++end)
        bits |= plan.steps[end].index;
      runningResults(bits);
    } else if (step.kind == ReductionPlan::Kind::Register) {
      registerStep(step.index);
    } else if (step.kind == ReductionPlan::Kind::Lane) {
      laneStep(step.bit);
    } else {
      while (end < plan.steps.size() && plan.steps[end].kind == ReductionPlan::Kind::Warp)
        ++end;
      warpStep(ArrayRef<ReductionPlan::Step>(plan.steps).slice(i, end - i));
    }
    i = end;
  }
  if (!error.empty())
    return;

  for (auto [number, result] : enumerate(op.getResult())) {
    if (!tt::isTile(result.getType())) {
      define(result, {entries.front().values[number]});
      continue;
    }
    ttg::TileLayout to = ttg::layoutOf(result.getType());
    DenseMap<uint32_t, Value *> byIndex;
    for (Entry &entry : entries) {
      uint32_t low = entry.index & ((1u << axis.begin) - 1), high = entry.index >> (axis.begin + axis.count) << axis.begin;
      byIndex[low | high] = entry.values[number];
    }
    Registers made;
    for (unsigned i = 0; i < to.registers(); ++i)
      made.push_back(byIndex.lookup(to.indexOfRegister(i)));
    define(result, std::move(made));
  }
}

} // namespace tk::lower
