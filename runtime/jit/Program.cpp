// See Program.h.
#include "runtime/jit/Program.h"
#include "lang/syntax/Parser.h"
#include "tk/error.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tk::jit {

std::unique_ptr<Program> Program::fromFile(const std::string &path) {
  std::string error;
  std::shared_ptr<lang::SourceFile> file = lang::SourceFile::read(path, error);
  if (!file)
    throw Error(ErrorKind::User, fmt::format("`{}`: {}", path, error));
  return parse(file);
}

std::unique_ptr<Program> Program::fromText(const std::string &text, const std::string &name) { return parse(std::make_shared<lang::SourceFile>(name, text)); }

std::unique_ptr<Program> Program::parse(std::shared_ptr<const lang::SourceFile> file) {
  lang::Diagnostics diagnostics;
  lang::ast::Module module = lang::parse(file, diagnostics);
  if (!diagnostics.hasErrors())
    lang::checkRestrictions(module, diagnostics);
  if (diagnostics.hasErrors())
    throw Error(ErrorKind::User, diagnostics.render());
  auto program = std::make_unique<Program>();
  program->remarkText = diagnostics.render();
  program->moduleScope = std::make_unique<lang::ModuleScope>(std::move(module), file->name().ends_with(".py"));
  return program;
}

const lang::ast::Function &Program::kernel(const std::string &name) const {
  std::vector<const lang::ast::Function *> kernels = moduleScope->kernels();
  std::vector<std::string> names;
  for (const lang::ast::Function *function : kernels)
    names.push_back(function->name);
  const std::string &file = moduleScope->file().name();
  if (name.empty()) {
    if (kernels.size() == 1)
      return *kernels[0];
    throw Error(ErrorKind::User, kernels.empty() ? fmt::format("`{}` holds no kernel", file) : fmt::format("`{}` holds {} kernels: choose one of {}", file, kernels.size(), fmt::join(names, ", ")));
  }
  if (const lang::ast::Function *function = moduleScope->function(name))
    return *function;
  std::string near = lang::nearest(name, names);
  throw Error(ErrorKind::User, fmt::format("`{}` holds no kernel `{}`{}", file, name,
                                           !near.empty()   ? fmt::format("; did you mean `{}`?", near)
                                           : names.empty() ? ""
                                                           : fmt::format(": it has {}", fmt::join(names, ", "))));
}

} // namespace tk::jit
