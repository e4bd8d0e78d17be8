// Cases run in child processes, so that a case that kills its process, or never ends, is one failure and the others still run.
#pragma once
#include "test/conformance/Execute.h"

namespace tk::conformance {

struct Report {
  size_t index; // of the case
  std::vector<Outcome> outcomes;
  double seconds = 0;
};

struct RunOptions {
  std::string only;           // the one execution, empty for all
  bool inThisProcess = false; // for debuggers
  unsigned secondsPerCase = 60;
  unsigned jobs = 1; // child processes at a time
};

/// Runs the cases with these indices and gives each one's report as soon as it is there: in order when there is one job. Calls of `receive` don't overlap.
void runCases(const Suite &suite, const std::vector<size_t> &indices, const RunOptions &options, const std::function<void(const Report &)> &receive);

} // namespace tk::conformance
