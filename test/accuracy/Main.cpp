// tk-accuracy: the largest error of every elementary function of one fp32 argument, compiled for the CPU, over a part of all arguments or over all of them. See
// README.md.
#include "Double.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "test/unit/math/Reference.h"
#include "tk/tk.h"
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <vector>

namespace tk::accuracy {

namespace {
constexpr size_t batchSize = size_t(1) << 20, chunkSize = size_t(1) << 12;

struct Elementary {
  const char *name;
  double ulp;
};
const Elementary functions[] = {
#define TK_ELEMENTARY(name, ulp) {#name, ulp},
#include "Functions.def"
};

struct Worst {
  double error = -1;
  float x = 0, got = 0;
  void take(const Worst &other) {
    if (other.error > error || (other.error == error && std::bit_cast<uint32_t>(other.x) < std::bit_cast<uint32_t>(x)))
      *this = other;
  }
};

/// The distance of `got` from `exact` in units of the last place of `exact`, subnormal results included. Infinity counts as 2^128 where the exact result is
/// finite; a number for NaN, NaN for a number, or a zero of the wrong sign are infinitely far off.
double errorOf(float got, double exact) {
  constexpr double infinite = HUGE_VAL, end = 0x1p128, roundsToInfinity = 0x1.ffffffp127;
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : infinite;
  if (got == 0 && std::signbit(got) != std::signbit(exact))
    return infinite;
  double value = got;
  if (std::isinf(got)) {
    if (std::abs(exact) >= roundsToInfinity)
      return std::signbit(got) == std::signbit(exact) ? 0 : infinite;
    value = std::copysign(end, value);
  }
  if (std::isinf(exact))
    return infinite;
  uint64_t exponent = std::bit_cast<uint64_t>(exact) >> 52 & 0x7ff;
  exponent = std::max<uint64_t>(std::min<uint64_t>(exponent, 1023 + 127), 1023 - 126);
  return std::abs(value - exact) / std::bit_cast<double>((exponent - 23) << 52);
}

/// The largest error over the arguments whose bits are first, first + step, ... below 2^32.
Worst measure(const std::string &name, uint32_t first, uint64_t step, runtime::ThreadPool &pool) {
  std::string call = name == "sqrt" ? "sqrt(v)" : "libdevice." + name + "(v)";
  Kernel kernel =
      Module::fromSource("def k(x, out, BLOCK: constexpr):\n    o = program_id(0) * BLOCK + arange(0, BLOCK)\n    v = load(x + o)\n    store(out + o, " + call +
                         ")\n")
          .kernel("k");
  Function exact = doubleFunction(name);
  std::vector<float> x(batchSize), out(batchSize);
  Worst worst;
  std::mutex mutex;
  for (uint64_t next = first; next <= UINT32_MAX;) {
    // Past the end the last argument is repeated.
    for (size_t i = 0; i < batchSize; ++i, next += step)
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(std::min<uint64_t>(next, UINT32_MAX)));
    kernel.launch({}, grid(batchSize / chunkSize), x.data(), out.data(), meta("BLOCK", static_cast<int64_t>(chunkSize)));
    pool.parallelFor(batchSize, chunkSize, [&](uint64_t begin, uint64_t end) {
      double wide[chunkSize], reference[chunkSize];
      Worst mine;
      for (; begin < end; begin += chunkSize) {
        size_t count = std::min<size_t>(chunkSize, end - begin);
        for (size_t i = 0; i < count; ++i)
          wide[i] = x[begin + i];
        exact(wide, reference, (count + 3) / 4 * 4);
        for (size_t i = 0; i < count; ++i)
          if (double error = errorOf(out[begin + i], reference[i]); error > mine.error)
            mine = {error, x[begin + i], out[begin + i]};
      }
      std::lock_guard lock(mutex);
      worst.take(mine);
    });
  }
  return worst;
}

/// The error of one result by MPFR; negative when it has no such function.
double confirmed(const std::string &name, const Worst &worst) {
  Exact exact;
  if (!reference(name, exact.value, Exact(worst.x).value, Exact(0).value, worst.got))
    return -1;
  return ulpDistance(worst.got, exact.value, 24, -126, 128);
}

int run(uint64_t step, const std::vector<std::string> &names) {
  runtime::ThreadPool pool;
  unsigned passed = 0, failed = 0;
  for (const Elementary &function : functions) {
    bool wanted = names.empty();
    for (const std::string &name : names)
      wanted |= name == function.name;
    if (!wanted)
      continue;
    auto start = std::chrono::steady_clock::now();
    Worst worst = measure(function.name, 0, step, pool);
    double exact = confirmed(function.name, worst), seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // Both measures must agree, else one of them is wrong.
    bool agrees = exact < 0 || std::abs(exact - worst.error) < 1e-6 || (std::isinf(exact) && std::isinf(worst.error));
    bool right = worst.error <= function.ulp && agrees;
    fmt::print("{} {:<6} {:.4f} ulp of {} at {:a} (gives {:a}){}  {:.1f} s\n", right ? "ok  " : "FAIL", function.name, worst.error, function.ulp, worst.x,
               worst.got, agrees ? "" : fmt::format(", {:.4f} by MPFR", exact), seconds);
    std::fflush(stdout);
    ++(right ? passed : failed);
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed || !passed;
}
} // namespace

} // namespace tk::accuracy

int main(int count, char **arguments) {
  uint64_t step = 4099;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument == "--exhaustive")
      step = 1;
    else if (argument == "--step" && i + 1 < count)
      step = std::max<uint64_t>(1, std::strtoull(arguments[++i], nullptr, 10));
    else if (argument.starts_with("-")) {
      fmt::print(stderr, "usage: tk-accuracy [--exhaustive | --step N] [FUNCTION ...]\n");
      return 2;
    } else {
      names.push_back(argument);
    }
  }
  return tk::accuracy::run(step, names);
}
