// First contents: reproducible, independent of threads, right in distribution, and refused where they can't stand.
#include "runtime/Initialise.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "tk/error.h"
#include "Catch.h"
#include "Thrown.h"
#include <cmath>
#include <cstring>
#include <set>

using namespace tk;
using namespace tk::runtime;

namespace {
Array made(DType type, int64_t size, const char *kind, std::vector<double> parameters = {}, uint64_t seed = 1, ThreadPool *pool = nullptr) {
  Array array(type, {size});
  fill(array, makeInitializer(kind, parameters, seed), pool);
  return array;
}
} // namespace

TEST_CASE("values depend on the seed and the index alone", "[initialise]") {
  ThreadPool pool(3);
  for (const char *kind : {"rand", "randn"}) {
    Array one = made(DType::F32, 100000, kind), many = made(DType::F32, 100000, kind, {}, 1, &pool), other = made(DType::F32, 100000, kind, {}, 2), part = made(DType::F32, 1000, kind);
    CHECK(std::memcmp(one.data(), many.data(), one.bytes()) == 0);
    CHECK(std::memcmp(one.data(), part.data(), part.bytes()) == 0);
    CHECK(std::memcmp(one.data(), other.data(), one.bytes()) != 0);
  }
  CHECK(seedOfName("x") != seedOfName("y"));
}

TEST_CASE("distributions", "[initialise]") {
  const int64_t n = 200000;
  Array uniform = made(DType::F64, n, "rand"), normal = made(DType::F64, n, "randn");
  double sum = 0, normalSum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    REQUIRE((uniform.get(i) >= 0 && uniform.get(i) < 1));
    REQUIRE(std::isfinite(normal.get(i)));
    sum += uniform.get(i), normalSum += normal.get(i), squares += normal.get(i) * normal.get(i);
  }
  CHECK(std::fabs(sum / n - 0.5) < 0.005);
  CHECK(std::fabs(normalSum / n) < 0.01);
  CHECK(std::fabs(squares / n - 1) < 0.02);
  for (DType type : {DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2, DType::F32})
    for (Array values = made(type, 20000, "rand"); int64_t i : {0, 1, 2, 777, 19999})
      CHECK(values.get(i) < 1);
  std::set<int64_t> seen;
  Array dice = made(DType::I8, 10000, "randint", {1, 7});
  for (int64_t i = 0; i < dice.size(); ++i)
    seen.insert(dice.getInteger(i));
  CHECK(seen == std::set<int64_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("plain values", "[initialise]") {
  CHECK(made(DType::BF16, 3, "ones").get(2) == 1);
  CHECK(made(DType::F16, 3, "full", {0.1}).get(1) == static_cast<double>(static_cast<_Float16>(0.1)));
  CHECK(made(DType::I32, 5, "arange").getInteger(4) == 4);
  CHECK(made(DType::I32, 5, "arange", {3}).getInteger(4) == 12);
  CHECK(made(DType::F32, 5, "arange", {1, 0.5}).get(4) == 3);
  CHECK(made(DType::U8, 300, "arange").getInteger(299) == 43);
  CHECK(made(DType::I1, 300, "randn").getInteger(299) <= 1);
}

TEST_CASE("what can't stand is refused", "[initialise]") {
  CHECK_THROWS_AS(made(DType::I8, 3, "full", {300}), Error);
  CHECK_THROWS_AS(made(DType::I8, 3, "full", {0.5}), Error);
  CHECK_THROWS_AS(made(DType::U8, 3, "randint", {-1, 4}), Error);
  CHECK_THROWS_AS(made(DType::I32, 3, "arange", {0, 0.5}), Error);
  CHECK(contains(thrown([&] { makeInitializer("randint", {4, 4}, 0); }), "lo < hi"));
  CHECK(contains(thrown([&] { makeInitializer("randint", {}, 0); }), "expected `randint(hi) or randint(lo, hi)`"));
  CHECK(contains(thrown([&] { makeInitializer("zeros", {1}, 0); }), "expected `zeros`"));
  CHECK(contains(thrown([&] { makeInitializer("empty", {}, 0); }), "unknown initialiser `empty`"));
}
