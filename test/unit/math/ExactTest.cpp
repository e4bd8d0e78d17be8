// The functions of libdevice that have one right answer: rounding to integers, remainders, exponents, arithmetic and conversions in a rounding mode, integers.
// Expected values come from the host's arithmetic, in the host's rounding mode where there is one.
#include "Library.h"
#include "Catch.h"
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {
std::mt19937_64 engine(7);

template <typename T> T anyFloat() {
  using Limits = std::numeric_limits<T>;
  static const T special[] = {T(0), T(-0.0), T(1), T(-1), T(0.1), T(3), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max(), -Limits::max(), Limits::min(), Limits::denorm_min()};
  uint64_t bits = engine();
  if (bits % 8 == 0)
    return special[(bits >> 8) % std::size(special)];
  if (bits % 8 < 4) {
    T value;
    uint64_t pattern = engine();
    std::memcpy(&value, &pattern, sizeof value);
    return value;
  }
  return static_cast<T>(std::ldexp(static_cast<double>(engine() >> 11) * 0x1p-53 * 2 - 1, static_cast<int>((bits >> 8) % 60) - 30));
}

template <typename T> T anyInteger() { return static_cast<T>(static_cast<T>(engine()) >> (engine() % (8 * sizeof(T)))); }

template <typename T> std::vector<T> many(T (*make)(), size_t count = 4000) {
  std::vector<T> values(count);
  for (T &value : values)
    value = make();
  return values;
}

template <typename T> bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
  else
    return a == b;
}

/// Compares with `expected(i)` and names the first difference.
template <typename R, typename E> void check(const std::string &name, const std::vector<R> &got, E expected) {
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (!same<R>(got[i], expected(i)) && !wrong++)
      first = i;
  INFO(name << ": " << wrong << " wrong, first at " << first << ", got " << (got.empty() ? R() : got[first]) << ", must be " << (got.empty() ? R() : R(expected(first))));
  CHECK(wrong == 0);
}

template <typename T> void roundings() {
  std::vector<T> x = many(anyFloat<T>), y = many(anyFloat<T>);
  for (size_t i = 0; i < x.size(); i += 3)
    x[i] = static_cast<T>(static_cast<int64_t>(engine() % 2000) - 1000) / 2;
  check("trunc", apply<T>("trunc", x), [&](size_t i) { return std::trunc(x[i]); });
  check("round", apply<T>("round", x), [&](size_t i) { return std::round(x[i]); });
  check("rint", apply<T>("rint", x), [&](size_t i) { return std::rint(x[i]); });
  check("logb", apply<T>("logb", x), [&](size_t i) { return std::logb(x[i]); });
  check("ilogb", apply<int32_t>("ilogb", x), [&](size_t i) { return std::isnan(x[i]) || x[i] == 0 ? INT32_MIN : std::isinf(x[i]) ? INT32_MAX : std::ilogb(x[i]); });
  check("signbit", apply<int32_t>("signbit", x), [&](size_t i) { return int32_t(std::signbit(x[i])); });
  check("fmod", apply<T>("fmod", x, y), [&](size_t i) { return std::fmod(x[i], y[i]); });
  check("remainder", apply<T>("remainder", x, y), [&](size_t i) { return std::remainder(x[i], y[i]); });
  check("fdim", apply<T>("fdim", x, y), [&](size_t i) { return std::fdim(x[i], y[i]); });
  check("copysign", apply<T>("copysign", x, y), [&](size_t i) { return std::copysign(x[i], y[i]); });
  check("nextafter", apply<T>("nextafter", x, y), [&](size_t i) { return std::nextafter(x[i], y[i]); });
  std::vector<int32_t> n(x.size());
  for (int32_t &value : n)
    value = static_cast<int32_t>(engine() % 4600) - 2300;
  check("ldexp", apply<T, T, int32_t>("ldexp", x, n), [&](size_t i) { return std::ldexp(x[i], n[i]); });
}

struct Mode {
  const char *suffix;
  int flag;
};
const Mode modes[] = {{"_rn", FE_TONEAREST}, {"_rz", FE_TOWARDZERO}, {"_rd", FE_DOWNWARD}, {"_ru", FE_UPWARD}};

/// `operation` on volatile operands in a rounding mode.
template <typename F> auto inMode(int flag, F operation) {
  std::fesetround(flag);
  volatile auto result = operation();
  std::fesetround(FE_TONEAREST);
  return static_cast<std::remove_volatile_t<decltype(result)>>(result);
}

template <typename T> void directed(const Mode &mode) {
  std::vector<T> x = many(anyFloat<T>), y = many(anyFloat<T>), z = many(anyFloat<T>);
  for (size_t i = 0; i < x.size(); i += 5)
    z[i] = -(x[i] * y[i]), y[i + 1 < y.size() ? i + 1 : i] = -x[i + 1 < y.size() ? i + 1 : i];
  auto run = [&](const char *name, auto got, auto operation) {
    check(name + std::string(mode.suffix), got, [&](size_t i) {
      volatile T a = x[i], b = y[i], c = z[i];
      return inMode(mode.flag, [&] { return operation(a, b, c); });
    });
  };
  std::string s = mode.suffix;
  using V = volatile T &;
  run("add", apply<T>("add" + s, x, y), [](V a, V b, V) { return T(a + b); });
  run("sub", apply<T>("sub" + s, x, y), [](V a, V b, V) { return T(a - b); });
  run("mul", apply<T>("mul" + s, x, y), [](V a, V b, V) { return T(a * b); });
  run("div", apply<T>("div" + s, x, y), [](V a, V b, V) { return T(a / b); });
  run("sqrt", apply<T>("sqrt" + s, x), [](V a, V, V) { return T(std::sqrt(T(a))); });
  run("fma", apply<T>("fma" + s, x, y, z), [](V a, V b, V c) { return T(std::fma(T(a), T(b), T(c))); });
}

template <typename I, typename F> void fromInteger(const std::string &name, const Mode &mode) {
  std::vector<I> x = many(anyInteger<I>);
  for (int i = 0; i < 20; ++i)
    x[i] = std::numeric_limits<I>::max() - i, x[20 + i] = std::numeric_limits<I>::min() + i;
  check(name + mode.suffix, apply<F, I>(name + mode.suffix, x), [&](size_t i) {
    volatile I value = x[i];
    return inMode(mode.flag, [&] { return static_cast<F>(value); });
  });
}

template <typename F, typename I> void toInteger(const std::string &name, const Mode &mode) {
  std::vector<F> x = many(anyFloat<F>);
  check(name + mode.suffix, apply<I, F>(name + mode.suffix, x), [&](size_t i) -> I {
    if (std::isnan(x[i]))
      return 0;
    std::fesetround(mode.flag);
    F whole = std::rint(x[i]);
    std::fesetround(FE_TONEAREST);
    F top = std::ldexp(F(1), std::numeric_limits<I>::digits);
    if (whole >= top)
      return std::numeric_limits<I>::max();
    return whole <= static_cast<F>(std::numeric_limits<I>::min()) ? std::numeric_limits<I>::min() : static_cast<I>(whole);
  });
}
} // namespace

TEST_CASE("rounding, remainders and exponents are exact") {
  roundings<float>();
  roundings<double>();
}

TEST_CASE("arithmetic follows its rounding mode") {
  for (const Mode &mode : modes) {
    directed<float>(mode);
    directed<double>(mode);
  }
}

TEST_CASE("conversions follow their rounding mode") {
  for (const Mode &mode : modes) {
    fromInteger<int32_t, float>("int2float", mode);
    fromInteger<int64_t, float>("ll2float", mode);
    fromInteger<int64_t, double>("ll2double", mode);
    toInteger<float, int32_t>("float2int", mode);
    toInteger<float, int64_t>("float2ll", mode);
    toInteger<double, int32_t>("double2int", mode);
    toInteger<double, uint32_t>("double2uint", mode);
    toInteger<double, int64_t>("double2ll", mode);
    std::vector<double> x = many(anyFloat<double>);
    for (size_t i = 0; i < x.size(); i += 2)
      x[i] = static_cast<double>(anyFloat<float>()) * (1 + std::ldexp(static_cast<double>(engine() >> 11), -75));
    check(std::string("double2float") + mode.suffix, apply<float, double>(std::string("double2float") + mode.suffix, x), [&](size_t i) {
      volatile double value = x[i];
      return inMode(mode.flag, [&] { return static_cast<float>(value); });
    });
  }
}

template <typename S> static void integers() {
  using U = std::make_unsigned_t<S>;
  std::vector<S> x = many(anyInteger<S>), y = many(anyInteger<S>);
  x[0] = 0;
  check("popc", apply<int32_t>("popc", x), [&](size_t i) { return int32_t(std::popcount(U(x[i]))); });
  check("clz", apply<int32_t>("clz", x), [&](size_t i) { return int32_t(std::countl_zero(U(x[i]))); });
  check("ffs", apply<int32_t>("ffs", x), [&](size_t i) { return int32_t(x[i] ? std::countr_zero(U(x[i])) + 1 : 0); });
  check("mulhi", apply<S>("mulhi", x, y), [&](size_t i) { return S((static_cast<__int128>(x[i]) * y[i]) >> (8 * sizeof(S))); });
  check("hadd", apply<S>("hadd", x, y), [&](size_t i) { return S((static_cast<__int128>(x[i]) + y[i]) >> 1); });
  check("rhadd", apply<S>("rhadd", x, y), [&](size_t i) { return S((static_cast<__int128>(x[i]) + y[i] + 1) >> 1); });
  check("brev", apply<S>("brev", x), [&](size_t i) {
    U reversed = 0;
    for (unsigned bit = 0; bit < 8 * sizeof(U); ++bit)
      reversed |= ((U(x[i]) >> bit) & 1) << (8 * sizeof(U) - 1 - bit);
    return S(reversed);
  });
}

TEST_CASE("integer functions") {
  integers<int32_t>();
  integers<int64_t>();
  std::vector<int32_t> x = many(anyInteger<int32_t>), y = many(anyInteger<int32_t>), s = many(anyInteger<int32_t>);
  check("byte_perm", apply<int32_t>("byte_perm", x, y, s), [&](size_t i) {
    uint64_t both = uint64_t(uint32_t(y[i])) << 32 | uint32_t(x[i]);
    uint32_t result = 0;
    for (int byte = 0; byte < 4; ++byte)
      result |= uint32_t(both >> (8 * ((uint32_t(s[i]) >> (4 * byte)) & 7)) & 255) << (8 * byte);
    return int32_t(result);
  });
  check("mul24", apply<int32_t>("mul24", x, y), [&](size_t i) { return int32_t(uint32_t(int32_t(uint32_t(x[i]) << 8) >> 8) * uint32_t(int32_t(uint32_t(y[i]) << 8) >> 8)); });
  check("sad", apply<int32_t>("sad", x, y, s), [&](size_t i) { return int32_t(uint32_t(std::abs(int64_t(x[i]) - y[i])) + uint32_t(s[i])); });
}
