// Every mathematical function of libdevice, compiled for the CPU, against MPFR: within the bound of Functions.def, and right at the edges.
#include "Library.h"
#include "Reference.h"
#include "Catch.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {
struct Function {
  const char *name;
  unsigned arity;
  double low, high, ulp[2], absolute[2];
};
const Function functions[] = {
#define TK_MATH(name, arity, low, high, ulp32, ulp64, abs32, abs64) {#name, arity, low, high, {ulp32, ulp64}, {abs32, abs64}},
#include "Functions.def"
};

struct Edge {
  const char *function;
  double x, y, result;
};
constexpr double INF = std::numeric_limits<double>::infinity();
const Edge edges[] = {
#define TK_EDGE(function, x, y, result) {#function, x, y, result},
#include "Edges.def"
};

template <typename T> T fromBits(uint64_t bits) {
  T value;
  if constexpr (sizeof(T) == 4) {
    uint32_t low = static_cast<uint32_t>(bits);
    std::memcpy(&value, &low, 4);
  } else {
    std::memcpy(&value, &bits, 8);
  }
  return value;
}

/// Numbers of every magnitude and numbers of [low, high], with the specials among them. Reproducible: the generator is fully specified.
template <typename T> std::vector<T> samples(const Function &function, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {T(0), T(-0.0), T(1), T(-1), T(0.5), T(2), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::min(), Limits::denorm_min(), Limits::max(), -Limits::max()};
  while (values.size() < count) {
    values.push_back(fromBits<T>(random()));
    double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    values.push_back(static_cast<T>(function.low + (function.high - function.low) * unit));
    // near a binary fraction, where reductions change over
    values.push_back(static_cast<T>(std::ldexp(std::floor(unit * 64) / 16 - 2, static_cast<int>(random() % 8)) * (1 + (static_cast<double>(random() % 64) - 32) * Limits::epsilon())));
  }
  return values;
}

template <typename T> void checkAccuracy(const Function &function) {
  using Limits = std::numeric_limits<T>;
  constexpr int which = sizeof(T) == 8;
  std::vector<T> x = samples<T>(function, 2000, 1), y;
  if (function.arity == 2) {
    y = samples<T>(function, 2000, 2);
    std::shuffle(y.begin(), y.end(), std::mt19937_64(3));
  }
  std::vector<T> out = apply<T>(function.name, x, y);
  double worst = 0, worstX = 0, worstY = 0, worstGot = 0;
  Exact exact;
  for (size_t i = 0; i < x.size(); ++i) {
    double second = y.empty() ? 0 : y[i];
    REQUIRE(reference(function.name, exact.value, Exact(x[i]).value, Exact(second).value, out[i]));
    double ulp = ulpDistance(out[i], exact.value, Limits::digits, Limits::min_exponent - 1, Limits::max_exponent);
    if (function.absolute[which] != 0 && std::abs(mpfr_get_d(exact.value, MPFR_RNDN) - static_cast<double>(out[i])) <= function.absolute[which])
      continue;
    if (ulp > worst)
      worst = ulp, worstX = x[i], worstY = second, worstGot = out[i];
  }
  INFO(function.name << (which ? " fp64" : " fp32") << " is off by " << worst << " ulp at (" << worstX << ", " << worstY << "), got " << worstGot);
  CHECK(worst <= function.ulp[which]);
}
} // namespace

TEST_CASE("functions are as accurate as promised in fp32") {
  for (const Function &function : functions)
    checkAccuracy<float>(function);
}

TEST_CASE("functions are as accurate as promised in fp64") {
  for (const Function &function : functions)
    checkAccuracy<double>(function);
}

/// All edges of one function at once: a function is compiled once per type.
template <typename T> static void checkEdges(const std::vector<Edge> &list) {
  std::string name = list[0].function;
  bool two = false;
  for (const char *function : {"atan2", "pow", "hypot", "rhypot", "fmod", "remainder", "fdim", "copysign", "nextafter"})
    two = two || name == function;
  std::vector<T> x, y;
  for (const Edge &edge : list) {
    x.push_back(static_cast<T>(edge.x));
    if (two)
      y.push_back(static_cast<T>(edge.y));
  }
  std::vector<T> out = apply<T>(name, x, y);
  for (size_t i = 0; i < list.size(); ++i) {
    T got = out[i], want = static_cast<T>(list[i].result);
    INFO(name << "(" << list[i].x << ", " << list[i].y << ") is " << got << ", must be " << want << (sizeof(T) == 8 ? " (fp64)" : " (fp32)"));
    CHECK((std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want)));
  }
}

TEST_CASE("functions are right at zeros, infinities, NaN and poles") {
  std::vector<Edge> list;
  for (const Edge &edge : edges) {
    if (!list.empty() && std::strcmp(list[0].function, edge.function)) {
      checkEdges<float>(list);
      checkEdges<double>(list);
      list.clear();
    }
    list.push_back(edge);
  }
  checkEdges<float>(list);
  checkEdges<double>(list);
}
