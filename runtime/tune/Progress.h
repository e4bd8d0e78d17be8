// What a person sees of a tuning: one line that is rewritten on a terminal, and elsewhere a line at the beginning and at the end of what takes longer than a
// second.
#pragma once
#include "runtime/tune/Tuner.h"
#include <string>

namespace tk::runtime {

class TuneProgressLine {
public:
  struct Options {
    std::string what; // "`matmul` for M=512 N=512 on CPU"
    bool isTerminal = false;
    size_t columns = 80;                            // of the terminal, at least 2
    std::function<void(const std::string &)> write; // gets text, with its line ends
    std::function<double()> now;                    // seconds
  };
  explicit TuneProgressLine(Options options);
  /// Removes an unfinished line.
  ~TuneProgressLine();
  TuneProgressLine(const TuneProgressLine &) = delete;
  TuneProgressLine &operator=(const TuneProgressLine &) = delete;

  void update(const TuneProgress &progress);
  void finish(const TuneProgress &progress);

private:
  void show(const std::string &text);
  Options options;
  double start, lastShown;
  bool announced = false;
  size_t width = 0; // of the line on the terminal
};

/// To standard error.
TuneProgressLine::Options toStandardError(std::string what);

/// "1.25 ms", three digits.
std::string durationText(double seconds);

} // namespace tk::runtime
