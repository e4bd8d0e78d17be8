// How long work on a stream takes.
#pragma once
#include "tk/device.h"
#include <functional>

namespace tk {

struct BenchmarkOptions {
  double warmupMs = 25;              // milliseconds of work to warm up, one run at least; 0: not at all
  double repMs = 100;                // milliseconds of work to measure, three runs at least; with flushes and preparations it ends after ten times as long
  unsigned repetitions = 0;          // instead of repMs
  bool flushCache = true; // before each run, outside of the time, overwrite memory of twice the device's last-level cache (on the host 512 MiB at most)
  bool graph = false;                // GPU: record the work once and replay it, so that the host's cost is not part of the time
  std::function<void()> prepare;     // called before each run, outside of the time: puts back what the work changes. On a GPU it may put work on the stream
};

struct BenchmarkResult {
  double minimum = 0, median = 0, p95 = 0, mean = 0; // seconds
  unsigned runs = 0;
};

/// Runs `work`, which puts work on the stream, again and again. On a GPU time is the device's, between events; on the host it is the wall clock's.
/// Throws what `work` throws, and Error(User) for a graph on a GPU's default stream, which can't be recorded.
BenchmarkResult benchmark(const Stream &stream, const std::function<void()> &work, const BenchmarkOptions &options = {});

} // namespace tk
