// Events and tk::benchmark: on the host, on a driver made of C++ functions, and on the emulated one.
#include "Catch.h"
#include "FakeDriver.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "test/unit/runtime/Thrown.h"
#include "tk/tk.h"
#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

using namespace tk;

namespace {
void sleepFor(double milliseconds) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds)); }
} // namespace

TEST_CASE("events on the host are moments") {
  Stream stream;
  Event start{Device()}, stop{Device()}, never{Device()};
  start.record(stream);
  sleepFor(5);
  stop.record(stream);
  CHECK(stop.secondsSince(start) >= 0.005);
  CHECK(start.secondsSince(stop) == -stop.secondsSince(start));
  stop.synchronize(), never.synchronize(), never.wait(stream), stop.wait(stream);
  CHECK(thrown(ErrorKind::User, [&] { never.secondsSince(start); }) == "time can't be taken between events: the later one was never recorded");
  CHECK(thrown(ErrorKind::User, [&] { start.secondsSince(never); }) == "time can't be taken between events: the earlier one was never recorded");
}

TEST_CASE("a new stream of the host comes to its events in order") {
  Stream first = Device().newStream(), second = Device().newStream();
  Kernel kernel =
      Module::fromSource("def spin(x, y, n):\n    for i in range(n):\n        tl.store(x, tl.load(x) + 1)\n    tl.store(y, tl.load(x))\n").kernel("spin");
  int32_t x = 0, y = 0, z = 0;
  kernel.prepare(first, &x, &y, 1000000);
  Event start{Device()}, done{Device()};
  start.record(first);
  kernel.launch(first, grid(1), &x, &y, 1000000);
  done.record(first);
  done.wait(second);
  kernel.launch(second, grid(1), &y, &z, 10); // after the other one
  second.synchronize();
  CHECK(z == 1000010);
  CHECK(done.secondsSince(start) > 0);
  done.synchronize();
  // An event comes even where a failure before it makes the stream drop what follows.
  Kernel failing = Module::fromSource("def fail(x):\n    tl.device_assert(tl.load(x) < 0, \"negative\")\n").kernel("fail");
  failing.launch(first, grid(1), &x, meta("debug", true));
  done.record(first);
  done.synchronize();
  CHECK(contains(thrown(ErrorKind::User, [&] { first.synchronize(); }), "negative"));
}

TEST_CASE("events of a GPU are its driver's") {
  fake::reset();
  auto gpus = runtime::openCudaDevices(fake::driver());
  Device device(gpus.at(0).get());
  {
    Stream stream = device.newStream(), other = device.newStream();
    Event start(device), stop(device);
    CHECK(fake::state().events == 0);
    start.wait(other); // never recorded: nothing to wait for
    CHECK(fake::state().waits.empty());
    CHECK(thrown(ErrorKind::User, [&] { stop.secondsSince(start); }) == "time can't be taken between events: the earlier one was never recorded");
    start.record(stream), stop.record(stream), stop.record(stream);
    CHECK(fake::state().events == 2);
    CHECK(stop.secondsSince(start) == Approx(0.0015));
    stop.wait(other);
    REQUIRE(fake::state().waits.size() == 1);
    CHECK(fake::state().waits[0].first == other.handle());
    CHECK(thrown(ErrorKind::User, [&] { start.record(Stream()); }).find("an event of Fake GPU can't be recorded on a stream of CPU") == 0);
    CHECK(thrown(ErrorKind::User, [&] { stop.wait(Stream()); }).find("an event of Fake GPU can't be waited for by a stream of CPU") == 0);
    Event onHost{Device()};
    onHost.record(Stream());
    CHECK(contains(thrown(ErrorKind::User, [&] { onHost.secondsSince(start); }), "time can't be taken between events of Fake GPU and of CPU"));
    fake::state().pending = cuda::Result::IllegalAddress;
    CHECK(thrown(ErrorKind::Device, [&] { stop.synchronize(); }) == "the device failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): fake text");
    fake::state().pending = cuda::Result::Success;
  }
  CHECK(fake::state().events == 0);
}

TEST_CASE("the driver knows how long the memory behind an address is") {
  fake::reset();
  auto gpus = runtime::openCudaDevices(fake::driver());
  runtime::DeviceAddress memory = gpus[0]->allocate(1000);
  CHECK(gpus[0]->allocationOf(memory + 999) == std::pair<runtime::DeviceAddress, size_t>(memory, 1000));
  CHECK(contains(thrown(ErrorKind::Device, [&] { gpus[0]->allocationOf(memory + 1000); }), "lies in no memory of Fake GPU"));
  gpus[0]->free(memory);
  Device emulated = Device::emulated("sm_90a");
  DeviceArray x(emulated, DType::F32, {100});
  auto address = reinterpret_cast<uintptr_t>(x.data());
  CHECK(emulated.implementation()->allocationOf(address + 4) == std::pair<runtime::DeviceAddress, size_t>(address, 400));
  CHECK(contains(thrown(ErrorKind::Device, [&] { emulated.implementation()->allocationOf(reinterpret_cast<uintptr_t>(&x)); }), "lies in no memory"));
}

TEST_CASE("a benchmark on the host: every run is prepared, and only the work is timed") {
  unsigned prepared = 0, worked = 0;
  bool ordered = true;
  BenchmarkOptions options;
  options.warmupMs = 0, options.repetitions = 8, options.flushCache = false;
  options.prepare = [&] { ++prepared, sleepFor(4); };
  BenchmarkResult result = benchmark(Stream(), [&] { ++worked, sleepFor(worked == 5 ? 8 : 1), ordered &= worked == prepared; }, options);
  CHECK(ordered);
  CHECK(result.runs == 8);
  CHECK(worked == 9); // one for what happens once
  CHECK(result.minimum >= 0.001);
  CHECK(result.minimum < 0.004);
  CHECK(result.minimum <= result.median);
  CHECK(result.median <= result.p95);
  CHECK(result.p95 >= 0.008);
  CHECK(result.mean >= (7 * 0.001 + 0.008) / 8);
  CHECK(result.median < 0.008);
}

TEST_CASE("a benchmark keeps to its time and flushes the cache") {
  auto start = std::chrono::steady_clock::now();
  BenchmarkOptions options;
  options.warmupMs = 10, options.repMs = 50, options.flushCache = false;
  CHECK(benchmark(Stream(), [&] { sleepFor(0.1); }, options).runs > 3);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  // What lay in the core's own cache before comes from farther away: each line tells which one is next, so that every read waits for the one before.
  constexpr size_t lines = 2048, words = 8; // of 64 bytes
  std::vector<size_t> order(lines), next(lines * words);
  std::iota(order.begin(), order.end(), size_t(0));
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
  for (size_t i = 0; i < lines; ++i)
    next[order[i] * words] = order[(i + 1) % lines] * words;
  volatile size_t last = 0;
  auto read = [&] {
    size_t at = 0;
    for (size_t i = 0; i < lines; ++i)
      at = next[at];
    last = at;
  };
  options.repMs = 20;
  double warm = benchmark(Stream(), read, options).minimum;
  options.flushCache = true, options.repetitions = 3;
  CHECK(benchmark(Stream(), read, options).minimum > warm);
  CHECK(contains(thrown(ErrorKind::User, [&] { benchmark(Stream(), {}, options); }), "no work"));
  options.repMs = -1;
  CHECK(contains(thrown(ErrorKind::User, [&] { benchmark(Stream(), read, options); }), "`repMs` must lie between 0 and 1e9 milliseconds, found -1"));
  options.repMs = 1;
  CHECK(thrown(ErrorKind::User, [&] { benchmark(Stream(), [] { throw Error(ErrorKind::User, "the work's own"); }, options); }) == "the work's own");
}

TEST_CASE("a benchmark on a GPU: events around each run, graphs on request") {
  Device device = Device::emulated("sm_90a");
  Stream stream = device.newStream();
  DeviceArray x(device, DType::I32, {256});
  Kernel kernel = Module::fromSource("def bump(x, BLOCK: tl.constexpr = 256):\n"
                                     "    i = tl.arange(0, BLOCK)\n"
                                     "    tl.store(x + i, tl.load(x + i) + 1)\n")
                      .kernel("bump");
  BenchmarkOptions options;
  options.warmupMs = 0, options.repetitions = 3;
  BenchmarkResult result = benchmark(stream, [&] { kernel.launch(stream, grid(1), x); }, options);
  CHECK(result.runs == 3);
  CHECK(result.minimum > 0);
  CHECK(x.toHost(stream).getInteger(255) == 4); // compiled, measured
  options.graph = true;
  CHECK(benchmark(stream, [&] { kernel.launch(stream, grid(1), x); }, options).runs == 3);
  CHECK(x.toHost(stream).getInteger(0) == 8);
  CHECK(contains(thrown(ErrorKind::User, [&] { benchmark(device.stream(), [&] { kernel.launch(device.stream(), grid(1), x); }, options); }), "newStream()"));
  options.graph = false;
  options.prepare = [&] { device.implementation()->fill(reinterpret_cast<uintptr_t>(x.data()), 0, x.bytes(), stream.handle()); };
  benchmark(stream, [&] { kernel.launch(stream, grid(1), x); }, options);
  CHECK(x.toHost(stream).getInteger(7) == 1);
}
