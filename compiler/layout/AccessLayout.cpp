// See AccessLayout.h.
#include "compiler/layout/AccessLayout.h"
#include "compiler/analysis/MaskEdges.h"
#include <set>

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

static constexpr int64_t kVectorBytes = 16, kSectorBytes = 32;
// A warp whose lanes have so many bytes each reads or writes a whole line at once: rows of fp32 by single elements reach 98 % of the speed of aligned ones
// (H200), so only accesses that would be narrower are worth the code for edges.
static constexpr int64_t kNarrowBytes = 4;

static Value pointerOf(Operation *access) { return access->getOperand(0); }

static int64_t elementBytes(Operation *access) { return tt::bytesOf(tt::elementType(tt::pointeesOf(pointerOf(access).getType()))); }

/// Axes from the one with the longest runs of neighbouring addresses; the last axis first where they are equal.
static SmallVector<unsigned> orderOf(Operation *access, compiler::AxisInfoAnalysis &axes) {
  Value pointer = pointerOf(access);
  SmallVector<unsigned> order = fastestLast(tt::shapeOf(pointer.getType()).size());
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return axes.of(pointer).contiguity[a] > axes.of(pointer).contiguity[b]; });
  return order;
}

static bool isPlain(Operation *access) {
  auto load = dyn_cast<tt::LoadOp>(access);
  return load ? !load.getIsVolatile() : isa<tt::StoreOp>(access);
}

/// Elements whose vectors need not be whole: `width` where the mask has edges at most within them, else what the mask is the same for.
static int64_t widthWithEdges(Operation *access, unsigned axis, int64_t width, compiler::AxisInfoAnalysis &axes) {
  Value mask = compiler::maskOf(access);
  if (!mask)
    return width;
  int64_t uniform = axes.maskAlignment(mask, axis), bytes = elementBytes(access);
  if (!isPlain(access) || std::min(uniform, width) * bytes >= kNarrowBytes || width * bytes < kNarrowBytes ||
      compiler::maskEdge(mask, axis, width, axes) == compiler::MaskEdge::Unknown)
    return uniform;
  // What has the same mask belongs to the same row: where that moves by single elements, vectors would have to be dealt out to other threads.
  for (Operation *other : mask.getUsers())
    if (isPlain(other) && compiler::maskOf(other) == mask && axes.pointerContiguity(pointerOf(other), axis) < width)
      return uniform;
  return width;
}

TileLayout compiler::coalescedLayout(Operation *access, AxisInfoAnalysis &axes, BlockShape block) {
  ArrayRef<int64_t> shape = tt::shapeOf(pointerOf(access).getType());
  SmallVector<unsigned> order = orderOf(access, axes);
  int64_t elements = ShapedType::getNumElements(shape);
  // Every thread gets something before any gets a longer vector.
  int64_t each = std::max<int64_t>(1, elements >> (block.laneBits + block.warpBits));
  int64_t vector = std::min({axes.pointerContiguity(pointerOf(access), order.front()), std::max<int64_t>(1, kVectorBytes / elementBytes(access)), each});
  vector = std::min(vector, widthWithEdges(access, order.front(), vector, axes));
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

compiler::AccessWidth compiler::edgedWidth(Operation *access, const TileLayout &layout, AxisInfoAnalysis &axes) {
  AccessWidth width = accessWidth(access, layout, axes);
  width.mask = std::max(width.mask, widthWithEdges(access, width.axis, std::min({width.held, width.address, width.instruction}), axes));
  return width;
}

double compiler::sectorUse(Operation *access, const TileLayout &layout, AxisInfoAnalysis &axes) {
  Value pointer = pointerOf(access);
  unsigned axis = orderOf(access, axes).front();
  AxisBits bits = axisBitsOf(tt::shapeOf(pointer.getType()))[axis];
  int64_t bytes = elementBytes(access), run = std::max<int64_t>(1, axes.of(pointer).contiguity[axis]);
  unsigned vector = edgedWidth(access, layout, axes).elements();
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
