// See KernelChoice.h.
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/ArgumentResolver.h"
#include "tools/tkc/Failure.h"
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

} // namespace tk::tool
