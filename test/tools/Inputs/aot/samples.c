/* vector_add, softmax and matmul out of one object, on the CPU or (argument 8.0 or 9.0 ...) on a GPU of that compute capability. C99. */
#include "kernels.h"
#include "check.h"
#include "cuda.h"
#include <math.h>
#include <string.h>

static tk_aot_stream where;

static void *in(const float *host, size_t count) {
  void *copy = (void *)host;
  if (where.device == TK_AOT_CUDA) {
    copy = cudaMemory(4 * count);
    cudaIn(copy, host, 4 * count);
  }
  return copy;
}
static void out(float *host, void *copy, size_t count) {
  if (where.device == TK_AOT_CUDA)
    cudaOut(host, copy, 4 * count);
}

static void addVectors(int n, int offset) {
  float *x = arrayOf(n + offset, 1, 2), *y = arrayOf(n + offset, 3, -1), *z = arrayOf(n + offset, 0, 0);
  float *dx = in(x, n + offset), *dy = in(y, n + offset), *dz = in(z, n + offset);
  CHECK(vector_add(where, dx + offset, dy + offset, dz + offset, n) == TK_AOT_OK);
  out(z, dz, n + offset);
  for (int i = 0; i < n + offset; ++i)
    if (z[i] != (i < offset ? 0 : x[i] + y[i])) {
      printf("vector_add: element %d of %d is %g\n", i, n, z[i]);
      ++failures;
      return;
    }
}

static void softmaxRows(int rows, int columns) {
  size_t count = (size_t)rows * columns;
  float *x = arrayOf(count, -3, 0.02f), *y = arrayOf(count, 0, 0), *dx = in(x, count), *dy = in(y, count);
  CHECK(softmax(where, rows, 1, 1, dy, dx, columns, columns, columns) == TK_AOT_OK);
  out(y, dy, count);
  for (int r = 0; r < rows; ++r) {
    double most = -1e30, sum = 0;
    for (int c = 0; c < columns; ++c)
      most = fmax(most, x[r * columns + c]);
    for (int c = 0; c < columns; ++c)
      sum += exp(x[r * columns + c] - most);
    for (int c = 0; c < columns; ++c)
      if (!(fabs(y[r * columns + c] - exp(x[r * columns + c] - most) / sum) < 1e-6)) {
        printf("softmax: element %d of row %d is %g\n", c, r, y[r * columns + c]);
        ++failures;
        return;
      }
  }
}

static void multiply(int m, int n, int k, int block) {
  float *a = arrayOf((size_t)m * k, 0, 1), *b = arrayOf((size_t)k * n, 0, 1), *c = arrayOf((size_t)m * n, 0, 0);
  for (int i = 0; i < m * k; ++i)
    a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < k * n; ++i)
    b[i] = (float)(i % 5 - 2);
  float *da = in(a, (size_t)m * k), *db = in(b, (size_t)k * n), *dc = in(c, (size_t)m * n);
  CHECK(matmul(where, da, db, dc, m, n, k, k, 1, n, 1, n, 1, block) == TK_AOT_OK);
  out(c, dc, (size_t)m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[i * k + l] * b[l * n + j];
      if (c[i * n + j] != sum) { /* small integers: exact in every precision */
        printf("matmul: element %d, %d is %g instead of %g\n", i, j, c[i * n + j], sum);
        ++failures;
        return;
      }
    }
}

int main(int count, char **arguments) {
  where = count > 1 ? tk_aot_cuda(0) : tk_aot_cpu();
  if (count > 1 && !cudaStart(atoi(arguments[1]), atoi(strchr(arguments[1], '.') + 1)))
    return 1;
  addVectors(4096, 0);
  addVectors(5000, 0);  /* n is no multiple of 16 */
  addVectors(3001, 1);  /* nor are the addresses */
  softmaxRows(33, 200);
  multiply(48, 64, 40, 16);
  multiply(70, 33, 64, 32);
  CHECK(vector_add_prepare(where) == TK_AOT_OK && softmax_prepare(where) == TK_AOT_OK && matmul_prepare(where) == TK_AOT_OK);
  CHECK(vector_add_unload() == TK_AOT_OK);
  addVectors(777, 0);
  /* Left open, the device is where the arrays lie. */
  where.device = TK_AOT_AUTO;
  float *x = arrayOf(64, 1, 2), *y = arrayOf(64, 3, 1), *z = arrayOf(64, 0, 0);
  CHECK(vector_add(where, x, y, z, 64) == TK_AOT_OK && z[5] == x[5] + y[5]);
  if (count > 1) {
    where.device = TK_AOT_CUDA;
    float *dx = in(x, 64), *dy = in(y, 64), *dz = in(z, 64);
    memset(z, 0, 64 * 4);
    CHECK(vector_add(tk_aot_auto(), dx, dy, dz, 64) == TK_AOT_OK);
    out(z, dz, 64);
    CHECK(z[5] == x[5] + y[5]);
    REFUSED(vector_add(tk_aot_auto(), dx, y, dz, 64));
  }
  printf("%d failed\n", failures);
  return failures != 0;
}
