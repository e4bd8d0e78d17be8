#ifndef TK_AOT_TYPES /* the same text in every header that tkc writes */
#define TK_AOT_TYPES 1
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to. tk_aot_last_error() says more. */
typedef enum tk_aot_status {
  TK_AOT_OK = 0,
  TK_AOT_BAD_ARGUMENT = 1,     /* an argument or the grid can't be */
  TK_AOT_NO_VARIANT = 2,       /* none of the compiled variants fits the arguments, or the device */
  TK_AOT_NO_DEVICE = 3,        /* there is no such device here */
  TK_AOT_OUT_OF_MEMORY = 4,
  TK_AOT_DRIVER_ERROR = 5,     /* the device's driver refused something */
  TK_AOT_ASSERTION_FAILED = 6, /* a device_assert of the kernel */
  TK_AOT_STUCK = 7             /* programs wait for more others than can run at once */
} tk_aot_status;

typedef enum tk_aot_device {
  TK_AOT_AUTO = 0, /* where the arrays lie: the GPU for its memory, else the CPU */
  TK_AOT_CPU = 1,
  TK_AOT_CUDA = 2
} tk_aot_device;

/* Where a kernel runs. On the CPU a call returns when the kernel has ended; on a GPU it returns at once, and the kernel runs in the order of its stream. */
typedef struct tk_aot_stream {
  tk_aot_device device;
  void *handle; /* CUDA: a CUstream or cudaStream_t; null: the default stream */
} tk_aot_stream;

static inline tk_aot_stream tk_aot_auto(void) {
  tk_aot_stream stream = {TK_AOT_AUTO, 0};
  return stream;
}
static inline tk_aot_stream tk_aot_cpu(void) {
  tk_aot_stream stream = {TK_AOT_CPU, 0};
  return stream;
}
/* In the current context of the calling thread; without one in the stream's, without that in the primary context of device 0. */
static inline tk_aot_stream tk_aot_cuda(void *handle) {
  tk_aot_stream stream = {TK_AOT_CUDA, handle};
  return stream;
}

/* The text of the calling thread's last error; empty before the first. Valid until the next call that fails. */
const char *tk_aot_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
