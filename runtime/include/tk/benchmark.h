// How long work on a stream takes.
#pragma once
#include "tk/device.h"
#include <functional>

namespace tk {

struct BenchmarkOptions {
  double warmupMs = 25, repMs = 100; // how long to warm up and to measure, at least one run each
  unsigned repetitions = 0;          // instead of repMs
  bool flushCache = true;            // overwrite the device's last-level cache before each run, outside of the time
  bool graph = false;                // GPU: record the work once and replay it, so that the host's cost is not part of the time
};

struct BenchmarkResult {
  double minimum = 0, median = 0, p95 = 0, mean = 0; // seconds
  unsigned runs = 0;
};

/// Runs `work`, which puts work on the stream, again and again. On a GPU time is the device's, between events; on the host it is the wall clock's.
/// Throws what `work` throws.
BenchmarkResult benchmark(const Stream &stream, const std::function<void()> &work, const BenchmarkOptions &options = {});

} // namespace tk
