// tk::benchmark: rounds of runs until their time is over.
#include "tk/benchmark.h"
#include "runtime/Stopwatch.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace tk {

static void checkTime(const char *name, double milliseconds) {
  if (!(milliseconds >= 0 && milliseconds <= 1e9))
    throw Error(ErrorKind::User, fmt::format("benchmark: `{}` must lie between 0 and 1e9 milliseconds, found {}", name, milliseconds));
}

BenchmarkResult benchmark(const Stream &stream, const std::function<void()> &work, const BenchmarkOptions &options) {
  using Clock = std::chrono::steady_clock;
  checkTime("warmupMs", options.warmupMs);
  checkTime("repMs", options.repMs);
  if (!work)
    throw Error(ErrorKind::User, "benchmark: there is no work to run");
  // What happens once comes before everything else: compilation, and loading, which a recording can't hold.
  if (options.prepare)
    options.prepare();
  work();
  stream.synchronize();
  runtime::Stopwatch stopwatch(stream, work, {options.flushCache, options.graph, options.prepare});

  // Rounds grow until one takes a tenth of the time: a short run is not waited for each time, and a long one does not pass the end by much.
  auto spend = [&](double milliseconds, unsigned wanted, size_t atLeast) {
    constexpr double mostElapsed = 10; // times the work's share: flushes and preparations may take longer than short work
    const auto start = Clock::now();
    double worked = 0, left = milliseconds; // milliseconds; `left` as if all of it were work
    std::vector<double> seconds;
    auto isOver = [&] { return wanted ? seconds.size() >= wanted : seconds.size() >= atLeast && left <= 0; };
    do {
      unsigned count = wanted ? wanted - static_cast<unsigned>(seconds.size()) : 1;
      if (!wanted && !seconds.empty()) {
        const double perRun = (milliseconds - left) / static_cast<double>(seconds.size());
        const double fits = std::min(left, std::max(0.1 * milliseconds, perRun)) / perRun;
        count = static_cast<unsigned>(std::clamp(fits, 1.0, std::min(1000.0, 4.0 * static_cast<double>(seconds.size()))));
      }
      for (double one : stopwatch.run(count))
        seconds.push_back(one), worked += 1e3 * one;
      const double elapsed = 1e3 * std::chrono::duration<double>(Clock::now() - start).count();
      left = milliseconds - std::max(worked, elapsed / mostElapsed);
    } while (!isOver());
    return seconds;
  };
  if (options.warmupMs > 0)
    spend(options.warmupMs, 0, 1);
  return runtime::summaryOf(spend(options.repMs, options.repetitions, 3));
}

} // namespace tk
