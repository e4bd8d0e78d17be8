// tk::tuneOptions: what the process was told, else what its environment says; and the files of results that follow from it.
#include "runtime/tune/Options.h"
#include "runtime/Environment.h"
#include "tk/error.h"
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <optional>

namespace tk {

namespace {
std::mutex mutex; // guards what follows
std::optional<TuneOptions> given;
std::shared_ptr<runtime::TuneResults> results;
std::string resultFiles;
} // namespace

static TuneOptions fromEnvironment() {
  TuneOptions options;
  const runtime::Environment &environment = runtime::environment();
  options.file = environment.tuneFile;
  const std::string &mode = environment.tuneMode;
  if (mode == "pin")
    options.mode = TuneOptions::Mode::Pin;
  else if (mode == "check")
    options.mode = TuneOptions::Mode::Check;
  else if (!mode.empty() && mode != "on")
    throw Error(ErrorKind::User, fmt::format("environment variable TKC_TUNE: expected `on`, `pin` or `check`, found `{}`", mode));
  return options;
}

void setTuneOptions(const TuneOptions &options) {
  if (!(options.budgetSeconds > 0))
    throw Error(ErrorKind::User, fmt::format("the budget of a tuning must be more than 0 seconds, found {}", options.budgetSeconds));
  std::lock_guard lock(mutex);
  given = options;
}

TuneOptions tuneOptions() {
  {
    std::lock_guard lock(mutex);
    if (given)
      return *given;
  }
  return fromEnvironment();
}

namespace runtime {

std::vector<std::string> filesOf(const std::string &list) {
  std::vector<std::string> files;
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin)
      files.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return files;
}

std::shared_ptr<TuneResults> tuneResults(const TuneOptions &options, const std::string &defaultFile) {
  const std::string &list = options.file.empty() ? defaultFile : options.file;
  std::lock_guard lock(mutex);
  if (!results || resultFiles != list) {
    results = std::make_shared<TuneResults>(filesOf(list), [](const std::string &text) { fmt::print(stderr, "tkc: warning: {}\n", text); });
    resultFiles = list;
  }
  return results;
}

} // namespace runtime
} // namespace tk
