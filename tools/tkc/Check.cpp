// tkc check: syntax and restrictions of every file, and elaboration of the kernels whose types are known: by their examples, or by annotations of all parameters.
#include "compiler/Compiler.h"
#include "lang/sema/Tuning.h"
#include "tk/error.h"
#include "tools/tkc/ArgumentResolver.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/Verbs.h"
#include <cstdio>
#include <fmt/format.h>

namespace tk::tool {

namespace {
struct FileResult {
  unsigned kernels = 0, elaborated = 0, specializations = 0;
  std::string messages;
  bool right = true;
};

/// Specs from annotations alone, when every parameter has one or a default for a constexpr.
std::optional<std::vector<lang::ParamSpec>> annotatedSpecs(const jit::Program &program, const lang::ast::Function &kernel, lang::Diagnostics &diagnostics) {
  std::vector<lang::ParamSpec> specs;
  for (const lang::ast::Parameter &parameter : kernel.params) {
    std::optional<lang::Annotation> annotation = lang::annotationOf(program.scope(), parameter, diagnostics);
    if (!annotation)
      return std::nullopt;
    lang::ParamSpec spec;
    if (annotation->isConstexpr) {
      if (!parameter.defaultValue)
        return std::nullopt;
      std::optional<lang::ConstValue> value = lang::HostEvaluator(&program.scope(), diagnostics).evaluate(*parameter.defaultValue, program.scope().file());
      if (!value)
        return std::nullopt;
      spec.value = *value;
    } else if (annotation->type) {
      spec.type = *annotation->type;
      spec.kind = spec.type.pointerDepth ? lang::ParamSpec::Pointer : lang::ParamSpec::Scalar;
      spec.type.pointerDepth -= spec.type.pointerDepth ? 1 : 0;
      spec.divisibility = annotation->divisibility;
    } else {
      return std::nullopt;
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

void checkKernel(const jit::Program &program, const lang::ast::Function &kernel, const compiler::Options &options, compiler::Compiler &compiler, FileResult &result) {
  ++result.kernels;
  lang::Diagnostics diagnostics;
  auto take = [&] {
    result.right &= !diagnostics.hasErrors();
    result.messages += diagnostics.render();
    diagnostics.clear();
  };
  lang::KernelDecorators decorators = lang::decoratorsOf(program.scope(), kernel, diagnostics);
  runtime::KernelDescription description;
  lang::describeTuning(program.scope(), kernel, description, diagnostics);
  std::vector<std::vector<lang::ParamSpec>> variants;
  if (decorators.examples.empty()) {
    if (auto specs = annotatedSpecs(program, kernel, diagnostics))
      variants.push_back(std::move(*specs));
  }
  take();
  constexpr unsigned mostWrong = 10;
  unsigned wrong = 0;
  for (const lang::ast::Call *example : decorators.examples) {
    if (wrong == mostWrong) {
      result.messages += fmt::format("{}: further examples of `{}` are not looked at\n", program.scope().file().name(), kernel.name);
      break;
    }
    try {
      ArgumentResolver resolver(program, kernel, {}, example);
      variants.push_back(specsOf(program, kernel, decorators, resolver.resolve()));
      if (decorators.hasGrid)
        resolver.grid("", decorators);
    } catch (const Failure &failure) {
      std::string text = failure.what();
      lang::LineColumn at = program.scope().file().position(example->range.begin);
      result.messages += text.ends_with('\n') ? text : fmt::format("{}:{}:{}: error: {}\n", program.scope().file().name(), at.line, at.column, text);
      result.right = false;
      ++wrong;
    }
  }
  result.elaborated += !variants.empty();
  for (const auto &specs : variants) {
    ++result.specializations;
    bool made = compiler.elaborate(program.scope(), kernel.name, specs, options, diagnostics) != nullptr;
    if (!made && !diagnostics.hasErrors())
      result.messages += fmt::format("{}: internal error: `{}` could not be elaborated and nothing says why\n", program.scope().file().name(), kernel.name);
    result.right &= made;
    take();
    if (!made)
      break; // other examples would say the same
  }
}
} // namespace

int checkVerb(const std::vector<std::string> &arguments) {
  compiler::Options options;
  bool quiet = false, help = false;
  Verb verb = {"check",
               "check FILE...",
               "finds errors without running anything",
               "Kernels with an @tk.example, or with annotations on all their parameters, are elaborated for those types; the others are parsed.\n",
               {{"--quiet", "", "say nothing about files that are right", [&](const std::string &) { quiet = true; }},
                {"--strict-triton", "", "note every extension of the language that is used", [&](const std::string &) { options.strictTriton = true; }}}};
  std::vector<std::string> files = parseFlags(verb, arguments, help);
  if (help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return 0;
  }
  if (files.empty())
    throw Failure(Status::Usage, "no file given: `tkc check FILE...`");
  bool right = true;
  compiler::Compiler compiler;
  for (const std::string &file : files) {
    try {
      std::unique_ptr<jit::Program> program = jit::Program::fromFile(file);
      setReproducer("tkc check", std::string(program->scope().file().text()));
      FileResult result;
      if (program->scope().kernels().empty()) {
        result.messages = fmt::format("{}:1:1: error: there is no kernel in this file\n", file);
        result.right = false;
      }
      for (const lang::ast::Function *kernel : program->scope().kernels())
        checkKernel(*program, *kernel, options, compiler, result);
      std::fputs((program->remarks() + result.messages).c_str(), stderr);
      right &= result.right;
      if (result.right && !quiet)
        fmt::print("{}: {} kernel{}, {} elaborated for {} specialization{}\n", file, result.kernels, result.kernels == 1 ? "" : "s", result.elaborated, result.specializations,
                   result.specializations == 1 ? "" : "s");
    } catch (const Error &error) {
      std::string text = error.what();
      std::fputs((text.ends_with('\n') ? text : "tkc: error: " + text + "\n").c_str(), stderr);
      right = false;
    }
  }
  return static_cast<int>(right ? Status::Right : Status::Diagnostics);
}

} // namespace tk::tool
