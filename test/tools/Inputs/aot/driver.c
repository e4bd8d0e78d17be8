/* What a launch on a GPU comes to without one; with one, from several threads without a current context, into a graph, and on several devices (driver 9.0 8.0 ...). */
#include "vector_add.h"
#include "check.h"
#include "cuda.h"
#include <pthread.h>
#include <string.h>

static float *x, *y, *z;

/* Without a current context: in that of the device where the arrays lie. */
static void *launch(void *unused) {
  int failed = vector_add(tk_aot_cuda(0), x, y, z, 1024) != TK_AOT_OK || vector_add(tk_aot_auto(), x, y, z, 1024) != TK_AOT_OK;
  if (failed)
    puts(tk_aot_last_error());
  return failed ? unused : NULL;
}

/* A launch into a graph needs code that is loaded. */
static void captures(void) {
  void *stream = 0, *graph = 0, *executable = 0;
  CHECK(vector_add_unload() == TK_AOT_OK);
  call("cuMemsetD8Async", z, number(0), number(4096), 0);
  call("cuStreamCreate", &stream, number(1), 0, 0);
  call("cuStreamBeginCapture_v2", stream, number(1), 0, 0);
  REFUSED(vector_add(tk_aot_cuda(stream), x, y, z, 1024));
  call("cuStreamEndCapture", stream, &graph, 0, 0);
  CHECK(vector_add_prepare(tk_aot_cuda(stream)) == TK_AOT_OK);
  call("cuStreamBeginCapture_v2", stream, number(1), 0, 0);
  CHECK(vector_add(tk_aot_cuda(stream), x, y, z, 1024) == TK_AOT_OK);
  call("cuStreamEndCapture", stream, &graph, 0, 0);
  call("cuGraphInstantiateWithFlags", &executable, graph, 0, 0);
  call("cuGraphLaunch", executable, stream, 0, 0);
  call("cuStreamSynchronize", stream, 0, 0, 0);
}

int main(int count, char **arguments) {
  const char *capability = count > 1 ? arguments[1] : "9.0";
  pthread_t threads[4];
  x = arrayOf(1024, 1, 1), y = arrayOf(1024, 2, 1), z = arrayOf(1024, 0, 0);
  tk_aot_status status = vector_add_prepare(tk_aot_cuda(0));
  printf("%d %s\n", (int)status, tk_aot_last_error());
  CHECK(vector_add(tk_aot_auto(), x, y, z, 1024) == TK_AOT_OK && z[1] == 5); /* on the CPU, where the arrays lie */
  for (int device = 1; status == TK_AOT_OK && device <= (count > 1 ? count - 1 : 1); ++device) {
    void *host[3] = {arrayOf(1024, 1, 1), arrayOf(1024, 2, 1), arrayOf(1024, 0, 0)};
    capability = count > 1 ? arguments[device] : capability;
    cudaStart(atoi(capability), atoi(strchr(capability, '.') + 1));
    for (int i = 0; i < 3; ++i) {
      void *copy = cudaMemory(4096);
      cudaIn(copy, host[i], 4096);
      *(i == 0 ? &x : i == 1 ? &y : &z) = copy;
    }
    for (int i = 0; i < 4; ++i)
      pthread_create(&threads[i], NULL, launch, &failures);
    for (int i = 0; i < 4; ++i) {
      void *failed;
      pthread_join(threads[i], &failed);
      CHECK(!failed);
    }
    cudaOut(host[2], z, 4096);
    CHECK(((float *)host[2])[1] == 5);
    captures();
    cudaOut(host[2], z, 4096);
    CHECK(((float *)host[2])[1] == 5);
  }
  printf("%d failed\n", failures);
  return failures != 0;
}
