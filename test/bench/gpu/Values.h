// The values of every input: a function of its seed and the element's index, so that each side makes the same ones where it needs them and a check needs no
// copy.
//
// A hash's four bytes are summed: nearly normal, mean 0, deviation 1.15, exact in fp32. `peers.py` and the kernel in `Work.cpp` compute the same.
#pragma once
#include <cstdint>

namespace tk::bench {

inline double valueAt(uint32_t seed, uint64_t index) {
  uint32_t h = static_cast<uint32_t>(index) * 0x9E3779B9u + seed * 0x85EBCA6Bu;
  h = (h ^ h >> 16) * 0x7FEB352Du;
  h = (h ^ h >> 15) * 0x846CA68Bu;
  h ^= h >> 16;
  return (static_cast<double>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) - 510) / 128;
}

} // namespace tk::bench
