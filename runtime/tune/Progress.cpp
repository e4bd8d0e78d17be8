// See Progress.h.
#include "runtime/tune/Progress.h"
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace tk::runtime {

constexpr double quietSeconds = 1, refreshSeconds = 0.1;

std::string durationText(double seconds) {
  constexpr std::pair<double, const char *> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  for (auto [unit, name] : units)
    if (seconds >= unit || unit == 1e-9) {
      double value = seconds / unit;
      return fmt::format("{:.{}f} {}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2, name);
    }
  return "";
}

TuneProgressLine::TuneProgressLine(Options options) : options(std::move(options)), start(this->options.now()), lastShown(start) {}

TuneProgressLine::~TuneProgressLine() { show(""); }

void TuneProgressLine::show(const std::string &text) {
  if (!options.isTerminal || (text.empty() && !width))
    return;
  options.write(fmt::format("\r{:<{}}\r{}", "", width, text)); // overwrites the line before
  width = text.size();
}

void TuneProgressLine::update(const TuneProgress &progress) {
  const double now = options.now();
  if (now - start < quietSeconds)
    return;
  if (!options.isTerminal) {
    if (!std::exchange(announced, true))
      options.write(fmt::format("tkc: tuning {}: {} configurations\n", options.what, progress.trials));
    return;
  }
  if (now - lastShown < refreshSeconds)
    return;
  lastShown = now;
  constexpr size_t cells = 20;
  const size_t full = progress.trials ? cells * (progress.compiled + progress.measured) / (2 * progress.trials) : 0;
  std::string best = progress.best ? fmt::format(", best {}", durationText(progress.bestSeconds)) : "";
  std::string text = fmt::format("tuning [{:#<{}}{:.<{}}] {}/{} compiled, {} measured{}: {}", "", full, "", cells - full, progress.compiled, progress.trials,
                                 progress.measured, best, options.what);
  show(text.substr(0, options.columns - 1)); // a line that wraps can't be rewritten
}

void TuneProgressLine::finish(const TuneProgress &progress) {
  const double elapsed = options.now() - start;
  show("");
  if (elapsed >= quietSeconds && progress.best)
    options.write(
        fmt::format("tkc: tuned {} in {}: {} takes {}\n", options.what, durationText(elapsed), progress.best->text(), durationText(progress.bestSeconds)));
}

TuneProgressLine::Options toStandardError(std::string what) {
  auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  struct winsize size = {};
  const size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
  return {std::move(what), isatty(STDERR_FILENO) != 0, columns, [](const std::string &text) { std::fputs(text.c_str(), stderr), std::fflush(stderr); }, now};
}

} // namespace tk::runtime
