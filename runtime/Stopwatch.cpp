// See Stopwatch.h.
#include "runtime/Stopwatch.h"
#include "runtime/device/GpuDevice.h"
#include "runtime/device/cpu/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <unistd.h>

namespace tk::runtime {

namespace {
using Clock = std::chrono::steady_clock;

/// Memory of twice the host's last-level cache, at most 512 MiB, whose overwriting leaves no other data there. Every thread overwrites a part, since each core
/// has caches of its own as well.
class HostFlush {
public:
  HostFlush() {
    long cache = std::max({sysconf(_SC_LEVEL4_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 0L});
    constexpr size_t unknown = size_t(64) << 20, most = size_t(512) << 20;
    bytes = std::clamp<size_t>(cache > 0 ? 2 * static_cast<size_t>(cache) : unknown, size_t(8) << 20, most);
    memory.reset(new char[bytes]); // not filled: the first flush does
  }
  void operator()() {
    ++value;
    threads.parallelFor(bytes, size_t(1) << 20, [this](uint64_t begin, uint64_t end) { std::memset(memory.get() + begin, value, end - begin); });
  }

private:
  size_t bytes;
  std::unique_ptr<char[]> memory;
  unsigned char value = 0; // another one each time, so that the fill can't be left out
  ThreadPool threads;
};

/// Memory of a GPU whose filling leaves no other data in its cache, and takes long enough for the host to enqueue a run.
class DeviceFlush {
public:
  explicit DeviceFlush(GpuDevice &gpu) : gpu(gpu), bytes(std::max<size_t>(2 * gpu.properties().l2Bytes, size_t(64) << 20)), address(gpu.allocate(bytes)) {}
  ~DeviceFlush() {
    try {
      gpu.free(address);
    } catch (const Error &) { // its context is gone
    }
  }
  DeviceFlush(const DeviceFlush &) = delete;
  DeviceFlush &operator=(const DeviceFlush &) = delete;
  void operator()(StreamHandle stream) { gpu.fill(address, 0, bytes, stream); }

private:
  GpuDevice &gpu;
  size_t bytes;
  DeviceAddress address;
};
} // namespace

struct Stopwatch::Impl {
  Stream stream;
  std::function<void()> work;
  Options options;
  GpuDevice *gpu;
  std::unique_ptr<GpuGraph> graph;
  std::unique_ptr<HostFlush> hostFlush;
  std::unique_ptr<DeviceFlush> deviceFlush;
  std::vector<std::pair<Event, Event>> events;
  double last = 0; // seconds of the latest run

  void putRun() {
    if (graph)
      graph->launch(stream.handle());
    else
      work();
  }
  void runOnHost(unsigned count, std::vector<double> &seconds);
  void runOnGpu(unsigned count, std::vector<double> &seconds);
};

Stopwatch::Stopwatch(const Stream &stream, std::function<void()> work, Options options)
    : impl(new Impl{stream, std::move(work), std::move(options), stream.device().implementation(), nullptr, nullptr, nullptr, {}}) {
  if (!impl->gpu) {
    if (impl->options.flushCache)
      impl->hostFlush = std::make_unique<HostFlush>();
    return;
  }
  if (impl->options.graph) {
    if (!stream.handle())
      throw Error(ErrorKind::User, "work on the default stream can't be recorded into a graph: use Device::newStream()");
    impl->graph = impl->gpu->capture(stream.handle(), impl->work);
  }
  if (impl->options.flushCache && !impl->gpu->properties().emulated) // whose time says nothing
    impl->deviceFlush = std::make_unique<DeviceFlush>(*impl->gpu);
}

Stopwatch::~Stopwatch() = default;

void Stopwatch::Impl::runOnHost(unsigned count, std::vector<double> &seconds) {
  for (unsigned i = 0; i < count; ++i) {
    if (options.prepare)
      options.prepare();
    if (hostFlush)
      (*hostFlush)();
    auto start = Clock::now();
    work();
    stream.synchronize();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
}

void Stopwatch::Impl::runOnGpu(unsigned count, std::vector<double> &seconds) {
  // Nothing precedes a run then: another run of it keeps the device busy, where one is so short that the host's time would show.
  const bool doubled = !deviceFlush && !options.prepare && last > 0 && last < 200e-6 && !gpu->properties().emulated;
  while (events.size() < count)
    events.emplace_back(Event(stream.device()), Event(stream.device()));
  for (unsigned i = 0; i < count; ++i) {
    if (deviceFlush)
      (*deviceFlush)(stream.handle());
    if (options.prepare)
      options.prepare();
    if (doubled)
      putRun();
    events[i].first.record(stream);
    putRun();
    events[i].second.record(stream);
  }
  stream.synchronize();
  for (unsigned i = 0; i < count; ++i)
    seconds.push_back(events[i].second.secondsSince(events[i].first));
}

std::vector<double> Stopwatch::run(unsigned count) {
  constexpr unsigned most = 64; // enqueued at a time
  std::vector<double> seconds;
  seconds.reserve(count);
  if (!impl->gpu)
    impl->runOnHost(count, seconds);
  else
    for (unsigned done = 0; done < count; done += most)
      impl->runOnGpu(std::min(most, count - done), seconds);
  if (!seconds.empty())
    impl->last = seconds.back();
  return seconds;
}

BenchmarkResult summaryOf(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  BenchmarkResult result;
  result.runs = static_cast<unsigned>(seconds.size());
  result.minimum = seconds[0];
  result.median = seconds[seconds.size() / 2];
  result.p95 = seconds[std::min(seconds.size() - 1, seconds.size() * 95 / 100)];
  result.mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  return result;
}

} // namespace tk::runtime
