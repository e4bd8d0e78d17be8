// Structs with sizes, benchmarks, tuning, hooks.
#include "Check.h"
#include <math.h>
#include <string.h>

enum { n = 4096 };
static float x[n], out[n];

static const char scale[] = "def scale(x, out, n, BLOCK: constexpr):\n"
                            "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                            "    store(out + i, load(x + i, mask=i < n) * 2, mask=i < n)\n";

static tk_status count(void *context, tk_error **error) {
  ++*(int *)context;
  return TK_OK;
}
struct Counts {
  int *prepared, *runs;
};
static tk_status countPrepared(void *context, tk_error **error) {
  ++*((struct Counts *)context)->prepared;
  return TK_OK;
}
static tk_status countRun(void *context, tk_error **error) {
  ++*((struct Counts *)context)->runs;
  return TK_OK;
}
static tk_status giveUp(void *context, tk_error **error) {
  *error = tk_error_new(TK_ERROR_USER, "enough");
  return TK_ERROR_USER;
}

void sizesOfStructs(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  int runs = 0;
  // A caller of a later version, whose options have a field more.
  struct {
    tk_benchmark_options known;
    uint64_t later;
  } newer;
  memset(&newer, 0, sizeof newer);
  newer.known = tk_benchmark_defaults();
  CHECK(newer.known.size == sizeof newer.known && newer.known.rep_ms > 0);
  newer.known.repetitions = 3, newer.known.warmup_ms = 0, newer.known.size = sizeof newer;
  tk_benchmark_result result = {sizeof result, 0, 0, 0, 0, 0};
  OK(tk_benchmark(stream, count, &runs, &newer.known, &result, &error));
  CHECK(result.runs == 3);
  newer.later = 1;
  FAILS(tk_benchmark(stream, count, &runs, &newer.known, &result, &error), TK_ERROR_USER, "does not know");
  newer.known.size = 0;
  FAILS(tk_benchmark(stream, count, &runs, &newer.known, &result, &error), TK_ERROR_USER, "sizeof");
  // A caller of an earlier version, which knows nothing behind the median.
  tk_benchmark_result older = {offsetof(tk_benchmark_result, p95), -1, -1, -1, -1, 77};
  OK(tk_benchmark(stream, count, &runs, NULL, &older, &error));
  CHECK(older.minimum >= 0 && older.median >= older.minimum && older.p95 == -1 && older.runs == 77);
  older.size = 3;
  FAILS(tk_benchmark(stream, count, &runs, NULL, &older, &error), TK_ERROR_USER, "sizeof");
  tk_stream_free(stream);
}

void benchmarks(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_benchmark_options options = tk_benchmark_defaults();
  tk_benchmark_result result = {sizeof result, 0, 0, 0, 0, 0};
  int runs = 0;
  options.repetitions = 5, options.flush_cache = 0;
  OK(tk_benchmark(stream, count, &runs, &options, &result, &error));
  CHECK(runs >= 6 && result.runs == 5 && result.minimum >= 0 && result.median >= result.minimum && result.p95 >= result.median);
  int prepared = 0;
  struct Counts both = {&prepared, &runs};
  runs = 0, options.prepare = countPrepared, options.warmup_ms = 0;
  OK(tk_benchmark(stream, countRun, &both, &options, &result, &error));
  CHECK(prepared == runs && runs >= 5 && result.runs == 5);
  options.prepare = NULL;
  FAILS(tk_benchmark(stream, giveUp, NULL, &options, &result, &error), TK_ERROR_USER, "enough");
  tk_stream_free(stream);
}

void tuning(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf(scale, NULL);
  tk_tune_options options, before;
  memset(&before, 0, sizeof before);
  before.size = sizeof before;
  OK(tk_get_tune_options(&before, &error));
  options = before, options.progress = 0, options.budget_seconds = 20;
  OK(tk_set_tune_options(&options, &error));
  options.mode = 3;
  FAILS(tk_set_tune_options(&options, &error), TK_ERROR_USER, "`options.mode` is 3");

  const tk_config_value small[] = {{"BLOCK", 256}}, large[] = {{"BLOCK", 1024}};
  const tk_config configs[] = {{small, 1}, {large, 1}};
  const char *const key[] = {"n"};
  tk_tuning tuning;
  memset(&tuning, 0, sizeof tuning);
  tuning.size = sizeof tuning;
  FAILS(tk_kernel_tune(kernel, &tuning, &error), TK_ERROR_USER, "configuration");
  tuning.configs = configs, tuning.config_count = 2, tuning.key = key, tuning.key_count = 1, tuning.warmup_ms = 1, tuning.rep_ms = 2;
  OK(tk_kernel_tune(kernel, &tuning, &error));
  const tk_argument arguments[] = {tk_pointer_to(TK_F32, x, sizeof x, TK_MEMORY_HOST), tk_pointer_to(TK_F32, out, sizeof out, TK_MEMORY_HOST), tk_int(n)};
  tk_tune_report *report;
  OK(tk_kernel_tuned(kernel, stream, tk_grid_of(n / 256, 1, 1), arguments, 3, &report, &error));
  CHECK(tk_tune_report_trials(report) == 2 && tk_tune_report_best(report) < 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(tk_tune_report_values(report, i) == 1);
    tk_config_value value = tk_tune_report_value(report, i, 0);
    CHECK(value.name && strcmp(value.name, "BLOCK") == 0 && value.value == (i ? 1024 : 256));
  }
  CHECK(strcmp(tk_tune_report_kernel(report), "scale") == 0 && strstr(tk_tune_report_device(report), "threads"));
  CHECK(strcmp(tk_tune_report_text(report, 1), "BLOCK=1024") == 0 && tk_tune_report_seconds(report, 1) > 0);
  CHECK(strcmp(tk_tune_report_key_name(report, 0), "n") == 0 && strstr(tk_tune_report_key_value(report, 0), "4096"));
  CHECK(isnan(tk_tune_report_seconds(report, 2)) && tk_tune_report_value(report, 0, 1).name == NULL);
  tk_tune_report_free(report);
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(n / 256, 1, 1), arguments, 3, &error));
  OK(tk_set_tune_options(&before, &error));
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

struct Seen {
  int beforeCompile, afterCompile, beforeLaunch, afterLaunch;
  char kernel[32];
  int64_t grid;
};
static tk_status beforeCompile(void *context, const tk_compile_report *report, tk_error **error) {
  struct Seen *seen = context;
  ++seen->beforeCompile;
  return TK_OK;
}
static tk_status afterCompile(void *context, const tk_compile_report *report, tk_error **error) {
  struct Seen *seen = context;
  ++seen->afterCompile;
  strncpy(seen->kernel, report->kernel, sizeof seen->kernel - 1);
  return TK_OK;
}
static tk_status beforeLaunch(void *context, const tk_launch_report *report, tk_error **error) {
  struct Seen *seen = context;
  ++seen->beforeLaunch;
  seen->grid = report->grid[0];
  return TK_OK;
}
static tk_status refuse(void *context, const tk_launch_report *report, tk_error **error) {
  *error = tk_error_new(TK_ERROR_DEVICE, "not now");
  return TK_ERROR_DEVICE;
}

void hooks(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf(scale, NULL);
  struct Seen seen;
  memset(&seen, 0, sizeof seen);
  tk_hooks hooks;
  memset(&hooks, 0, sizeof hooks);
  hooks.size = sizeof hooks, hooks.context = &seen, hooks.before_compile = beforeCompile, hooks.after_compile = afterCompile,
  hooks.before_launch = beforeLaunch;
  OK(tk_set_hooks(&hooks, &error));
  const tk_argument arguments[] = {tk_pointer(TK_F32, x), tk_pointer(TK_F32, out), tk_int(n), tk_meta("BLOCK", 512)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(8, 1, 1), arguments, 4, &error));
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(8, 1, 1), arguments, 4, &error));
  CHECK(seen.beforeCompile == 1 && seen.afterCompile == 1 && seen.beforeLaunch == 2 && strcmp(seen.kernel, "scale") == 0 && seen.grid == 8);
  hooks.before_launch = refuse;
  OK(tk_set_hooks(&hooks, &error));
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(8, 1, 1), arguments, 4, &error), TK_ERROR_DEVICE, "not now");
  OK(tk_set_hooks(NULL, &error));
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(8, 1, 1), arguments, 4, &error));
  CHECK(seen.beforeLaunch == 2);
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}
