// Devices, streams, events, arrays, DLPack.
#include "Check.h"
#include <math.h>
#include <string.h>

// DLPack's structs, as its document says: here a consumer that knows nothing of tk's.
typedef struct {
  int32_t device_type, device_id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

void devices(void) {
  tk_error *error;
  tk_device list[32], best;
  size_t count;
  OK(tk_device_list(list, 32, &count, &error));
  CHECK(count >= 1 && tk_device_is_host(list[count - 1]));
  OK(tk_device_list(NULL, 0, &count, &error));
  OK(tk_device_best(&best, &error));
  CHECK(best.implementation == list[0].implementation);
  CHECK(tk_device_is_host(tk_device_host()) && tk_device_architecture(tk_device_host()) == 0 && tk_device_memory_bytes(tk_device_host()) > 0);
  CHECK(strncmp(tk_device_name(tk_device_host()), "CPU", 3) == 0);
  CHECK(tk_device_name(tk_device_host()) == tk_device_name(tk_device_host()));
  tk_device device;
  FAILS(tk_device_cuda(1000, &device, &error), TK_ERROR_DEVICE, "");
  FAILS(tk_device_emulated("gfx942", &device, &error), TK_ERROR_USER, "gfx942");
  tk_stream *stream = hostStream();
  CHECK(tk_device_is_host(tk_stream_device(stream)) && tk_stream_handle(stream) == NULL);
  OK(tk_stream_synchronize(stream, &error));
  tk_stream_free(stream);
}

void arrays(void) {
  tk_error *error;
  tk_array *array;
  const int64_t shape[] = {3, 4};
  float in[12], out[12];
  OK(tk_array_new(tk_device_host(), TK_F32, shape, 2, &array, &error));
  CHECK(tk_array_rank(array) == 2 && tk_array_shape(array)[1] == 4 && tk_array_bytes(array) == 48 && tk_array_dtype(array) == TK_F32);
  CHECK(tk_device_is_host(tk_array_device(array)));
  OK(tk_array_copy_to(array, out, sizeof out, NULL, &error));
  for (int i = 0; i < 12; ++i) {
    CHECK(out[i] == 0);
    in[i] = (float)i;
  }
  tk_stream *stream = hostStream();
  OK(tk_array_copy_from(array, in, sizeof in, stream, &error));
  CHECK(memcmp(tk_array_data(array), in, sizeof in) == 0);
  FAILS(tk_array_copy_from(array, in, 47, stream, &error), TK_ERROR_USER, "48 bytes, `bytes` says 47");
  FAILS(tk_array_copy_to(array, NULL, 48, stream, &error), TK_ERROR_USER, "`data` is null");
  const int64_t negative[] = {-1};
  tk_array *wrong;
  FAILS(tk_array_new(tk_device_host(), TK_F32, negative, 1, &wrong, &error), TK_ERROR_USER, "-1");
  const int64_t huge[] = {INT64_MAX / 2, 8};
  FAILS(tk_array_new(tk_device_host(), TK_F32, huge, 2, &wrong, &error), TK_ERROR_USER, "");
  OK(tk_array_new(tk_device_host(), TK_F64, NULL, 0, &wrong, &error)); // a scalar
  CHECK(tk_array_bytes(wrong) == 8);
  tk_array_free(wrong);
  FAILS(tk_array_load(tk_device_host(), "no/such.npy", &wrong, &error), TK_ERROR_USER, "no/such.npy");
  tk_stream_free(stream);
  tk_array_free(array);
}

void emulatedGpu(void) {
  tk_error *error;
  tk_device gpu;
  OK(tk_device_emulated("sm_80", &gpu, &error));
  CHECK(tk_device_is_emulated(gpu) && tk_device_architecture(gpu) == 80);
  tk_stream *stream, *host = hostStream();
  OK(tk_stream_new(gpu, &stream, &error));
  const int64_t shape[] = {64};
  float x[64], out[64];
  for (int i = 0; i < 64; ++i)
    x[i] = (float)i;
  tk_array *array, *result;
  OK(tk_array_new(gpu, TK_F32, shape, 1, &array, &error));
  OK(tk_array_new(gpu, TK_F32, shape, 1, &result, &error));
  OK(tk_array_copy_from(array, x, sizeof x, stream, &error));
  tk_kernel *kernel = kernelOf(vectorAdd, NULL);
  const tk_argument arguments[] = {tk_array_argument(array), tk_array_argument(array), tk_array_argument(result), tk_int(64),
                                   tk_meta("BLOCK", 64),     tk_meta("num_warps", 1)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 6, &error));
  OK(tk_stream_synchronize(stream, &error));
  OK(tk_array_copy_to(result, out, sizeof out, stream, &error));
  for (int i = 0; i < 64; ++i)
    CHECK(out[i] == 2 * x[i]);
  FAILS(tk_kernel_launch(kernel, host, tk_grid_of(1, 1, 1), arguments, 5, &error), TK_ERROR_USER, "`x`");
  FAILS(tk_array_copy_to(result, out, sizeof out, host, &error), TK_ERROR_USER, "stream");
  tk_resources resources = {sizeof resources, -1, -1, -1, -1, -1};
  OK(tk_kernel_resources(kernel, stream, arguments, 6, &resources, &error));
  CHECK(resources.threads == 32 && resources.registers >= 0);
  DLManagedTensor *tensor;
  FAILS(tk_array_to_dlpack(array, &tensor, &error), TK_ERROR_USER, "copy it to the host");
  CHECK(tensor == NULL && tk_array_bytes(array) == sizeof x); // the array is still there
  tk_kernel_free(kernel);
  tk_array_free(array);
  tk_array_free(result);
  tk_stream_free(stream);
  tk_stream_free(host);
}

void dlpack(void) {
  tk_error *error;
  tk_stream *stream = hostStream();
  tk_array *array;
  const int64_t shape[] = {2, 3};
  const int32_t values[] = {1, 2, 3, 4, 5, 6};
  OK(tk_array_new(tk_device_host(), TK_I32, shape, 2, &array, &error));
  OK(tk_array_copy_from(array, values, sizeof values, NULL, &error));
  DLManagedTensor *given;
  OK(tk_array_to_dlpack(array, &given, &error));
  CHECK(given->dl_tensor.device.device_type == 1 && given->dl_tensor.ndim == 2 && given->dl_tensor.shape[1] == 3 && given->dl_tensor.strides[0] == 3);
  CHECK(given->dl_tensor.dtype.code == 0 && given->dl_tensor.dtype.bits == 32 && given->dl_tensor.dtype.lanes == 1);
  CHECK(memcmp((char *)given->dl_tensor.data + given->dl_tensor.byte_offset, values, sizeof values) == 0);

  // Back again, from the second row on.
  given->dl_tensor.byte_offset += 12, given->dl_tensor.ndim = 1, given->dl_tensor.shape[0] = 3, given->dl_tensor.strides[0] = 1;
  tk_argument x;
  int32_t out[3] = {0, 0, 0};
  OK(tk_from_dlpack(given, &x, &error));
  CHECK(x.kind == TK_ARGUMENT_POINTER && x.dtype == TK_I32 && x.bytes == 12 && x.memory == TK_MEMORY_HOST);
  tk_kernel *kernel = kernelOf(vectorAdd, NULL);
  const tk_argument arguments[] = {x, x, tk_pointer(TK_I32, out), tk_int(3), tk_meta("BLOCK", 4)};
  OK(tk_kernel_launch(kernel, stream, tk_grid_of(1, 1, 1), arguments, 5, &error));
  CHECK(out[0] == 8 && out[1] == 10 && out[2] == 12);

  // What kernels don't take.
  DLManagedTensor wrong = *given;
  wrong.dl_tensor.dtype.lanes = 4;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_USER, "vectors of 4");
  wrong = *given, wrong.dl_tensor.dtype.code = 5;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_USER, "type code 5");
  wrong = *given, wrong.dl_tensor.dtype.bits = 24;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_USER, "24 bits");
  wrong = *given, wrong.dl_tensor.device.device_type = 8;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_USER, "device of type 8");
  wrong = *given, wrong.dl_tensor.ndim = -1;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_USER, "rank -1");
  wrong = *given, wrong.dl_tensor.shape = NULL;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_USER, "no shape");
  wrong = *given, wrong.dl_tensor.data = NULL;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_USER, "no address");
  wrong = *given, wrong.dl_tensor.device.device_type = 2, wrong.dl_tensor.device.device_id = 1000;
  FAILS(tk_from_dlpack(&wrong, &x, &error), TK_ERROR_DEVICE, "");
  given->deleter(given);

  // The versioned form, without strides, and bf16.
  OK(tk_array_new(tk_device_host(), TK_BF16, shape, 2, &array, &error));
  DLManagedTensorVersioned *versioned;
  OK(tk_array_to_dlpack_versioned(array, &versioned, &error));
  CHECK(versioned->version.major == 1 && versioned->flags == 0 && versioned->dl_tensor.dtype.code == 4 && versioned->dl_tensor.dtype.bits == 16);
  int64_t *strides = versioned->dl_tensor.strides;
  versioned->dl_tensor.strides = NULL;
  OK(tk_from_dlpack_versioned(versioned, &x, &error));
  CHECK(x.dtype == TK_BF16 && x.bytes == 12);
  versioned->dl_tensor.strides = strides;
  versioned->version.major = 2;
  FAILS(tk_from_dlpack_versioned(versioned, &x, &error), TK_ERROR_USER, "version 2.");
  versioned->version.major = 1;
  versioned->deleter(versioned);

  OK(tk_array_new(tk_device_host(), TK_F8E4B15, shape, 2, &array, &error));
  FAILS(tk_array_to_dlpack(array, &given, &error), TK_ERROR_USER, "fp8e4b15");
  tk_array_free(array);
  tk_kernel_free(kernel);
  tk_stream_free(stream);
}

void events(void) {
  tk_error *error;
  tk_event *start, *end;
  double seconds = NAN;
  tk_stream *stream = hostStream();
  OK(tk_event_new(tk_device_host(), &start, &error));
  OK(tk_event_new(tk_device_host(), &end, &error));
  OK(tk_event_synchronize(start, &error));
  OK(tk_event_record(start, stream, &error));
  OK(tk_event_record(end, stream, &error));
  OK(tk_event_wait(end, stream, &error));
  OK(tk_event_seconds_since(end, start, &seconds, &error));
  CHECK(seconds >= 0 && seconds < 60);
  tk_event_free(start);
  tk_event_free(end);
  tk_stream_free(stream);
}
