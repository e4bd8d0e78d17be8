// mma.sync: PTX ISA 9.7.14.5. Where the elements are is typed from its section "Matrix Fragments for mma" and holds for all shapes at once:
//
//   g = lane / 4, t = lane % 4; a register of A or B has e = 32 / bits elements (of .f64: 1), consecutive along k.
//   A (M x K): register r, element i: row g + 8 * (r % 2), column e * t + 4 * e * (r / 2) + i; with M = 8 row g, column e * t + 4 * e * r + i
//   B (K x 8): register r, element i: row e * t + 4 * e * r + i, column g
//   C, D (M x 8): element i: row g + 8 * (i / 2), column 2 * t + i % 2; of .f16 two to a register
//
// Sums are taken in double precision from the accumulator on and rounded once. The hardware's own order and rounding are not documented; this is nearer to the
// exact result.
#include "runtime/device/emulated/Decoder.h"
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/MatrixElements.h"
#include <fmt/format.h>

namespace tk::emulated {

namespace {

struct Shape {
  uint32_t m : 5, k : 9, a : 6, b : 6, isSaturating : 1, logic : 2; // logic of .b1: 1 xor, 2 and
};
Shape shapeOf(const Instr &i) { return std::bit_cast<Shape>(i.target); }

uint64_t registerBits(Warp &warp, int32_t offset, int lane, Type type) {
  return type == Type::F64 ? warp.at<uint64_t>(offset)[lane] : warp.at<uint32_t>(offset)[lane];
}

/// Sixteen (or eight) sums of a column block in the accumulator's type; T is double, or int64_t for integers.
template <typename T> void multiply(const T *a, const T *b, T *c, int m, int k) {
  for (int row = 0; row < m; ++row)
    for (int x = 0; x < k; ++x) {
      T factor = a[row * k + x];
      for (int column = 0; column < 8; ++column)
        c[row * 8 + column] += factor * b[x * 8 + column];
    }
}

template <typename T> void mma(Warp &warp, const Instr &i, uint32_t) {
  Shape shape = shapeOf(i);
  Type aType = Type(shape.a), bType = Type(shape.b), dType = i.type, cType = Type(i.flags & 0xFF);
  int m = int(shape.m), k = int(shape.k), bits = bitsOfElement(aType), each = bits == 64 ? 1 : 32 / bits;
  int aCount = m * k / 32 / each, bCount = k * 8 / 32 / each, tall = m / 8;
  int perRegisterD = dType == Type::F16 ? 2 : 1, perRegisterC = cType == Type::F16 ? 2 : 1;
  int dCount = tall * 2 / perRegisterD;
  const int32_t *list = warp.listOf(i), *aList = list + dCount, *bList = aList + aCount, *cList = bList + bCount;
  static thread_local T a[16 * 256], b[256 * 8], c[16 * 8];
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4;
    for (int r = 0; r < aCount; ++r) {
      uint64_t value = registerBits(warp, aList[r], lane, aType);
      int row = tall == 2 ? g + 8 * (r % 2) : g, column = each * t + 4 * each * (tall == 2 ? r / 2 : r);
      for (int x = 0; x < each; ++x, value = bits < 64 ? value >> bits : 0)
        a[row * k + column + x] = T(elementValue(aType, value & mask));
    }
    for (int r = 0; r < bCount; ++r) {
      uint64_t value = registerBits(warp, bList[r], lane, bType);
      for (int x = 0; x < each; ++x, value = bits < 64 ? value >> bits : 0)
        b[(each * t + 4 * each * r + x) * 8 + g] = T(elementValue(bType, value & mask));
    }
    for (int x = 0; x < tall * 2; ++x) {
      uint64_t value = registerBits(warp, cList[x / perRegisterC], lane, cType);
      if (perRegisterC == 2)
        value = value >> (16 * (x % 2)) & 0xFFFF;
      c[(g + 8 * (x / 2)) * 8 + 2 * t + x % 2] = T(elementValue(cType, value));
    }
  }
  if (shape.logic == 1) { // xor: one where the bits differ
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < 8; ++column)
        for (int x = 0; x < k; ++x)
          c[row * 8 + column] += T(a[row * k + x] != b[x * 8 + column]);
  } else {
    multiply(a, b, c, m, k);
  }
  warp.statistics.matrixOperations += uint64_t(m) * 8 * uint64_t(k);
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4;
    for (int x = 0; x < tall * 2; ++x) {
      T value = c[(g + 8 * (x / 2)) * 8 + 2 * t + x % 2];
      uint32_t *to = warp.at<uint32_t>(list[x / perRegisterD]);
      switch (dType) {
      case Type::F64: warp.at<uint64_t>(list[x])[lane] = std::bit_cast<uint64_t>(double(value)); break;
      case Type::F32: to[lane] = value != value ? 0x7FFFFFFFu : std::bit_cast<uint32_t>(float(value)); break;
      case Type::F16: {
        uint32_t half = encodeFloat(formatF16, double(value), Rounding::NearestEven);
        to[lane] = x % 2 ? (to[lane] & 0xFFFF) | half << 16 : (to[lane] & 0xFFFF0000) | half;
        break;
      }
      default:
        if (shape.isSaturating)
          value = std::min<T>(std::max<T>(value, T(-2147483648.0)), T(2147483647.0));
        to[lane] = uint32_t(int64_t(value));
      }
    }
  }
}

bool parseShape(std::string_view word, int &m, int &n, int &k) {
  int values[3] = {}, at = -1;
  for (char c : word) {
    if (c == 'm' || c == 'n' || c == 'k')
      at = c == 'm' ? 0 : c == 'n' ? 1 : 2;
    else if (at >= 0 && c >= '0' && c <= '9')
      values[at] = values[at] * 10 + (c - '0');
    else
      return false;
  }
  m = values[0], n = values[1], k = values[2];
  return at == 2;
}

/// The shapes of each element type (PTX ISA, table "mma shapes").
bool isShape(Type type, int m, int k) {
  switch (type) {
  case Type::F16:
  case Type::BF16: return m == 16 && (k == 8 || k == 16);
  case Type::TF32: return m == 16 && (k == 4 || k == 8);
  case Type::E4M3:
  case Type::E5M2: return m == 16 && (k == 16 || k == 32);
  case Type::F64: return (m == 8 && k == 4) || (m == 16 && (k == 4 || k == 8 || k == 16));
  case Type::S8:
  case Type::U8: return (m == 8 && k == 16) || (m == 16 && (k == 16 || k == 32));
  case Type::S4:
  case Type::U4: return (m == 8 && k == 32) || (m == 16 && (k == 32 || k == 64));
  case Type::B1: return (m == 8 && k == 128) || (m == 16 && (k == 128 || k == 256));
  default: return false;
  }
}

} // namespace

void decodeMma(Decoding &d) {
  if (!d.take("sync") || !d.take("aligned"))
    d.fail(".sync.aligned is missing");
  int m = 0, n = 0, k = 0;
  if (d.take("sp") || d.take("block_scale"))
    d.fail("sparse and block-scaled forms are not supported");
  for (std::string_view word : d.statement.modifiers)
    if (word[0] == 'm' && word.size() > 4 && parseShape(word, m, n, k)) {
      d.take(word);
      break;
    }
  if (!d.take("row") || !d.take("col"))
    d.fail("only .row.col exists");
  bool saturates = d.take("satfinite");
  int logic = d.takeOneOf({"xor", "and"}) + 1;
  d.take("popc");
  d.take("kind::f8f6f4");
  d.takeOneOf({"rn", "rz"});
  Type dType = d.takeType(), a = d.takeType(), b = d.takeType(), c = d.takeType();
  if (n != 8 || !isShape(a, m, k) || bitsOfElement(a) != bitsOfElement(b) || !isShape(b, m, k))
    d.fail("there is no such shape for these types");
  bool isInteger = !isFloat(a), isDouble = a == Type::F64;
  bool fits = isInteger  ? dType == Type::S32 && c == Type::S32
              : isDouble ? dType == Type::F64 && c == Type::F64
                         : (dType == Type::F32 || dType == Type::F16) && (c == Type::F32 || c == Type::F16) &&
                               (a == Type::F16 || bytesOf(a) == 1 || (dType == Type::F32 && c == Type::F32));
  if (!fits)
    d.fail("there are no such accumulators for these types");
  d.expectOperands(4, 4);
  int bits = bitsOfElement(a), each = bits == 64 ? 1 : 32 / bits;
  int counts[4] = {m / 4 / (dType == Type::F16 ? 2 : 1), m * k / 32 / each, k * 8 / 32 / each, m / 4 / (c == Type::F16 ? 2 : 1)};
  std::vector<int32_t> offsets;
  for (size_t which = 0; which < 4; ++which) {
    const Operand &operand = d.operand(which);
    std::span<const Operand> parts(&operand, 1);
    if (operand.kind == Operand::Kind::Vector)
      parts = operand.parts;
    if (int(parts.size()) != counts[which])
      d.fail(fmt::format("operand {} has {} registers, where {} belong", which + 1, parts.size(), counts[which]));
    Type type = isDouble ? Type::F64 : Type::B32;
    for (const Operand &part : parts)
      offsets.push_back(which == 0 ? d.destination(part, type) : d.source(part, type));
  }
  d.list(offsets);
  Shape shape = {uint32_t(m), uint32_t(k), uint32_t(a), uint32_t(b), saturates, uint32_t(logic)};
  d.i.target = std::bit_cast<uint32_t>(shape);
  d.i.type = dType;
  d.i.flags = uint32_t(c);
  d.i.kind = Class::Matrix;
  d.i.isCollective = true;
  d.i.run = isInteger ? &mma<int64_t> : &mma<double>;
}

} // namespace tk::emulated
