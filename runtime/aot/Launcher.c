/* The launcher that every object with precompiled kernels carries: from a typed function's values to a running kernel. See README.md.
 *
 * One translation unit: only what the tables' functions call has a name outside. It needs libc alone; NVIDIA's driver is loaded when it is first wanted.
 */
#define _GNU_SOURCE
#include "runtime/aot/Tables.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two names that all objects of a program share, whichever tkc they are from: the linker keeps the first of each. */
enum { errorTextBytes = 2048 };
__attribute__((weak, visibility("default"))) _Thread_local char tk_aot_error_text[errorTextBytes];
__attribute__((weak, visibility("default"))) const char *tk_aot_last_error(void) { return tk_aot_error_text; }

/* Room for a message that grows; what doesn't fit is cut off. */
typedef struct {
  char *text;
  size_t size, used;
} Text;

static void add(Text *text, const char *format, ...) {
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = vsnprintf(text->text + text->used, text->size - text->used, format, arguments);
  va_end(arguments);
  if (length > 0)
    text->used = text->used + (size_t)length < text->size ? text->used + (size_t)length : text->size - 1;
}

/* The calling thread's error, begun with the function's name. */
static Text failure(const TkAotKernel *kernel) {
  Text text = {tk_aot_error_text, errorTextBytes, 0};
  add(&text, "%s: ", kernel->name);
  return text;
}

static tk_aot_status fail(tk_aot_status status, const TkAotKernel *kernel, const char *format, ...) {
  Text text = failure(kernel);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text.text + text.used, text.size - text.used, format, arguments);
  va_end(arguments);
  return status;
}

/* What the object has code for, as in "x86-64-v3, sm_80". */
static void addTargets(Text *text, const TkAotKernel *kernel) {
  const TkAotVariant *variant = kernel->variants;
  for (uint32_t i = 0; i < variant->codeCount; ++i) {
    int known = 0;
    for (uint32_t j = 0; j < i; ++j)
      known |= strcmp(variant->codes[j].target, variant->codes[i].target) == 0;
    if (!known)
      add(text, "%s%s", i ? ", " : "", variant->codes[i].target);
  }
}

static int hasCode(const TkAotKernel *kernel, tk_aot_device device) {
  for (uint32_t i = 0; i < kernel->variants->codeCount; ++i)
    if (kernel->variants->codes[i].device == device)
      return 1;
  return 0;
}

static const char *nameOf(tk_aot_device device) { return device == TK_AOT_CPU ? "the CPU" : "NVIDIA GPUs"; }

static uint64_t lowBytes(uint64_t value, unsigned bytes) { return bytes >= 8 ? value : value & ((UINT64_C(1) << 8 * bytes) - 1); }

/* NOLINTBEGIN(bugprone-suspicious-include) */
#include "runtime/aot/CpuLaunch.c"
#include "runtime/aot/CudaLaunch.c"
#include "runtime/aot/Variants.c"
#include "runtime/program/Program.c"
/* NOLINTEND(bugprone-suspicious-include) */

/* The device for a launch whose caller leaves it open: where the arrays lie. */
static tk_aot_status chooseDevice(const TkAotKernel *kernel, const uint64_t *values, tk_aot_device *device) {
  const char *inDevice = NULL, *inHost = NULL;
  int canUseCpu = hasCode(kernel, TK_AOT_CPU), canUseCuda = hasCode(kernel, TK_AOT_CUDA);
  *device = TK_AOT_CPU;
  if (!canUseCuda)
    return TK_AOT_OK;
  if (!cudaDriver()->isThere) {
    if (canUseCpu)
      return TK_AOT_OK;
    *device = TK_AOT_CUDA; /* and there the error */
    return TK_AOT_OK;
  }
  for (uint32_t i = 0; values && i < kernel->parameterCount; ++i) {
    const TkAotParameter *parameter = &kernel->parameters[i];
    if (parameter->kind != TkAotPointer || !values[i])
      continue;
    switch (cudaPlaceOf(values[i])) {
    case PlaceDevice: inDevice = inDevice ? inDevice : parameter->name; break;
    case PlaceHost: inHost = inHost ? inHost : parameter->name; break;
    default: break;
    }
  }
  if (inDevice && inHost)
    return fail(TK_AOT_BAD_ARGUMENT, kernel, "`%s` lies in a GPU's memory and `%s` in the host's", inDevice, inHost);
  if (inHost && !canUseCpu)
    return fail(TK_AOT_BAD_ARGUMENT, kernel, "`%s` lies in the host's memory, and the object has no code for the CPU", inHost);
  if (inDevice || !canUseCpu || (!inHost && cudaHasContext()))
    *device = TK_AOT_CUDA;
  return TK_AOT_OK;
}

static tk_aot_status resolveDevice(const TkAotKernel *kernel, uint32_t asked, const uint64_t *values, tk_aot_device *device) {
  Text text;
  *device = (tk_aot_device)asked;
  if (asked > TK_AOT_CUDA)
    return fail(TK_AOT_BAD_ARGUMENT, kernel, "device %u is none: expected TK_AOT_AUTO, TK_AOT_CPU or TK_AOT_CUDA", asked);
  if (asked == TK_AOT_AUTO) {
    tk_aot_status status = chooseDevice(kernel, values, device);
    if (status != TK_AOT_OK)
      return status;
  }
  if (hasCode(kernel, *device))
    return TK_AOT_OK;
  text = failure(kernel);
  add(&text, "the object has no code for %s: it was compiled for ", nameOf(*device));
  addTargets(&text, kernel);
  return TK_AOT_NO_VARIANT;
}

static tk_aot_status failGrid(const TkAotKernel *kernel, const TkProgramResult *result) {
  switch (result->status) {
  case TkProgramMissingArgument:
  case TkProgramBadArgument:
    return fail(TK_AOT_BAD_ARGUMENT, kernel, "the grid's expression needs `%s` as a number",
                result->argument < kernel->parameterCount ? kernel->parameters[result->argument].name : "?");
  case TkProgramDivisionByZero: return fail(TK_AOT_BAD_ARGUMENT, kernel, "the grid's expression divides by zero");
  case TkProgramOverflow: return fail(TK_AOT_BAD_ARGUMENT, kernel, "the grid's expression leaves 64 bits");
  default: return fail(TK_AOT_BAD_ARGUMENT, kernel, "the grid's expression can't be evaluated (%d)", (int)result->status);
  }
}

static tk_aot_status findGrid(const TkAotKernel *kernel, const TkAotVariant *variant, const uint32_t *given, const uint64_t *values, int64_t grid[3]) {
  TkProgramValue arguments[TK_AOT_PARAMETERS], extent;
  for (uint32_t i = 0; kernel->gridCount && i < kernel->parameterCount; ++i)
    arguments[i] = variant->constants[i].kind == TkValueMissing ? programValue(&kernel->parameters[i], values[i]) : variant->constants[i];
  for (uint32_t axis = 0; axis < 3; ++axis) {
    TkProgramResult result;
    grid[axis] = kernel->gridCount ? 1 : given[axis];
    if (axis >= kernel->gridCount)
      continue;
    result = tkProgramRun(kernel->grid[axis].code, kernel->grid[axis].bytes, arguments, kernel->parameterCount, &extent, 1);
    if (result.status != TkProgramOk)
      return failGrid(kernel, &result);
    if (extent.kind != TkValueInt && extent.kind != TkValueBool)
      return fail(TK_AOT_BAD_ARGUMENT, kernel, "the grid's extent %u is no integer", axis);
    grid[axis] = extent.integer;
  }
  return TK_AOT_OK;
}

tk_aot_status tk_aot_launch(const TkAotKernel *kernel, uint32_t asked, void *handle, const uint32_t *given, const uint64_t *values) {
  tk_aot_device device;
  const TkAotVariant *variant = NULL;
  int64_t grid[3];
  tk_aot_status status = findVariant(kernel, values, &variant);
  if (status == TK_AOT_OK)
    status = resolveDevice(kernel, asked, values, &device);
  if (status == TK_AOT_OK)
    status = findGrid(kernel, variant, given, values, grid);
  if (status != TK_AOT_OK)
    return status;
  return device == TK_AOT_CPU ? cpuLaunch(kernel, variant, grid, values) : cudaLaunch(kernel, variant, grid, values, handle);
}

tk_aot_status tk_aot_prepare(const TkAotKernel *kernel, uint32_t asked, void *handle) {
  tk_aot_device device;
  tk_aot_status status = resolveDevice(kernel, asked, NULL, &device);
  for (uint32_t i = 0; status == TK_AOT_OK && i < kernel->variantCount; ++i)
    status = device == TK_AOT_CPU ? cpuPrepare(kernel, &kernel->variants[i]) : cudaPrepare(kernel, &kernel->variants[i], handle);
  return status;
}

tk_aot_status tk_aot_unload(const TkAotKernel *kernel) {
  for (uint32_t i = 0; i < kernel->variantCount; ++i)
    cudaUnload(&kernel->variants[i]);
  return TK_AOT_OK;
}
