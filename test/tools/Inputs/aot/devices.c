/* One object, called with arrays of every device here in turn and no word of which device that is: the code must follow the arrays, and give what the CPU gives. Prints
 * one line of JSON. The status is 1 when a result is wrong, or a call fails for another reason than that the object has no code for the device. C99. */
#include "softmax.h"
#include "cuda.h"
#include <math.h>

enum { ROWS = 64, COLUMNS = 1000, COUNT = ROWS * COLUMNS };
static float x[COUNT], out[COUNT];

static int isRight(void) {
  for (int row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; ++i)
      sum += exp(x[i]);
    for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; ++i)
      if (!(fabs(out[i] * sum / exp(x[i]) - 1) < 1e-5))
        return 0;
  }
  return 1;
}

/* Where the arrays lie is all that it is told. */
static tk_aot_status launch(void *result, const void *argument) {
  return softmax(tk_aot_auto(), ROWS, 1, 1, result, argument, COLUMNS, COLUMNS, COLUMNS);
}

static int report(const char *device, tk_aot_status status, int right) {
  printf("{\"device\": \"%s\", \"status\": %d, ", device, (int)status);
  if (status == TK_AOT_OK)
    printf("\"right\": %s}", right ? "true" : "false");
  else
    printf("\"error\": \"%s\"}", tk_aot_last_error()); /* holds neither quotes nor lines */
  return status == TK_AOT_OK ? right : status == TK_AOT_NO_VARIANT;
}

static int onGpu(int ordinal) {
  char name[96] = "", text[128];
  int capability[2] = {0, 0};
  if (!cudaUse(ordinal) || call("cuDeviceGetName", name, number(sizeof name), number(ordinal), 0))
    return 0;
  cudaCapability(ordinal, capability);
  snprintf(text, sizeof text, "%s, compute capability %d.%d", name, capability[0], capability[1]);
  /* The CPU can neither read nor write this memory. */
  void *theirs = cudaMemory(sizeof x), *results = cudaMemory(sizeof out);
  for (int i = 0; i < COUNT; ++i)
    out[i] = -1;
  cudaIn(theirs, x, sizeof x), cudaIn(results, out, sizeof out);
  tk_aot_status status = launch(results, theirs);
  if (status == TK_AOT_OK)
    cudaOut(out, results, sizeof out);
  return report(text, status, status == TK_AOT_OK && isRight());
}

int main(void) {
  int good = 1, gpus = cudaCount();
  for (int i = 0; i < COUNT; ++i)
    x[i] = (float)(i * 37 % 101) / 25, out[i] = -1;
  printf("[");
  tk_aot_status status = launch(out, x);
  good &= report("CPU", status, status == TK_AOT_OK && isRight()) && status == TK_AOT_OK;
  for (int i = 0; i < gpus; ++i) {
    printf(", ");
    good &= onGpu(i);
  }
  printf("]\n");
  return good ? 0 : 1;
}
