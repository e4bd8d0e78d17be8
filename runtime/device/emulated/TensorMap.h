// A tensor map in 128 bytes of our own making: what cuTensorMapEncodeTiled writes and the tensor copies read. The driver's own form is not documented and not
// needed.
#pragma once
#include <cstdint>

namespace tk::emulated {

struct TensorMap {
  static constexpr uint32_t magicNumber = 0x70614D54;
  uint32_t magic;
  uint8_t type, rank, elementBytes, swizzle; // swizzle: 0 none, 1 2 3 for 32 64 128 bytes
  uint64_t base;
  uint64_t strides[4]; // bytes, of dimensions 1 and up
  uint64_t dims[5];    // elements
  uint16_t box[5];
  uint8_t elementStrides[5];
  uint8_t fillsNan;
  uint32_t reserved;
};
static_assert(sizeof(TensorMap) <= 128);

} // namespace tk::emulated
