// Runs a case on the executions that are there.
#pragma once
#include "test/conformance/Case.h"
#include <memory>

namespace tk::conformance {

struct Outcome {
  std::string execution; // interpreter, cpu, x86-64-v3, cuda, sm_90a, ptxas:sm_90a, compile
  std::string problem;   // empty when it passed
};

class Executor {
public:
  Executor();
  ~Executor();
  /// `only`: the one execution to run, empty for the interpreter and the CPU targets. GPUs are run when they are asked for: `cuda`, or a target as in sm_90a on an emulated GPU.
  /// `ptxas:sm_90a` runs nothing: NVIDIA's assembler (runtime/Environment.h) must take the code.
  /// What this machine's processor can't execute is left out.
  std::vector<Outcome> run(const Case &testCase, const std::string &only);
  /// A case has left a device in a state that further cases can't use in this process.
  bool isSpent() const;
  static bool isAssembly(const std::string &execution);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tk::conformance
