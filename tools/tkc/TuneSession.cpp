// See TuneSession.h.
#include "tools/tkc/TuneSession.h"
#include "runtime/Frontend.h"
#include "runtime/tune/ArgumentText.h"
#include "tk/error.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/RuntimeArguments.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::tool {

using Given = std::vector<std::pair<std::string, std::string>>;

static runtime::KernelDescription describe(const std::string &text, const std::string &name, const std::string &kernel) {
  const std::unique_ptr<runtime::FrontendModule> module = runtime::frontend().open(text, name);
  for (const runtime::KernelDescription &description : module->describe().kernels)
    if (description.name == kernel)
      return description;
  throw Failure(Status::Diagnostics, fmt::format("`{}` holds no kernel `{}`", name, kernel));
}

static std::string textOf(const jit::Program &program) { return std::string(program.scope().file().text()); }
static std::string nameOf(const jit::Program &program) { return std::string(program.scope().file().name()); }

TuneSession::TuneSession(const jit::Program &program, const lang::ast::Function &function, const lang::KernelDecorators &decorators, const Place &place)
    : program(program), function(function), decorators(decorators), place(place),
      kernel(Module::fromSource(textOf(program), nameOf(program)).kernel(function.name)),
      description(describe(textOf(program), nameOf(program), function.name)) {
  if (!description.tune || description.tune->configs.empty())
    return;
  optionsOnly = true;
  for (const runtime::TuneConfig &config : description.tune->configs)
    for (const auto &[parameter, value] : config.values)
      if (const std::string &name = description.parameters[parameter].name; std::find(chosen.begin(), chosen.end(), name) == chosen.end())
        chosen.push_back(name), optionsOnly = false;
}

void TuneSession::setConfigs(const std::vector<Config> &configs, const std::vector<std::string> &key) {
  Tuning tuning;
  tuning.configs = configs, tuning.key = key;
  auto names = [&](const std::vector<unsigned> &parameters) {
    std::vector<std::string> list;
    for (unsigned parameter : parameters)
      list.push_back(description.parameters[parameter].name);
    return list;
  };
  if (description.tune) {
    if (key.empty())
      tuning.key = names(description.tune->key);
    tuning.resetToZero = names(description.tune->resetToZero), tuning.restoreValue = names(description.tune->restoreValue);
    tuning.warmupMs = description.tune->warmupMs, tuning.repMs = description.tune->repMs;
  }
  try {
    kernel.tune(tuning);
  } catch (const Error &error) {
    throw Failure(Status::Usage, fmt::format("option `--configs`: {}", error.what()));
  }
  chosen.clear(), optionsOnly = true;
  for (const runtime::ParameterDescription &parameter : description.parameters)
    for (const auto &[name, value] : configs.front())
      if (name == parameter.name)
        chosen.push_back(name), optionsOnly = false;
}

bool TuneSession::isNeeded(const Given &given, const lang::ast::Call *example) const {
  ArgumentResolver resolver(program, function, given, example);
  return std::any_of(chosen.begin(), chosen.end(), [&](const std::string &name) { return !resolver.hasValue(name); });
}

std::vector<std::string> TuneSession::openParameters() const {
  std::vector<std::string> open = chosen;
  for (const runtime::Heuristic &heuristic : description.heuristics)
    open.push_back(description.parameters[heuristic.parameter].name);
  return open;
}

TuneSession::Result TuneSession::choose(const Given &given, const lang::ast::Call *example, const std::string &gridText) {
  for (const auto &[name, value] : given)
    if (std::find(chosen.begin(), chosen.end(), name) != chosen.end())
      throw Failure(Status::Usage, fmt::format("argument `{}` is given, but the configurations of `{}` choose it", name, function.name));
  ArgumentResolver resolver(program, function, given, example);
  const std::vector<std::string> open = openParameters();
  resolver.leaveOpen(open);
  const std::vector<ResolvedArgument> &arguments = resolver.resolve();
  for (const auto &array : resolver.arrays())
    array->allocate(nullptr);
  std::vector<std::string> without = chosen; // what heuristics find has no value only where nobody gives one
  for (const std::string &name : open)
    if (!resolver.hasValue(name))
      without.push_back(name);
  const Device device = place.device ? Device(place.device.get()) : Device();
  RuntimeArguments launch(function, arguments, without, device);
  launch.add(resolver.launchOptions());
  // The grid depends on the configuration: it is worked out with the configuration's values among the arguments.
  auto grid = [&](const Meta &meta) -> Grid {
    Given with = given;
    for (const std::string &name : chosen)
      with.emplace_back(name, std::to_string(meta[name.c_str()]));
    ArgumentResolver configured(program, function, with, example);
    configured.leaveOpen(open);
    std::array<int64_t, 3> extents = configured.grid(gridText, decorators);
    return {extents[0], extents[1], extents[2]};
  };
  Result result;
  result.report = kernel.tunedList(device.stream(), grid, launch.list().data(), launch.list().size());
  result.arguments = resolver.describe();
  return result;
}

Given TuneSession::chooseValues(const Given &given, const lang::ast::Call *example, const std::string &gridText) {
  if (!place.device || !place.device->properties().emulated) {
    const TuneReport report = choose(given, example, gridText).report;
    return report.trials.at(report.best).values;
  }
  Given values;
  if (!description.tune || description.tune->configs.empty())
    return values;
  const runtime::TuneConfig &first = description.tune->configs.front();
  for (const auto &[parameter, value] : first.values) {
    Argument argument = value.get();
    values.emplace_back(description.parameters[parameter].name, runtime::valueText(&argument));
  }
#define LAUNCH_OPTION(field, name, type, otherwise) \
  if (first.options.field != type{})                \
    values.emplace_back(name, std::to_string(static_cast<int64_t>(first.options.field)));
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  return values;
}

Given withConfiguration(const jit::Program &program, const lang::ast::Function &kernel, const lang::KernelDecorators &decorators, const Place &place,
                        const Given &given, const lang::ast::Call *example, const std::string &gridText) {
  ArgumentResolver resolver(program, kernel, given, example);
  if (std::all_of(kernel.params.begin(), kernel.params.end(), [&](const lang::ast::Parameter &parameter) { return resolver.hasValue(parameter.name); }))
    return given; // nobody has to be asked
  TuneSession session(program, kernel, decorators, place);
  if (!session.isNeeded(given, example))
    return given;
  Given all = given;
  for (auto &[name, value] : session.chooseValues(given, example, gridText))
    if (std::none_of(given.begin(), given.end(), [&name = name](const auto &one) { return one.first == name; })) // launch options of the caller's
      all.emplace_back(std::move(name), std::move(value));
  return all;
}

} // namespace tk::tool
