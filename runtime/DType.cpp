// Spellings of element types: Triton's own and the ones that host frameworks use (FEATURES T19, T20).
#include "tk/dtype.h"

namespace tk {

namespace {
struct Alias {
  std::string_view text;
  DType type;
};
constexpr Alias aliases[] = {
    {"int1", DType::I1},       {"bool", DType::I1},      {"u1", DType::I1},      {"B", DType::I1},           {"int8", DType::I8},
    {"int16", DType::I16},     {"int32", DType::I32},    {"int", DType::I32},    {"int64", DType::I64},      {"uint8", DType::U8},
    {"uint16", DType::U16},    {"uint32", DType::U32},   {"uint64", DType::U64}, {"float16", DType::F16},    {"half", DType::F16},
    {"f16", DType::F16},       {"bfloat16", DType::BF16}, {"float32", DType::F32}, {"float", DType::F32},    {"f32", DType::F32},
    {"float64", DType::F64},   {"double", DType::F64},   {"f64", DType::F64},    {"float8e4nv", DType::F8E4M3FN}, {"float8_e4m3fn", DType::F8E4M3FN},
    {"float8e5", DType::F8E5M2}, {"float8_e5m2", DType::F8E5M2}, {"float8e4b8", DType::F8E4M3FNUZ}, {"float8_e4m3fnuz", DType::F8E4M3FNUZ},
    {"float8e5b16", DType::F8E5M2FNUZ}, {"float8_e5m2fnuz", DType::F8E5M2FNUZ}, {"float8e4b15", DType::F8E4B15},
};
} // namespace

bool parseDType(std::string_view text, DType &result) {
#define TK_DTYPE(name, spelling, bits, bytes)                                                                                                                                      \
  if (text == spelling)                                                                                                                                                            \
    return result = DType::name, true;
  TK_DTYPES(TK_DTYPE)
#undef TK_DTYPE
  for (const Alias &alias : aliases)
    if (text == alias.text)
      return result = alias.type, true;
  return false;
}

} // namespace tk
