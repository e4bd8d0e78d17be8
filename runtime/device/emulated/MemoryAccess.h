// Addresses of a warp's lanes: where they point, whether they may, and what the access costs.
#pragma once
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Decoder.h"

namespace tk::emulated {

struct LaneAddresses {
  uint64_t address[32]; // of active lanes; the others hold nothing
};

/// The address register plus the constant, in 64 or 32 bits.
inline void addressesOf(Warp &warp, const Instr &i, int32_t base, uint32_t mask, LaneAddresses &out) {
  if (i.flags & addressWide) {
    const uint64_t *a = warp.at<uint64_t>(base);
    if (mask == ~0u)
      for (int lane = 0; lane < 32; ++lane)
        out.address[lane] = a[lane] + uint64_t(i.imm);
    else
      forEachLane(mask, [&](int lane) { out.address[lane] = a[lane] + uint64_t(i.imm); });
  } else {
    const uint32_t *a = warp.at<uint32_t>(base);
    forEachLane(mask, [&](int lane) { out.address[lane] = uint32_t(a[lane] + uint32_t(i.imm)); });
  }
}

/// Splits lanes with generic addresses by window; the windows' bits are taken off.
struct ByWindow {
  uint32_t global = 0, shared = 0, local = 0;
};
ByWindow splitByWindow(Warp &warp, const Instr &i, uint32_t mask, LaneAddresses &addresses);

/// Fails when a lane's bytes are not all in one allocation, or are misaligned to `align`.
void checkGlobal(Warp &warp, const Instr &i, uint32_t mask, const LaneAddresses &addresses, uint32_t bytes, uint32_t align, bool writes);
/// The block whose shared memory an address of the window means, with the bytes checked.
Block &sharedBlock(Warp &warp, const Instr &i, int lane, uint64_t address, uint32_t bytes, uint32_t align);
inline uint32_t sharedOffset(uint64_t address) { return uint32_t(address) & 0xFFFFFF; }
uint8_t *checkLocal(Warp &warp, const Instr &i, int lane, uint64_t address, uint32_t bytes, uint32_t align);

void countGlobal(Warp &warp, uint32_t mask, const LaneAddresses &addresses, uint32_t bytes);
void countShared(Warp &warp, uint32_t mask, const LaneAddresses &addresses, uint32_t bytes);

/// What the words before the type say, in one place for all memory instructions.
struct MemoryModifiers {
  Space space = Space::Generic;
  bool isVolatile = false, isRelaxed = false, acquires = false, releases = false, sequential = false, nonCoherent = false, cacheHint = false, noScope = true;
  bool isStrong() const { return isVolatile || isRelaxed || acquires || releases || sequential; }
};
MemoryModifiers takeMemoryModifiers(Decoding &d);

} // namespace tk::emulated
