// Conversion between layouts by the cheapest way that planConversion finds: nothing, other registers of the same thread, shuffles, or shared memory.
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/GpuRemarks.h"
#include "compiler/lower/Scratch.h"

using namespace llvm;
namespace tk::lower {

/// The register that holds each place (as index) of a thread whose number is 0.
static DenseMap<uint32_t, unsigned> registersByIndex(const ttg::TileLayout &layout) {
  DenseMap<uint32_t, unsigned> registerOf;
  for (unsigned i = 0; i < layout.registers(); ++i)
    registerOf.try_emplace(layout.indexOfRegister(i), i);
  return registerOf;
}

/// Registers in groups that one vector access moves: for each group its registers in the order of the vector's elements.
static SmallVector<SmallVector<unsigned>> vectorGroups(const ttg::TileLayout &layout, const ConversionPlan &plan) {
  uint32_t vectorMask = 0;
  for (uint32_t base : plan.vector)
    vectorMask |= base;
  DenseMap<uint32_t, unsigned> registerOf = registersByIndex(layout);
  SmallVector<SmallVector<unsigned>> groups;
  for (unsigned i = 0; i < layout.registers(); ++i) {
    uint32_t index = layout.indexOfRegister(i);
    if (index & vectorMask || registerOf.lookup(index) != i)
      continue;
    SmallVector<unsigned> &group = groups.emplace_back();
    for (unsigned k = 0; k < 1u << plan.vector.size(); ++k)
      group.push_back(registerOf.lookup(index ^ ttg::TileLayout::apply(plan.vector, k)));
  }
  return groups;
}

/// Steps of a shuffle plan as instructions. All lanes of the warp take part in each shuffle: an operation stands in structured control flow whose conditions
/// are scalars, which are the same in all threads of a program (what memory says is read once and broadcast, see executesOnce), so no lane can be elsewhere.
struct GpuEmitter::ShuffleSteps {
  GpuEmitter &emitter;
  const ShufflePlan &plan;
  const Registers &registers;
  DenseMap<uint32_t, unsigned> registerOf;

  Value *source(uint32_t number) {
    SmallVector<Value *> elements;
    for (unsigned k = 0; k < 1u << plan.packed.size(); ++k)
      elements.push_back(registers[registerOf.lookup(ttg::TileLayout::apply(plan.source, number) ^ ttg::TileLayout::apply(plan.packed, k))]);
    unsigned bits = emitter.toBits(elements.front())->getType()->getIntegerBitWidth();
    return emitter.pack(elements, bits * elements.size()).front();
  }
  Value *select(const ShufflePlan::Choice &choice, Value *odd, Value *even) {
    auto ones = [](uint32_t mask) {
      SmallVector<uint32_t> bases;
      for (; mask; mask >>= 1)
        bases.push_back(mask & 1);
      return bases;
    };
    Value *parity = emitter.threadIndex(ones(choice.lanes), ones(choice.warps));
    return emitter.b.CreateSelect(emitter.b.CreateTrunc(parity, emitter.b.getInt1Ty()), odd, even);
  }
  Value *shuffle(Value *value, uint32_t round) {
    uint32_t distance = ttg::TileLayout::apply(plan.laneOfRound, round);
    return emitter.byWords(value, [&](Value *word) {
      if (plan.staysInLane)
        return emitter.target.shuffleXor(emitter.b, word, distance);
      Value *lane = emitter.threadIndex(plan.laneOfLane, plan.laneOfWarp);
      return emitter.target.shuffleIndex(emitter.b, word, emitter.b.CreateXor(lane, emitter.word(distance)));
    });
  }
};

Registers GpuEmitter::shuffled(const Registers &source, const ttg::TileLayout &from, const ttg::TileLayout &to, const ShufflePlan &plan, mlir::Type element) {
  ShuffleSteps steps{*this, plan, source, registersByIndex(from)};
  Shuffles<Value *, ShuffleSteps> shuffles(plan, steps);
  LinearImages words, places; // of a register of the result
  for (auto [bit, base] : enumerate(plan.packed))
    words.add(base, 0), places.add(base, 1u << bit);
  for (auto [bit, base] : enumerate(plan.result))
    words.add(base, 1u << bit), places.add(base, 0);
  std::map<uint32_t, Registers> unpacked;
  Registers result;
  for (unsigned i = 0; i < to.registers(); ++i) {
    uint32_t index = to.indexOfRegister(i);
    Registers &elements = unpacked[words.imageOf(index)];
    if (elements.empty())
      elements = unpack({shuffles.word(words.imageOf(index))}, 1u << plan.packed.size(), element);
    result.push_back(elements[places.imageOf(index)]);
  }
  return result;
}

void GpuEmitter::emitConversion(ttg::ConvertLayoutOp op) {
  mlir::Type tile = op.getType(), element = tt::elementType(tile);
  ttg::TileLayout from = ttg::layoutOf(op.getSrc().getType()), to = ttg::layoutOf(tile);
  unsigned bytes = sharedBytesOf(element);
  ConversionPlan plan = planConversion(from, to, ttg::log2Of(mlir::ShapedType::getNumElements(tt::shapeOf(tile))), bytes);
  Registers source = registers(op.getSrc());
  if (plan.kind == ConversionPlan::Kind::Nothing)
    return define(op, source);
  Registers result(to.registers());
  if (plan.kind == ConversionPlan::Kind::Registers) {
    DenseMap<uint32_t, unsigned> registerOf = registersByIndex(from);
    for (unsigned i = 0; i < to.registers(); ++i)
      result[i] = source[registerOf.lookup(to.indexOfRegister(i))];
    return define(op, std::move(result));
  }
  remarkConversion(op, plan);
  if (plan.kind == ConversionPlan::Kind::Shuffles)
    return define(op, shuffled(source, from, to, *plan.shuffles, element));

  uint64_t base = scratchOffset(op);
  unsigned vector = 1u << plan.vector.size(), wordBits = std::min(32u, vector * bytes * 8);
  if (bytes == 8)
    wordBits = 64;
  // A thread's address: its own part of the offset, then a constant a register, joined by a sum where no bits meet.
  auto address = [&](const ttg::TileLayout &layout, uint32_t index) {
    SmallVector<uint32_t> lanes, warps;
    uint32_t threadBits = 0;
    for (uint32_t basis : layout.lane)
      lanes.push_back(plan.offsetOf(basis)), threadBits |= lanes.back();
    for (uint32_t basis : layout.warp)
      warps.push_back(plan.offsetOf(basis)), threadBits |= warps.back();
    uint32_t own = plan.offsetOf(index);
    Value *offset = threadIndex(lanes, warps);
    if (threadBits & own)
      return sharedAddress(base, b.CreateMul(b.CreateXor(offset, word(own)), word(bytes)));
    return b.CreateConstGEP1_32(b.getInt8Ty(), sharedAddress(base, b.CreateMul(offset, word(bytes))), own * bytes);
  };
  auto roundOf = [&](uint32_t index) {
    unsigned round = 0;
    for (auto [bit, basis] : enumerate(plan.rounds))
      round |= unsigned((index & basis) != 0) << bit;
    return round;
  };
  Type *accessType = b.getIntNTy(wordBits);
  if (vector * bytes * 8 > wordBits)
    accessType = FixedVectorType::get(b.getIntNTy(wordBits), vector * bytes * 8 / wordBits);
  Align align(vector * bytes);
  SmallVector<SmallVector<unsigned>> writes = vectorGroups(from, plan), reads = vectorGroups(to, plan);
  for (unsigned round = 0; round < 1u << plan.rounds.size(); ++round) {
    if (round)
      barrier();
    auto write = [&] {
      for (ArrayRef<unsigned> group : writes) {
        uint32_t index = from.indexOfRegister(group.front());
        if (roundOf(index) != round)
          continue;
        SmallVector<Value *> elements;
        for (unsigned number : group)
          elements.push_back(source[number]);
        SmallVector<Value *> words = pack(elements, wordBits);
        Value *item = words.front();
        if (words.size() > 1) {
          item = PoisonValue::get(accessType);
          for (auto [k, part] : enumerate(words))
            item = b.CreateInsertElement(item, part, k);
        }
        b.CreateAlignedStore(item, address(from, index), align);
      }
    };
    if (Value *owner = isOwner(from))
      ifThen(owner, write);
    else
      write();
    barrier();
    for (ArrayRef<unsigned> group : reads) {
      uint32_t index = to.indexOfRegister(group.front());
      if (roundOf(index) != round)
        continue;
      Value *item = b.CreateAlignedLoad(accessType, address(to, index), align);
      SmallVector<Value *> words;
      if (accessType->isVectorTy())
        for (unsigned k = 0; k < vector * bytes * 8 / wordBits; ++k)
          words.push_back(b.CreateExtractElement(item, k));
      else
        words.push_back(item);
      Registers elements = unpack(words, vector, element);
      for (auto [number, value] : zip(group, elements))
        result[number] = value;
    }
  }
  // Registers that repeat others.
  for (unsigned i = 0; i < to.registers(); ++i)
    for (unsigned k = 0; !result[i] && k < i; ++k)
      if (to.indexOfRegister(k) == to.indexOfRegister(i))
        result[i] = result[k];
  define(op, std::move(result));
}

} // namespace tk::lower
