// See KernelChoice.h.
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/ArgumentResolver.h"
#include "tools/tkc/Failure.h"
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>

namespace tk::tool {

namespace {
/// Of an entry `num_warps=8`; no option for anything else.
struct OptionEntry {
  std::string name, value;
};
std::optional<OptionEntry> optionOf(std::string_view entry, const lang::ast::Function &kernel) {
  auto trimmed = [](std::string_view text) {
    size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
    return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin, end - begin + 1));
  };
  size_t equals = entry.find('=');
  if (equals == std::string_view::npos)
    return std::nullopt;
  OptionEntry option{trimmed(entry.substr(0, equals)), trimmed(entry.substr(equals + 1))};
  bool isParameter =
      std::any_of(kernel.params.begin(), kernel.params.end(), [&](const lang::ast::Parameter &parameter) { return parameter.name == option.name; });
  return isParameter || !runtime::LaunchOptions::has(option.name) ? std::nullopt : std::optional(option);
}

int64_t optionValue(const OptionEntry &option) {
  if (option.value == "True" || option.value == "true")
    return 1;
  if (option.value == "False" || option.value == "false")
    return 0;
  int64_t value = 0;
  auto [end, code] = std::from_chars(option.value.data(), option.value.data() + option.value.size(), value);
  if (code != std::errc() || end != option.value.data() + option.value.size())
    throw Failure(Status::Usage, fmt::format("launch option `{}` of the signature must be a number, found `{}`", option.name, option.value));
  return value;
}

/// Takes the launch options from the end of a signature, where they stand behind all else.
void takeLaunchOptions(std::string &signature, const lang::ast::Function &kernel, runtime::LaunchOptions &launch) {
  for (;;) {
    size_t comma = signature.rfind(',');
    std::optional<OptionEntry> option = optionOf(std::string_view(signature).substr(comma == std::string::npos ? 0 : comma + 1), kernel);
    if (!option)
      return;
    if (std::string wrong = launch.set(option->name, optionValue(*option)); !wrong.empty())
      throw Failure(Status::Usage, fmt::format("launch option `{}` of the signature {}", option->name, wrong));
    signature.resize(comma == std::string::npos ? 0 : comma);
  }
}
} // namespace

void applyLaunchOptions(const runtime::LaunchOptions &launch, compiler::Options &options) {
  if (launch.numWarps)
    options.numWarps = launch.numWarps;
  if (launch.numStages)
    options.numStages = launch.numStages;
  options.fpFusion |= launch.fpFusion;
}

std::vector<lang::ParamSpec> specsFor(const KernelChoice &choice, const jit::Program &program, const lang::ast::Function &kernel,
                                      runtime::LaunchOptions *launch) {
  lang::Diagnostics diagnostics;
  if (choice.signature) {
    std::string text = *choice.signature;
    if (launch)
      takeLaunchOptions(text, kernel, *launch);
    lang::SourceFile file("signature", text);
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
