// Matrices in shared memory as wgmma reads them: see TTG.h.
//
// With 16-byte chunks c of a row and the number r of a row, the machine finds chunk c of row r at place c ^ (r mod 8) of 128 bytes; rows of 64 bytes are
// exchanged by (r / 2) mod 4, rows of 32 bytes by (r / 4) mod 2: the bits of the address from 128 bytes up, whatever the width.
#include "dialects/ttg/TTG.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

SharedAttr ttg::swizzledLayout(MLIRContext *context, ArrayRef<int64_t> shape, unsigned fastAxis, unsigned elementBytes) {
  if (shape.size() != 2)
    return {};
  SmallVector<AxisBits> axes = axisBitsOf(shape);
  AxisBits fast = axes[fastAxis], slow = axes[1 - fastAxis];
  unsigned elementBits = log2Of(elementBytes), inRow = std::min(fast.count, 7 - elementBits); // bits of an element's number in its row
  if (inRow + elementBits < 5 || slow.count < 3)
    return {};
  auto fastBit = [&](unsigned i) { return uint32_t(1) << (fast.begin + i); };
  SmallVector<uint32_t> offset;
  for (unsigned i = 0; i < inRow; ++i)
    offset.push_back(fastBit(i));
  // Bits 7 and up of the address are added to bits 4 and up, of which a row has some.
  unsigned chunkBits = inRow + elementBits - 4, skipped = 3 - chunkBits;
  for (unsigned i = 0; i < slow.count; ++i) {
    uint32_t image = uint32_t(1) << (slow.begin + i);
    if (i >= skipped && i < skipped + chunkBits)
      image ^= fastBit(4 - elementBits + i - skipped);
    offset.push_back(image);
  }
  for (unsigned i = inRow; i < fast.count; ++i)
    offset.push_back(fastBit(i));
  return SharedAttr::get(context, offset);
}

std::optional<SwizzledMatrix> ttg::swizzleOf(MemDescType memory) {
  unsigned bytes = tt::bytesOf(memory.getElementType());
  for (unsigned fast : {1u, 0u})
    if (memory.getShape().size() == 2 && swizzledLayout(memory.getContext(), memory.getShape(), fast, bytes) == memory.getLayout()) {
      SwizzledMatrix matrix;
      matrix.fastAxis = fast;
      matrix.rowBytes = std::min<uint64_t>(128, memory.getShape()[fast] * bytes);
      matrix.panelBytes = memory.getShape()[1 - fast] * matrix.rowBytes;
      return matrix;
    }
  return std::nullopt;
}
