// Gathers along an axis and histograms: elements that go where data says.
//
// A gather whose lines lie within the same lanes of a warp on both sides moves elements by shuffles, or picks among the thread's own registers. Any other one leaves the
// source in shared memory in row-major order, from which each thread reads what its indices name. A histogram counts in shared memory by atomic additions.
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/Scratch.h"

using namespace llvm;
namespace tk::lower {

static ttg::AxisBits axisOf(mlir::Type tile, unsigned axis) { return ttg::axisBitsOf(tt::shapeOf(tile))[axis]; }

void GpuEmitter::emitGather(tt::GatherOp op) {
  mlir::Type tile = op.getSrc().getType();
  ttg::TileLayout from = ttg::layoutOf(tile), to = ttg::layoutOf(op.getType());
  ttg::AxisBits sourceAxis = axisOf(tile, op.getAxis()), axis = axisOf(op.getType(), op.getAxis());
  unsigned bytes = sharedBytesOf(tt::elementType(tile));
  Type *type = valueType(tt::elementType(tile));
  Registers source = registers(op.getSrc()), indices = registers(op.getIndices()), made;
  // The index along the source's axis as a word, clamped.
  auto along = [&](unsigned number) {
    Value *index = indices[number];
    Type *wide = b.getIntNTy(std::max(32u, index->getType()->getIntegerBitWidth()));
    index = b.CreateSExt(index, wide);
    index = b.CreateBinaryIntrinsic(Intrinsic::smax, index, ConstantInt::get(wide, 0));
    index = b.CreateBinaryIntrinsic(Intrinsic::smin, index, ConstantInt::get(wide, (uint64_t(1) << sourceAxis.count) - 1));
    return b.CreateTrunc(index, b.getInt32Ty());
  };

  if (std::optional<WarpGather> plan = planWarpGather(op)) {
    DenseMap<uint32_t, unsigned> lines; // place outside the axis -> source register, its bits along the axis 0
    for (unsigned number = 0; number < from.registers(); ++number)
      if (!(number & plan->registerMask))
        lines.try_emplace(outsideAxis(from.indexOfRegister(number), sourceAxis), number);
    for (unsigned number = 0; number < to.registers(); ++number) {
      Value *index = along(number), *other = nullptr;
      if (plan->laneMask) {
        other = b.CreateAnd(lane, word(~plan->laneMask));
        for (auto [bit, position] : plan->lanes)
          other = b.CreateOr(other, b.CreateShl(b.CreateAnd(b.CreateLShr(index, position), 1), bit));
      }
      auto line = lines.find(outsideAxis(to.indexOfRegister(number), axis));
      if (line == lines.end())
        return fail(op, "internal error: the layouts of a gather don't agree");
      SmallVector<Value *> choices;
      for (unsigned k = 0; k < 1u << plan->registers.size(); ++k) {
        unsigned own = line->second;
        for (auto [i, bit] : enumerate(plan->registers))
          own |= (k >> i & 1) << bit.number;
        choices.push_back(other ? byWords(source[own], [&](Value *item) { return target.shuffleIndex(b, item, other); }) : source[own]);
      }
      for (WarpGather::Bit bit : plan->registers) {
        Value *upper = b.CreateTrunc(b.CreateLShr(index, bit.position), b.getInt1Ty());
        SmallVector<Value *> halved;
        for (size_t i = 0; i < choices.size(); i += 2)
          halved.push_back(b.CreateSelect(upper, choices[i + 1], choices[i]));
        choices = std::move(halved);
      }
      made.push_back(choices.front());
    }
    return define(op, std::move(made));
  }

  uint64_t base = scratchOffset(op);
  auto write = [&] {
    for (unsigned number = 0; number < from.registers(); ++number)
      if (!from.isDuplicateRegister(number))
        storeShared(sharedAddress(base, b.CreateMul(elementIndex(from, number), word(bytes))), source[number]);
  };
  if (Value *owner = isOwner(from))
    ifThen(owner, write);
  else
    write();
  barrier();
  // The place outside the axis as a map of the result's threads and registers, with room for the source's axis.
  auto lineOf = [&](uint32_t index) {
    ttg::TileLayout single;
    single.lane = {outsideAxis(index, axis)};
    return single.withAxis(sourceAxis).lane.front();
  };
  SmallVector<uint32_t> lanes(map_range(to.lane, lineOf)), warps(map_range(to.warp, lineOf));
  for (unsigned number = 0; number < to.registers(); ++number) {
    Value *line = b.CreateXor(threadIndex(lanes, warps), word(lineOf(to.indexOfRegister(number))));
    Value *index = b.CreateOr(line, b.CreateShl(along(number), sourceAxis.begin));
    made.push_back(loadShared(sharedAddress(base, b.CreateMul(index, word(bytes))), type));
  }
  define(op, std::move(made));
}

void GpuEmitter::emitHistogram(tt::HistogramOp op) {
  ttg::TileLayout from = ttg::layoutOf(op.getSrc().getType()), to = ttg::layoutOf(op.getType());
  Registers source = registers(op.getSrc()), made;
  uint64_t base = scratchOffset(op);
  unsigned bins = tt::shapeOf(op.getType())[0], threads = numWarps * target.lanes();
  auto counter = [&](Value *bin) { return sharedAddress(base, b.CreateShl(bin, 2)); };
  for (unsigned first = 0; first < bins; first += threads) {
    Value *bin = b.CreateAdd(thread, word(first));
    auto clear = [&] { storeShared(counter(bin), word(0)); };
    if (bins - first < threads)
      ifThen(b.CreateICmpULT(bin, word(bins)), clear);
    else
      clear();
  }
  barrier();
  // Each element counts once, whoever else holds it.
  Value *owner = isOwner(from);
  for (unsigned number = 0; number < from.registers(); ++number) {
    if (from.isDuplicateRegister(number))
      continue;
    Value *counts = bothOf(owner, b.CreateICmpULT(source[number], word(bins)));
    if (op.getMask())
      counts = bothOf(counts, registers(op.getMask())[number]);
    ifThen(counts, [&] { b.CreateAtomicRMW(AtomicRMWInst::Add, counter(source[number]), word(1), Align(4), AtomicOrdering::Monotonic); });
  }
  barrier();
  for (unsigned number = 0; number < to.registers(); ++number)
    made.push_back(loadShared(counter(elementIndex(to, number)), b.getInt32Ty()));
  define(op, std::move(made));
}

} // namespace tk::lower
