// The C API: benchmarks, tuning, hooks.
#include "runtime/capi/Boundary.h"
#include "tk/benchmark.h"
#include "tk/hooks.h"
#include <cmath>

using namespace tk;
using namespace tk::capi;

static_assert(static_cast<int>(TuneOptions::Mode::Check) == TK_TUNE_CHECK && static_cast<int>(TuneOptions::Mode::Pin) == TK_TUNE_PIN);
static_assert(static_cast<int>(CompileReport::Source::DiskCache) == TK_CODE_FROM_DISK_CACHE &&
              static_cast<int>(CompileReport::Source::Precompiled) == TK_CODE_PRECOMPILED);

namespace {
std::vector<std::string> namesOf(const char *const *names, size_t count, const char *what) {
  std::vector<std::string> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(checkedText((&checked(names, what))[i], what));
  return result;
}

Tuning tuningOf(const tk_tuning &given) {
  Tuning result;
  for (size_t i = 0; i < given.config_count; ++i) {
    const tk_config &from = (&checked(given.configs, "tuning.configs"))[i];
    Config config;
    for (size_t j = 0; j < from.count; ++j) {
      const tk_config_value &value = (&checked(from.values, "tuning.configs.values"))[j];
      config.emplace_back(checkedText(value.name, "tuning.configs.values.name"), value.value);
    }
    result.configs.push_back(std::move(config));
  }
  result.key = namesOf(given.key, given.key_count, "tuning.key");
  result.resetToZero = namesOf(given.reset_to_zero, given.reset_to_zero_count, "tuning.reset_to_zero");
  result.restoreValue = namesOf(given.restore_value, given.restore_value_count, "tuning.restore_value");
  if (given.warmup_ms != 0)
    result.warmupMs = given.warmup_ms;
  if (given.rep_ms != 0)
    result.repMs = given.rep_ms;
  return result;
}

tk_compile_report reportOf(const CompileReport &report) {
  return {sizeof(tk_compile_report),           report.kernel.c_str(), report.device.c_str(), report.specialization.c_str(),
          static_cast<int32_t>(report.source), report.seconds,        report.codeBytes,      report.failure.c_str()};
}
tk_launch_report reportOf(const LaunchReport &report) {
  return {sizeof(tk_launch_report), report.kernel, {report.grid.x, report.grid.y, report.grid.z}, report.stream};
}

template <typename CReport, typename Report>
std::function<void(const Report &)> hookOf(tk_status (*hook)(void *, const CReport *, tk_error **), void *context) {
  if (!hook)
    return nullptr;
  return [hook, context](const Report &report) {
    CReport given = reportOf(report);
    tk_error *error = nullptr;
    tk_status status = hook(context, &given, &error);
    passOn(status, error, "a hook");
  };
}

const TuneReport::Trial *trialOf(const tk_tune_report *report, size_t trial) {
  return report && trial < report->value.trials.size() ? &report->value.trials[trial] : nullptr;
}
} // namespace

extern "C" {

tk_benchmark_options tk_benchmark_defaults(void) {
  BenchmarkOptions defaults;
  return {sizeof(tk_benchmark_options), defaults.warmupMs, defaults.repMs, defaults.repetitions, defaults.flushCache, defaults.graph, 0, nullptr};
}

tk_status tk_benchmark(const tk_stream *stream, tk_work work, void *context, const tk_benchmark_options *options, tk_benchmark_result *result,
                       tk_error **error) {
  return guarded(error, [&] {
    checked(result, "result");
    if (!work)
      throw Error(ErrorKind::User, "`work` is null");
    auto run = [context](tk_work function, const char *what) {
      tk_error *failure = nullptr;
      tk_status status = function(context, &failure);
      passOn(status, failure, what);
    };
    BenchmarkOptions chosen;
    if (options) {
      tk_benchmark_options given = readSized(options, tk_benchmark_defaults(), "options");
      chosen.warmupMs = given.warmup_ms, chosen.repMs = given.rep_ms, chosen.repetitions = given.repetitions;
      chosen.flushCache = given.flush_cache != 0, chosen.graph = given.graph != 0;
      if (given.prepare)
        chosen.prepare = [run, prepare = given.prepare] { run(prepare, "the benchmark's preparation"); };
    }
    BenchmarkResult found = benchmark(checked(stream, "stream").value, [&] { run(work, "the benchmark's function"); }, chosen);
    writeSized(result, tk_benchmark_result{0, found.minimum, found.median, found.p95, found.mean, found.runs}, "result");
  });
}

tk_status tk_kernel_tune(const tk_kernel *kernel, const tk_tuning *tuning, tk_error **error) {
  return guarded(error, [&] { checked(kernel, "kernel").value.tune(tuningOf(readSized(tuning, tk_tuning{}, "tuning"))); });
}

static tk_tune_options optionsOf(const TuneOptions &options) {
  static thread_local std::string file;
  file = options.file;
  return {sizeof(tk_tune_options),
          static_cast<int32_t>(options.mode),
          file.c_str(),
          options.budgetSeconds,
          options.compileThreads,
          options.progress,
          options.again,
          0};
}

tk_status tk_set_tune_options(const tk_tune_options *options, tk_error **error) {
  return guarded(error, [&] {
    tk_tune_options given = readSized(options, optionsOf(TuneOptions()), "options");
    TuneOptions chosen;
    chosen.mode = checkedEnum<TuneOptions::Mode>(given.mode, TK_TUNE_CHECK + 1, "options.mode");
    chosen.file = given.file ? given.file : "", chosen.budgetSeconds = given.budget_seconds;
    chosen.compileThreads = given.compile_threads, chosen.progress = given.progress != 0, chosen.again = given.again != 0;
    setTuneOptions(chosen);
  });
}
tk_status tk_get_tune_options(tk_tune_options *options, tk_error **error) {
  return guarded(error, [&] { writeSized(options, optionsOf(tuneOptions()), "options"); });
}

tk_status tk_kernel_tuned(const tk_kernel *kernel, const tk_stream *stream, tk_grid grid, const tk_argument *arguments, size_t count, tk_tune_report **report,
                          tk_error **error) {
  return made(report, error, [&] {
    ArgumentList list(arguments, count);
    return new tk_tune_report{checked(kernel, "kernel").value.tunedList(checked(stream, "stream").value, gridOf(grid), list.data(), list.size())};
  });
}
void tk_tune_report_free(tk_tune_report *report) { delete report; }
size_t tk_tune_report_trials(const tk_tune_report *report) { return report ? report->value.trials.size() : 0; }
size_t tk_tune_report_best(const tk_tune_report *report) { return report ? report->value.best : 0; }
int tk_tune_report_from_file(const tk_tune_report *report) { return report && report->value.fromFile; }
const char *tk_tune_report_kernel(const tk_tune_report *report) { return report ? report->value.kernel.c_str() : nullptr; }
const char *tk_tune_report_device(const tk_tune_report *report) { return report ? report->value.device.c_str() : nullptr; }
const char *tk_tune_report_key_name(const tk_tune_report *report, size_t index) {
  return report && index < report->value.key.size() ? report->value.key[index].first.c_str() : nullptr;
}
const char *tk_tune_report_key_value(const tk_tune_report *report, size_t index) {
  return report && index < report->value.key.size() ? report->value.key[index].second.c_str() : nullptr;
}
double tk_tune_report_seconds(const tk_tune_report *report, size_t trial) {
  const TuneReport::Trial *found = trialOf(report, trial);
  return found ? found->seconds : NAN;
}
const char *tk_tune_report_failure(const tk_tune_report *report, size_t trial) {
  const TuneReport::Trial *found = trialOf(report, trial);
  return found ? found->failure.c_str() : nullptr;
}
const char *tk_tune_report_text(const tk_tune_report *report, size_t trial) {
  const TuneReport::Trial *found = trialOf(report, trial);
  return found ? found->text.c_str() : nullptr;
}
size_t tk_tune_report_values(const tk_tune_report *report, size_t trial) {
  const TuneReport::Trial *found = trialOf(report, trial);
  return found ? found->config.size() : 0;
}
tk_config_value tk_tune_report_value(const tk_tune_report *report, size_t trial, size_t index) {
  const TuneReport::Trial *found = trialOf(report, trial);
  return found && index < found->config.size() ? tk_config_value{found->config[index].first.c_str(), found->config[index].second} : tk_config_value{nullptr, 0};
}

tk_status tk_set_hooks(const tk_hooks *hooks, tk_error **error) {
  return guarded(error, [&] {
    if (!hooks) {
      setHooks({});
      return;
    }
    tk_hooks given = readSized(hooks, tk_hooks{}, "hooks");
    Hooks chosen;
    chosen.beforeCompile = hookOf<tk_compile_report, CompileReport>(given.before_compile, given.context);
    chosen.afterCompile = hookOf<tk_compile_report, CompileReport>(given.after_compile, given.context);
    chosen.beforeLaunch = hookOf<tk_launch_report, LaunchReport>(given.before_launch, given.context);
    chosen.afterLaunch = hookOf<tk_launch_report, LaunchReport>(given.after_launch, given.context);
    setHooks(std::move(chosen));
  });
}

} // extern "C"
