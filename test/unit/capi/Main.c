// Runs every case, or those named, and ends as Catch2's reporter does, so that tools/dev reads both.
#define _POSIX_C_SOURCE 200809L // setenv
#include "Check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;

void check(int holds, const char *what, const char *file, int line) {
  ++checks;
  if (holds)
    return;
  ++failures;
  printf("%s:%d: does not hold: %s\n", file, line, what);
}

void checkOk(tk_status status, tk_error *error, const char *what, const char *file, int line) {
  check(status == TK_OK, what, file, line);
  if (status != TK_OK)
    printf("  status %d: %s\n", (int)status, tk_error_message(error));
  tk_error_free(error);
}

void checkFails(tk_status status, tk_status expected, tk_error **error, const char *text, const char *what, const char *file, int line) {
  int right = status == expected && *error && tk_error_kind(*error) == expected && strstr(tk_error_message(*error), text);
  check(right, what, file, line);
  if (!right)
    printf("  expected status %d with `%s`, found status %d with `%s`\n", (int)expected, text, (int)status, tk_error_message(*error));
  tk_error_free(*error);
  *error = NULL;
}

tk_kernel *kernelOf(const char *source, const char *name) {
  tk_module *module;
  tk_kernel *kernel;
  tk_error *error;
  OK(tk_module_from_source(source, "test.tk", &module, &error));
  OK(tk_module_kernel(module, name, &kernel, &error));
  tk_module_free(module);
  return kernel;
}

tk_stream *hostStream(void) {
  tk_stream *stream;
  tk_error *error;
  OK(tk_stream_default(tk_device_host(), &stream, &error));
  return stream;
}

const char vectorAdd[] = "@tk.grid(cdiv(n, BLOCK))\n"
                         "def vector_add(x, y, out, n, BLOCK: constexpr):\n"
                         "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                         "    mask = i < n\n"
                         "    store(out + i, load(x + i, mask=mask) + load(y + i, mask=mask), mask=mask)\n";

// Of the arguments, Catch2's patterns choose nothing here.
static int wanted(const char *name, int argc, char **argv) {
  int all = 1;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0)
      return 1;
    all &= argv[i][0] == '~';
  }
  return all;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {
#define CASE(name) {#name, name},
#include "Cases.def"
#undef CASE
  };
  const int count = (int)(sizeof cases / sizeof cases[0]);
  setenv("TKC_CACHE_DIR", "none", 1); // what is found there would not be compiled
  int failed = 0, run = 0;
  for (int i = 0; i < count; ++i) {
    int before = failures;
    if (!wanted(cases[i].name, argc, argv))
      continue;
    ++run;
    cases[i].run();
    if (failures == before)
      continue;
    ++failed;
    printf("case %s failed\n", cases[i].name);
  }
  if (!failed && run)
    printf("All tests passed (%d assertions in %d test cases)\n", checks, run);
  else
    printf("test cases: %d | %d passed | %d failed\nassertions: %d | %d passed | %d failed\n", run, run - failed, failed, checks, checks - failures, failures);
  return failed || !run;
}
