// See KernelChoice.h.
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/ArgumentResolver.h"
#include "tools/tkc/Failure.h"
#include <filesystem>
#include <fmt/format.h>

namespace tk::tool {

std::vector<lang::ParamSpec> specsFor(const KernelChoice &choice, const jit::Program &program, const lang::ast::Function &kernel) {
  lang::Diagnostics diagnostics;
  if (choice.signature) {
    lang::SourceFile file("signature", *choice.signature);
    std::optional<std::vector<lang::ParamSpec>> specs = lang::parseSignature(program.scope(), kernel, file, diagnostics);
    if (!specs)
      throw Failure(Status::Usage, diagnostics.render());
    return std::move(*specs);
  }
  lang::KernelDecorators decorators = lang::decoratorsOf(program.scope(), kernel, diagnostics);
  if (diagnostics.hasErrors())
    throw Failure(Status::Diagnostics, diagnostics.render());
  if (decorators.examples.empty())
    throw Failure(Status::Usage, fmt::format("the types of `{}` are not known: give `--signature`, or an @tk.example", kernel.name));
  if (static_cast<size_t>(choice.example) > decorators.examples.size())
    throw Failure(Status::Usage,
                  fmt::format("`{}` has {} examples: `--example {}` is not one of them", kernel.name, decorators.examples.size(), choice.example));
  ArgumentResolver resolver(program, kernel, {}, decorators.examples[static_cast<size_t>(choice.example) - 1]);
  return specsOf(program, kernel, decorators, resolver.resolve());
}

std::string kernelOf(std::string &file) {
  const size_t colon = file.rfind(':');
  if (colon == std::string::npos || colon + 1 == file.size() || file.find('/', colon) != std::string::npos || std::filesystem::exists(file))
    return "";
  std::string kernel = file.substr(colon + 1);
  file.resize(colon);
  return kernel;
}

std::vector<const lang::ast::Function *> kernelsToRun(const jit::Program &program, const std::string &kernel, bool nothingGiven) {
  std::vector<const lang::ast::Function *> kernels = program.scope().kernels();
  bool all = kernels.size() > 1 && kernel.empty() && nothingGiven;
  for (const lang::ast::Function *one : kernels) {
    lang::Diagnostics quiet;
    all = all && !lang::decoratorsOf(program.scope(), *one, quiet).examples.empty();
  }
  return all ? kernels : std::vector<const lang::ast::Function *>{&program.kernel(kernel)};
}

std::vector<const lang::ast::Call *> examplesToRun(const lang::ast::Function &kernel, const lang::KernelDecorators &decorators, int64_t chosen,
                                                   bool argumentsGiven) {
  std::vector<const lang::ast::Call *> examples = decorators.examples;
  if (chosen) {
    if (static_cast<size_t>(chosen) > examples.size())
      throw Failure(Status::Usage, fmt::format("`{}` has {} example{}: `--example {}` is not one of them", kernel.name, examples.size(),
                                               examples.size() == 1 ? "" : "s", chosen));
    examples = {examples[static_cast<size_t>(chosen) - 1]};
  } else if (argumentsGiven && examples.size() > 1) {
    examples.resize(1);
  }
  if (examples.empty())
    examples.push_back(nullptr);
  return examples;
}

} // namespace tk::tool
