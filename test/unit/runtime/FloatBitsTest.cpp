// Number bits against the compiler's own half types, against tables, and against the definition of rounding (the nearest of two neighbours).
#include "runtime/FloatBits.h"
#include "Catch.h"
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace tk;

namespace {
float fromBits(uint32_t bits) { return std::bit_cast<float>(bits); }
const DType smallFloats[] = {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ, DType::F8E4B15, DType::F16, DType::BF16};

/// Every finite non-negative value of a small type, ascending, with its code.
std::vector<std::pair<double, uint64_t>> finiteValues(DType type) {
  std::vector<std::pair<double, uint64_t>> result;
  for (uint64_t code = 0; code < uint64_t(1) << (bitsOf(type) - 1); ++code)
    if (double value = decodeNumber(type, code); std::isfinite(value))
      result.push_back({value, code});
  return result;
}
} // namespace

TEST_CASE("every half decodes as the compiler's own type does and encodes back", "[floatbits]") {
  for (uint32_t code = 0; code < 65536; ++code) {
    double half = static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(code))), bfloat = fromBits(code << 16);
    if (std::isnan(half)) {
      CHECK(std::isnan(decodeNumber(DType::F16, code)));
      CHECK(std::isnan(decodeNumber(DType::F16, encodeNumber(DType::F16, half))));
    } else if (decodeNumber(DType::F16, code) != half || encodeNumber(DType::F16, half) != code) {
      FAIL("fp16 code " << code);
    }
    if (std::isnan(bfloat)) {
      CHECK(std::isnan(decodeNumber(DType::BF16, code)));
      CHECK(std::isnan(decodeNumber(DType::BF16, encodeNumber(DType::BF16, bfloat))));
    } else if (decodeNumber(DType::BF16, code) != bfloat || encodeNumber(DType::BF16, bfloat) != code) {
      FAIL("bf16 code " << code);
    }
  }
}

TEST_CASE("rounding is to the nearest, ties to the even code, in every small type", "[floatbits]") {
  for (DType type : smallFloats) {
    if (type == DType::F8E4B15)
      continue; // rounds half up after a truncation, see below
    INFO(spelling(type));
    auto values = finiteValues(type);
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      auto [low, lowCode] = values[i];
      auto [high, highCode] = values[i + 1];
      double middle = low + (high - low) / 2, below = std::nextafter(middle, 0), above = std::nextafter(middle, high);
      uint64_t even = lowCode & 1 ? highCode : lowCode;
      bool right = encodeNumber(type, low) == lowCode && encodeNumber(type, middle) == even && encodeNumber(type, below) == lowCode && encodeNumber(type, above) == highCode;
      uint64_t sign = uint64_t(1) << (bitsOf(type) - 1);
      bool fnuz = type == DType::F8E4M3FNUZ || type == DType::F8E5M2FNUZ;
      right &= encodeNumber(type, -above) == (sign | highCode) && encodeNumber(type, -low) == (lowCode == 0 && fnuz ? 0 : sign | lowCode);
      if (!right)
        FAIL("around " << low);
    }
  }
}

TEST_CASE("past the largest value fp16 and bf16 give infinity and fp8 saturates", "[floatbits]") {
  double infinity = std::numeric_limits<double>::infinity();
  CHECK(encodeNumber(DType::F16, 65504) == 0x7bff);
  CHECK(encodeNumber(DType::F16, 65519.996) == 0x7bff);
  CHECK(encodeNumber(DType::F16, 65520) == 0x7c00);
  CHECK(encodeNumber(DType::F16, -infinity) == 0xfc00);
  CHECK(encodeNumber(DType::BF16, fromBits(0x7f7fffff)) == 0x7f80);
  CHECK(encodeNumber(DType::F32, 1e39) == 0x7f800000);
  CHECK(encodeNumber(DType::F8E4M3FN, 1e30) == 0x7e);
  CHECK(encodeNumber(DType::F8E4M3FN, -infinity) == 0xfe);
  CHECK(encodeNumber(DType::F8E5M2, infinity) == 0x7b);
  CHECK(encodeNumber(DType::F8E4M3FNUZ, infinity) == 0x7f);
  CHECK(encodeNumber(DType::F8E5M2FNUZ, -1e9) == 0xff);
  CHECK(encodeNumber(DType::F8E4B15, infinity) == 0x7e);
  CHECK(largestFinite(DType::F8E4M3FN) == 448);
  CHECK(largestFinite(DType::F8E5M2) == 57344);
  CHECK(largestFinite(DType::F8E4M3FNUZ) == 240);
  CHECK(largestFinite(DType::F8E5M2FNUZ) == 57344);
  CHECK(largestFinite(DType::F16) == 65504);
  CHECK(largestFinite(DType::F32) == std::numeric_limits<float>::max());
}

TEST_CASE("known roundings", "[floatbits]") {
  struct { uint32_t from; uint64_t to; } bfloats[] = {{0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, {0x00008000, 0x0000}, {0x00018000, 0x0002}, {0x80008001, 0x8001}};
  for (auto [from, to] : bfloats)
    CHECK(encodeNumber(DType::BF16, fromBits(from)) == to);
  CHECK(std::isnan(decodeNumber(DType::BF16, encodeNumber(DType::BF16, fromBits(0x7f800001)))));
  CHECK(encodeNumber(DType::F16, 0x1p-25) == 0);
  CHECK(encodeNumber(DType::F16, 0x1p-25 * (1 + 0x1p-20)) == 1);
  CHECK(encodeNumber(DType::F16, 0x1p-24) == 1);
  CHECK(encodeNumber(DType::F16, std::numeric_limits<double>::denorm_min()) == 0);
  struct { double value; uint64_t e4m3, e5m2; } eights[] = {
      {1.0, 0x38, 0x3c}, {1.0625, 0x38, 0x3c}, {1.06250012, 0x39, 0x3c}, {1.125, 0x39, 0x3c}, {1.1875, 0x3a, 0x3d}, {1.25, 0x3a, 0x3d}, {1.375, 0x3b, 0x3e},
      {0x1p-9, 0x01, 0x18}, {0x1p-10, 0x00, 0x14}, {0x1.8p-10, 0x01, 0x16}, {0x1p-10 * 1.0001, 0x01, 0x14}, {0.017578125, 0x09, 0x24}, {240, 0x77, 0x5c},
      {256, 0x78, 0x5c}, {448, 0x7e, 0x5f}, {464, 0x7e, 0x5f}, {465, 0x7e, 0x5f}, {480, 0x7e, 0x60}, {57344, 0x7e, 0x7b}, {61440, 0x7e, 0x7b}, {65535, 0x7e, 0x7b},
      {0x1p-16, 0x00, 0x01}, {0x1p-17, 0x00, 0x00}, {0x1.8p-17, 0x00, 0x01}, {0x3p-17, 0x00, 0x02}};
  for (auto [value, e4m3, e5m2] : eights) {
    INFO(value);
    CHECK(encodeNumber(DType::F8E4M3FN, value) == e4m3);
    CHECK(encodeNumber(DType::F8E5M2, value) == e5m2);
  }
}

TEST_CASE("NaN and zero in the fp8 kinds", "[floatbits]") {
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (DType type : {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ, DType::F16, DType::F32})
    CHECK(std::isnan(decodeNumber(type, encodeNumber(type, nan))));
  CHECK(encodeNumber(DType::F8E4M3FNUZ, nan) == 0x80);
  CHECK(encodeNumber(DType::F8E4M3FNUZ, -0.0) == 0);
  CHECK(encodeNumber(DType::F8E5M2FNUZ, -1e-30) == 0);
  CHECK(encodeNumber(DType::F8E4M3FN, -0.0) == 0x80);
  CHECK(std::isinf(decodeNumber(DType::F8E5M2, 0x7c)));
  CHECK(std::isnan(decodeNumber(DType::F8E4M3FN, 0xff)));
  CHECK(encodeNumber(DType::F8E4B15, nan) == 0x7e);
}

TEST_CASE("fp8e4b15 rounds half up after a truncation to fp16", "[floatbits]") {
  for (auto [value, code] : finiteValues(DType::F8E4B15))
    if (value <= 1.75)
      CHECK(encodeNumber(DType::F8E4B15, value) == code);
  CHECK(encodeNumber(DType::F8E4B15, 1.0625) == 0x79);                  // the middle of 1 and 1.125 goes up
  CHECK(encodeNumber(DType::F8E4B15, std::nextafter(1.0625, 0)) == 0x78); // truncated first
  CHECK(encodeNumber(DType::F8E4B15, -1.0) == 0xf8);
}

TEST_CASE("integers round once and wrap, doubles saturate", "[floatbits]") {
  CHECK(decodeNumber(DType::BF16, encodeInteger(DType::BF16, 1077936129)) == 1082130432.0); // rounded once; twice would give 1073741824
  CHECK(decodeNumber(DType::F32, encodeInteger(DType::F32, (int64_t(1) << 60) + (int64_t(1) << 36) + 1)) == 0x1p60 + 0x1p37);
  CHECK(decodeNumber(DType::F32, encodeInteger(DType::F32, (int64_t(1) << 60) + (int64_t(1) << 36))) == 0x1p60);
  CHECK(decodeNumber(DType::F64, encodeInteger(DType::F64, INT64_MIN)) == -0x1p63);
  CHECK(encodeInteger(DType::U8, 300) == 44);
  CHECK(encodeInteger(DType::I1, 2) == 1);
  CHECK(decodeInteger(DType::I8, 0x80) == -128);
  CHECK(encodeNumber(DType::I8, 300.7) == 127);
  CHECK(encodeNumber(DType::I8, -300) == 0x80);
  CHECK(encodeNumber(DType::U8, -3) == 0);
  CHECK(encodeNumber(DType::U64, 1e30) == UINT64_MAX);
  CHECK(encodeNumber(DType::I64, 1e30) == static_cast<uint64_t>(INT64_MAX));
  CHECK(encodeNumber(DType::I32, std::nan("")) == 0);
  CHECK(decodeInteger(DType::F16, encodeNumber(DType::F16, -2.75)) == -2);
}
