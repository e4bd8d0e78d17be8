// Which kernel of a file to compile, and for which types, when nothing is launched.
#pragma once
#include "lang/sema/ParamSpecs.h"
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

/// What is known of the parameters. Throws Failure: Usage for a wrong signature or when nothing says the types, Diagnostics for errors in the decorators.
std::vector<lang::ParamSpec> specsFor(const KernelChoice &choice, const jit::Program &program, const lang::ast::Function &kernel);

} // namespace tk::tool
