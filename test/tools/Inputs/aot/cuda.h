/* The few calls of NVIDIA's driver that the tests' programs need, from the library that TK_AOT_CUDA_DRIVER names. */
#ifndef CUDA_H
#define CUDA_H
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *cudaLibrary;

static int call(const char *name, void *a, void *b, void *c, void *d) {
  int (*function)(void *, void *, void *, void *);
  *(void **)&function = dlsym(cudaLibrary, name);
  int result = function ? function(a, b, c, d) : -1;
  if (result)
    printf("%s: error %d\n", name, result);
  return result;
}
static void *number(uint64_t value) { return (void *)(uintptr_t)value; }

/* How many devices there are; -1: there is no such library. */
static int cudaCount(void) {
  const char *name = getenv("TK_AOT_CUDA_DRIVER");
  int count = 0;
  cudaLibrary = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!cudaLibrary)
    return -1;
  call("cuInit", 0, 0, 0, 0);
  call("cuDeviceGetCount", &count, 0, 0, 0);
  return count;
}
static void cudaCapability(int device, int found[2]) {
  call("cuDeviceGetAttribute", &found[0], number(75), number(device), 0);
  call("cuDeviceGetAttribute", &found[1], number(76), number(device), 0);
}
/* Makes a device's primary context current. */
static int cudaUse(int ordinal) {
  int device = 0;
  void *context = 0;
  return !call("cuDeviceGet", &device, number(ordinal), 0, 0) && !call("cuDevicePrimaryCtxRetain", &context, number(device), 0, 0) &&
         !call("cuCtxSetCurrent", context, 0, 0, 0);
}

/* The same for the first device of this compute capability. */
static int cudaStart(int major, int minor) {
  int count = cudaCount(), found[2];
  if (count < 0) {
    printf("%s\n", dlerror());
    return 0;
  }
  for (int i = 0; i < count; ++i) {
    cudaCapability(i, found);
    if (found[0] == major && found[1] == minor)
      return cudaUse(i);
  }
  printf("no device of compute capability %d.%d\n", major, minor);
  return 0;
}

static void *cudaMemory(size_t bytes) {
  uint64_t address = 0;
  call("cuMemAlloc_v2", &address, number(bytes), 0, 0);
  return number(address);
}
static void cudaIn(void *to, const void *from, size_t bytes) {
  call("cuMemcpyHtoDAsync_v2", to, (void *)from, number(bytes), 0);
  call("cuStreamSynchronize", 0, 0, 0, 0);
}
static void cudaOut(void *to, const void *from, size_t bytes) {
  call("cuStreamSynchronize", 0, 0, 0, 0);
  call("cuMemcpyDtoHAsync_v2", to, (void *)from, number(bytes), 0);
  call("cuStreamSynchronize", 0, 0, 0, 0);
}
#endif
