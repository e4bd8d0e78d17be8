// Launches on the host from many threads: the first one, the growth of the key's table, streams, hooks, tuning.
#include "Catch.h"
#include "TestFrontend.h"
#include "test/unit/runtime/Thrown.h"
#include <numeric>
#include <random>

using namespace tk;
using namespace tk::test;

namespace {
constexpr int threads = 8;

/// A kernel whose code nothing has yet: neither memory nor disk.
Kernel newKernel() {
  static int count = 0;
  useTestFrontend();
  return moduleOf("launch " + std::to_string(count++)).kernel("add");
}
/// V for code that no other test has asked for: code is found on the disk by what it is, not by its file.
int newValue() {
  static std::atomic<int> next{0};
  return 4 * next++;
}
} // namespace

TEST_CASE("threads that launch first together compile once") {
  for (int round = 0; round < 20; ++round) {
    Kernel kernel = newKernel();
    const int before = asked().compiled, value = newValue();
    std::vector<int64_t> out(threads * 8);
    CHECK(onThreads(threads, [&](int i) { kernel.launch({}, grid(1), &out[i * 8], 5 + i, meta("V", value)); }).empty());
    CHECK(asked().compiled == before + 1);
    CHECK(kernel.compiledCount() == 1);
    for (int i = 0; i < threads; ++i)
      CHECK(out[i * 8] == 5 + i);
  }
}

TEST_CASE("and load once what is on the disk") {
  const int value = newValue();
  int64_t first = 0;
  newKernel().launch({}, grid(1), &first, 1, meta("V", value));
  const int before = asked().compiled;
  Kernel kernel = newKernel(); // of another file with the same closure
  std::vector<int64_t> out(threads * 8);
  CHECK(onThreads(threads, [&](int i) { kernel.launch({}, grid(1), &out[i * 8], 7, meta("V", value)); }).empty());
  CHECK(asked().compiled == before);
  CHECK(kernel.compiledCount() == 0);
  CHECK(std::accumulate(out.begin(), out.end(), int64_t(0)) == 7 * threads);
}

TEST_CASE("each of many modules and kernels is opened and compiled by threads of its own") {
  useTestFrontend();
  std::vector<int64_t> out(threads * 8);
  CHECK(onThreads(threads, [&](int i) {
          for (int round = 0; round < 10; ++round) {
            Kernel kernel = moduleOf("of thread " + std::to_string(i % 4) + " in round " + std::to_string(round)).kernel("add");
            kernel.launch({}, grid(1), &out[i * 8], 1, meta("V", newValue()));
          }
        }).empty());
  CHECK(std::accumulate(out.begin(), out.end(), int64_t(0)) == 10 * threads);
}

TEST_CASE("the table of keys grows while others read it") {
  Kernel kernel = newKernel();
  constexpr int variants = 100, rounds = 3;
  const int before = asked().compiled, first = newValue();
  for (int i = 1; i < variants; ++i)
    newValue();
  std::vector<int64_t> out(threads * 8);
  CHECK(onThreads(threads, [&](int i) {
          std::vector<int> order(variants);
          std::iota(order.begin(), order.end(), 0);
          std::shuffle(order.begin(), order.end(), std::minstd_rand(static_cast<unsigned>(i + 1)));
          for (int round = 0; round < rounds; ++round)
            for (int variant : order)
              kernel.launch({}, grid(1), &out[i * 8], 3, meta("V", first + 4 * variant));
        }).empty());
  CHECK(asked().compiled == before + variants);
  for (int i = 0; i < threads; ++i)
    CHECK(out[i * 8] == 3 * rounds * variants);
}

TEST_CASE("all that wait for code that does not compile get the error, and the next launch tries again") {
  Kernel kernel = newKernel();
  int64_t out = 0;
  for (int round = 0; round < 3; ++round) {
    const int before = asked().compiled;
    std::vector<std::string> errors = onThreads(threads, [&](int) { kernel.launch({}, grid(1), &out, 1, meta("V", -1)); });
    CHECK(errors.size() == threads);
    for (const std::string &error : errors)
      CHECK(error == "V is -1");
    CHECK(asked().compiled > before);
  }
  CHECK(out == 0);
}

TEST_CASE("launches of several threads on the threads of the device") {
  Kernel kernel = newKernel();
  constexpr int64_t programs = 1000;
  std::vector<std::vector<int64_t>> out(threads, std::vector<int64_t>(programs));
  CHECK(onThreads(threads, [&](int i) {
          for (int round = 0; round < 20; ++round)
            kernel.launch({}, grid(programs), out[i].data(), i);
        }).empty());
  for (int i = 0; i < threads; ++i)
    CHECK(out[i] == std::vector<int64_t>(programs, 20 * i));
}

TEST_CASE("a stream of the host that threads share is an order") {
  Kernel kernel = newKernel();
  Stream stream = Device().newStream();
  constexpr int launches = 50;
  std::vector<int64_t> out(4); // all of them change it, without a lock
  CHECK(onThreads(threads, [&](int) {
          for (int n = 0; n < launches; ++n)
            kernel.launch(stream, grid(4), out.data(), 2);
          stream.synchronize();
        }).empty());
  CHECK(out == std::vector<int64_t>(4, 2 * launches * threads));
  Launcher launcher = kernel.launcher(stream, out.data(), 2);
  launcher.launch(grid(4));
  stream.synchronize();
  CHECK(out[3] == 2 * launches * threads + 2);
}

TEST_CASE("streams wait for each other's events") {
  Kernel kernel = newKernel();
  constexpr int rounds = 30;
  int64_t out = 0; // passed from stream to stream
  std::vector<Stream> streams;
  for (int i = 0; i < 4; ++i)
    streams.push_back(Device().newStream());
  Event turn(Device{});
  for (int round = 0; round < rounds; ++round)
    for (const Stream &stream : streams) {
      turn.wait(stream);
      kernel.launch(stream, grid(1), &out, 1);
      turn.record(stream);
    }
  CHECK(onThreads(threads, [&](int) { turn.synchronize(); }).empty());
  CHECK(out == rounds * 4);
}

TEST_CASE("hooks are changed while others launch") {
  Kernel kernel = newKernel();
  std::atomic<int> told{0}, compilations{0};
  std::atomic<bool> running{true};
  std::vector<int64_t> out(threads * 8);
  std::thread changer([&] {
    for (int n = 0; n < 500 && running; ++n) { // replaced hooks are kept
      Hooks hooks;
      hooks.beforeLaunch = [&](const LaunchReport &report) { told += report.grid.x == 1; };
      hooks.afterCompile = [&](const CompileReport &report) { compilations += report.failure.empty(); };
      setHooks(hooks);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      setHooks({});
    }
  });
  CHECK(onThreads(threads, [&](int i) {
          for (int n = 0; n < 200; ++n)
            kernel.launch({}, grid(1), &out[i * 8], 1, meta("V", n % 20 == 0 ? newValue() : 0));
        }).empty());
  running = false;
  changer.join();
  CHECK(std::accumulate(out.begin(), out.end(), int64_t(0)) == 200 * threads);
  CHECK(told <= 200 * threads);
}

TEST_CASE("threads that launch first together tune once") {
  TuneOptions options;
  options.progress = false, options.compileThreads = 4;
  setTuneOptions(options);
  Kernel kernel = newKernel();
  Tuning tuning;
  for (int i = 0; i < 6; ++i)
    tuning.configs.push_back({{"V", newValue()}});
  tuning.key = {"n"}, tuning.warmupMs = 0.1, tuning.repMs = 0.5;
  kernel.tune(tuning);
  const int before = asked().compiled;
  std::vector<Array> out;
  for (int i = 0; i < threads; ++i)
    out.emplace_back(DType::I64, std::vector<int64_t>{1});
  CHECK(onThreads(threads, [&](int i) { kernel.launch({}, grid(1), out[i], 9); }).empty());
  CHECK(asked().compiled == before + 6);
  for (const Array &array : out)
    CHECK(array.getInteger(0) == 9);
  // Another tuning takes the first one's place while launches go on.
  CHECK(onThreads(threads, [&](int i) {
          for (int round = 0; round < 5; ++round)
            if (i == 0)
              kernel.tune(tuning);
            else
              kernel.launch({}, grid(1), out[i], 9 + round);
        }).empty());
}

TEST_CASE("all that wait for a tuning in which nothing works get the reasons") {
  Kernel kernel = newKernel();
  Tuning tuning;
  for (int64_t value : {-1, -2, -3})
    tuning.configs.push_back({{"V", value}});
  kernel.tune(tuning);
  Array out(DType::I64, {1});
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> errors = onThreads(threads, [&](int) { kernel.launch({}, grid(1), out, 1); });
    REQUIRE(errors.size() == threads);
    for (const std::string &error : errors)
      CHECK(contains(error, "V=-2: V is -2"));
  }
}
