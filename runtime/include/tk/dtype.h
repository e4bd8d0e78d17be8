// The element types of tk, a plain enumeration that every part shares. Spellings are Triton's.
#pragma once
#include <cstdint>
#include <string_view>

namespace tk {

/// X(enumerator, spelling, bits of the value, bytes in memory). i1 takes a byte in memory.
#define TK_DTYPES(X)                                                                                                                                                               \
  X(I1, "i1", 1, 1) X(I8, "i8", 8, 1) X(I16, "i16", 16, 2) X(I32, "i32", 32, 4) X(I64, "i64", 64, 8)                                                                               \
  X(U8, "u8", 8, 1) X(U16, "u16", 16, 2) X(U32, "u32", 32, 4) X(U64, "u64", 64, 8)                                                                                                 \
  X(F8E4M3FN, "fp8e4nv", 8, 1) X(F8E5M2, "fp8e5", 8, 1) X(F8E4M3FNUZ, "fp8e4b8", 8, 1) X(F8E5M2FNUZ, "fp8e5b16", 8, 1) X(F8E4B15, "fp8e4b15", 8, 1)                                \
  X(F16, "fp16", 16, 2) X(BF16, "bf16", 16, 2) X(F32, "fp32", 32, 4) X(F64, "fp64", 64, 8)

enum class DType : uint8_t {
#define TK_DTYPE(name, spelling, bits, bytes) name,
  TK_DTYPES(TK_DTYPE)
#undef TK_DTYPE
};

constexpr std::string_view spelling(DType type) {
  switch (type) {
#define TK_DTYPE(name, spelling, bits, bytes) case DType::name: return spelling;
    TK_DTYPES(TK_DTYPE)
#undef TK_DTYPE
  }
  return "";
}

/// Bits of the value (1 for i1).
constexpr unsigned bitsOf(DType type) {
  switch (type) {
#define TK_DTYPE(name, spelling, bits, bytes) case DType::name: return bits;
    TK_DTYPES(TK_DTYPE)
#undef TK_DTYPE
  }
  return 0;
}

/// Bytes of one element in memory.
constexpr unsigned bytesOf(DType type) { return bitsOf(type) <= 8 ? 1 : bitsOf(type) / 8; }

constexpr bool isFloat(DType type) { return type >= DType::F8E4M3FN; }
constexpr bool isFloat8(DType type) { return type >= DType::F8E4M3FN && type <= DType::F8E4B15; }
constexpr bool isUnsigned(DType type) { return type == DType::I1 || (type >= DType::U8 && type <= DType::U64); }
constexpr bool isSigned(DType type) { return type >= DType::I8 && type <= DType::I64; }
constexpr bool isInteger(DType type) { return type <= DType::U64; }

/// From a spelling, or another common one (`float32`, `int32`, `half`, `float8_e4m3fn` ...). False when unknown.
bool parseDType(std::string_view text, DType &result);

} // namespace tk
