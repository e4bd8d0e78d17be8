// The part of the C API that measures: benchmarks, tuning, hooks. Included by tk/capi.h, whose rules hold here; tk/benchmark.h, tk/tune.h and tk/hooks.h say
// what things mean.
#ifndef TK_CAPI_TUNE_H
#define TK_CAPI_TUNE_H
#include "capi.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Benchmarks

// Puts work on the stream. Anything but TK_OK ends the benchmark with the error it leaves, if any.
typedef tk_status (*tk_work)(void *context, tk_error **error);

typedef struct tk_benchmark_options {
  size_t size;
  double warmup_ms, rep_ms;
  uint32_t repetitions; // not 0: instead of rep_ms
  int32_t flush_cache, graph;
  uint32_t reserved; // 0
  tk_work prepare;   // NULL, or called before each run, outside of the time, with the context of the work
} tk_benchmark_options;
// What the C++ API's defaults are.
TK_CAPI tk_benchmark_options tk_benchmark_defaults(void);

typedef struct tk_benchmark_result {
  size_t size;
  double minimum, median, p95, mean; // seconds
  uint32_t runs;
} tk_benchmark_result;

// `options` may be NULL.
TK_CAPI tk_status tk_benchmark(const tk_stream *stream, tk_work work, void *context, const tk_benchmark_options *options, tk_benchmark_result *result,
                               tk_error **error);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Tuning

typedef struct tk_config_value {
  const char *name;
  int64_t value;
} tk_config_value;

typedef struct tk_config {
  const tk_config_value *values;
  size_t count;
} tk_config;

// Lists of names end by their count; a list of none may be NULL.
typedef struct tk_tuning {
  size_t size;
  const tk_config *configs;
  size_t config_count;
  const char *const *key;
  size_t key_count;
  const char *const *reset_to_zero;
  size_t reset_to_zero_count;
  const char *const *restore_value;
  size_t restore_value_count;
  double warmup_ms, rep_ms; // 0: the defaults
} tk_tuning;
// Replaces what the file's @autotune says.
TK_CAPI tk_status tk_kernel_tune(const tk_kernel *kernel, const tk_tuning *tuning, tk_error **error);

typedef enum tk_tune_mode { TK_TUNE_ON = 0, TK_TUNE_PIN = 1, TK_TUNE_CHECK = 2 } tk_tune_mode;
typedef struct tk_tune_options {
  size_t size;
  int32_t mode;     // tk_tune_mode
  const char *file; // NULL or "": the disk cache's folder
  double budget_seconds;
  uint32_t compile_threads; // 0: the cores
  int32_t progress;
  int32_t again;     // measure what is known as well
  uint32_t reserved; // 0
} tk_tune_options;
TK_CAPI tk_status tk_set_tune_options(const tk_tune_options *options, tk_error **error);
// Fills as much as `size` says. `file` is valid until this thread asks again.
TK_CAPI tk_status tk_get_tune_options(tk_tune_options *options, tk_error **error);

typedef struct tk_tune_report tk_tune_report;
// Measures now what a launch with these arguments would, or finds it among the results; runs nothing else.
TK_CAPI tk_status tk_kernel_tuned(const tk_kernel *kernel, const tk_stream *stream, tk_grid grid, const tk_argument *arguments, size_t count,
                                  tk_tune_report **report, tk_error **error);
TK_CAPI void tk_tune_report_free(tk_tune_report *report);
TK_CAPI size_t tk_tune_report_trials(const tk_tune_report *report);
TK_CAPI size_t tk_tune_report_best(const tk_tune_report *report);
TK_CAPI int tk_tune_report_from_file(const tk_tune_report *report);
TK_CAPI const char *tk_tune_report_kernel(const tk_tune_report *report);
TK_CAPI const char *tk_tune_report_device(const tk_tune_report *report);
// What the result holds for: names and values, each NULL past the end.
TK_CAPI const char *tk_tune_report_key_name(const tk_tune_report *report, size_t index);
TK_CAPI const char *tk_tune_report_key_value(const tk_tune_report *report, size_t index);
// The median; infinite for a trial that failed.
TK_CAPI double tk_tune_report_seconds(const tk_tune_report *report, size_t trial);
// Why it was dropped; "" for one that was measured.
TK_CAPI const char *tk_tune_report_failure(const tk_tune_report *report, size_t trial);
// What it was run with: "BLOCK=64 num_warps=4".
TK_CAPI const char *tk_tune_report_text(const tk_tune_report *report, size_t trial);
// The integers of it.
TK_CAPI size_t tk_tune_report_values(const tk_tune_report *report, size_t trial);
TK_CAPI tk_config_value tk_tune_report_value(const tk_tune_report *report, size_t trial, size_t index);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Hooks

typedef enum tk_code_source { TK_CODE_COMPILED = 0, TK_CODE_FROM_DISK_CACHE = 1, TK_CODE_PRECOMPILED = 2 } tk_code_source;

// Valid during the call.
typedef struct tk_compile_report {
  size_t size;
  const char *kernel, *device, *specialization;
  int32_t source; // tk_code_source
  double seconds;
  uint64_t code_bytes;
  const char *failure; // "": it worked
} tk_compile_report;

typedef struct tk_launch_report {
  size_t size;
  const char *kernel;
  int64_t grid[3];
  void *stream;
} tk_launch_report;

// Each may be NULL. Anything but TK_OK ends the launch that it is called for, with the error that it leaves, if any.
typedef struct tk_hooks {
  size_t size;
  void *context;
  tk_status (*before_compile)(void *context, const tk_compile_report *report, tk_error **error);
  tk_status (*after_compile)(void *context, const tk_compile_report *report, tk_error **error);
  tk_status (*before_launch)(void *context, const tk_launch_report *report, tk_error **error);
  tk_status (*after_launch)(void *context, const tk_launch_report *report, tk_error **error);
} tk_hooks;
// Replaces the process's hooks, those of the C++ API as well; NULL: none.
TK_CAPI tk_status tk_set_hooks(const tk_hooks *hooks, tk_error **error);

#ifdef __cplusplus
}
#endif

#endif
