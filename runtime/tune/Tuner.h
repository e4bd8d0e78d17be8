// Choosing the fastest of several ways to do the same: which are compiled, run, given up and preferred. What they are, how time is taken and who is told is its
// caller's affair, so that the choice can be tested without a clock.
#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tk::runtime {

/// One way.
struct Trial {
  virtual ~Trial() = default;
  /// Thread-safe; called once, before anything else. Throws Error.
  virtual void compile() = 0;
  /// Puts one launch on the stream. Throws Error.
  virtual void run() = 0;
  /// "BLOCK=64 num_warps=4"
  virtual std::string text() const = 0;
};

/// How time is taken, and what happens around runs.
struct Measurement {
  virtual ~Measurement() = default;
  /// Seconds, from any moment on. Thread-safe.
  virtual double now() = 0;
  /// Runs so many times and waits: the seconds of each run. What a run must find is put back before each one. Throws what the runs do.
  virtual std::vector<double> run(Trial &trial, unsigned count) = 0;
  /// Why nothing can run any more (a GPU's context that was lost), empty as long as something can. Asked after a failure.
  virtual std::string lost() { return ""; }
  /// How the results of the latest run differ from those of the first one for which it was asked; empty: they agree.
  virtual std::string difference() { return ""; }
};

/// How far a tuning is.
struct TuneProgress {
  size_t trials = 0, compiled = 0, measured = 0; // measured: at least once, or failed
  double bestSeconds = std::numeric_limits<double>::infinity();
  const Trial *best = nullptr;
};

struct TunerOptions {
  std::string what; // for messages: "`matmul`"
  double budgetSeconds = 60;
  double warmupSeconds = 0.025, repSeconds = 0.1; // of one configuration
  unsigned compileThreads = 1;
  bool measuresWhileCompiling = false;                // else what is measured has the machine to itself
  bool check = false;                                 // ask for differences; throws Error(User) when there is one
  std::function<void(const TuneProgress &)> progress; // called often, by the calling thread
};

struct TunerResult {
  struct Outcome {
    double seconds = std::numeric_limits<double>::infinity(); // median
    unsigned runs = 0;
    std::string failure; // why it was dropped, or not tried
  };
  std::vector<Outcome> outcomes; // one per trial
  size_t best = 0;
};

/// Compiles and measures. A trial that fails is dropped with its reason. Throws Error(User) that lists the reasons when all fail, Error(Device) when the device
/// is lost, Error(User) for trials whose results differ. At least one trial is measured, whatever the budget.
TunerResult tune(const std::vector<Trial *> &trials, Measurement &measurement, const TunerOptions &options);

} // namespace tk::runtime
