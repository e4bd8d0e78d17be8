// Compares a kernel's compiled code with the interpreter.
//
// Both execute the same programs on copies of the same arrays; every element of every written array must then agree within the error bound that the interpreter has carried
// along. When interpreting all programs would take too long, both execute the same sample of programs instead, spread over the grid, and the elements that either
// has changed are compared. No assumption about the independence of programs is needed for that. A GPU can't execute a sample: it executes all programs, and the elements that
// the interpreted ones have changed are compared, provided that no program reads what another may write.
#pragma once
#include "tools/tkc/Execution.h"

namespace tk::tool {

struct VerifiedArray {
  std::string name;
  uint64_t compared = 0, agreeing = 0;
  uint64_t unbounded = 0;   // elements that any value satisfies, since the interpreter knows no bound
  double worst = 0;         // largest error as a share of its bound
  std::vector<std::string> differences; // the first few, as text
};

struct Verification {
  enum Outcome { Agrees, Differs, Faulted, Skipped } outcome = Agrees;
  std::string message;      // Faulted, Skipped: why
  uint64_t programs = 0, programsRun = 0;
  std::vector<VerifiedArray> arrays;
};

struct VerifyRequest {
  compiler::Compiler &compiler;
  const jit::Program &program;
  std::string kernel;
  const std::vector<lang::ParamSpec> &specs;
  const compiler::Options &options;
  const std::vector<ResolvedArgument> &arguments;
  const std::vector<std::shared_ptr<ArrayArgument>> &arrays; // allocated, with their first contents; unchanged afterwards
  std::array<int64_t, 3> grid;
  Executable &executable;
  uint64_t operationLimit; // elements that the interpreter may compute
};

/// Throws Failure for a kernel that can't be elaborated, tk::Error when the launch fails.
Verification verify(const VerifyRequest &request);

} // namespace tk::tool
