// Masked-off lanes touch nothing: every array lies against a page that must not be touched, once on each side.
#include "Catch.h"
#include "test/robustness/GuardedMemory.h"
#include "tk/tk.h"
#include <array>

using tk::test::Against;
using tk::test::GuardedMemory;

namespace {

const Against kSides[] = {Against::Below, Against::Above};

template <typename T> void fillCounting(const GuardedMemory<T> &memory, int modulus = 100) {
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<T>(i % modulus + 1);
}

/// out = x + y over `n` elements in tiles of `block`.
template <typename T> void checkAdd(int64_t n, int64_t block, Against side) {
  static const tk::Kernel kernel = tk::Module::fromFile(TKC_SOURCE_DIR "/samples/vector_add.tk").kernel("vector_add");
  GuardedMemory<T> x(n, side), y(n, side), out(n, side);
  fillCounting(x), fillCounting(y, 27);
  kernel.launch({}, tk::grid((n + block - 1) / block), x.data(), y.data(), out.data(), n, tk::meta("BLOCK", block));
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i)
    wrong += out[i] != static_cast<T>(x[i] + y[i]);
  CHECK(wrong == 0);
  CHECK(out.intact());
  CHECK(x.intact());
}

} // namespace

TEST_CASE("a prefix mask ends exactly at the last element") {
  for (Against side : kSides)
    for (int64_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 1000, 1023, 1024, 1025, 3001}) {
      CAPTURE(n, side == Against::Above);
      checkAdd<float>(n, 1024, side);
      checkAdd<double>(n, 256, side);
      checkAdd<int8_t>(n, 64, side);
      checkAdd<int16_t>(n, 1024, side);
      checkAdd<int64_t>(n, 128, side);
    }
}

TEST_CASE("a grid with programs wholly past the end touches nothing") {
  static const tk::Kernel kernel = tk::Module::fromFile(TKC_SOURCE_DIR "/samples/vector_add.tk").kernel("vector_add");
  for (Against side : kSides) {
    GuardedMemory<float> x(100, side, 1.0f), y(100, side, 2.0f), out(100, side);
    kernel.launch({}, tk::grid(1000), x.data(), y.data(), out.data(), 100, tk::meta("BLOCK", 1024));
    CHECK(out[99] == 3.0f);
    CHECK(out.intact());
  }
}

TEST_CASE("a mask that is off everywhere may have any address") {
  const tk::Kernel kernel = tk::Module::fromSource(R"(
def k(x, out, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    v = load(x + offs * 1000003, mask=offs < n, other=7.0)
    store(x - offs, v, mask=offs < n)
    store(out + offs, v)
)")
                                .kernel("k");
  GuardedMemory<float> out(256, Against::Above);
  kernel.launch({}, tk::grid(1), static_cast<float *>(nullptr), out.data(), 0, tk::meta("BLOCK", 256));
  for (size_t i = 0; i < out.size(); ++i)
    REQUIRE(out[i] == 7.0f);
  CHECK(out.intact());
}

TEST_CASE("a suffix mask starts exactly at the first element") {
  const tk::Kernel kernel = tk::Module::fromSource(R"(
def k(x, out, skip, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    mask = (offs >= skip) & (offs < skip + n)
    v = load(x + offs - skip, mask=mask, other=-1.0)
    store(out + offs - skip, v * 2.0, mask=mask)
)")
                                .kernel("k");
  for (Against side : kSides)
    for (int skip : {1, 3, 8, 17, 500})
      for (int n : {1, 4, 13, 100, 500}) {
        CAPTURE(skip, n);
        GuardedMemory<float> x(n, side), out(n, side);
        fillCounting(x);
        kernel.launch({}, tk::grid(1), x.data(), out.data(), skip, n, tk::meta("BLOCK", 1024));
        int wrong = 0;
        for (int i = 0; i < n; ++i)
          wrong += out[i] != x[i] * 2.0f;
        CHECK(wrong == 0);
        CHECK(out.intact());
      }
}

TEST_CASE("a mask with holes leaves the holes alone") {
  const tk::Kernel kernel = tk::Module::fromSource(R"(
def k(x, flags, out, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    inside = offs < n
    on = load(flags + offs, mask=inside, other=0) != 0
    # Lanes that are off would read and write far outside.
    far = where(on, offs, offs * 1048576 + 99999999)
    store(out + far, load(x + far, mask=on, other=0.0) + 1.0, mask=on)
)")
                                .kernel("k");
  for (Against side : kSides)
    for (int n : {1, 9, 64, 1000}) {
      GuardedMemory<float> x(n, side), out(n, side, -5.0f);
      GuardedMemory<int32_t> flags(n, side);
      fillCounting(x);
      for (int i = 0; i < n; ++i)
        flags[i] = (i * 7 + i / 3) % 3 == 0;
      kernel.launch({}, tk::grid(1), x.data(), flags.data(), out.data(), n, tk::meta("BLOCK", 1024));
      int wrong = 0;
      for (int i = 0; i < n; ++i)
        wrong += out[i] != (flags[i] ? x[i] + 1.0f : -5.0f);
      CHECK(wrong == 0);
      CHECK(out.intact());
    }
}

TEST_CASE("a strided access stays inside") {
  const tk::Kernel kernel = tk::Module::fromSource(R"(
def k(x, out, stride, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    mask = offs < n
    store(out + offs * stride, load(x + offs * stride, mask=mask) * 3.0, mask=mask)
)")
                                .kernel("k");
  for (Against side : kSides)
    for (int stride : {1, 2, 3, 5, 16}) {
      const int n = 77;
      const size_t extent = static_cast<size_t>(n - 1) * stride + 1;
      GuardedMemory<float> x(extent, side), out(extent, side, -1.0f);
      fillCounting(x);
      kernel.launch({}, tk::grid(1), x.data(), out.data(), stride, n, tk::meta("BLOCK", 128));
      size_t wrong = 0;
      for (size_t i = 0; i < extent; ++i)
        wrong += out[i] != (i % stride == 0 ? x[i] * 3.0f : -1.0f);
      CHECK(wrong == 0);
      CHECK(out.intact());
    }
}

TEST_CASE("softmax stays inside its rows") {
  const tk::Kernel kernel = tk::Module::fromFile(TKC_SOURCE_DIR "/samples/softmax.tk").kernel("softmax");
  for (Against side : kSides)
    for (int columns : {1, 2, 13, 100, 1000, 1023, 1024}) {
      const int rows = 5;
      GuardedMemory<float> x(rows * columns, side), out(rows * columns, side);
      fillCounting(x, 11);
      kernel.launch({}, tk::grid(rows), out.data(), x.data(), columns, columns, columns, tk::meta("BLOCK", 1024));
      for (int row = 0; row < rows; ++row) {
        double total = 0;
        for (int i = 0; i < columns; ++i)
          total += out[row * columns + i];
        CHECK(total == Approx(1.0).epsilon(1e-5));
      }
      CHECK(out.intact());
    }
}

TEST_CASE("matmul stays inside on every edge") {
  const tk::Kernel kernel = tk::Module::fromFile(TKC_SOURCE_DIR "/samples/matmul.tk").kernel("matmul");
  for (Against side : kSides)
    for (auto [m, n, k] : {std::array<int, 3>{67, 45, 33}, {1, 1, 1}, {64, 64, 32}, {65, 63, 31}, {3, 130, 7}}) {
      CAPTURE(m, n, k);
      GuardedMemory<float> a(m * k, side), b(k * n, side), c(m * n, side);
      fillCounting(a, 5), fillCounting(b, 7);
      kernel.launch({}, tk::grid(((m + 31) / 32) * ((n + 31) / 32)), a.data(), b.data(), c.data(), m, n, k, k, 1, n, 1, n, 1, tk::meta("BLOCK_M", 32), tk::meta("BLOCK_N", 32),
                    tk::meta("BLOCK_K", 16), tk::meta("GROUP_M", 4));
      int wrong = 0;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          float expected = 0; // small integers: exact
          for (int l = 0; l < k; ++l)
            expected += a[i * k + l] * b[l * n + j];
          wrong += c[i * n + j] != expected;
        }
      CHECK(wrong == 0);
      CHECK(c.intact());
      CHECK(a.intact());
      CHECK(b.intact());
    }
}
