// Modules, kernels, arguments, grids, launchers, threads.
#include "Check.h"
#include <pthread.h>
#include <string.h>

enum { n = 1000 };

static int sumsAreRight(const float *x, const float *y, const float *out) {
  for (int i = 0; i < n; ++i)
    if (out[i] != x[i] + y[i])
      return 0;
  return 1;
}
static void fill(float *x, float *y, float *out) {
  for (int i = 0; i < n; ++i)
    x[i] = (float)i, y[i] = (float)(2 * i + 1), out[i] = -1;
}

void launchesOnTheHost(void) {
  tk_error *error;
  tk_module *module;
  tk_kernel *kernel;
  OK(tk_module_from_source(vectorAdd, "test.tk", &module, &error));
  CHECK(tk_module_kernel_count(module) == 1 && strcmp(tk_module_kernel_name(module, 0), "vector_add") == 0 && tk_module_kernel_name(module, 1) == NULL);
  OK(tk_module_kernel(module, NULL, &kernel, &error));
  tk_kernel *other;
  FAILS(tk_module_kernel(module, "vector_sub", &other, &error), TK_ERROR_USER, "vector_add");
  tk_module_free(module); // the kernel lives on
  CHECK(strcmp(tk_kernel_name(kernel), "vector_add") == 0);
  CHECK(tk_kernel_parameter_count(kernel) == 5 && strcmp(tk_kernel_parameter_name(kernel, 4), "BLOCK") == 0);

  float x[n], y[n], out[n];
  fill(x, y, out);
  tk_stream *stream = hostStream();
  tk_argument arguments[] = {tk_pointer(TK_F32, x), tk_pointer_to(TK_F32, y, sizeof y, TK_MEMORY_HOST), tk_pointer(TK_F32, out), tk_int(n),
                             tk_meta("BLOCK", 128)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(8, 1, 1), arguments, 5, &error));
  CHECK(sumsAreRight(x, y, out));
  CHECK(tk_kernel_compiled_count(kernel) == 1);
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(-1, 1, 1), arguments, 5, &error), TK_ERROR_USER, "-1");
  tk_stream_free(stream);
  tk_kernel_free(kernel);
}

void scalarsOfFixedTypes(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf("def f(out, value):\n    store(out, value)\n", NULL);
  double number = 0;
  int64_t integer = 0;
  uint64_t large = 0;
  const double third = 1.0 / 3;
  tk_argument asDouble[] = {tk_pointer(TK_F64, &number), tk_f64(third)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), asDouble, 2, &error));
  CHECK(number == third);
  tk_argument asFloat[] = {tk_pointer(TK_F64, &number), tk_float(third)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), asFloat, 2, &error));
  CHECK(number == (double)(float)third);
  tk_argument asHalf[] = {tk_pointer(TK_F64, &number), tk_scalar_float(TK_F16, third)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), asHalf, 2, &error));
  CHECK(number == 0.333251953125);
  tk_argument asInteger[] = {tk_pointer(TK_I64, &integer), tk_int(-5000000000)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), asInteger, 2, &error));
  CHECK(integer == -5000000000);
  tk_argument narrow[] = {tk_pointer(TK_I64, &integer), tk_i32(7)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), narrow, 2, &error));
  CHECK(integer == 7);
  tk_argument asLarge[] = {tk_pointer(TK_U64, &large), tk_uint(UINT64_MAX)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), asLarge, 2, &error));
  CHECK(large == UINT64_MAX);
  tk_argument asBool[] = {tk_pointer(TK_I64, &integer), tk_bool(3)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), asBool, 2, &error));
  CHECK(integer == 1);
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

void narrowFloats(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf("def f(x, out):\n    store(out, load(x) * 2)\n", NULL);
  uint16_t half = 0x3e00, bfloat = 0; // 1.5
  tk_argument arguments[] = {tk_pointer(TK_F16, &half), tk_pointer(TK_BF16, &bfloat)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 2, &error));
  CHECK(bfloat == 0x4040); // 3
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

void tuples(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf("def f(out, pair):\n    store(out, pair[0] + pair[1][0] * 10 + load(pair[1][1]) * 100)\n", NULL);
  int32_t out = 0, three = 3;
  const tk_argument inner[] = {tk_int(2), tk_pointer(TK_I32, &three)};
  const tk_argument outer[] = {tk_int(7), tk_tuple(inner, 2)};
  const tk_argument arguments[] = {tk_pointer(TK_I32, &out), tk_tuple(outer, 2)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 2, &error));
  CHECK(out == 327);
  const tk_argument broken[] = {arguments[0], tk_tuple(NULL, 2)};
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), broken, 2, &error), TK_ERROR_USER, "tuple");
  tk_argument endless[2] = {tk_int(1), tk_int(1)};
  endless[1] = tk_tuple(endless, 2);
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), endless, 2, &error), TK_ERROR_USER, "nested");
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

void namesAndFunctions(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf("def twice(x):\n    return x * 2\n"
                               "def f(out, x, APPLY: constexpr, WORD: constexpr, TYPE: constexpr, NOTHING: constexpr):\n"
                               "    if WORD == \"yes\" and NOTHING is None:\n"
                               "        store(out, APPLY(x).to(TYPE))\n",
                               "f");
  int32_t out = 0;
  tk_argument arguments[] = {tk_pointer(TK_I32, &out),           tk_named("NOTHING", tk_none()), tk_named("TYPE", tk_type(TK_I32)),
                             tk_named("WORD", tk_string("yes")), tk_named("x", tk_int(21)),      tk_named("APPLY", tk_function("twice"))};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 6, &error));
  CHECK(out == 42);
  arguments[5] = tk_named("APPLY", tk_function("thrice"));
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 6, &error), TK_ERROR_USER, "thrice");
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

void invalidArguments(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf(vectorAdd, NULL);
  const struct {
    tk_argument argument;
    const char *message;
  } wrong[] = {
      {tk_array_argument(NULL), "argument 1: the array is null"},
      {tk_pointer((tk_dtype)50, wrong), "argument 1: a pointer to an unknown type"},
      {tk_scalar_int((tk_dtype)-1, 0), "argument 1: a scalar of an unknown type"},
      {tk_string(NULL), "argument 1: the string is null"},
      {tk_function(NULL), "null"},
      {tk_type((tk_dtype)18), "an unknown type"},
      {tk_named(NULL, tk_int(1)), "name is null"},
      {tk_named("y", tk_string(NULL)), "argument `y`: the string is null"},
      {tk_pointer_to(TK_F32, wrong, 4, TK_MEMORY_DEVICE), "which device"},
  };
  tk_argument arguments[2] = {tk_int(2), tk_int(2)};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    arguments[1] = wrong[i].argument;
    FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 2, &error), TK_ERROR_USER, wrong[i].message);
  }
  memset(&arguments[1], 0x5a, sizeof arguments[1]);
  arguments[1].name = NULL;
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 2, &error), TK_ERROR_USER, "not made by");
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

struct GridSeen {
  int64_t block;
  int calls;
};
static tk_status gridOfBlocks(const tk_launch_values *values, int64_t extents[3], void *context, tk_error **error) {
  struct GridSeen *seen = context;
  ++seen->calls;
  tk_status status = tk_launch_value(values, "BLOCK", &seen->block, error);
  if (status == TK_OK)
    extents[0] = (n + seen->block - 1) / seen->block;
  return status;
}
static tk_status gridThatAsksWrong(const tk_launch_values *values, int64_t extents[3], void *context, tk_error **error) {
  return tk_launch_value(values, "BLOK", &extents[0], error);
}
static tk_status gridThatFails(const tk_launch_values *values, int64_t extents[3], void *context, tk_error **error) {
  *error = tk_error_new(TK_ERROR_DEVICE, "no room today");
  return TK_ERROR_DEVICE;
}
static tk_status gridThatSaysNothing(const tk_launch_values *values, int64_t extents[3], void *context, tk_error **error) { return TK_ERROR_INTERNAL; }

void grids(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf(vectorAdd, NULL);
  float x[n], y[n], out[n];
  const tk_argument arguments[] = {tk_pointer(TK_F32, x), tk_pointer(TK_F32, y), tk_pointer(TK_F32, out), tk_int(n), tk_meta("BLOCK", 64)};
  struct GridSeen seen = {0, 0};
  fill(x, y, out);
  OK(tk_kernel_launch(kernel, stream, tk_grid_call(gridOfBlocks, &seen), arguments, 5, &error));
  CHECK(seen.block == 64 && seen.calls >= 1);
  CHECK(sumsAreRight(x, y, out));
  fill(x, y, out);
  OK(tk_kernel_launch(kernel, stream, tk_grid_of_kernel(), arguments, 5, &error));
  CHECK(sumsAreRight(x, y, out));
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_call(gridThatAsksWrong, NULL), arguments, 5, &error), TK_ERROR_USER, "BLOK");
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_call(gridThatFails, NULL), arguments, 5, &error), TK_ERROR_DEVICE, "no room today");
  FAILS(tk_kernel_launch(kernel, stream, tk_grid_call(gridThatSaysNothing, NULL), arguments, 5, &error), TK_ERROR_INTERNAL, "the grid's function");
  tk_grid grid = tk_grid_of(1, 1, 1);
  grid.kind = 9;
  FAILS(tk_kernel_launch(kernel, stream, grid, arguments, 5, &error), TK_ERROR_USER, "`grid.kind` is 9");
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

void launchers(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf(vectorAdd, NULL);
  tk_launcher *launcher;
  float x[n], y[n], out[n], otherOut[n];
  const tk_argument arguments[] = {tk_pointer(TK_F32, x), tk_pointer(TK_F32, y), tk_pointer(TK_F32, out), tk_i32(n), tk_meta("BLOCK", 128)};
  OK(tk_kernel_launcher(kernel, stream, arguments, 5, &launcher, &error));
  tk_kernel_free(kernel); // its code lives on
  fill(x, y, out);
  OK(tk_launcher_launch(launcher, tk_grid_of(8, 1, 1), &error));
  CHECK(sumsAreRight(x, y, out));
  OK(tk_launcher_set(launcher, "x", tk_pointer(TK_F32, y), &error));
  OK(tk_launcher_set_index(launcher, 2, tk_pointer(TK_F32, otherOut), &error));
  OK(tk_launcher_launch(launcher, tk_grid_of(8, 1, 1), &error));
  CHECK(sumsAreRight(y, y, otherOut));
  FAILS(tk_launcher_set(launcher, "BLOCK", tk_int(64), &error), TK_ERROR_USER, "BLOCK");
  FAILS(tk_launcher_set(launcher, "x", tk_pointer(TK_F64, x), &error), TK_ERROR_USER, "x");
  FAILS(tk_launcher_set(launcher, "z", tk_int(1), &error), TK_ERROR_USER, "z");
  FAILS(tk_launcher_set_index(launcher, 99, tk_int(1), &error), TK_ERROR_USER, "99");
  tk_launcher_free(launcher);
  tk_stream_free(stream);
}

void preparedOnce(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf(vectorAdd, NULL);
  float x[n], y[n], out[n];
  const tk_argument arguments[] = {tk_pointer(TK_F32, x), tk_pointer(TK_F32, y), tk_pointer(TK_F32, out), tk_i32(n), tk_meta("BLOCK", 256)};
  OK(tk_kernel_specialize(kernel, NULL, TK_SPECIALIZE_NONE, &error));
  OK(tk_kernel_specialize(kernel, "n", TK_SPECIALIZE_FULL, &error));
  FAILS(tk_kernel_specialize(kernel, "m", TK_SPECIALIZE_FULL, &error), TK_ERROR_USER, "m");
  OK(tk_kernel_prepare(kernel, stream, arguments, 5, &error));
  size_t compiled = tk_kernel_compiled_count(kernel);
  fill(x, y, out);
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(4, 1, 1), arguments, 5, &error));
  CHECK(sumsAreRight(x, y, out));
  CHECK(tk_kernel_compiled_count(kernel) == compiled);
  tk_resources resources = {sizeof resources, 0, 0, 0, 0, 0};
  FAILS(tk_kernel_resources(kernel, stream, arguments, 5, &resources, &error), TK_ERROR_USER, "host");
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

struct Worker {
  tk_kernel *kernel;
  tk_stream *stream;
  int64_t block;
  int right;
};
static void *work(void *context) {
  struct Worker *worker = context;
  for (int round = 0; round < 20; ++round) {
    float x[n], y[n], out[n];
    const tk_argument arguments[] = {tk_pointer(TK_F32, x), tk_pointer(TK_F32, y), tk_pointer(TK_F32, out), tk_int(n), tk_meta("BLOCK", worker->block)};
    tk_error *error;
    fill(x, y, out);
    worker->right +=
        tk_kernel_launch(worker->kernel, worker->stream, tk_grid_of(n / worker->block + 1, 1, 1), arguments, 5, &error) == TK_OK && sumsAreRight(x, y, out);
    tk_error_free(error);
    worker->right += tk_kernel_launch(worker->kernel, worker->stream, tk_grid_of(1, 1, 1), arguments, 4, &error) == TK_ERROR_USER;
    worker->right += strstr(tk_error_message(error), "BLOCK") != NULL;
    tk_error_free(error);
  }
  return NULL;
}

void manyThreads(void) {
  enum { threads = 8 };
  pthread_t thread[threads];
  struct Worker workers[threads];
  tk_stream *stream = hostStream();
  tk_kernel *kernel = kernelOf(vectorAdd, NULL);
  for (int i = 0; i < threads; ++i) {
    workers[i].kernel = kernel, workers[i].stream = stream, workers[i].block = 32 << i % 3, workers[i].right = 0;
    CHECK(pthread_create(&thread[i], NULL, work, &workers[i]) == 0);
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(thread[i], NULL);
    CHECK(workers[i].right == 60);
  }
  CHECK(tk_kernel_compiled_count(kernel) >= 3);
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}
