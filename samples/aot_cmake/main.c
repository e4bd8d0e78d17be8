/* Calls a kernel that was compiled into this program. The function and its types are of the header that tk_add_kernels made; no library of tkc's is needed. */
#include "saxpy.h"
#include <stdio.h>

enum { n = 1000 };

int main(void) {
  static float x[n], y[n], out[n];
  for (int i = 0; i < n; ++i)
    x[i] = (float)i, y[i] = 1;
  /* Finds the variant that fits the arguments; on the CPU it is done when it returns. The grid is the kernel's own, from its @tk.grid. */
  if (saxpy(tk_aot_cpu(), x, y, out, 2.5f, n) != TK_AOT_OK) {
    fprintf(stderr, "%s\n", tk_aot_last_error());
    return 1;
  }
  for (int i = 0; i < n; ++i)
    if (out[i] != 2.5f * x[i] + y[i]) {
      printf("element %d is %g\n", i, out[i]);
      return 1;
    }
  printf("saxpy: %d elements are right\n", n);
  return 0;
}
