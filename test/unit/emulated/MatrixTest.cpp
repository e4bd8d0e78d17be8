// Matrix instructions against products computed from the matrices: each test writes every element through the fragment maps of the ISA's figures, one formula a
// type.
#include "Machine.h"
#include "Tested.h"
#include "runtime/device/emulated/NumberFormats.h"
#include <functional>

using namespace tk::emulated;

namespace {

const Tested tested = {"mma"};
/// A and B as integers that every type holds; the registers are filled by element coordinates and the result read back by them.
struct Case {
  std::string instruction;
  int m, k, bits;
  std::function<uint64_t(int)> encode;
  std::function<double(uint64_t)> decode; // of D
  bool halfResult = false, wide = false;
};
int aValue(int row, int column) { return (row * 3 + column * 5 + row * column) % 7 - 3; }
int bValue(int row, int column) { return (row * 2 + column * 7 + row * row) % 5 - 1; }
int cValue(int row, int column) { return row - 2 * column; }

void check(const Case &c) {
  int each = c.wide ? 1 : 32 / c.bits, aCount = c.m * c.k / 32 / each, bCount = c.k * 8 / 32 / each, dCount = c.m / 4 / (c.halfResult ? 2 : 1);
  std::string type = c.wide ? "f64" : "b32", reg = c.wide ? "%fd" : "%r", body, d, a, b, x;
  int bytes = c.wide ? 8 : 4, total = aCount + bCount + dCount;
  auto list = [&](int from, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += fmt::format("{}{}{}", i ? ", " : "", reg, from + i);
    return count == 1 && !c.wide ? "{" + text + "}" : "{" + text + "}";
  };
  for (int i = 0; i < total; ++i)
    body += fmt::format("  ld.{} {}{}, [%rd1+{}];\n", type, reg, 10 + i, i * bytes);
  body +=
      fmt::format("  {} {}, {}, {}, {};\n", c.instruction, list(40, dCount), list(10, aCount), list(10 + aCount, bCount), list(10 + aCount + bCount, dCount));
  for (int i = 0; i < dCount; ++i)
    body += fmt::format("  st.{} [%rd2+{}], {}{};\n", type, i * bytes, reg, 40 + i);
  Machine machine(fmt::format(R"(.visible .entry k(.param .u64 pi, .param .u64 po) {{
  .reg .b32 %r<64>; .reg .f64 %fd<64>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [pi]; ld.param.u64 %rd2, [po];
  mov.u32 %r0, %tid.x;
  mad.wide.u32 %rd1, %r0, 256, %rd1;
  mad.wide.u32 %rd2, %r0, 64, %rd2;
{}  ret; }})",
                              body));
  std::vector<uint8_t> in(32 * 256);
  auto put = [&](int lane, int index, uint64_t value) { std::memcpy(&in[size_t(lane * 256 + index * bytes)], &value, size_t(bytes)); };
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4;
    for (int r = 0; r < aCount; ++r) {
      uint64_t value = 0;
      for (int e = 0; e < each; ++e) {
        // The ISA's figures: rows alternate between g and g + 8, then the columns move on by four threads' elements.
        int row = c.m == 8 ? g : g + (r % 2) * 8, column = t * each + e + (c.m == 8 ? r : r / 2) * 4 * each;
        value |= (c.encode(aValue(row, column)) & (c.bits == 64 ? ~0ull : (1ull << c.bits) - 1)) << (e * c.bits % 64);
      }
      put(lane, r, value);
    }
    for (int r = 0; r < bCount; ++r) {
      uint64_t value = 0;
      for (int e = 0; e < each; ++e)
        value |= (c.encode(bValue(t * each + e + r * 4 * each, g)) & (c.bits == 64 ? ~0ull : (1ull << c.bits) - 1)) << (e * c.bits % 64);
      put(lane, aCount + r, value);
    }
    for (int i = 0; i < c.m / 4; ++i) {
      int value = cValue(g + 8 * (i / 2), 2 * t + i % 2);
      if (c.halfResult) {
        uint16_t half = floatToHalf(float(value));
        std::memcpy(&in[size_t(lane * 256 + (aCount + bCount) * 4 + i * 2)], &half, 2);
      } else if (c.wide) {
        double number = value;
        std::memcpy(&in[size_t(lane * 256 + (aCount + bCount + i) * 8)], &number, 8);
      } else {
        float number = float(value);
        uint32_t bits = 0;
        if (c.instruction.find("s32") != std::string::npos)
          bits = uint32_t(value);
        else
          std::memcpy(&bits, &number, 4);
        put(lane, aCount + bCount + i, bits);
      }
    }
  }
  uint8_t *input = machine.array(in), *out = machine.zeros<uint8_t>(32 * 64);
  LaunchResult result = machine.launch("k", {.block = {32, 1, 1}}, input, out);
  REQUIRE(result.text() == "");
  int wrong = 0;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < c.m / 4; ++i) {
      int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      double expected = cValue(row, column);
      for (int x = 0; x < c.k; ++x)
        expected += c.decode(c.encode(aValue(row, x))) * c.decode(c.encode(bValue(x, column)));
      uint64_t bits = 0;
      std::memcpy(&bits, out + lane * 64 + i * (c.halfResult ? 2 : bytes), size_t(c.halfResult ? 2 : bytes));
      double actual;
      if (c.halfResult)
        actual = halfToFloat(uint16_t(bits));
      else if (c.wide)
        std::memcpy(&actual, &bits, 8);
      else if (c.instruction.find("s32") != std::string::npos)
        actual = int32_t(bits);
      else {
        float number;
        std::memcpy(&number, &bits, 4);
        actual = number;
      }
      wrong += actual != expected;
    }
  INFO(c.instruction);
  CHECK(wrong == 0);
}

uint64_t asFloat(int x) {
  float value = float(x);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
double ofFormat(const FloatFormat &f, uint64_t bits) { return decodeFloat(f, uint32_t(bits)); }
} // namespace

TEST_CASE("mma.sync of every type and shape") {
  auto format = [](const FloatFormat &f) { return [&f](int x) { return uint64_t(encodeFloat(f, x, Rounding::NearestEven)); }; };
  auto number = [](const FloatFormat &f) { return [&f](uint64_t bits) { return ofFormat(f, bits); }; };
  for (int k : {8, 16})
    for (const char *d : {"f32", "f16"})
      check({fmt::format("mma.sync.aligned.m16n8k{}.row.col.{}.f16.f16.{}", k, d, d), 16, k, 16, format(formatF16), number(formatF16), d[1] == '1'});
  for (int k : {8, 16})
    check({fmt::format("mma.sync.aligned.m16n8k{}.row.col.f32.bf16.bf16.f32", k), 16, k, 16, format(formatBF16), number(formatBF16)});
  for (int k : {4, 8})
    check({fmt::format("mma.sync.aligned.m16n8k{}.row.col.f32.tf32.tf32.f32", k), 16, k, 32, asFloat, number(formatF32)});
  for (int k : {16, 32}) {
    check({fmt::format("mma.sync.aligned.m16n8k{}.row.col.f32.e4m3.e4m3.f32", k), 16, k, 8, format(formatE4M3), number(formatE4M3)});
    check({fmt::format("mma.sync.aligned.m16n8k{}.row.col.f16.e5m2.e5m2.f16", k), 16, k, 8, format(formatE5M2), number(formatE5M2), true});
  }
  auto same = [](int x) { return uint64_t(int64_t(x)); };
  auto s8 = [](uint64_t bits) { return double(int8_t(bits)); };
  auto u8 = [](uint64_t bits) { return double(uint8_t(bits)); };
  auto s4 = [](uint64_t bits) { return double(int8_t(bits << 4) >> 4); };
  check({"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, same, s8});
  check({"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 8, same, s8});
  check({"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 32, 8, same, s8});
  check({"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", 16, 32, 8, same, u8});
  check({"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 16, 64, 4, same, s4});
  check({"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 8, 32, 4, same, s4});
  auto asDouble = [](int x) {
    double value = x;
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    return bits;
  };
  auto ofDouble = [](uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  };
  check({"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 64, asDouble, ofDouble, false, true});
  for (int k : {4, 8, 16})
    check({fmt::format("mma.sync.aligned.m16n8k{}.row.col.f64.f64.f64.f64", k), 16, k, 64, asDouble, ofDouble, false, true});
}

TEST_CASE("ldmatrix, stmatrix and movmatrix") {
  // Rows are 48 bytes apart; element (matrix, row, column) is matrix * 256 + row * 16 + column.
  for (bool transposed : {false, true}) {
    std::string trans = transposed ? ".trans" : "";
    std::vector<Lane> lanes = runBody(fmt::format(R"(
      mov.u32 %r1, tile;
      mad.lo.u32 %r2, %r0, 48, %r1;
      and.b32 %r3, %r0, 7; shr.u32 %r4, %r0, 3;
      shl.b32 %r4, %r4, 8; mad.lo.u32 %r4, %r3, 16, %r4;
      mov.u32 %r5, 0;
    fill:
      add.u32 %r6, %r4, %r5;
      cvt.u16.u32 %h1, %r6;
      mad.lo.u32 %r7, %r5, 2, %r2;
      st.shared.u16 [%r7], %h1;
      add.u32 %r5, %r5, 1;
      setp.lt.u32 %p1, %r5, 8;
      @%p1 bra fill;
      bar.warp.sync 0xffffffff;
      ldmatrix.sync.aligned.m8n8.x4{0}.shared.b16 {{%r10, %r11, %r12, %r13}}, [%r2];
      mov.b64 %rd1, {{%r10, %r13}};
      st.u64 [%out], %rd1;
      movmatrix.sync.aligned.m8n8.trans.b16 %r14, %r11;
      bar.warp.sync 0xffffffff;
      stmatrix.sync.aligned.m8n8.x2{0}.shared.b16 [%r2], {{%r11, %r14}};
      bar.warp.sync 0xffffffff;
      ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{%r15, %r16}}, [%r2];
      mov.b64 %rd2, {{%r15, %r16}};
      st.u64 [%out+8], %rd2;
    )",
                                                  trans),
                                      {}, ".shared .align 16 .b8 tile[1536];");
    for (uint32_t l = 0; l < 32; ++l) {
      uint32_t row = l / 4, column = l % 4 * 2;
      auto pair = [](uint32_t matrix, uint32_t r, uint32_t c, bool t) {
        uint32_t low = t ? c * 16 + r : r * 16 + c, high = t ? (c + 1) * 16 + r : r * 16 + c + 1;
        return (matrix * 256 + low) | (matrix * 256 + high) << 16;
      };
      CHECK(uint32_t(lanes[l].word[0]) == pair(0, row, column, transposed));
      CHECK(uint32_t(lanes[l].word[0] >> 32) == pair(3, row, column, transposed));
      // Stored as loaded, matrix 1 is back; the transposed registers come back as the transpose.
      CHECK(uint32_t(lanes[l].word[1]) == pair(1, row, column, false));
      CHECK(uint32_t(lanes[l].word[1] >> 32) == pair(1, row, column, true));
    }
  }
}
