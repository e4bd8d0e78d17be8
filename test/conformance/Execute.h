// Runs a case on the executions that are there.
#pragma once
#include "test/conformance/Case.h"
#include <memory>

namespace tk::conformance {

struct Outcome {
  std::string execution; // interpreter, cpu, x86-64-v3, compile
  std::string problem;   // empty when it passed
};

class Executor {
public:
  Executor();
  ~Executor();
  /// `only`: the one execution to run, empty for all. What this machine can't execute is left out.
  std::vector<Outcome> run(const Case &testCase, const std::string &only);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tk::conformance
