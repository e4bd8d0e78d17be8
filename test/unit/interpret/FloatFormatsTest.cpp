// Codes and roundings of every format, against tables and against arithmetic that is independent of the implementation.
#include "Kernel.h"
#include <cmath>

using namespace tk::interpret;

namespace {
/// The value of a code from the definition of the format, by powers of two.
double valueOf(int exponentBits, int mantissaBits, int bias, unsigned code) {
  unsigned mantissa = code & ((1u << mantissaBits) - 1), exponent = code >> mantissaBits & ((1u << exponentBits) - 1);
  double value = exponent ? std::ldexp(1 + std::ldexp(double(mantissa), -mantissaBits), int(exponent) - bias) : std::ldexp(double(mantissa), 1 - bias - mantissaBits);
  return code >> (exponentBits + mantissaBits) & 1 ? -value : value;
}
uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }
} // namespace

TEST_CASE("all codes of the 8-bit formats", "[formats]") {
  for (unsigned code = 0; code < 256; ++code) {
    CAPTURE(code);
    bool nan = (code & 0x7f) == 0x7f;
    double value = decode(Format::F8E4M3FN, code);
    CHECK(isNan(value) == nan);
    CHECK((nan || value == valueOf(4, 3, 7, code)));
    nan = (code & 0x7f) > 0x7c;
    value = decode(Format::F8E5M2, code);
    CHECK(isNan(value) == nan);
    CHECK((nan || value == ((code & 0x7f) == 0x7c ? (code & 0x80 ? -INFINITY : INFINITY) : valueOf(5, 2, 15, code))));
    CHECK(isNan(decode(Format::F8E4M3FNUZ, code)) == (code == 0x80));
    CHECK((code == 0x80 || decode(Format::F8E4M3FNUZ, code) == valueOf(4, 3, 8, code)));
    CHECK(isNan(decode(Format::F8E5M2FNUZ, code)) == (code == 0x80));
    CHECK((code == 0x80 || decode(Format::F8E5M2FNUZ, code) == valueOf(5, 2, 16, code)));
    for (Format format : {Format::F8E4M3FN, Format::F8E5M2, Format::F8E4M3FNUZ, Format::F8E5M2FNUZ}) {
      CHECK(encode(format, decode(format, code)) == code);
      double decoded = decode(format, code);
      if (isFinite(decoded))
        CHECK(encode(format, roundTo(format, decoded)) == code);
    }
  }
  CHECK(decode(Format::F8E4M3FN, 0x7e) == 448);
  CHECK(decode(Format::F8E5M2, 0x7b) == 57344);
  CHECK(decode(Format::F8E4M3FNUZ, 0x7f) == 240);
  CHECK(decode(Format::F8E5M2FNUZ, 0x7f) == 57344);
}

TEST_CASE("all codes of the 16-bit formats go through a double and back", "[formats]") {
  unsigned wrong = 0;
  for (unsigned code = 0; code < 65536; ++code) {
    double half = decode(Format::F16, code), brain = decode(Format::BF16, code);
    wrong += encode(Format::F16, half) != code;
    wrong += encode(Format::BF16, brain) != code;
    float wide = floatOf(code << 16);
    wrong += isNan(brain) ? !std::isnan(wide) : brain != double(wide) || std::signbit(brain) != std::signbit(wide);
    bool special = (code & 0x7c00) == 0x7c00;
    wrong += special ? isFinite(half) : half != valueOf(5, 10, 15, code);
    if (isFinite(half))
      wrong += roundTo(Format::F16, half) != half || roundTo(Format::F32, half) != half;
    if (isFinite(brain))
      wrong += roundTo(Format::BF16, brain) != brain;
  }
  CHECK(wrong == 0);
}

TEST_CASE("fp32 codes", "[formats]") {
  for (uint32_t code : {0u, 1u, 0x80000000u, 0x007fffffu, 0x00800000u, 0x3f800000u, 0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u, 0xffc12345u}) {
    CAPTURE(code);
    CHECK(encode(Format::F32, decode(Format::F32, code)) == code);
  }
}

TEST_CASE("fp32 to bf16", "[formats]") {
  auto to = [](uint32_t bits, Rounding rounding = Rounding::NearestEven) { return encode(Format::BF16, roundTo(Format::BF16, decode(Format::F32, bits), rounding)); };
  CHECK(to(0x3f808000) == 0x3f80);
  CHECK(to(0x3f818000) == 0x3f82);
  CHECK(to(0x3f808001) == 0x3f81);
  CHECK(to(0x7f7fffff) == 0x7f80);
  uint64_t nan = to(0x7f800001);
  CHECK(((nan & 0x7f80) == 0x7f80 && (nan & 0x7f) != 0));
  CHECK(to(0x00008000) == 0x0000);
  CHECK(to(0x00018000) == 0x0002);
  CHECK(to(0x80008001) == 0x8001);
  CHECK(to(0x3f80ffff, Rounding::TowardZero) == 0x3f80);
  CHECK(to(0x7f7fffff, Rounding::TowardZero) == 0x7f7f);
}

TEST_CASE("fp32 to fp16", "[formats]") {
  auto to = [](double value, Rounding rounding = Rounding::NearestEven) { return encode(Format::F16, roundTo(Format::F16, value, rounding)); };
  CHECK(to(65504) == 0x7bff);
  CHECK(to(65519.996) == 0x7bff);
  CHECK(to(65520) == 0x7c00);
  CHECK(to(65535, Rounding::TowardZero) == 0x7bff);
  CHECK(to(std::ldexp(1, -25)) == 0);
  CHECK(to(std::ldexp(1 + std::ldexp(1, -20), -25)) == 1);
  CHECK(to(std::ldexp(1, -24)) == 1);
  CHECK(to(-0.0) == 0x8000);
  CHECK(to(INFINITY, Rounding::TowardZero) == 0x7c00);
}

TEST_CASE("to e4m3fn and e5m2: nearest even, saturating", "[formats]") {
  struct Row {
    double value;
    unsigned e4m3, e5m2;
  };
  const Row rows[] = {{1.0, 0x38, 0x3c},       {1.0625, 0x38, 0x3c},         {1.06250012, 0x39, 0x3c},       {1.125, 0x39, 0x3c},      {1.1875, 0x3a, 0x3d},   {1.25, 0x3a, 0x3d},
                      {1.375, 0x3b, 0x3e},     {0x1p-9, 0x01, 0x18},         {0x1p-10, 0x00, 0x14},          {0x1.8p-10, 0x01, 0x16},  {0.0009766601, 0x01, 0x14}, {0.017578125, 0x09, 0x24},
                      {240, 0x77, 0x5c},       {256, 0x78, 0x5c},            {448, 0x7e, 0x5f},              {464, 0x7e, 0x5f},        {465, 0x7e, 0x5f},      {480, 0x7e, 0x60},
                      {57344, 0x7e, 0x7b},     {61440, 0x7e, 0x7b},          {65535, 0x7e, 0x7b},            {1e30, 0x7e, 0x7b},       {0x1p-16, 0x00, 0x01},  {0x1p-17, 0x00, 0x00},
                      {0x1.8p-17, 0x00, 0x01}, {0x1.8p-16, 0x00, 0x02},      {INFINITY, 0x7e, 0x7b},         {0.0, 0x00, 0x00}};
  for (const Row &row : rows) {
    CAPTURE(row.value);
    CHECK(encode(Format::F8E4M3FN, roundTo(Format::F8E4M3FN, row.value)) == row.e4m3);
    CHECK(encode(Format::F8E5M2, roundTo(Format::F8E5M2, row.value)) == row.e5m2);
    CHECK(encode(Format::F8E4M3FN, roundTo(Format::F8E4M3FN, -row.value)) == (row.e4m3 | 0x80));
    CHECK(encode(Format::F8E5M2, roundTo(Format::F8E5M2, -row.value)) == (row.e5m2 | 0x80));
  }
  CHECK(encode(Format::F8E4M3FN, roundTo(Format::F8E4M3FN, NAN)) == 0x7f);
  CHECK(isNan(decode(Format::F8E5M2, encode(Format::F8E5M2, roundTo(Format::F8E5M2, NAN)))));
  CHECK(encode(Format::F8E4M3FNUZ, roundTo(Format::F8E4M3FNUZ, -0.0)) == 0);
  CHECK(encode(Format::F8E4M3FNUZ, roundTo(Format::F8E4M3FNUZ, -1e-9)) == 0);
  CHECK(encode(Format::F8E4M3FNUZ, roundTo(Format::F8E4M3FNUZ, NAN)) == 0x80);
  CHECK(encode(Format::F8E4M3FNUZ, roundTo(Format::F8E4M3FNUZ, 1000)) == 0x7f);
  CHECK(encode(Format::F8E5M2, roundTo(Format::F8E5M2, 1.24, Rounding::TowardZero)) == 0x3c);
}

TEST_CASE("rounding picks the nearest neighbour, the even one on a tie", "[formats]") {
  // Every pair of adjacent positive values of each small format: the midpoint, and just beside it.
  for (Format format : {Format::F8E4M3FN, Format::F8E5M2, Format::F8E4M3FNUZ, Format::F8E5M2FNUZ, Format::F16, Format::BF16}) {
    unsigned codes = infoOf(format).bits == 8 ? 0x7f : 0x7fff, wrong = 0;
    for (unsigned code = 0; code < codes; ++code) {
      double low = decode(format, code), high = decode(format, code + 1);
      if (!isFinite(low) || !isFinite(high))
        continue;
      double middle = low + (high - low) / 2, even = code % 2 ? high : low;
      wrong += roundTo(format, middle) != even;
      wrong += roundTo(format, std::nextafter(middle, 0)) != low;
      wrong += roundTo(format, std::nextafter(middle, 1e40)) != high;
      wrong += roundTo(format, std::nextafter(high, 0), Rounding::TowardZero) != low;
      wrong += infoOf(format).isUnsignedZero ? 0 : roundTo(format, -middle) != -even;
    }
    CAPTURE(int(format));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arithmetic of 16-bit formats is that of fp32, rounded", "[formats]") {
  // 1 + 2^-8 + 2^-24 lies above a tie of bf16, but fp32 rounds it to the tie, which goes to even.
  double value = 1 + 0x1p-8 + 0x1p-25;
  CHECK(roundTo(Format::BF16, value) == 1 + 0x1p-7);
  CHECK(roundResult(Format::BF16, value) == 1);
}

TEST_CASE("fused multiply-add rounds once", "[formats]") {
  // Against the machine's own fmaf on values chosen to round differently when done in two steps.
  uint64_t state = 1;
  unsigned different = 0;
  auto random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return floatOf(0x3f000000u | uint32_t(state >> 40));
  };
  for (unsigned i = 0; i < 20000; ++i) {
    float a = random(), b = random(), c = -random() * random();
    if (i % 3 == 0)
      c *= 0x1p-20f;
    float expected = std::fmaf(a, b, c);
    REQUIRE(float(fusedMultiplyAdd(Format::F32, a, b, c)) == expected);
    different += a * b + c != expected;
  }
  CHECK(different > 1000);
  // A double rounding through the double sum would give a tie.
  CHECK(fusedMultiplyAdd(Format::F32, 1 + 0x1p-12, 1 + 0x1p-12, 0x1p-60) == double(floatOf(bitsOf(1.0f) + 0x1001)));
}

TEST_CASE("round to odd keeps what a later rounding needs", "[formats]") {
  CHECK(roundToOdd(1.0L) == 1.0);
  CHECK(roundToOdd(1.0L + 0x1p-60L) == 1.0 + 0x1p-52);
  CHECK(roundToOdd(1.0L - 0x1p-60L) == 1.0 - 0x1p-53);
  CHECK(roundToOdd((long double)(INT64_MAX)) == 0x1.fffffffffffffp62);
  CHECK(roundTo(Format::BF16, roundToOdd(1077936129.0L)) == 1082130432.0);
}

TEST_CASE("spacing and lowest bits", "[formats]") {
  CHECK(ulpOf(Format::F32, 1.0) == 0x1p-23);
  CHECK(ulpOf(Format::F32, 1.99) == 0x1p-23);
  CHECK(ulpOf(Format::F32, 0.0) == 0x1p-149);
  CHECK(ulpOf(Format::F64, -4.0) == 0x1p-50);
  CHECK(ulpOf(Format::F16, 65504) == 32);
  CHECK(lowestBitOf(1.0) == 0);
  CHECK(lowestBitOf(12.0) == 2);
  CHECK(lowestBitOf(-0.375) == -3);
  CHECK(truncateToTf32(1 + 0x1p-10 + 0x1p-11) == 1 + 0x1p-10);
  CHECK(truncateToTf32(-(1 + 0x1p-11)) == -1);
}
