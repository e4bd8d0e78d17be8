/* The C API from C. */
#include <stdio.h>
#include <tk/capi.h>

int plainC(void) {
  int32_t out = 0;
  tk_error *error;
  tk_module *module;
  tk_kernel *kernel = NULL;
  tk_stream *stream = NULL;
  tk_argument arguments[2];
  tk_status status = tk_module_from_source("def f(out, x):\n    store(out, x * 3)\n", "f.tk", &module, &error);
  if (status == TK_OK)
    status = tk_module_kernel(module, "f", &kernel, &error);
  if (status == TK_OK)
    status = tk_stream_default(tk_device_host(), &stream, &error);
  if (status == TK_OK) {
    arguments[0] = tk_pointer(TK_I32, &out);
    arguments[1] = tk_int(14);
    status = tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 2, &error);
  }
  if (status != TK_OK) {
    fprintf(stderr, "%s\n", tk_error_message(error));
    tk_error_free(error);
  }
  tk_stream_free(stream);
  tk_kernel_free(kernel);
  tk_module_free(module);
  return status != TK_OK || out != 42 || tk_abi_version() != TK_ABI_VERSION;
}
