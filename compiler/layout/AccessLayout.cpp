// See AccessLayout.h.
#include "compiler/layout/AccessLayout.h"
#include <set>

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

static constexpr int64_t kVectorBytes = 16, kSectorBytes = 32;

static Value pointerOf(Operation *access) { return access->getOperand(0); }

static int64_t elementBytes(Operation *access) { return tt::bytesOf(tt::elementType(tt::pointeesOf(pointerOf(access).getType()))); }

/// Axes from the one with the longest runs of neighbouring addresses; the last axis first where they are equal.
static SmallVector<unsigned> orderOf(Operation *access, compiler::AxisInfoAnalysis &axes) {
  Value pointer = pointerOf(access);
  SmallVector<unsigned> order = fastestLast(tt::shapeOf(pointer.getType()).size());
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return axes.of(pointer).contiguity[a] > axes.of(pointer).contiguity[b]; });
  return order;
}

TileLayout compiler::coalescedLayout(Operation *access, AxisInfoAnalysis &axes, BlockShape block) {
  ArrayRef<int64_t> shape = tt::shapeOf(pointerOf(access).getType());
  SmallVector<unsigned> order = orderOf(access, axes);
  int64_t elements = ShapedType::getNumElements(shape);
  // Every thread gets something before any gets a longer vector.
  int64_t each = std::max<int64_t>(1, elements >> (block.laneBits + block.warpBits));
  int64_t vector = std::min({axes.vectorWidth(access, order.front()), std::max<int64_t>(1, kVectorBytes / elementBytes(access)), each});
  return blockedLayout(shape, order, log2Of(vector), block.laneBits, block.warpBits);
}

compiler::AccessWidth compiler::accessWidth(Operation *access, const TileLayout &layout, AxisInfoAnalysis &axes) {
  ArrayRef<int64_t> shape = tt::shapeOf(pointerOf(access).getType());
  AccessWidth width;
  width.axis = orderOf(access, axes).front();
  AxisBits bits = axisBitsOf(shape)[width.axis];
  // Registers 0, 1, ... hold neighbours along the axis, aligned: no other base touches those bits.
  SmallVector<unsigned> toFront; // the axis' bits as the lowest
  for (unsigned bit = 0, other = bits.count; bit < log2Of(ShapedType::getNumElements(shape)); ++bit)
    toFront.push_back(bit >= bits.begin && bit < bits.begin + bits.count ? bit - bits.begin : other++);
  width.held = int64_t(1) << std::min(layout.permuted(toFront).vectorBits(), bits.count);
  Value mask = maskOf(access);
  width.address = axes.pointerContiguity(pointerOf(access), width.axis);
  width.mask = mask ? axes.maskAlignment(mask, width.axis) : shape[width.axis];
  width.instruction = std::max<int64_t>(1, kVectorBytes / elementBytes(access));
  return width;
}

unsigned compiler::accessVector(Operation *access, const TileLayout &layout, AxisInfoAnalysis &axes) { return accessWidth(access, layout, axes).elements(); }

double compiler::sectorUse(Operation *access, const TileLayout &layout, AxisInfoAnalysis &axes) {
  Value pointer = pointerOf(access);
  unsigned axis = orderOf(access, axes).front();
  AxisBits bits = axisBitsOf(tt::shapeOf(pointer.getType()))[axis];
  int64_t bytes = elementBytes(access), run = std::max<int64_t>(1, axes.of(pointer).contiguity[axis]);
  unsigned vector = accessVector(access, layout, axes);
  std::set<std::pair<uint32_t, int64_t>> sectors;
  std::set<uint32_t> elements;
  for (unsigned lane = 0; lane < 1u << layout.lane.size(); ++lane)
    for (unsigned i = 0; i < vector; ++i) {
      uint32_t index = layout.indexOf(i, lane, 0);
      int64_t along = (index & bits.mask()) >> bits.begin;
      // Addresses are known to be neighbours within a run only.
      elements.insert(index);
      sectors.insert({index & ~bits.mask(), along / run * (1 << 24) + along % run * bytes / kSectorBytes});
    }
  return double(elements.size() * bytes) / double(sectors.size() * kSectorBytes);
}
