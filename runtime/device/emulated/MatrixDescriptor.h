// The matrix descriptor of wgmma and where it puts an operand in shared memory: PTX ISA 9.7.15.5.1.2, "Shared Memory Matrix Layout" with its tables of strides
// and canonical layouts.
//
// Everything is in chunks of 16 bytes. With T elements in a chunk, an operand of `extent` rows or columns (M or N) is
//   K-major:  chunk (i, c): element i of M or N, elements T * c to T * c + T - 1 of K
//   MN-major: chunk (i, k): elements T * i to T * i + T - 1 of M or N, element k of K; of 16-bit types alone
// and a swizzle of 2^s * 16 bytes exchanges chunks: bits 4 .. 4 + s - 1 of the address are xor-ed with bits 7 and up, counted from the base offset.
#pragma once
#include <cstdint>

namespace tk::emulated {

struct MatrixDescriptor {
  uint32_t start, leading, stride; // bytes
  uint32_t base;                   // of the swizzle's pattern, in units of 128 bytes
  uint32_t swizzleBits;            // 0 none; 1 2 3 for 32 64 128 bytes

  static MatrixDescriptor of(uint64_t bits) {
    auto field = [&](unsigned from) { return uint32_t(bits >> from & 0x3FFF) << 4; };
    uint32_t mode = uint32_t(bits >> 62);
    return {field(0), field(16), field(32), uint32_t(bits >> 49 & 7), mode ? 4 - mode : 0};
  }
  uint32_t swizzled(uint32_t address) const {
    uint32_t mask = (1u << swizzleBits) - 1;
    return address ^ (((address >> 7) - base) & mask) << 4;
  }
  uint32_t kMajorChunk(uint32_t index, uint32_t chunk) const {
    uint32_t width = 16u << swizzleBits; // of a row of the pattern
    return swizzled(start + index % 8 * width + index / 8 * stride + chunk * (swizzleBits ? 16 : leading));
  }
  uint32_t mnMajorChunk(uint32_t chunk, uint32_t k) const {
    uint32_t wide = 1u << swizzleBits; // chunks in a row of the pattern
    if (!swizzleBits)
      return start + chunk * stride + k % 8 * 16 + k / 8 * leading;
    return swizzled(start + chunk % wide * 16 + chunk / wide * leading + k % 8 * (16 * wide) + k / 8 * stride);
  }
};

} // namespace tk::emulated
