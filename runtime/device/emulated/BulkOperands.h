// Operands of the instructions of the asynchronous units: several addresses each, which Instr has no room for and keeps in its list.
#pragma once
#include "runtime/device/emulated/MemoryAccess.h"
#include "runtime/device/emulated/Transfers.h"

namespace tk::emulated {

/// An address operand in a list: register, whether it has 64 bits, and the constant to add.
constexpr size_t placeWords = 3;

inline void pushPlace(Decoding &d, size_t operand, Space space, std::vector<int32_t> &into) {
  d.i.imm = 0;
  d.i.flags = 0;
  int32_t reg = d.address(d.operand(operand), space);
  if (d.i.imm != int32_t(d.i.imm))
    d.fail("the offset of an address is too large");
  into.insert(into.end(), {reg, int32_t(d.i.flags & addressWide ? 1 : 0), int32_t(d.i.imm)});
  d.i.imm = 0;
  d.i.flags = 0;
}
inline uint64_t addressAt(Warp &warp, const int32_t *place, int lane) {
  if (place[1])
    return warp.at<uint64_t>(place[0])[lane] + uint64_t(int64_t(place[2]));
  return uint32_t(warp.at<uint32_t>(place[0])[lane] + uint32_t(place[2]));
}

struct SharedPlace {
  Block *block;
  uint32_t offset;
};
/// Shared memory of some block of the cluster, by an address of the window or a generic one.
inline SharedPlace sharedAt(Warp &warp, const Instr &i, const int32_t *place, int lane, uint32_t bytes, uint32_t align) {
  uint64_t address = addressAt(warp, place, lane);
  if ((address & windowMask) == sharedWindow)
    address &= ~windowMask;
  Block &block = sharedBlock(warp, i, lane, address, bytes, align);
  return {&block, sharedOffset(address)};
}
/// One range of global memory of one lane.
inline uint64_t globalAt(Warp &warp, const Instr &i, uint64_t address, int lane, uint32_t bytes, uint32_t align, bool writes) {
  LaneAddresses one;
  one.address[lane] = address;
  checkGlobal(warp, i, 1u << lane, one, bytes, align, writes);
  return address;
}

struct TensorMap;
/// TensorCopy.cpp: the map at an address, checked.
TensorMap tensorMapAt(Warp &warp, const Instr &i, uint64_t address, int lane, uint32_t rank);
/// The pieces between the box at the coordinates and the shared memory at `offset` of `shared`; bytes of shared memory that the box takes, with the gaps of a
/// swizzle that is wider than its rows.
uint32_t addBoxPieces(Warp &warp, const Instr &i, int lane, const TensorMap &map, const int32_t *coordinates, Block &shared, uint32_t offset, bool stores,
                      std::vector<Transfer::Piece> &pieces);
uint32_t boxBytes(const TensorMap &map);  // that are copied
uint32_t boxExtent(const TensorMap &map); // of shared memory
uint32_t fillPattern(const TensorMap &map);
Type elementTypeOf(const TensorMap &map);

} // namespace tk::emulated
