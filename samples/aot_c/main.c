/* The softmax of samples/softmax.tk in a C program: no tkc, no C++, no CUDA SDK where this is built or runs.
 *
 *     tkc compile samples/softmax.tk --target x86-64-v3,x86-64-v4,sm_80,sm_90a -o softmax.o --header softmax.h \
 *         --signature '*fp32:16, *fp32:16, i32, i32, i32, BLOCK=256' --signature '*fp32:16, *fp32:16, i32, i32, i32, BLOCK=1024'
 *     cc -std=c99 main.c softmax.o -lm -o softmax
 *
 * The two signatures differ in BLOCK, so it is a parameter of the C function, compared at run time. @tk.grid of the kernel asks for an array's shape, which a C pointer
 * doesn't have, so that the function takes the grid: one program a row.
 */
#include "softmax.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  int rows = count > 1 ? atoi(arguments[1]) : 512, columns = count > 2 ? atoi(arguments[2]) : 1000;
  size_t elements = (size_t)rows * (size_t)columns;
  /* The signatures promise addresses at multiples of 16 bytes, which malloc's are. */
  float *x = malloc(elements * sizeof *x), *out = malloc(elements * sizeof *out);
  if (!x || !out)
    return 1;
  for (size_t i = 0; i < elements; ++i)
    x[i] = (float)(i * 37 % 101) / 25;

  /* Where the arrays lie: host memory, so the CPU. On a GPU: tk_aot_cuda(stream), with pointers of its memory. */
  int32_t block = 256;
  while (block < columns)
    block *= 4; /* above 1024 there is no such variant, and the call says so */
  tk_aot_status status = softmax(tk_aot_auto(), (uint32_t)rows, 1, 1, out, x, columns, columns, columns, block);
  if (status != TK_AOT_OK) {
    fprintf(stderr, "%s\n", tk_aot_last_error());
    return 1;
  }

  double worst = 0;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += exp(x[(size_t)row * columns + i]);
    for (int i = 0; i < columns; ++i)
      worst = fmax(worst, fabs(out[(size_t)row * columns + i] * sum / exp(x[(size_t)row * columns + i]) - 1));
  }
  printf("softmax of %d rows of %d: %s, largest relative error %.1e\n", rows, columns, worst < 1e-5 ? "right" : "wrong", worst);
  free(x);
  free(out);
  return worst < 1e-5 ? 0 : 1;
}
