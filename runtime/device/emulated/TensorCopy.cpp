// Boxes of tensors in tile mode: PTX ISA 5.5 ("Tensors"), the parameters of cuTensorMapEncodeTiled in the driver's reference, and for the swizzles the CUDA
// Programming Guide's section on the tensor memory accelerator.
//
// Rows of the box lie one after another in shared memory, the first dimension innermost. With a swizzle a row takes as many bytes as the swizzle is wide, and
// within each 128 bytes of shared memory the number of the 16-byte chunk is xor-ed with that of the 128 bytes.
#include "runtime/device/emulated/BulkOperands.h"
#include "runtime/device/emulated/TensorMap.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

namespace {
uint32_t countOf(const TensorMap &map, uint32_t dimension) {
  uint32_t step = dimension ? map.elementStrides[dimension] : 1; // without interleaving the first dimension has none
  return (map.box[dimension] + step - 1) / step;
}
uint32_t pitchOf(const TensorMap &map) { return map.swizzle ? 16u << map.swizzle : map.box[0] * map.elementBytes; }
uint32_t rowsOf(const TensorMap &map) {
  uint32_t rows = 1;
  for (uint32_t d = 1; d < map.rank; ++d)
    rows *= countOf(map, d);
  return rows;
}
} // namespace

uint32_t boxBytes(const TensorMap &map) { return rowsOf(map) * map.box[0] * map.elementBytes; }
uint32_t boxExtent(const TensorMap &map) { return rowsOf(map) * pitchOf(map); }

TensorMap tensorMapAt(Warp &warp, const Instr &i, uint64_t address, int lane, uint32_t rank) {
  globalAt(warp, i, address, lane, 128, 64, false);
  TensorMap map;
  std::memcpy(&map, reinterpret_cast<const void *>(address), sizeof(map));
  if (map.magic != TensorMap::magicNumber)
    warp.fault(i, 1u << lane, fmt::format("there is no tensor map at 0x{:x}", address));
  if (map.rank != rank)
    warp.fault(i, 1u << lane, fmt::format("the tensor map has {} dimensions, and {} coordinates are given", map.rank, rank));
  return map;
}

// CUtensorMapDataType, in the order of the driver's reference.
Type elementTypeOf(const TensorMap &map) {
  static constexpr Type types[] = {Type::U8,  Type::U16, Type::U32,  Type::S32, Type::U64, Type::S64, Type::F16,
                                   Type::F32, Type::F64, Type::BF16, Type::F32, Type::F32, Type::F32};
  return types[map.type];
}

/// Of what is out of bounds: zero, or a quiet NaN of the type.
uint32_t fillPattern(const TensorMap &map) {
  if (!map.fillsNan)
    return 0;
  return map.elementBytes == 2 ? 0x7FFF7FFF : 0x7FFFFFFF;
}

uint32_t addBoxPieces(Warp &warp, const Instr &i, int lane, const TensorMap &map, const int32_t *coordinates, Block &shared, uint32_t offset, bool stores,
                      std::vector<Transfer::Piece> &pieces) {
  uint32_t elementBytes = map.elementBytes, pitch = pitchOf(map), rows = rowsOf(map), swizzleMask = (1u << map.swizzle) - 1;
  auto place = [&](uint32_t row, uint32_t x) {
    uint32_t at = offset + row * pitch + x;
    return reinterpret_cast<uint64_t>(shared.shared.at(at ^ (at >> 7 & swizzleMask) << 4));
  };
  // The part of a row that is in bounds, the same for all rows.
  int64_t from = coordinates[0], begin = std::clamp<int64_t>(-from, 0, map.box[0]), end = std::clamp<int64_t>(int64_t(map.dims[0]) - from, begin, map.box[0]);
  uint64_t sectors = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    uint64_t address = map.base + uint64_t(from) * elementBytes;
    bool inside = begin < end;
    for (uint32_t d = 1, rest = row; d < map.rank; rest /= countOf(map, d), ++d) {
      int64_t index = int64_t(coordinates[d]) + int64_t(rest % countOf(map, d)) * map.elementStrides[d];
      inside &= index >= 0 && index < int64_t(map.dims[d]);
      address += uint64_t(index) * map.strides[d - 1];
    }
    uint32_t low = inside ? uint32_t(begin) * elementBytes : 0, high = inside ? uint32_t(end) * elementBytes : 0, width = map.box[0] * elementBytes;
    if (inside) {
      globalAt(warp, i, address + low, lane, high - low, 1, stores);
      warp.statistics.globalBytes += high - low;
      sectors += ((address + high - 1) >> 5) - ((address + low) >> 5) + 1;
    }
    // Chunks of 16 bytes where there is a swizzle, cut at the bounds of the tensor.
    for (uint32_t x = 0; x < width;) {
      uint32_t next = map.swizzle ? (x / 16 + 1) * 16 : width;
      for (uint32_t bound : {low, high})
        if (bound > x)
          next = std::min(next, bound);
      bool isInside = x >= low && x < high;
      if (stores && isInside)
        pieces.push_back({place(row, x), address + x, next - x});
      else if (!stores)
        pieces.push_back({isInside ? address + x : 0, place(row, x), next - x});
      x = next;
    }
  }
  ++warp.statistics.globalRequests;
  warp.statistics.globalSectors += sectors;
  return rows * pitch;
}

} // namespace tk::emulated
