// Versions, element types, errors.
#include "Check.h"
#include <string.h>

void versions(void) {
  CHECK(tk_abi_version() == TK_ABI_VERSION);
  CHECK(strchr(tk_version(), '.') != NULL);
}

void elementTypes(void) {
  tk_error *error;
  tk_dtype dtype;
  for (int i = TK_I1; i <= TK_F64; ++i) {
    OK(tk_dtype_parse(tk_dtype_name((tk_dtype)i), &dtype, &error));
    CHECK(dtype == (tk_dtype)i);
    CHECK(tk_dtype_bytes(dtype) > 0);
  }
  CHECK(tk_dtype_bytes(TK_BF16) == 2);
  CHECK(strcmp(tk_dtype_name(TK_F8E4M3FN), "fp8e4nv") == 0);
  CHECK(tk_dtype_name((tk_dtype)99) == NULL);
  CHECK(tk_dtype_bytes((tk_dtype)99) == 0);
  FAILS(tk_dtype_parse("fp7", &dtype, &error), TK_ERROR_USER, "fp7");
}

void errorsAreObjects(void) {
  tk_error *error;
  tk_module *module = (tk_module *)&error; // is overwritten
  FAILS(tk_module_from_source("def f(x):\n    store(x, y)\n  z\n", "wrong.tk", &module, &error), TK_ERROR_USER, "wrong.tk:3");
  CHECK(module == NULL);
  FAILS(tk_module_from_file("no/such/file.tk", &module, &error), TK_ERROR_USER, "no/such/file.tk");

  // What is only found when it is compiled.
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf("def f(x):\n    store(x, undefined_name)\n", "f");
  float x = 0;
  tk_argument argument = tk_pointer(TK_F32, &x);
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), &argument, 1, &error), TK_ERROR_USER, "test.tk:2");
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), NULL, 0, &error), TK_ERROR_USER, "`x`");
  tk_kernel_free(kernel);
  tk_stream_free(stream);

  tk_error *made = tk_error_new(TK_ERROR_DEVICE, "of mine");
  CHECK(tk_error_kind(made) == TK_ERROR_DEVICE && strcmp(tk_error_message(made), "of mine") == 0);
  tk_error_free(made);
  made = tk_error_new(TK_OK, NULL);
  CHECK(tk_error_kind(made) == TK_ERROR_USER && strcmp(tk_error_message(made), "") == 0);
  tk_error_free(made);
}

void errorsMayBeIgnored(void) {
  tk_module *module;
  CHECK(tk_module_from_source("def", "wrong.tk", &module, NULL) == TK_ERROR_USER);
  CHECK(module == NULL);
  CHECK(tk_module_from_source(vectorAdd, NULL, &module, NULL) == TK_OK);
  CHECK(tk_module_from_source(vectorAdd, NULL, NULL, NULL) == TK_ERROR_USER);
  tk_module_free(module);
}

void nullIsAnError(void) {
  tk_error *error;
  tk_module *module;
  tk_kernel *kernel;
  tk_launcher *launcher;
  tk_event *event;
  tk_array *array;
  tk_tune_report *report;
  tk_argument none = tk_none();
  tk_resources resources = {sizeof resources, 0, 0, 0, 0, 0};
  tk_grid grid = tk_grid_of(1, 1, 1);
  tk_stream *stream = hostStream();
  tk_kernel *add = kernelOf(vectorAdd, NULL);
  double seconds;
  int64_t number;

  FAILS(tk_module_from_source(NULL, NULL, &module, &error), TK_ERROR_USER, "`text` is null");
  FAILS(tk_module_from_file(NULL, &module, &error), TK_ERROR_USER, "`path` is null");
  FAILS(tk_module_kernel(NULL, "f", &kernel, &error), TK_ERROR_USER, "`module` is null");
  FAILS(tk_kernel_launch(NULL, stream, grid, NULL, 0, &error), TK_ERROR_USER, "`kernel` is null");
  FAILS(tk_kernel_launch(add, NULL, grid, NULL, 0, &error), TK_ERROR_USER, "`stream` is null");
  FAILS(tk_kernel_launch(add, stream, grid, NULL, 1, &error), TK_ERROR_USER, "`arguments` is null");
  FAILS(tk_kernel_launch(add, stream, tk_grid_call(NULL, NULL), NULL, 0, &error), TK_ERROR_USER, "`grid.function` is null");
  FAILS(tk_kernel_prepare(NULL, stream, &none, 1, &error), TK_ERROR_USER, "`kernel` is null");
  FAILS(tk_kernel_resources(NULL, stream, &none, 1, &resources, &error), TK_ERROR_USER, "`kernel` is null");
  FAILS(tk_kernel_resources(add, stream, &none, 1, NULL, &error), TK_ERROR_USER, "`resources` is null");
  FAILS(tk_kernel_specialize(NULL, NULL, TK_SPECIALIZE_NONE, &error), TK_ERROR_USER, "`kernel` is null");
  FAILS(tk_kernel_specialize(add, NULL, (tk_specialization)7, &error), TK_ERROR_USER, "`policy` is 7");
  FAILS(tk_kernel_launcher(NULL, stream, &none, 1, &launcher, &error), TK_ERROR_USER, "`kernel` is null");
  FAILS(tk_launcher_launch(NULL, grid, &error), TK_ERROR_USER, "`launcher` is null");
  FAILS(tk_launcher_set(NULL, "x", none, &error), TK_ERROR_USER, "`launcher` is null");
  FAILS(tk_launcher_set_index(NULL, 0, none, &error), TK_ERROR_USER, "`launcher` is null");
  FAILS(tk_kernel_tune(add, NULL, &error), TK_ERROR_USER, "`tuning` is null");
  FAILS(tk_kernel_tuned(NULL, stream, grid, &none, 1, &report, &error), TK_ERROR_USER, "`kernel` is null");
  FAILS(tk_stream_synchronize(NULL, &error), TK_ERROR_USER, "`stream` is null");
  FAILS(tk_stream_default(tk_device_host(), NULL, &error), TK_ERROR_USER, "result is null");
  FAILS(tk_event_record(NULL, stream, &error), TK_ERROR_USER, "`event` is null");
  FAILS(tk_event_synchronize(NULL, &error), TK_ERROR_USER, "`event` is null");
  FAILS(tk_event_seconds_since(NULL, NULL, &seconds, &error), TK_ERROR_USER, "is null");
  OK(tk_event_new(tk_device_host(), &event, &error));
  FAILS(tk_event_record(event, NULL, &error), TK_ERROR_USER, "`stream` is null");
  FAILS(tk_event_wait(event, NULL, &error), TK_ERROR_USER, "`stream` is null");
  FAILS(tk_array_new(tk_device_host(), TK_F32, NULL, 1, &array, &error), TK_ERROR_USER, "`shape` is null");
  FAILS(tk_array_new(tk_device_host(), (tk_dtype)77, NULL, 0, &array, &error), TK_ERROR_USER, "`dtype` is 77");
  FAILS(tk_array_copy_from(NULL, &seconds, 8, NULL, &error), TK_ERROR_USER, "`array` is null");
  FAILS(tk_array_copy_to(NULL, &seconds, 8, NULL, &error), TK_ERROR_USER, "`array` is null");
  FAILS(tk_array_save(NULL, "x.npy", &error), TK_ERROR_USER, "`array` is null");
  FAILS(tk_array_to_dlpack(NULL, NULL, &error), TK_ERROR_USER, "null");
  FAILS(tk_from_dlpack(NULL, &none, &error), TK_ERROR_USER, "`tensor` is null");
  FAILS(tk_launch_value(NULL, "n", &number, &error), TK_ERROR_USER, "`values` is null");
  FAILS(tk_device_emulated(NULL, NULL, &error), TK_ERROR_USER, "is null");
  FAILS(tk_benchmark(stream, NULL, NULL, NULL, NULL, &error), TK_ERROR_USER, "`result` is null");

  CHECK(tk_module_kernel_count(NULL) == 0 && tk_module_kernel_name(NULL, 0) == NULL);
  CHECK(tk_kernel_name(NULL) == NULL && tk_kernel_parameter_count(NULL) == 0 && tk_kernel_parameter_name(add, 99) == NULL);
  CHECK(tk_array_data(NULL) == NULL && tk_array_shape(NULL) == NULL && tk_array_bytes(NULL) == 0);
  CHECK(tk_tune_report_trials(NULL) == 0 && tk_tune_report_failure(NULL, 0) == NULL && tk_tune_report_kernel(NULL) == NULL);
  CHECK(strcmp(tk_error_message(NULL), "") == 0 && tk_error_kind(NULL) == TK_OK);
  tk_error_free(NULL), tk_module_free(NULL), tk_kernel_free(NULL), tk_launcher_free(NULL), tk_stream_free(NULL), tk_event_free(NULL), tk_array_free(NULL);
  tk_tune_report_free(NULL);
  tk_event_free(event);
  tk_kernel_free(add);
  tk_stream_free(stream);
}
