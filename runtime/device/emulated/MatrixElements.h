// Elements of matrix operands as numbers, shared by mma and wgmma.
#pragma once
#include "runtime/device/emulated/NumberFormats.h"
#include "runtime/device/emulated/Ptx.h"

namespace tk::emulated {

inline int bitsOfElement(Type type) { return type == Type::B1 ? 1 : type == Type::U4 || type == Type::S4 ? 4 : bytesOf(type) * 8; }

/// The value of an element's bits; integers are exact in it too.
inline double elementValue(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16: return halfToFloat(uint16_t(bits));
  case Type::BF16: return bfloatToFloat(uint16_t(bits));
  case Type::TF32: return tf32Of(uint32_t(bits)); // the low 13 bits are not looked at
  case Type::F32: return std::bit_cast<float>(uint32_t(bits));
  case Type::F64: return std::bit_cast<double>(bits);
  case Type::E4M3: return decodeFloat(formatE4M3, uint32_t(bits));
  case Type::E5M2: return decodeFloat(formatE5M2, uint32_t(bits));
  case Type::S8: return int8_t(bits);
  case Type::U8: return uint8_t(bits);
  case Type::S4: return int8_t(bits << 4) >> 4;
  case Type::U4: return double(bits & 15);
  case Type::B1: return double(bits & 1);
  case Type::S32: return int32_t(bits);
  default: return 0;
  }
}

} // namespace tk::emulated
