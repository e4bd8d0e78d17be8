// Choosing a configuration by measuring: what @triton.autotune says in a kernel file, from C++.
//
//   kernel.tune({.configs = {{{"BLOCK", 512}}, {{"BLOCK", 1024}, {"num_warps", 8}}}, .key = {"n"}});
//   kernel.launch(stream, [&](const tk::Meta &meta) { return tk::grid(tk::cdiv(n, meta["BLOCK"])); }, x, out, n);
//
// The first launch with new values of the key measures, later ones and later processes use what was found (tk::TuneOptions).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tk {

/// Compile-time integers of the kernel, and launch options (num_warps, num_stages ...), by name.
using Config = std::vector<std::pair<std::string, int64_t>>;

struct Tuning {
  std::vector<Config> configs;
  std::vector<std::string> key;          // parameters whose values choose; the types of all arguments do as well
  std::vector<std::string> resetToZero;  // arrays that a trial needs zeroed, as kernels that accumulate do
  std::vector<std::string> restoreValue; // arrays that a trial must not change, as kernels that work in place do
  double warmupMs = 25, repMs = 100;     // of one configuration
};

/// How this process tunes. Also read from the environment: TKC_TUNE (`on`, `pin`, `check`), TKC_TUNE_FILE.
struct TuneOptions {
  enum class Mode {
    On,   // measure what is not known yet
    Pin,  // never measure: Error(User) for a launch that nothing is known for
    Check // measure, and compare the results of all configurations, on copies; Error(User) when they differ
  };
  Mode mode = Mode::On;
  std::string file;            // results are read from here and added; more files after colons are read alone; empty: `tuned.txt` in the disk cache's folder
  double budgetSeconds = 60;   // of one tuning, compilation included; what is best by then wins
  bool again = false;          // measure what is known as well; the new results replace the old ones
  unsigned compileThreads = 0; // 0: the cores
  bool progress = true;        // a bar on a terminal's standard error, lines elsewhere when it takes longer than a second
};
/// For tunings from now on. Thread-safe. Error(User) for a budget that is no positive number.
void setTuneOptions(const TuneOptions &options);
/// What was set last, else what the environment says. Error(User) for a TKC_TUNE that is none of its values.
TuneOptions tuneOptions();

/// What a tuning found.
struct TuneReport {
  struct Trial {
    Config config;       // its integers
    std::vector<std::pair<std::string, std::string>> values; // all of it
    std::string text;                                        // the same: "BLOCK=64 num_warps=4"
    double seconds = 0;  // median; infinite for one that was not measured
    std::string failure; // why it was dropped
  };
  std::string kernel, device;
  std::vector<std::pair<std::string, std::string>> key;
  std::vector<Trial> trials; // as configured
  size_t best = 0;           // of them
  bool fromFile = false;     // nothing was measured: a result was found
};

} // namespace tk
