// From resolved arguments to what the compiler is told of each parameter.
#include "tools/tkc/ArgumentResolver.h"
#include "tools/tkc/Failure.h"
#include <fmt/format.h>

namespace tk::tool {

std::vector<lang::ParamSpec> specsOf(const jit::Program &program, const lang::ast::Function &kernel, const lang::KernelDecorators &decorators, const std::vector<ResolvedArgument> &arguments) {
  std::vector<lang::ParamSpec> specs;
  lang::Diagnostics diagnostics;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const lang::ast::Parameter &parameter = kernel.params[i];
    std::optional<lang::Annotation> annotation = lang::annotationOf(program.scope(), parameter, diagnostics);
    if (arguments[i].type && !(annotation && (annotation->isConstexpr || annotation->type))) {
      if (!annotation)
        annotation.emplace();
      annotation->type = lang::TypeValue{*arguments[i].type, 0, false};
    }
    lang::SpecializeOptions options;
    options.specialize = !decorators.doNotSpecialize[i];
    options.alignment = !decorators.doNotSpecializeOnAlignment[i];
    options.addressDivisibility = 16; // arrays are allocated on 64 bytes
    std::string error;
    std::optional<lang::ParamSpec> spec = lang::specializeParam(arguments[i].value, annotation, options, error);
    if (!spec)
      throw Failure(Status::Usage, fmt::format("argument `{}` {}", parameter.name, error));
    specs.push_back(std::move(*spec));
  }
  if (diagnostics.hasErrors())
    throw Failure(Status::Diagnostics, diagnostics.render());
  return specs;
}

} // namespace tk::tool
