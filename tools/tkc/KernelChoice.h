// Which kernel of a file is meant, with which examples, and for which types when nothing is launched.
#pragma once
#include "compiler/Compiler.h"
#include "lang/sema/ParamSpecs.h"
#include "runtime/LaunchOptions.h"
#include "runtime/jit/Program.h"
#include <optional>
#include <string>
#include <vector>

namespace tk::tool {

struct KernelChoice {
  std::string kernel;                   // empty: the only one of the file
  std::optional<std::string> signature; // none: the types of an example
  int64_t example = 1;
};

/// What is known of the parameters; `launch` gets the launch options that the signature names. Throws Failure: Usage for a wrong signature or when nothing says
/// the types, Diagnostics for errors in the decorators.
std::vector<lang::ParamSpec> specsFor(const KernelChoice &choice, const jit::Program &program, const lang::ast::Function &kernel,
                                      runtime::LaunchOptions *launch = nullptr);

/// Those that are given replace what the command line says.
void applyLaunchOptions(const runtime::LaunchOptions &launch, compiler::Options &options);

/// Takes a kernel's name off the end of `FILE:KERNEL`, where there is no file of this name. Empty: none is given.
std::string kernelOf(std::string &file);

/// The kernel that is asked for; of a file with several, all of them when each has an example and nothing is given.
std::vector<const lang::ast::Function *> kernelsToRun(const jit::Program &program, const std::string &kernel, bool nothingGiven);

/// The examples to run: the one chosen (0: none is), else the first where arguments are given, else all; null for a kernel that has none. Throws
/// Failure(Usage).
std::vector<const lang::ast::Call *> examplesToRun(const lang::ast::Function &kernel, const lang::KernelDecorators &decorators, int64_t chosen,
                                                   bool argumentsGiven);

} // namespace tk::tool
