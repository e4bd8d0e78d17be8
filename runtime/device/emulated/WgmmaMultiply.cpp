// The arithmetic of wgmma: PTX ISA 9.7.15.5.2. Operands are decoded once into arrays of numbers, then multiplied by loops over machine vectors.
//
// Fragments of a warpgroup (section "Register Fragments and Shared Memory Matrix Layouts"), with w the warp in its group, g = lane / 4, t = lane % 4:
//   A: register r, element i: row 16 w + g + 8 * (r % 2), column e * t + 4 * e * (r / 2) + i, with e elements in a register
//   D: element i: row 16 w + g + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * t + i % 2; of .f16 two to a register
// Sums of floats are taken in single precision with fused multiply-adds from the accumulator on, those of .f16 accumulators rounded once at the end. That is at
// least what the ISA promises of 16-bit types; what the hardware loses with 8-bit ones is not documented and not imitated.
#include "runtime/device/emulated/MatrixElements.h"
#include "runtime/device/emulated/Wgmma.h"
#include <algorithm>
#include <array>
#include <cstring>

namespace tk::emulated {

namespace {

using Floats = float __attribute__((vector_size(32)));
using Words = uint32_t __attribute__((vector_size(32)));

inline Floats multiplyAdd(float a, Floats b, Floats c) {
  Floats wide = {a, a, a, a, a, a, a, a};
  return __builtin_elementwise_fma(wide, b, c);
}
inline Words multiplyAdd(uint32_t a, Words b, Words c) { return a * b + c; }

/// c (16 x n) += a (16 x k) * b (k x n): four rows by 8 * Wide columns at a time.
template <typename T, typename Vector, int Wide> void multiplyColumns(const T *a, const T *b, T *c, int k, int n, int column) {
  auto load = [](const T *from) {
    Vector value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  for (int row = 0; row < 16; row += 4) {
    Vector sum[4][Wide];
    for (int r = 0; r < 4; ++r)
      for (int v = 0; v < Wide; ++v)
        sum[r][v] = load(c + (row + r) * n + column + v * 8);
    for (int x = 0; x < k; ++x)
      for (int v = 0; v < Wide; ++v) {
        Vector factor = load(b + x * n + column + v * 8);
        for (int r = 0; r < 4; ++r)
          sum[r][v] = multiplyAdd(a[(row + r) * k + x], factor, sum[r][v]);
      }
    for (int r = 0; r < 4; ++r)
      for (int v = 0; v < Wide; ++v)
        std::memcpy(c + (row + r) * n + column + v * 8, &sum[r][v], sizeof(Vector));
  }
}
template <typename T, typename Vector> void multiplyAll(const T *a, const T *b, T *c, int k, int n) {
  int column = 0;
  for (; column + 16 <= n; column += 16)
    multiplyColumns<T, Vector, 2>(a, b, c, k, n, column);
  if (column < n)
    multiplyColumns<T, Vector, 1>(a, b, c, k, n, column);
}

/// An element as the word that is multiplied: a float, or an integer.
uint32_t wordOf(Type type, uint32_t bits) {
  static const std::array<std::array<float, 256>, 2> eightBits = [] {
    std::array<std::array<float, 256>, 2> table;
    for (uint32_t i = 0; i < 256; ++i) {
      table[0][i] = float(decodeFloat(formatE4M3, i));
      table[1][i] = float(decodeFloat(formatE5M2, i));
    }
    return table;
  }();
  switch (type) {
  case Type::F16: return std::bit_cast<uint32_t>(halfToFloat(uint16_t(bits)));
  case Type::BF16: return bits << 16;
  case Type::TF32: return bits & 0xFFFFE000;
  case Type::E4M3: return std::bit_cast<uint32_t>(eightBits[0][bits & 255]);
  case Type::E5M2: return std::bit_cast<uint32_t>(eightBits[1][bits & 255]);
  case Type::S8: return uint32_t(int32_t(int8_t(bits)));
  default: return bits; // u8, b1
  }
}

/// f(word of an element, its place in the chunk or register) over the elements of `words` words.
template <typename F> void forElements(Type type, const uint8_t *from, int words, F f) {
  int bits = bitsOfElement(type), each = 32 / bits;
  uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (int w = 0; w < words; ++w) {
    uint32_t word;
    std::memcpy(&word, from + w * 4, 4);
    for (int x = 0; x < each; ++x)
      f(wordOf(type, word >> (x * bits) & mask), w * each + x);
  }
}

/// Element (index, kIndex) of an operand goes to into[index * indexStep + kIndex * kStep].
void readMatrix(Block &block, uint64_t bits, Type type, int extent, int k, bool mnMajor, float *into, int indexStep, int kStep) {
  MatrixDescriptor descriptor = MatrixDescriptor::of(bits);
  int each = 128 / bitsOfElement(type);
  auto put = [&](int at, uint32_t word) { into[at] = std::bit_cast<float>(word); };
  if (mnMajor) {
    for (int chunk = 0; chunk < extent / each; ++chunk)
      for (int x = 0; x < k; ++x)
        forElements(type, block.shared.at(descriptor.mnMajorChunk(uint32_t(chunk), uint32_t(x))), 4,
                    [&](uint32_t word, int e) { put((chunk * each + e) * indexStep + x * kStep, word); });
    return;
  }
  for (int index = 0; index < extent; ++index)
    for (int chunk = 0; chunk < k / each; ++chunk)
      forElements(type, block.shared.at(descriptor.kMajorChunk(uint32_t(index), uint32_t(chunk))), 4,
                  [&](uint32_t word, int e) { put(index * indexStep + (chunk * each + e) * kStep, word); });
}

} // namespace

std::vector<std::pair<uint32_t, uint32_t>> rangesOf(const Instr &i, uint64_t aDescriptor, uint64_t bDescriptor) {
  WgmmaShape shape = std::bit_cast<WgmmaShape>(i.target);
  std::vector<uint32_t> chunks;
  auto add = [&](uint64_t bits, Type type, uint32_t extent, bool mnMajor) {
    MatrixDescriptor descriptor = MatrixDescriptor::of(bits);
    uint32_t each = 128 / uint32_t(bitsOfElement(type)), outer = mnMajor ? extent / each : extent, inner = mnMajor ? shape.k : shape.k / each;
    for (uint32_t x = 0; x < outer; ++x)
      for (uint32_t y = 0; y < inner; ++y)
        chunks.push_back(mnMajor ? descriptor.mnMajorChunk(x, y) : descriptor.kMajorChunk(x, y));
  };
  if (i.a >= 0)
    add(aDescriptor, Type(shape.a), 64, i.flags & wgmmaTransposesA);
  add(bDescriptor, Type(shape.b), shape.n, i.flags & wgmmaTransposesB);
  std::sort(chunks.begin(), chunks.end());
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  for (uint32_t chunk : chunks) {
    if (ranges.empty() || chunk > ranges.back().second)
      ranges.push_back({chunk, chunk});
    ranges.back().second = chunk + 16;
  }
  return ranges;
}

void multiply(Warp &warp, Wgmma &operation, const PendingWgmma &pending) {
  const Instr &i = *operation.instr;
  WgmmaShape shape = std::bit_cast<WgmmaShape>(i.target);
  Type aType = Type(shape.a), bType = Type(shape.b);
  int n = int(shape.n), k = int(shape.k), each = 32 / bitsOfElement(aType);
  bool isReal = i.flags & wgmmaIsFloat;
  if (!operation.isRead) {
    operation.isRead = true;
    operation.b.resize(size_t(k) * size_t(n));
    readMatrix(warp.block, operation.bDescriptor, bType, n, k, i.flags & wgmmaTransposesB, operation.b.data(), 1, n);
    if (i.a >= 0) {
      operation.a.resize(64 * size_t(k));
      readMatrix(warp.block, operation.aDescriptor, aType, 64, k, i.flags & wgmmaTransposesA, operation.a.data(), k, 1);
    }
  }
  static thread_local float a[16 * 256], c[16 * 256];
  int perRegister = i.type == Type::F16 ? 2 : 1, elements = n / 2;
  const int32_t *list = pending.function->lists.data() + i.list, *aList = list + elements / perRegister;
  auto registers = [&](int32_t offset) { return reinterpret_cast<uint32_t *>(pending.registers + offset); };
  if (i.a >= 0) {
    std::copy_n(operation.a.data() + 16 * size_t(k) * (warp.index % 4), 16 * size_t(k), a);
  } else {
    for (int r = 0; r < 4; ++r)
      for (int lane = 0; lane < 32; ++lane)
        forElements(aType, reinterpret_cast<const uint8_t *>(registers(aList[r]) + lane), 1,
                    [&](uint32_t word, int e) { a[(lane / 4 + 8 * (r % 2)) * k + each * (lane % 4) + 4 * each * (r / 2) + e] = std::bit_cast<float>(word); });
  }
  if (bool(i.flags & wgmmaNegatesA) != bool(i.flags & wgmmaNegatesB))
    for (int x = 0; x < 16 * k; ++x)
      a[x] = -a[x];
  auto forAccumulators = [&](auto f) {
    for (int x = 0; x < elements; ++x) {
      uint32_t *words = registers(list[x / perRegister]);
      for (int lane = 0; lane < 32; ++lane)
        f(words[lane], x % 2, c[(lane / 4 + 8 * (x / 2 % 2)) * n + 8 * (x / 4) + 2 * (lane % 4) + x % 2]);
    }
  };
  warp.statistics.matrixOperations += uint64_t(16) * uint64_t(n) * uint64_t(k);
  if (!isReal) {
    std::fill_n(c, 16 * n, 0.0f); // the word of an integer 0 too
    multiplyAll<uint32_t, Words>(reinterpret_cast<uint32_t *>(a), reinterpret_cast<uint32_t *>(operation.b.data()), reinterpret_cast<uint32_t *>(c), k, n);
    forAccumulators([&](uint32_t &word, int, float sum) {
      int64_t value = int64_t(std::bit_cast<int32_t>(sum)) + (operation.accumulates ? int64_t(int32_t(word)) : 0);
      word = uint32_t(i.flags & wgmmaSaturates ? std::clamp<int64_t>(value, INT32_MIN, INT32_MAX) : value);
    });
    return;
  }
  if (operation.accumulates)
    forAccumulators(
        [&](uint32_t word, int half, float &sum) { sum = perRegister == 2 ? halfToFloat(uint16_t(word >> (16 * half))) : std::bit_cast<float>(word); });
  else
    std::fill_n(c, 16 * n, 0.0f);
  multiplyAll<float, Floats>(a, operation.b.data(), c, k, n);
  forAccumulators([&](uint32_t &word, int half, float sum) {
    if (perRegister == 2)
      word = (word & (half ? 0xFFFFu : 0xFFFF0000u)) | uint32_t(floatToHalf(sum)) << (16 * half);
    else
      word = sum != sum ? 0x7FFFFFFFu : std::bit_cast<uint32_t>(sum);
  });
}

} // namespace tk::emulated
