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
  auto spend = [&](double milliseconds, unsigned wanted) {
    const auto start = Clock::now();
    auto elapsed = [&] { return 1e3 * std::chrono::duration<double>(Clock::now() - start).count(); };
    std::vector<double> seconds;
    do {
      double now = elapsed(), perRun = seconds.empty() ? 0 : now / static_cast<double>(seconds.size());
      double fits = seconds.empty() ? 1 : std::min((milliseconds - now) / perRun, std::max(1.0, 0.1 * milliseconds / perRun));
      unsigned count = wanted ? wanted - static_cast<unsigned>(seconds.size()) : 0;
      if (!wanted)
        count = static_cast<unsigned>(std::clamp(fits, 1.0, std::min(1000.0, 1.0 + 4.0 * static_cast<double>(seconds.size()))));
      std::vector<double> round = stopwatch.run(count);
      seconds.insert(seconds.end(), round.begin(), round.end());
    } while (wanted ? seconds.size() < wanted : elapsed() < milliseconds);
    return seconds;
  };
  spend(options.warmupMs, 0);
  return runtime::summaryOf(spend(options.repMs, options.repetitions));
}

} // namespace tk
