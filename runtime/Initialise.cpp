// Counter-based generation: value i of a seed comes from mixing (seed, i), so that chunks are independent of each other.
#include "runtime/Initialise.h"
#include "runtime/FloatBits.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "tk/error.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tk::runtime {

namespace {
/// A bijective mixer of 64 bits: multiply and shift, three rounds (the finalizer of SplitMix64).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
uint64_t randomBits(uint64_t seed, uint64_t index) { return mix(mix(seed + 0x9e3779b97f4a7c15) + (index + 1) * 0x9e3779b97f4a7c15); }
/// In [0, 1), 53 bits.
double uniform(uint64_t seed, uint64_t index) { return static_cast<double>(randomBits(seed, index) >> 11) * 0x1p-53; }

/// Indices 2k and 2k+1 share one polar pair.
double normal(uint64_t seed, uint64_t index) {
  uint64_t pair = index & ~uint64_t(1);
  double radius = std::sqrt(-2 * std::log(1 - uniform(seed, pair))), angle = 6.283185307179586 * uniform(seed, pair + 1);
  return radius * (index & 1 ? std::sin(angle) : std::cos(angle));
}

uint64_t uniformBelow(uint64_t bits, uint64_t range) { return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * range) >> 64); }

uint64_t randomValue(const Initializer &init, DType type, uint64_t index) {
  bool floating = isFloat(type);
  switch (init.kind) {
  case Initializer::Rand:
    if (floating) {
      // Rounding to a narrow type must not reach 1.
      double value = uniform(init.seed, index);
      return encodeNumber(type, std::min(value, 1 - unitSpacing(type) / 2));
    }
    return encodeInteger(type, static_cast<int64_t>(uniformBelow(randomBits(init.seed, index), type == DType::I1 ? 2 : 10)));
  case Initializer::Randn: {
    if (type == DType::I1)
      return randomBits(init.seed, index) >> 63;
    double value = normal(init.seed, index);
    if (!floating)
      value = std::nearbyint(3 * value);
    return encodeNumber(type, isUnsigned(type) ? std::fabs(value) : value);
  }
  case Initializer::Arange: {
    double value = init.first + static_cast<double>(index) * init.second;
    return floating ? encodeNumber(type, value) : encodeInteger(type, static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(init.first)) + index * static_cast<uint64_t>(static_cast<int64_t>(init.second))));
  }
  default: { // randint
    int64_t low = static_cast<int64_t>(init.first);
    uint64_t range = static_cast<uint64_t>(static_cast<int64_t>(init.second)) - static_cast<uint64_t>(low);
    return encodeInteger(type, static_cast<int64_t>(static_cast<uint64_t>(low) + uniformBelow(randomBits(init.seed, index), range)));
  }
  }
}

bool isInteger64(double value) { return std::trunc(value) == value && value >= -0x1p63 && value < 0x1p63; }

/// Whether an integer type holds a value unchanged.
bool fits(DType type, double value) { return type == DType::I1 ? value == 0 || value == 1 : decodeNumber(type, encodeNumber(type, value)) == value; }

void checkFits(DType type, double value, const char *what) {
  if (isInteger(type) && !fits(type, value))
    throw Error(ErrorKind::User, fmt::format("{} {} does not fit {}", what, value, spelling(type)));
}

void fillPattern(Array &array, uint64_t bits) {
  unsigned bytes = bytesOf(array.dtype());
  char *data = array.as<char>();
  if (bits == 0)
    std::memset(data, 0, array.bytes());
  else
    for (int64_t i = 0, n = array.size(); i < n; ++i)
      std::memcpy(data + i * bytes, &bits, bytes);
}
} // namespace

uint64_t seedOfName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

Initializer makeInitializer(std::string_view kind, const std::vector<double> &parameters, uint64_t seed) {
  struct Entry {
    std::string_view name;
    Initializer::Kind kind;
    size_t least, most;
    const char *form;
  };
  static constexpr Entry entries[] = {
      {"zeros", Initializer::Zeros, 0, 0, "zeros"},          {"ones", Initializer::Ones, 0, 0, "ones"},
      {"rand", Initializer::Rand, 0, 0, "rand"},             {"randn", Initializer::Randn, 0, 0, "randn"},
      {"arange", Initializer::Arange, 0, 2, "arange, arange(step) or arange(start, step)"}, {"randint", Initializer::Randint, 1, 2, "randint(hi) or randint(lo, hi)"},
      {"full", Initializer::Full, 1, 1, "full(value)"},
  };
  for (const Entry &entry : entries) {
    if (entry.name != kind)
      continue;
    size_t given = parameters.size();
    if (given < entry.least || given > entry.most)
      throw Error(ErrorKind::User, fmt::format("`{}` is given {} parameter{}: expected `{}`", kind, given, given == 1 ? "" : "s", entry.form));
    Initializer result{entry.kind, 0, 0, seed};
    if (entry.kind == Initializer::Arange) {
      result.first = given == 2 ? parameters[0] : 0, result.second = given ? parameters[given - 1] : 1;
    } else if (entry.kind == Initializer::Randint) {
      result.first = given == 2 ? parameters[0] : 0, result.second = parameters[given - 1];
      if (!isInteger64(result.first) || !isInteger64(result.second) || !(result.first < result.second))
        throw Error(ErrorKind::User, fmt::format("`randint({}, {})`: expected integers with lo < hi", result.first, result.second));
    } else if (given) {
      result.first = parameters[0];
    }
    return result;
  }
  throw Error(ErrorKind::User, fmt::format("unknown initialiser `{}`: expected zeros, ones, rand, randn, arange, randint or full", kind));
}

void fill(Array &array, const Initializer &init, ThreadPool *pool) {
  DType type = array.dtype();
  switch (init.kind) {
  case Initializer::Zeros: return fillPattern(array, 0);
  case Initializer::Ones: return fillPattern(array, encodeNumber(type, 1));
  case Initializer::Full: checkFits(type, init.first, "the value"); return fillPattern(array, encodeNumber(type, init.first));
  case Initializer::Randint:
    checkFits(type, init.first, "the bound");
    checkFits(type, init.second - 1, "the bound");
    break;
  case Initializer::Arange:
    if (isInteger(type) && (!isInteger64(init.first) || !isInteger64(init.second)))
      throw Error(ErrorKind::User, fmt::format("`arange({}, {})`: expected integers for {}", init.first, init.second, spelling(type)));
    break;
  default: break;
  }
  auto run = [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      storeBits(type, array.data(), static_cast<int64_t>(i), randomValue(init, type, i));
  };
  uint64_t count = static_cast<uint64_t>(array.size());
  if (pool && count > 1 << 14)
    pool->parallelFor(count, 1 << 12, run);
  else
    run(0, count);
}

} // namespace tk::runtime
