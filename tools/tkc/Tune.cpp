// tkc tune: measures a kernel's configurations and keeps what it finds where launches look for it.
#include "runtime/cache/DiskCache.h"
#include "runtime/tune/Options.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/Report.h"
#include "tools/tkc/TuneSession.h"
#include "tools/tkc/ValueText.h"
#include "tools/tkc/Verbs.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>

namespace tk::tool {

namespace {
struct Options {
  std::string file, kernel, grid, target;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<Config> configs; // empty: the file's
  std::vector<std::string> key;
  TuneOptions tune;
  bool json = false, help = false, emulate = false;
  int64_t example = 0;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// The parts of a text between separators, without spaces around them.
std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> list;
  for (;;) {
    size_t end = std::min(text.find(separator), text.size());
    list.emplace_back(trimmed(text.substr(0, end)));
    if (end == text.size())
      return list;
    text.remove_prefix(end + 1);
  }
}

/// `BLOCK=512,1024; num_warps=4,8`: every combination.
std::vector<Config> configsOf(const std::string &text) {
  constexpr size_t most = 4096;
  auto wrong = [&](const std::string &why) {
    return Failure(Status::Usage, fmt::format("option `--configs` needs NAME=N,N...; NAME=N..., as in 'BLOCK=512,1024; num_warps=4,8': {}", why));
  };
  std::vector<Config> configs = {{}};
  for (const std::string &part : parts(text, ';')) {
    if (part.empty())
      continue;
    std::string name, values;
    if (!splitArgument(part, name, values))
      throw wrong(fmt::format("found `{}`", part));
    std::vector<Config> longer;
    for (const Config &config : configs)
      for (const std::string &value : parts(values, ',')) {
        int64_t number = 0;
        auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
        if (value.empty() || parsed.ec != std::errc() || parsed.ptr != value.data() + value.size())
          throw wrong(fmt::format("`{}` is no integer", value));
        longer.push_back(config);
        longer.back().emplace_back(std::string(trimmed(name)), number);
        if (longer.size() > most)
          throw wrong(fmt::format("there are more than {} combinations", most));
      }
    configs = std::move(longer);
  }
  if (configs.front().empty())
    throw wrong("nothing is given");
  return configs;
}

double secondsOf(const std::string &text) {
  double value = -1;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(value > 0 && value <= 1e9))
    throw Failure(Status::Usage, fmt::format("option `--budget` needs seconds, more than 0, found `{}`", text));
  return value;
}

Verb verbOf(Options &options) {
  return {
      "tune",
      "tune FILE[:KERNEL] [NAME=VALUE ...] [options]",
      "measures a kernel's configurations and keeps the fastest",
      "Arguments are those of `tkc run`; without any every @tk.example is tuned. Configurations come from @triton.autotune or --configs. The result is what "
      "launches of\n"
      "this kernel with the same key and types use from then on, in every program that reads the file of results (TKC_TUNE_FILE).\n",
      {
          {"--kernel", "NAME", "which kernel of the file", [&](const std::string &value) { options.kernel = value; }},
          {"--target", "TARGET", "cpu, cuda or a GPU of this machine as in sm_90a; default: the GPU found here, else cpu",
           [&](const std::string &value) { options.target = value; }},
          {"--emulate", "", "on an emulated GPU: shows which configurations work; times say nothing", [&](const std::string &) { options.emulate = true; }},
          {"--configs", "TEXT", "every combination of these values instead of the file's configurations, as in 'BLOCK=512,1024; num_warps=4,8'",
           [&](const std::string &value) { options.configs = configsOf(value); }},
          {"--key", "NAMES", "parameters whose values choose, separated by commas; default: those of @triton.autotune",
           [&](const std::string &value) { options.key = parts(value, ','); }},
          {"--example", "N", "the Nth @tk.example alone", [&](const std::string &value) { options.example = numberOf("--example", value, 1, 1000000); }},
          {"--grid", "EXPRS", "one to three extents, as in 'cdiv(n,BLOCK)', instead of @tk.grid", [&](const std::string &value) { options.grid = value; }},
          {"--check", "", "compare the results of all configurations", [&](const std::string &) { options.tune.mode = TuneOptions::Mode::Check; }},
          {"--budget", "S", "seconds for one set of arguments, compilation included; default 60",
           [&](const std::string &value) { options.tune.budgetSeconds = secondsOf(value); }},
          {"--file", "FILE", "the file of results; default: TKC_TUNE_FILE, else `tuned.txt` in the cache's folder",
           [&](const std::string &value) { options.tune.file = value; }},
          {"--json", "", "print one JSON object", [&](const std::string &) { options.json = true; }},
      }};
}

Options parse(const std::vector<std::string> &arguments) {
  Options options;
  options.tune = tuneOptions();
  Verb verb = verbOf(options);
  std::vector<std::string> left = parseFlags(verb, arguments, options.help);
  if (options.help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return options;
  }
  if (left.empty())
    throw Failure(Status::Usage, "no file given: `tkc tune FILE[:KERNEL] [NAME=VALUE ...]`");
  options.file = left[0];
  if (std::string kernel = kernelOf(options.file); !kernel.empty())
    options.kernel = kernel;
  for (size_t i = 1; i < left.size(); ++i) {
    std::string name, value;
    if (!splitArgument(left[i], name, value))
      throw Failure(Status::Usage, fmt::format("expected NAME=VALUE, found `{}`", left[i]));
    options.arguments.emplace_back(name, value);
  }
  options.tune.again = true;
  if (options.tune.mode == TuneOptions::Mode::Pin)
    options.tune.mode = TuneOptions::Mode::On;
  return options;
}

std::string textOf(const std::vector<std::pair<std::string, std::string>> &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string tableOf(const TuneSession::Result &result) {
  const TuneReport &report = result.report;
  std::string text = fmt::format("{}: {}{}{} on {}\n", report.kernel, result.arguments, report.key.empty() ? "" : ", key ", textOf(report.key), report.device);
  size_t width = 0;
  for (const TuneReport::Trial &trial : report.trials)
    width = std::max(width, trial.text.size());
  for (size_t i = 0; i < report.trials.size(); ++i) {
    const TuneReport::Trial &trial = report.trials[i];
    std::string reason = trial.failure.substr(0, trial.failure.find('\n'));
    text += fmt::format("{} {:<{}}  {:>11}{}\n", i == report.best ? "*" : " ", trial.text, width,
                        std::isfinite(trial.seconds) ? durationText(trial.seconds) : "-", reason.empty() ? "" : "  " + reason);
  }
  return text;
}

void append(llvm::json::OStream &json, const TuneSession::Result &result) {
  const TuneReport &report = result.report;
  auto values = [&](const char *name, const std::vector<std::pair<std::string, std::string>> &list) {
    json.attributeObject(name, [&] {
      for (const auto &[key, value] : list)
        json.attribute(llvm::json::fixUTF8(key), llvm::json::fixUTF8(value));
    });
  };
  json.object([&] {
    json.attribute("kernel", report.kernel);
    json.attribute("device", llvm::json::fixUTF8(report.device));
    json.attribute("arguments", llvm::json::fixUTF8(result.arguments));
    values("key", report.key);
    values("best", report.trials.at(report.best).values);
    json.attributeArray("trials", [&] {
      for (const TuneReport::Trial &trial : report.trials)
        json.object([&] {
          values("config", trial.values);
          if (std::isfinite(trial.seconds))
            json.attribute("seconds", trial.seconds);
          if (!trial.failure.empty())
            json.attribute("failure", llvm::json::fixUTF8(trial.failure));
        });
    });
  });
}
} // namespace

int tuneVerb(const std::vector<std::string> &arguments) {
  Options options = parse(arguments);
  if (options.help)
    return 0;
  setTuneOptions(options.tune);
  const Place place = choosePlace(options.target, options.emulate);
  if (!place.device && place.target != "cpu")
    throw Failure(Status::Usage, fmt::format("launches on the host run code for exactly this processor: tune for `cpu`, not `{}`", place.target));
  std::unique_ptr<jit::Program> program = jit::Program::fromFile(options.file);
  std::fputs(program->remarks().c_str(), stderr);
  std::vector<TuneSession::Result> results;
  const bool nothingGiven = options.arguments.empty() && options.grid.empty() && !options.example && options.configs.empty();
  for (const lang::ast::Function *kernel : kernelsToRun(*program, options.kernel, nothingGiven)) {
    lang::Diagnostics diagnostics;
    const lang::KernelDecorators decorators = lang::decoratorsOf(program->scope(), *kernel, diagnostics);
    if (diagnostics.hasErrors())
      throw Failure(Status::Diagnostics, diagnostics.render());
    TuneSession session(*program, *kernel, decorators, place);
    if (!options.configs.empty())
      session.setConfigs(options.configs, options.key);
    if (!session.hasConfigs())
      throw Failure(Status::Usage, fmt::format("`{}` has no configurations: give `--configs`, as in 'BLOCK=512,1024; num_warps=4,8', or decorate it with "
                                               "@triton.autotune",
                                               kernel->name));
    for (const lang::ast::Call *example : examplesToRun(*kernel, decorators, options.example, !options.arguments.empty())) {
      results.push_back(session.choose(options.arguments, example, options.grid));
      if (!options.json)
        std::fputs(tableOf(results.back()).c_str(), stdout), std::fflush(stdout);
    }
  }
  runtime::DiskCache *cache = runtime::DiskCache::process();
  const std::vector<std::string> files = runtime::tuneResults(options.tune, cache ? cache->folder() + "/tuned.txt" : "")->files();
  if (!options.json) {
    fmt::print("{}\n", files.empty() ? "kept nowhere: there is no disk cache, and `--file` names none" : fmt::format("kept in {}", files[0]));
    return 0;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] {
    json.attributeArray("tunings", [&] {
      for (const TuneSession::Result &result : results)
        append(json, result);
    });
    json.attribute("file", files.empty() ? "" : files[0]);
  });
  fmt::print("{}\n", text);
  return 0;
}

} // namespace tk::tool
