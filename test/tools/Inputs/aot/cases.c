/* Kernels of kernels.tk: variants, errors, assertions, prints, programs that wait for each other, threads, fork. */
#define _GNU_SOURCE
#include "cases.h"
#include "check.h"
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void variants(void) {
  int32_t out = 0, two = 2;
  puts("-- variants");
  CHECK(which(tk_aot_cpu(), &out, NULL, 3, 1) == TK_AOT_OK && out == 103);
  CHECK(which(tk_aot_cpu(), &out, NULL, 3, 2) == TK_AOT_OK && out == 203);
  CHECK(which(tk_aot_cpu(), &out, &two, 3, 1) == TK_AOT_OK && out == 105);
  CHECK(which(tk_aot_cpu(), &out, &two, 5000000000, 1) == TK_AOT_OK && out == 100 + (int32_t)5000000000 + 2);
  REFUSED(which(tk_aot_cpu(), &out, &two, 3, 2));
  REFUSED(which(tk_aot_cpu(), &out, NULL, 5000000000, 1));
  REFUSED(which(tk_aot_cpu(), (int32_t *)((char *)&out + 2), NULL, 3, 1));
  REFUSED(which(tk_aot_cuda(0), &out, NULL, 3, 1));
  tk_aot_stream none = {(tk_aot_device)7, 0};
  REFUSED(which(none, &out, NULL, 3, 1));
}

static void numbers(void) {
  double out[8] = {0};
  float wide = 1.5f;
  uint16_t narrow = 0;
  puts("-- numbers");
  CHECK(kinds(tk_aot_cpu(), out, true, -100, -30000, 4000000000u, -5000000000, 0.1f, 0.1, 0x3c00, &wide, &narrow) == TK_AOT_OK);
  CHECK(out[0] == 1 && out[1] == -100 && out[2] == -30000 && out[3] == 4000000000.0 && out[4] == -5000000000.0);
  CHECK(out[5] == (double)0.1f && out[6] == 0.1 && out[7] == 1 && narrow == 0x3e00);
}

static void grids(void) {
  float *x = arrayOf(100, 1, 0);
  puts("-- grids");
  CHECK(scale(tk_aot_cpu(), x, 0, 2) == TK_AOT_OK && x[0] == 1); /* no program */
  CHECK(scale(tk_aot_cpu(), x, 100, 3) == TK_AOT_OK && x[0] == 3 && x[99] == 3);
  REFUSED(scale(tk_aot_cpu(), x, -5000, 2));
}

static void faults(void) {
  int32_t values[4] = {0, 1, 2, 3};
  puts("-- faults");
  CHECK(checked(tk_aot_cpu(), values, 4) == TK_AOT_OK && values[3] == 4);
  values[2] = -1;
  REFUSED(checked(tk_aot_cpu(), values, 4));
  values[2] = 1;
  CHECK(checked(tk_aot_cpu(), values, 4) == TK_AOT_OK && values[2] == 2);
}

static void prints(void) {
  float x = 100000.5f;
  puts("-- prints");
  CHECK(told(tk_aot_cpu(), &x, 0.1f, 7) == TK_AOT_OK);
}

static void waits(void) {
  enum { n = 300 };
  int32_t count = 0, turn = 0, order[n];
  puts("-- waits");
  CHECK(meet(tk_aot_cpu(), &count, n) == TK_AOT_OK && count == n);
  CHECK(turns(tk_aot_cpu(), &turn, order, n) == TK_AOT_OK && turn == n);
  for (int i = 0; i < n; ++i)
    CHECK(order[i] == 3 * i);
  count = 0;
  REFUSED(meet(tk_aot_cpu(), &count, 5000)); /* more than can run at once */
  count = 0;
  CHECK(meet(tk_aot_cpu(), &count, 20) == TK_AOT_OK && count == 20);
}

static void *scales(void *argument) {
  float *x = argument;
  for (int i = 0; i < 50; ++i)
    if (scale(tk_aot_cpu(), x, 100000, i % 2 ? 2.0f : 0.5f) != TK_AOT_OK)
      return argument;
  REFUSED(scale(tk_aot_cpu(), (float *)((char *)x + 1), 100000, 2)); /* the text is the thread's own */
  return NULL;
}

static void threads(void) {
  pthread_t running[4];
  float *arrays[4];
  puts("-- threads");
  for (int i = 0; i < 4; ++i) {
    arrays[i] = arrayOf(100000, (float)i, 1);
    pthread_create(&running[i], NULL, scales, arrays[i]);
  }
  for (int i = 0; i < 4; ++i) {
    void *failed;
    pthread_join(running[i], &failed);
    CHECK(!failed && arrays[i][77777] == (float)i + 77777 % 251);
  }
}

static void forks(void) {
  float *x = arrayOf(5000, 1, 0);
  int status = -1;
  puts("-- forks");
  fflush(stdout);
  pid_t child = fork(); /* whose parent has launched before */
  if (child == 0) {
    int wrong = scale(tk_aot_cpu(), x, 5000, 2) != TK_AOT_OK || x[4999] != 2;
    _exit(wrong);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(scale(tk_aot_cpu(), x, 5000, 3) == TK_AOT_OK && x[4999] == 3);
}

int main(void) {
  variants();
  numbers();
  grids();
  faults();
  prints();
  waits();
  threads();
  forks();
  printf("%d failed\n", failures);
  return failures != 0;
}
