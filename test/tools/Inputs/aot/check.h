/* What the tests' programs share. */
#ifndef CHECK_H
#define CHECK_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition))                                                                                        \
      printf("%s:%d: failed: %s [%s]\n", __FILE__, __LINE__, #condition, tk_aot_last_error()), ++failures;    \
  } while (0)
/* Prints the status and text of a call that must fail. */
#define REFUSED(call)                                                    \
  do {                                                                   \
    int status_ = (int)(call);                                           \
    printf("%d %s\n", status_, status_ ? tk_aot_last_error() : "");      \
  } while (0)

static float *arrayOf(size_t count, float first, float step) {
  float *array = aligned_alloc(64, (4 * count + 127) / 64 * 64);
  for (size_t i = 0; i < count; ++i)
    array[i] = first + step * (float)(i % 251);
  return array;
}
#endif
