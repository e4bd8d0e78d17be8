// Outputs that overlap inputs: within a program the loads of a statement come before its stores, whatever the addresses turn out to be.
#include "Catch.h"
#include "tk/tk.h"
#include <algorithm>
#include <numeric>
#include <vector>

namespace {

const char *const kSource = R"(
def one_tile(x, out, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    mask = offs < n
    store(out + offs, load(x + offs, mask=mask) + 1.0, mask=mask)

def many_tiles(x, out, n, BLOCK: constexpr):
    for start in range(0, n, BLOCK):
        offs = start + arange(0, BLOCK)
        mask = offs < n
        store(out + offs, load(x + offs, mask=mask) + 1.0, mask=mask)

def two_inputs(x, y, out, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    mask = offs < n
    store(out + offs, load(x + offs, mask=mask) + 2.0 * load(y + offs, mask=mask), mask=mask)

def two_outputs(x, first, second, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    mask = offs < n
    v = load(x + offs, mask=mask)
    store(first + offs, v + 1.0, mask=mask)
    store(second + offs, v + 2.0, mask=mask)

def reverse(x, out, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    store(out + offs, load(x + (BLOCK - 1 - offs)))

def store_then_load(x, out, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    store(x + offs, offs * 1.0)
    store(out + offs, load(x + (BLOCK - 1 - offs)))

def load_store_load(x, out, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    before = load(x + offs)
    store(x + offs, before * 2.0)
    after = load(x + offs)
    store(out + offs, after - before)
)";

tk::Kernel kernelOf(const char *name) {
  static const tk::Module module = tk::Module::fromSource(kSource, "overlap.tk");
  return module.kernel(name);
}

constexpr int kRoom = 64; // around the arrays, so that they can be shifted

std::vector<float> counting(int n) {
  std::vector<float> result(n + 2 * kRoom);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>((i * 31) % 257);
  return result;
}

} // namespace

TEST_CASE("out shifted against x within one tile") {
  for (int shift : {0, 1, -1, 2, -2, 3, 7, -7, 8, -8, 16, -16, 33, -33, 64, -64})
    for (int n : {1, 2, 7, 8, 31, 100, 1000, 1023, 1024}) {
      CAPTURE(shift, n);
      std::vector<float> memory = counting(n), expected = memory;
      for (int i = 0; i < n; ++i)
        expected[kRoom + shift + i] = memory[kRoom + i] + 1.0f;
      kernelOf("one_tile").launch({}, tk::grid(1), memory.data() + kRoom, memory.data() + kRoom + shift, n, tk::meta("BLOCK", 1024));
      CHECK(memory == expected);
    }
}

TEST_CASE("out shifted against x, tile after tile") {
  for (int shift : {0, 1, -1, 5, -5, 32, -32, 60, -60})
    for (int n : {1, 64, 65, 200, 1000})
      for (int block : {32, 128}) {
        CAPTURE(shift, n, block);
        std::vector<float> memory = counting(n), expected = memory;
        for (int start = 0; start < n; start += block) {
          std::vector<float> tile(expected.begin() + kRoom + start, expected.begin() + kRoom + std::min(start + block, n));
          for (size_t i = 0; i < tile.size(); ++i)
            expected[kRoom + shift + start + i] = tile[i] + 1.0f;
        }
        kernelOf("many_tiles").launch({}, tk::grid(1), memory.data() + kRoom, memory.data() + kRoom + shift, n, tk::meta("BLOCK", block));
        CHECK(memory == expected);
      }
}

TEST_CASE("out between two inputs") {
  for (int shift : {0, 1, -1, 9, -9})
    for (int second : {0, 1, -1, 13}) {
      const int n = 777;
      CAPTURE(shift, second);
      std::vector<float> memory = counting(n), expected = memory;
      for (int i = 0; i < n; ++i)
        expected[kRoom + shift + i] = memory[kRoom + i] + 2.0f * memory[kRoom + second + i];
      kernelOf("two_inputs").launch({}, tk::grid(1), memory.data() + kRoom, memory.data() + kRoom + second, memory.data() + kRoom + shift, n, tk::meta("BLOCK", 1024));
      CHECK(memory == expected);
    }
}

TEST_CASE("two outputs that overlap: the later store wins") {
  for (int shift : {0, 1, -1, 4, -4, 40}) {
    const int n = 500;
    CAPTURE(shift);
    std::vector<float> memory = counting(n), x(memory.begin() + kRoom, memory.begin() + kRoom + n), expected = memory;
    for (int i = 0; i < n; ++i)
      expected[kRoom + i] = x[i] + 1.0f;
    for (int i = 0; i < n; ++i)
      expected[kRoom + shift + i] = x[i] + 2.0f;
    kernelOf("two_outputs").launch({}, tk::grid(1), x.data(), memory.data() + kRoom, memory.data() + kRoom + shift, n, tk::meta("BLOCK", 512));
    CHECK(memory == expected);
  }
}

TEST_CASE("one array reversed in place") {
  std::vector<float> memory(1024), expected(1024);
  std::iota(memory.begin(), memory.end(), 0.0f);
  for (int i = 0; i < 1024; ++i)
    expected[i] = memory[1023 - i];
  kernelOf("reverse").launch({}, tk::grid(1), memory.data(), memory.data(), tk::meta("BLOCK", 1024));
  CHECK(memory == expected);
}

TEST_CASE("a load sees the stores before it") {
  std::vector<float> x(256, -1.0f), out(256);
  kernelOf("store_then_load").launch({}, tk::grid(1), x.data(), out.data(), tk::meta("BLOCK", 256));
  int wrong = 0;
  for (int i = 0; i < 256; ++i)
    wrong += out[i] != static_cast<float>(255 - i);
  CHECK(wrong == 0);

  std::iota(x.begin(), x.end(), 1.0f);
  kernelOf("load_store_load").launch({}, tk::grid(1), x.data(), out.data(), tk::meta("BLOCK", 256));
  for (int i = 0; i < 256; ++i)
    wrong += out[i] != static_cast<float>(i + 1) || x[i] != 2.0f * static_cast<float>(i + 1);
  CHECK(wrong == 0);
}

TEST_CASE("in place over many programs") {
  const tk::Kernel kernel = tk::Module::fromFile(TKC_SOURCE_DIR "/samples/vector_add.tk").kernel("vector_add");
  std::vector<float> x(100'001, 1.0f);
  kernel.launch({}, tk::grid(98), x.data(), x.data(), x.data(), 100'001, tk::meta("BLOCK", 1024));
  CHECK(std::count(x.begin(), x.end(), 2.0f) == 100'001);
}
