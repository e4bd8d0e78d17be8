// Integer division never traps: neither by zero nor of the smallest integer by -1, in lanes that are masked off and in those that are not.
#include "Catch.h"
#include "tk/tk.h"
#include <limits>

namespace {

template <typename T> void checkType(int n) {
  static const tk::Kernel kernel = tk::Module::fromSource(R"(
def k(x, y, quotient, remainder, n, BLOCK: constexpr):
    offs = arange(0, BLOCK)
    mask = offs < n
    # Masked-off lanes divide by zero, because that is what they read.
    a = load(x + offs, mask=mask, other=1)
    b = load(y + offs, mask=mask, other=0)
    store(quotient + offs, a // b, mask=mask)
    store(remainder + offs, a % b, mask=mask)
)")
                                .kernel("k");
  constexpr T kSmallest = std::numeric_limits<T>::min();
  std::vector<T> x(n), y(n), quotient(n, 77), remainder(n, 77);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<T>(i % 5 == 0 ? kSmallest : (i * 37) % 120);
    y[i] = static_cast<T>(i % 7 == 0 ? 0 : i % 5 == 0 ? -1 : i % 11 + 1);
  }
  kernel.launch({}, tk::grid(1), x.data(), y.data(), quotient.data(), remainder.data(), n, tk::meta("BLOCK", 256));
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    if (y[i] == 0 || (std::is_signed_v<T> && x[i] == kSmallest && y[i] == static_cast<T>(-1)))
      continue; // some value, but no trap
    wrong += quotient[i] != static_cast<T>(x[i] / y[i]);
    wrong += remainder[i] != static_cast<T>(x[i] % y[i]);
  }
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("integer division in tiles") {
  for (int n : {1, 5, 16, 100, 255}) {
    checkType<int8_t>(n);
    checkType<int16_t>(n);
    checkType<int32_t>(n);
    checkType<int64_t>(n);
    checkType<uint8_t>(n);
    checkType<uint32_t>(n);
    checkType<uint64_t>(n);
  }
}

TEST_CASE("integer division of scalars") {
  const tk::Kernel kernel = tk::Module::fromSource(R"(
def k(out, a, b):
    store(out, a // b)
    store(out + 1, a % b)
)")
                                .kernel("k");
  int32_t out[2] = {5, 5};
  kernel.launch({}, tk::grid(1), out, tk::scalar(tk::I32, int64_t(17)), tk::scalar(tk::I32, int64_t(0)));
  kernel.launch({}, tk::grid(1), out, tk::scalar(tk::I32, int64_t(std::numeric_limits<int32_t>::min())), tk::scalar(tk::I32, int64_t(-1)));
  kernel.launch({}, tk::grid(1), out, tk::scalar(tk::I32, int64_t(17)), tk::scalar(tk::I32, int64_t(5)));
  CHECK(out[0] == 3);
  CHECK(out[1] == 2);
}

TEST_CASE("division inside a branch that is not taken") {
  const tk::Kernel kernel = tk::Module::fromSource(R"(
def k(out, a, b):
    if b != 0:
        store(out, a // b)
    else:
        store(out, -1)
)")
                                .kernel("k");
  int32_t out = 5;
  kernel.launch({}, tk::grid(1), &out, tk::scalar(tk::I32, int64_t(17)), tk::scalar(tk::I32, int64_t(0)));
  CHECK(out == -1);
}
