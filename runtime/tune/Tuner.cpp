// See Tuner.h.
//
// Compilation: threads take the next trial each. Then rounds: in each, every trial that is left runs for a while; what is clearly slower than the best goes,
// and of many the slower half, so that time is spent on those that may win. Rounds go over all trials in turn, which spreads what disturbs the machine over
// them.
#include "runtime/tune/Tuner.h"
#include "runtime/Stopwatch.h"
#include "tk/error.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <system_error>
#include <thread>

namespace tk::runtime {

namespace {
constexpr double hopeless = 3;                   // times as slow as the best in its first run: no second one
constexpr double clearlySlow = 1.15;             // the fastest run is this much slower than the best's median
constexpr size_t fewTrials = 4;                  // among which nothing is dropped for its rank alone
constexpr unsigned fewRuns = 3, manyRuns = 1000; // of a trial in a round
constexpr double alike = 0.005;                  // differences that are no reason to leave the first configuration

std::string reasonOf(const std::exception_ptr &failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception &error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown kind";
  }
}

double quantile(std::vector<double> &sorted, double part) { return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)]; }

/// The trials being compiled, by several threads.
class Compilation {
public:
  Compilation(const std::vector<Trial *> &trials, unsigned threads, std::function<bool()> timeIsUp) : trials(trials), timeIsUp(std::move(timeIsUp)) {
    threads = static_cast<unsigned>(std::min<size_t>(std::max(threads, 1u), trials.size()));
    for (unsigned i = 0; i < threads; ++i)
      try {
        workers.emplace_back([this] { work(); });
      } catch (const std::system_error &) { // no more threads: those that are there do it
        break;
      }
    if (workers.empty())
      work();
  }
  ~Compilation() {
    stopping = true;
    for (std::thread &worker : workers)
      worker.join();
  }
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;

  struct Done {
    size_t trial;
    std::string failure; // empty: it is ready
  };
  /// Waits for the next trial that is through. False when there is none left.
  bool next(Done &result) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !done.empty() || handedOut == trials.size(); });
    if (done.empty())
      return false;
    result = std::move(done.front());
    done.pop_front();
    ++handedOut;
    return true;
  }

private:
  void work() {
    for (size_t i; (i = taken++) < trials.size();) {
      std::string failure;
      if (stopping || (timeIsUp() && worked)) {
        failure = "not tried: the time was up";
      } else {
        try {
          trials[i]->compile();
          worked = true;
        } catch (...) {
          failure = reasonOf(std::current_exception());
          failure = failure.empty() ? "it can't be compiled" : failure;
        }
      }
      std::lock_guard lock(mutex);
      done.push_back({i, std::move(failure)});
      changed.notify_all();
    }
  }

  const std::vector<Trial *> &trials;
  std::function<bool()> timeIsUp;
  std::atomic<size_t> taken{0};
  std::atomic<bool> stopping{false}, worked{false};
  std::mutex mutex; // guards what follows
  std::condition_variable changed;
  std::deque<Done> done;
  size_t handedOut = 0;
  std::vector<std::thread> workers;
};

class Tuner {
public:
  Tuner(const std::vector<Trial *> &trials, Measurement &measurement, const TunerOptions &options)
      : trials(trials), measurement(measurement), options(options), start(measurement.now()), samples(trials.size()),
        result{std::vector<TunerResult::Outcome>(trials.size()), 0} {
    progress.trials = trials.size();
  }
  TunerResult run();

private:
  bool timeIsUp(double part = 1) { return measurement.now() - start >= part * options.budgetSeconds; }
  void tell() {
    if (options.progress)
      options.progress(progress);
  }
  void compileAndTry();
  void firstRuns(size_t i);
  bool sample(size_t i, unsigned count);
  void drop(size_t i, std::string reason);
  void giveUpSlow(bool byRank);
  size_t choose() const;
  /// Of the trials that have been measured, the least median.
  double bestMedian() const;
  unsigned runsFor(size_t i, double seconds) const {
    const double one = std::max(result.outcomes[i].seconds, 1e-9);
    return static_cast<unsigned>(std::clamp(seconds / one, one > options.repSeconds ? 1 : double(fewRuns), double(manyRuns)));
  }

  const std::vector<Trial *> &trials;
  Measurement &measurement;
  const TunerOptions &options;
  const double start;
  TuneProgress progress;
  std::vector<std::vector<double>> samples; // sorted seconds of each trial
  std::vector<size_t> left;                 // trials that may win, as configured
  const Trial *reference = nullptr;         // whose results the others' are compared with
  TunerResult result;
};

double Tuner::bestMedian() const {
  double best = std::numeric_limits<double>::infinity();
  for (const TunerResult::Outcome &outcome : result.outcomes)
    best = std::min(best, outcome.seconds);
  return best;
}

void Tuner::drop(size_t i, std::string reason) {
  result.outcomes[i] = {std::numeric_limits<double>::infinity(), result.outcomes[i].runs, std::move(reason)};
  std::erase(left, i);
}

/// More runs of a trial. False when it failed, and is dropped.
bool Tuner::sample(size_t i, unsigned count) {
  std::vector<double> seconds;
  try {
    seconds = measurement.run(*trials[i], count);
  } catch (...) {
    std::string reason = reasonOf(std::current_exception());
    if (std::string lost = measurement.lost(); !lost.empty())
      throw Error(ErrorKind::Device, fmt::format("tuning {} ended at configuration {}: {}{}", options.what, trials[i]->text(), reason,
                                                 reason == lost ? "" : fmt::format("; the device can't be used any more: {}", lost)));
    drop(i, reason.empty() ? "it failed" : reason);
    return false;
  }
  std::vector<double> &all = samples[i];
  all.insert(all.end(), seconds.begin(), seconds.end());
  std::sort(all.begin(), all.end());
  result.outcomes[i].seconds = quantile(all, 0.5), result.outcomes[i].runs = static_cast<unsigned>(all.size());
  if (result.outcomes[i].seconds < progress.bestSeconds)
    progress.bestSeconds = result.outcomes[i].seconds, progress.best = trials[i];
  tell();
  return true;
}

/// Whether it works at all, and about how long it takes.
void Tuner::firstRuns(size_t i) {
  const double best = bestMedian();
  left.push_back(i);
  if (sample(i, 1)) {
    if (options.check) {
      if (std::string difference = measurement.difference(); !difference.empty())
        throw Error(ErrorKind::User, fmt::format("the configurations of {} give different results: {} and {}: {}", options.what,
                                                 reference ? reference->text() : "?", trials[i]->text(), difference));
      reference = reference ? reference : trials[i];
    }
    // The first run may have been slower than the rest by what happens once.
    auto again = [&](double seconds) {
      if (!(result.outcomes[i].seconds < hopeless * best) || timeIsUp())
        return false;
      const unsigned count = runsFor(i, seconds);
      samples[i].clear();
      return sample(i, count);
    };
    if (result.outcomes[i].seconds >= options.warmupSeconds || again(options.warmupSeconds))
      again(options.repSeconds / 8);
  }
  ++progress.measured;
  tell();
}

void Tuner::compileAndTry() {
  // What is measured afterwards needs time as well.
  Compilation compilation(trials, options.compileThreads, [&] { return timeIsUp(options.measuresWhileCompiling ? 1 : 0.6); });
  std::vector<size_t> ready;
  for (Compilation::Done done; compilation.next(done);) {
    ++progress.compiled;
    if (!done.failure.empty())
      drop(done.trial, std::move(done.failure)), ++progress.measured;
    else if (!options.measuresWhileCompiling)
      ready.push_back(done.trial);
    else if (!std::isfinite(bestMedian()) || !timeIsUp())
      firstRuns(done.trial);
    else
      drop(done.trial, "not tried: the time was up"), ++progress.measured;
    tell();
  }
  std::sort(ready.begin(), ready.end());
  for (size_t i : ready)
    if (!std::isfinite(bestMedian()) || !timeIsUp())
      firstRuns(i);
    else
      drop(i, "not tried: the time was up"), ++progress.measured;
  std::sort(left.begin(), left.end());
}

void Tuner::giveUpSlow(bool byRank) {
  const double best = bestMedian();
  std::erase_if(left, [&](size_t i) { return samples[i][0] > clearlySlow * best; });
  if (!byRank || left.size() <= fewTrials)
    return;
  std::vector<size_t> ranked = left;
  std::stable_sort(ranked.begin(), ranked.end(), [&](size_t a, size_t b) { return result.outcomes[a].seconds < result.outcomes[b].seconds; });
  ranked.resize(std::max(fewTrials, (ranked.size() + 1) / 2));
  std::sort(ranked.begin(), ranked.end());
  left = std::move(ranked);
}

/// The first of those that are as fast as the best, as far as their runs tell: the interval of a median is taken to be 1.57 times the distance of the quartiles
/// over the root of the number of runs.
size_t Tuner::choose() const {
  size_t best = left[0];
  for (size_t i : left)
    if (result.outcomes[i].seconds < result.outcomes[best].seconds)
      best = i;
  auto interval = [&](size_t i) {
    std::vector<double> sorted = samples[i];
    return 1.57 * (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / std::sqrt(static_cast<double>(sorted.size()));
  };
  const double seconds = result.outcomes[best].seconds;
  for (size_t i : left)
    if (result.outcomes[i].seconds - seconds <= std::max(alike * seconds, std::min(interval(i) + interval(best), 0.03 * seconds)))
      return i;
  return best;
}

TunerResult Tuner::run() {
  tell();
  compileAndTry();
  if (left.empty()) {
    std::string text;
    bool alike = true; // a mistake in the launch, and none of the configurations
    for (size_t i = 0; i < trials.size(); ++i) {
      text += fmt::format("\n  {}: {}", trials[i]->text(), result.outcomes[i].failure);
      alike &= result.outcomes[i].failure == result.outcomes[0].failure;
    }
    throw Error(ErrorKind::User, fmt::format("no configuration of {} works:{}", options.what, alike ? " " + result.outcomes[0].failure : text));
  }
  giveUpSlow(true);
  for (double part = 0.125; part < 1 && left.size() > 1 && !timeIsUp(); part *= 2) {
    for (size_t i : std::vector<size_t>(left))
      if (!timeIsUp())
        sample(i, runsFor(i, options.repSeconds * part));
    if (left.empty())
      break;
    giveUpSlow(true);
  }
  if (left.empty()) // all of those that were best failed in the end
    throw Error(ErrorKind::User, fmt::format("the configurations of {} that worked at first fail when they are repeated: {}", options.what,
                                             std::find_if(result.outcomes.begin(), result.outcomes.end(), [](const auto &outcome) {
                                               return !outcome.failure.empty();
                                             })->failure));
  result.best = choose();
  return std::move(result);
}
} // namespace

TunerResult tune(const std::vector<Trial *> &trials, Measurement &measurement, const TunerOptions &options) {
  if (trials.empty())
    throw Error(ErrorKind::User, fmt::format("there is no configuration of {} to try", options.what));
  return Tuner(trials, measurement, options).run();
}

} // namespace tk::runtime
