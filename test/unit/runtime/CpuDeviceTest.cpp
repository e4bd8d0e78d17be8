// Launches on the host: every program once, in order, with scratch memory; assertions; and programs that wait for each other.
#include "runtime/device/cpu/CpuDevice.h"
#include "tk/error.h"
#include "Catch.h"
#include "Thrown.h"
#include <atomic>
#include <cstring>
#include <set>

using namespace tk;
using namespace tk::runtime;

namespace {
/// What the kernels below share, passed as slot 0.
struct State {
  std::vector<std::atomic<int>> runs;
  std::atomic<uint64_t> counter{0}, arrived{0}, lock{0}, order{0};
  uint64_t guarded = 0;
  bool badArena = false;
  explicit State(size_t programs) : runs(programs) {}
};
State &stateOf(const uint64_t *slots) { return *reinterpret_cast<State *>(slots[0]); }
const TkCpuServices &servicesOf(const void *services) { return *static_cast<const TkCpuServices *>(services); }

template <typename Condition> void spinUntil(const void *services, Condition condition) {
  while (!condition())
    servicesOf(services).yield(servicesOf(services).context);
}

void countPrograms(const uint64_t *slots, const int32_t *, uint64_t begin, uint64_t end, void *arena, const void *) {
  State &state = stateOf(slots);
  if (reinterpret_cast<uintptr_t>(arena) % 64)
    state.badArena = true;
  std::memset(arena, 1, slots[1]);
  for (uint64_t i = begin; i < end; ++i)
    ++state.runs[i];
}

/// Every program waits until all have arrived.
void gridBarrier(const uint64_t *slots, const int32_t *, uint64_t begin, uint64_t end, void *, const void *services) {
  State &state = stateOf(slots);
  for (uint64_t i = begin; i < end; ++i) {
    ++state.arrived;
    spinUntil(services, [&] { return state.arrived == state.runs.size(); });
    ++state.runs[i];
  }
}

/// Program i waits for program i - 1.
void chain(const uint64_t *slots, const int32_t *, uint64_t begin, uint64_t end, void *, const void *services) {
  State &state = stateOf(slots);
  for (uint64_t i = begin; i < end; ++i) {
    spinUntil(services, [&] { return state.counter == i; });
    ++state.runs[i];
    state.counter = i + 1;
  }
}

/// Program i waits for program i + 1.
void backwardChain(const uint64_t *slots, const int32_t *, uint64_t begin, uint64_t end, void *, const void *services) {
  State &state = stateOf(slots);
  uint64_t count = state.runs.size();
  for (uint64_t i = begin; i < end; ++i) {
    spinUntil(services, [&] { return state.counter == count - 1 - i; });
    ++state.runs[i];
    ++state.counter;
  }
}

void spinLock(const uint64_t *slots, const int32_t *, uint64_t begin, uint64_t end, void *, const void *services) {
  State &state = stateOf(slots);
  for (uint64_t i = begin; i < end; ++i) {
    spinUntil(services, [&] { return state.lock.exchange(1) == 0; });
    uint64_t value = state.guarded;
    servicesOf(services).yield(servicesOf(services).context); // others run while the lock is held
    state.guarded = value + 1;
    state.lock = 0;
  }
}

/// Program 3 fails; all the others wait for ever.
void failing(const uint64_t *slots, const int32_t *, uint64_t begin, uint64_t end, void *, const void *services) {
  for (uint64_t i = begin; i < end; ++i) {
    if (i == slots[1]) {
      int32_t program[3] = {static_cast<int32_t>(i % 4), static_cast<int32_t>(i / 4), 0};
      return servicesOf(services).assertFailed(servicesOf(services).context, "k.tk:3: n is negative", program);
    }
    spinUntil(services, [] { return false; });
  }
}

void printing(const uint64_t *, const int32_t *, uint64_t begin, uint64_t end, void *, const void *services) {
  for (uint64_t i = begin; i < end; ++i) {
    std::string line = "program " + std::to_string(i);
    servicesOf(services).print(servicesOf(services).context, line.data(), line.size());
  }
}

void overrun(const uint64_t *, const int32_t *, uint64_t, uint64_t, void *arena, const void *) { static_cast<char *>(arena)[0] = 1; }

bool allOnce(const State &state) {
  for (auto &runs : state.runs)
    if (runs != 1)
      return false;
  return true;
}
} // namespace

TEST_CASE("every program runs once", "[cpu]") {
  for (unsigned threads : {1u, 2u, 5u}) {
    CpuDevice device({threads, {}});
    CHECK(device.threads() == threads);
    for (uint64_t bytes : {uint64_t(0), uint64_t(64), uint64_t(100000), uint64_t(4096)})
      for (std::array<int64_t, 3> grid : {std::array<int64_t, 3>{1, 1, 1}, {7, 1, 1}, {1000, 3, 2}, {0, 5, 5}}) {
        State state(static_cast<size_t>(grid[0] * grid[1] * grid[2]));
        uint64_t slots[] = {reinterpret_cast<uintptr_t>(&state), bytes};
        device.launch({countPrograms, bytes, false}, slots, grid);
        CHECK(allOnce(state));
        CHECK_FALSE(state.badArena);
      }
  }
}

TEST_CASE("a choice of programs", "[cpu]") {
  CpuDevice device({2, {}});
  State state(100);
  uint64_t slots[] = {reinterpret_cast<uintptr_t>(&state), 0};
  std::vector<uint64_t> programs = {0, 5, 99};
  device.launch({countPrograms, 0, false}, slots, {10, 10, 1}, &programs);
  for (uint64_t i = 0; i < 100; ++i)
    CHECK(state.runs[i] == (i == 0 || i == 5 || i == 99));
  programs = {100};
  CHECK_THROWS_AS(device.launch({countPrograms, 0, false}, slots, {10, 10, 1}, &programs), Error);
}

TEST_CASE("programs that wait for each other make progress", "[cpu]") {
  for (unsigned threads : {1u, 2u, 4u})
    for (auto [entry, programs] : {std::pair<CpuEntry, size_t>{gridBarrier, 200}, {chain, 200}, {backwardChain, 100}, {spinLock, 500}}) {
      CpuDevice device({threads, {}});
      for (int repetition = 0; repetition < 2; ++repetition) {
        State state(programs);
        uint64_t slots[] = {reinterpret_cast<uintptr_t>(&state)};
        device.launch({entry, 128, true}, slots, {static_cast<int64_t>(programs), 1, 1});
        if (entry == spinLock)
          CHECK(state.guarded == programs);
        else
          CHECK(allOnce(state));
      }
    }
}

TEST_CASE("a failed assertion ends the launch, waiting programs included", "[cpu]") {
  for (unsigned threads : {1u, 3u}) {
    CpuDevice device({threads, {}});
    uint64_t slots[] = {0, 6};
    CHECK(thrown([&] { device.launch({failing, 64, true}, slots, {4, 5, 1}); }) == "device assertion failed: k.tk:3: n is negative [program (2, 1, 0)]");
    State state(50);
    uint64_t good[] = {reinterpret_cast<uintptr_t>(&state), 0};
    device.launch({countPrograms, 0, false}, good, {50, 1, 1});
    CHECK(allOnce(state));
  }
}

TEST_CASE("printed lines arrive whole", "[cpu]") {
  std::multiset<std::string> lines;
  CpuDevice device({4, [&](std::string_view line) { lines.insert(std::string(line)); }});
  device.launch({printing, 0, false}, nullptr, {100, 1, 1});
  CHECK(lines.size() == 100);
  CHECK(lines.count("program 42") == 1);
}

TEST_CASE("grids and scratch memory that can't be", "[cpu]") {
  CpuDevice device({2, {}});
  CHECK_THROWS_AS(device.launch({countPrograms, 0, false}, nullptr, {-1, 1, 1}), Error);
  CHECK_THROWS_AS(device.launch({countPrograms, 0, false}, nullptr, {int64_t(1) << 31, 1, 1}), Error);
  CHECK_THROWS_AS(device.launch({countPrograms, 0, false}, nullptr, {INT32_MAX, INT32_MAX, INT32_MAX}), Error);
  try {
    device.launch({overrun, uint64_t(1) << 60, false}, nullptr, {1, 1, 1});
    FAIL("2^60 bytes were allocated");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::Device);
  }
}

TEST_CASE("the pool covers a range once and passes exceptions on", "[cpu]") {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> hits(100003);
  pool.parallelFor(hits.size(), 10, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      ++hits[i];
  });
  for (auto &hit : hits)
    REQUIRE(hit == 1);
  for (int i = 0; i < 20; ++i)
    CHECK(thrown([&] { pool.run(4, [](unsigned) { throw Error(ErrorKind::User, "from a worker"); }); }) == "from a worker");
  std::atomic<int> nested{0};
  pool.run(2, [&](unsigned) { pool.run(3, [&](unsigned) { ++nested; }); });
  CHECK(nested == 6);
  std::vector<std::thread> callers;
  std::atomic<int> total{0};
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 200; ++j)
        pool.run(4, [&](unsigned) { ++total; });
    });
  for (auto &caller : callers)
    caller.join();
  CHECK(total == 4 * 200 * 4);
}
