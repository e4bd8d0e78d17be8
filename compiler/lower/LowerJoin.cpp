// Joining, splitting and concatenating tiles: the new or lost bit of the index is a register bit, so that registers are only renumbered.
#include "compiler/lower/GpuEmitter.h"

using namespace llvm;
namespace tk::lower {

/// The register bit that alone owns this bit of the index; none when lanes, warps or several registers do.
static std::optional<unsigned> registerBitOf(const ttg::TileLayout &layout, uint32_t basis) {
  std::optional<unsigned> found;
  for (auto [bit, image] : enumerate(layout.reg)) {
    if (image & basis && (found || image != basis))
      return std::nullopt;
    if (image == basis)
      found = bit;
  }
  for (auto *group : {&layout.lane, &layout.warp})
    for (uint32_t image : *group)
      if (image & basis)
        return std::nullopt;
  return found;
}

/// The layout without that register bit.
static ttg::TileLayout withoutRegisterBit(ttg::TileLayout layout, unsigned bit) {
  layout.reg.erase(layout.reg.begin() + bit);
  return layout;
}

/// `number` with `value` put in at `bit`.
static unsigned insertBit(unsigned number, unsigned bit, unsigned value) {
  unsigned low = number & ((1u << bit) - 1);
  return low | value << bit | (number >> bit) << (bit + 1);
}

/// Registers of a layout that has one more bit in its register number: 0 for `left`, 1 for `right`.
static Registers withNewBit(unsigned bit, const Registers &left, const Registers &right) {
  Registers made(2 * left.size());
  for (unsigned i = 0; i < left.size(); ++i) {
    made[insertBit(i, bit, 0)] = left[i];
    made[insertBit(i, bit, 1)] = right[i];
  }
  return made;
}

void GpuEmitter::emitJoin(tt::JoinOp op) {
  ttg::TileLayout from = ttg::layoutOf(op.getLhs().getType()), to = ttg::layoutOf(op.getType());
  std::optional<unsigned> bit = registerBitOf(to, 1);
  if (!bit || withoutRegisterBit(to, *bit) != from.withAxis({0, 1}))
    return fail(op, "internal error: the layouts of a join don't agree");
  define(op, withNewBit(*bit, registers(op.getLhs()), registers(op.getRhs())));
}

void GpuEmitter::emitSplit(tt::SplitOp op) {
  ttg::TileLayout from = ttg::layoutOf(op.getSrc().getType()), to = ttg::layoutOf(op.getOutLHS().getType());
  std::optional<unsigned> bit = registerBitOf(from, 1);
  if (!bit || withoutRegisterBit(from, *bit) != to.withAxis({0, 1}))
    return fail(op, "internal error: the layouts of a split don't agree");
  const Registers &source = registers(op.getSrc());
  Registers left, right;
  for (unsigned i = 0; i < to.registers(); ++i) {
    left.push_back(source[insertBit(i, *bit, 0)]);
    right.push_back(source[insertBit(i, *bit, 1)]);
  }
  define(op.getOutLHS(), std::move(left));
  define(op.getOutRHS(), std::move(right));
}

void GpuEmitter::emitCat(tt::CatOp op) {
  // Equal halves: the second one begins at a power of two, the highest bit of the result's index.
  ttg::TileLayout from = ttg::layoutOf(op.getLhs().getType()), to = ttg::layoutOf(op.getType());
  uint32_t half = mlir::ShapedType::getNumElements(tt::shapeOf(op.getLhs().getType()));
  std::optional<unsigned> bit = registerBitOf(to, half);
  if (!bit || withoutRegisterBit(to, *bit) != from || ttg::layoutOf(op.getRhs().getType()) != from)
    return fail(op, "internal error: the layouts of a concatenation don't agree");
  define(op, withNewBit(*bit, registers(op.getLhs()), registers(op.getRhs())));
}

} // namespace tk::lower
