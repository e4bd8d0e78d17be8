// Single runs of work on a stream, timed: what tk::benchmark, the tuner and `tkc run` measure with.
//
// On a GPU a run's time is the device's, between two events; runs are enqueued many at a time, and what is put before each one (the flush of the cache, what
// `prepare` does) keeps the device busy until the host has enqueued the run, so that no host time is in it. On the host it is the wall clock's.
#pragma once
#include "tk/benchmark.h"
#include <memory>
#include <vector>

namespace tk::runtime {

/// Not thread-safe. `work` and `prepare` may be called any number of times until it is destroyed.
class Stopwatch {
public:
  struct Options {
    bool flushCache = true;
    bool graph = false;            // GPU: one run of `work` is recorded now, and replayed
    std::function<void()> prepare; // before each run, outside of the time: puts work on the stream, or does it
  };
  Stopwatch(const Stream &stream, std::function<void()> work, Options options);
  ~Stopwatch();
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

  /// Runs `count` times and waits; the seconds of each run, in order. Throws what the work or the device throws.
  std::vector<double> run(unsigned count);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Of at least one run.
BenchmarkResult summaryOf(std::vector<double> seconds);

} // namespace tk::runtime
