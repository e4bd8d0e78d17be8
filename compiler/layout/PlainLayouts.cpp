// See PlainLayouts.h.
#include "compiler/layout/PlainLayouts.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

TileLayout compiler::plainLayout(BlockShape block, Type tile) {
  ArrayRef<int64_t> shape = tt::shapeOf(tile);
  SmallVector<unsigned> order = fastestLast(shape.size());
  int64_t each = std::max<int64_t>(1, ShapedType::getNumElements(shape) >> (block.laneBits + block.warpBits));
  int64_t vector = std::min<int64_t>(each, std::max<int64_t>(1, 16 / tt::bytesOf(tt::elementType(tile))));
  return blockedLayout(shape, order, log2Of(vector), block.laneBits, block.warpBits);
}
TileLayout compiler::scanLayout(BlockShape block, Type tile, unsigned axis) {
  ArrayRef<int64_t> shape = tt::shapeOf(tile);
  SmallVector<unsigned> order{axis};
  for (size_t other = shape.size(); other-- > 0;)
    if (other != axis)
      order.push_back(other);
  int64_t threads = int64_t(1) << (block.laneBits + block.warpBits), others = ShapedType::getNumElements(shape) / shape[axis];
  int64_t along = std::max<int64_t>(1, threads / others); // threads that share a line
  return blockedLayout(shape, order, log2Of(std::max<int64_t>(1, shape[axis] / along)), block.laneBits, block.warpBits);
}

TileLayout compiler::multiplyAddLayout(BlockShape block, Type tile) {
  // Each thread has a piece of up to 4 x 4, so that an operand serves several products.
  ArrayRef<int64_t> shape = tt::shapeOf(tile);
  SmallVector<AxisBits> bits = axisBitsOf(shape);
  AxisBits rows = bits[bits.size() - 2], columns = bits.back();
  unsigned each = std::max<int>(0, int(log2Of(ShapedType::getNumElements(shape))) - int(block.laneBits + block.warpBits));
  unsigned inRow = std::min({columns.count, each, 2u}), inColumn = std::min({rows.count, each - inRow, 2u});
  TileLayout result;
  SmallVector<uint32_t> left;
  for (unsigned i = 0; i < bits.front().begin + bits.front().count; ++i) {
    bool taken = (i >= columns.begin && i < columns.begin + inRow) || (i >= rows.begin && i < rows.begin + inColumn);
    (taken ? static_cast<SmallVectorImpl<uint32_t> &>(result.reg) : static_cast<SmallVectorImpl<uint32_t> &>(left)).push_back(uint32_t(1) << i);
  }
  size_t next = 0;
  for (unsigned i = 0; i < block.laneBits; ++i)
    result.lane.push_back(next < left.size() ? left[next++] : 0);
  for (unsigned i = 0; i < block.warpBits; ++i)
    result.warp.push_back(next < left.size() ? left[next++] : 0);
  while (next < left.size())
    result.reg.push_back(left[next++]);
  return result;
}
