// The C API of tk. C99 and C++; libtkc_runtime.so.
//
//   tk_error *error = NULL;
//   tk_module *module;
//   if (tk_module_from_file("vector_add.tk", &module, &error) != TK_OK) {
//     fprintf(stderr, "%s\n", tk_error_message(error));
//     tk_error_free(error);
//   }
//
// Errors. What can fail returns a tk_status, and takes `error` last: NULL, or the place for an error object that holds the text and is the caller's to free. It
// is set to NULL on success, and need not be initialised. What a function makes comes through a pointer, NULL after a failure. No call ends the process or
// throws. A NULL handle is an error (TK_ERROR_USER) where a call can fail; functions without `error` then give NULL or 0. Freeing NULL does nothing.
//
// Handles. Each is the caller's to free, by the function of its name, in any order: what is underneath lives as long as something needs it. Modules, kernels,
// streams, events and devices may be used from several threads at once; a launcher, an array or an error from one at a time.
//
// Strings are UTF-8 and end with a NUL. What a function returns as `const char *` belongs to the handle it was asked of, and ends with it.
//
// The ABI is stable: handles are opaque, enumerators keep their values, and structs that may grow begin with `size`, which the caller sets to sizeof; fields
// that an older caller does not have take their defaults. tk_abi_version() grows when something breaks, as the library's soname does.
#ifndef TK_CAPI_H
#define TK_CAPI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TK_CAPI __attribute__((visibility("default")))
#define TK_ABI_VERSION 0

// "0.1.0"
TK_CAPI const char *tk_version(void);
// The library's TK_ABI_VERSION.
TK_CAPI uint32_t tk_abi_version(void);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Errors

typedef enum tk_status {
  TK_OK = 0,
  TK_ERROR_USER = 1,    // the program or its use: source errors, wrong arguments, failed device assertions, malformed files
  TK_ERROR_DEVICE = 2,  // the device or the system: no such device, out of memory, a driver's error code
  TK_ERROR_INTERNAL = 3 // a fault of tk itself
} tk_status;

typedef struct tk_error tk_error;
// Complete by itself; for an error in a program, the rendered diagnostics of several lines. "" for NULL.
TK_CAPI const char *tk_error_message(const tk_error *error);
TK_CAPI tk_status tk_error_kind(const tk_error *error);
// For callbacks, which report failures as functions do. TK_OK as the kind becomes TK_ERROR_USER.
TK_CAPI tk_error *tk_error_new(tk_status kind, const char *message);
TK_CAPI void tk_error_free(tk_error *error);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Element types

typedef enum tk_dtype {
  TK_I1 = 0, // a byte in memory, 0 or 1
  TK_I8 = 1,
  TK_I16 = 2,
  TK_I32 = 3,
  TK_I64 = 4,
  TK_U8 = 5,
  TK_U16 = 6,
  TK_U32 = 7,
  TK_U64 = 8,
  TK_F8E4M3FN = 9,
  TK_F8E5M2 = 10,
  TK_F8E4M3FNUZ = 11,
  TK_F8E5M2FNUZ = 12,
  TK_F8E4B15 = 13,
  TK_F16 = 14,
  TK_BF16 = 15,
  TK_F32 = 16,
  TK_F64 = 17
} tk_dtype;

// "fp32"; NULL for what is no type.
TK_CAPI const char *tk_dtype_name(tk_dtype dtype);
// Of one element in memory; 0 for what is no type.
TK_CAPI size_t tk_dtype_bytes(tk_dtype dtype);
TK_CAPI tk_status tk_dtype_parse(const char *name, tk_dtype *dtype, tk_error **error);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Devices: small values that live as long as the process. All zeros is the host.

typedef struct tk_device {
  const void *implementation;
} tk_device;

TK_CAPI tk_device tk_device_host(void);
// TK_ERROR_DEVICE when there is none with this number.
TK_CAPI tk_status tk_device_cuda(uint32_t ordinal, tk_device *device, tk_error **error);
// Executes GPU code on the host, slowly, and reports what silicon hides. `target`: "sm_90a".
TK_CAPI tk_status tk_device_emulated(const char *target, tk_device *device, tk_error **error);
// The GPUs that are there, then the host: fills at most `capacity` of them (`devices` may be NULL for 0), and says in `count` how many there are.
TK_CAPI tk_status tk_device_list(tk_device *devices, size_t capacity, size_t *count, tk_error **error);
// The first of them.
TK_CAPI tk_status tk_device_best(tk_device *device, tk_error **error);
TK_CAPI int tk_device_is_host(tk_device device);
TK_CAPI int tk_device_is_emulated(tk_device device);
// Lives as long as the process.
TK_CAPI const char *tk_device_name(tk_device device);
// Ten times the compute capability of an NVIDIA GPU; 0 for the host.
TK_CAPI uint32_t tk_device_architecture(tk_device device);
TK_CAPI uint64_t tk_device_memory_bytes(tk_device device);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Streams and events (tk/device.h says what they mean)

typedef struct tk_stream tk_stream;
typedef struct tk_event tk_event;

// The device's default stream. The host's does its work on the caller's thread.
TK_CAPI tk_status tk_stream_default(tk_device device, tk_stream **stream, tk_error **error);
// A new one of the device, which ends with its handle.
TK_CAPI tk_status tk_stream_new(tk_device device, tk_stream **stream, tk_error **error);
// A CUstream of the caller's, who keeps it alive; NULL is the default stream of the current context's device, else of the first GPU.
TK_CAPI tk_status tk_stream_cuda(void *handle, tk_stream **stream, tk_error **error);
TK_CAPI void tk_stream_free(tk_stream *stream);
TK_CAPI tk_device tk_stream_device(const tk_stream *stream);
TK_CAPI void *tk_stream_handle(const tk_stream *stream);
// Waits. TK_ERROR_USER for a failed device assertion, TK_ERROR_DEVICE for what the driver reports.
TK_CAPI tk_status tk_stream_synchronize(const tk_stream *stream, tk_error **error);

TK_CAPI tk_status tk_event_new(tk_device device, tk_event **event, tk_error **error);
TK_CAPI void tk_event_free(tk_event *event);
TK_CAPI tk_status tk_event_record(const tk_event *event, const tk_stream *stream, tk_error **error);
TK_CAPI tk_status tk_event_synchronize(const tk_event *event, tk_error **error);
// Later work of the stream waits for the event.
TK_CAPI tk_status tk_event_wait(const tk_event *event, const tk_stream *stream, tk_error **error);
TK_CAPI tk_status tk_event_seconds_since(const tk_event *event, const tk_event *start, double *seconds, tk_error **error);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Arrays in a device's memory, contiguous and row-major; on the host, plain memory. They must outlive the kernels that use them.

typedef struct tk_array tk_array;
struct DLManagedTensor;
struct DLManagedTensorVersioned;

// Zeros.
TK_CAPI tk_status tk_array_new(tk_device device, tk_dtype dtype, const int64_t *shape, size_t rank, tk_array **array, tk_error **error);
// From an .npy file.
TK_CAPI tk_status tk_array_load(tk_device device, const char *path, tk_array **array, tk_error **error);
TK_CAPI tk_status tk_array_save(const tk_array *array, const char *path, tk_error **error);
TK_CAPI void tk_array_free(tk_array *array);
// The address that kernels get.
TK_CAPI void *tk_array_data(const tk_array *array);
TK_CAPI tk_dtype tk_array_dtype(const tk_array *array);
TK_CAPI size_t tk_array_rank(const tk_array *array);
TK_CAPI const int64_t *tk_array_shape(const tk_array *array);
TK_CAPI size_t tk_array_bytes(const tk_array *array);
TK_CAPI tk_device tk_array_device(const tk_array *array);
// Copies all of it from or to host memory, in the order of the stream (NULL: the default one of the array's device), and waits. `bytes` must be the array's.
TK_CAPI tk_status tk_array_copy_from(tk_array *array, const void *data, size_t bytes, const tk_stream *stream, tk_error **error);
TK_CAPI tk_status tk_array_copy_to(const tk_array *array, void *data, size_t bytes, const tk_stream *stream, tk_error **error);
// Gives the array away: after success the handle is gone, and the tensor's deleter frees the memory; after a failure all is as before.
TK_CAPI tk_status tk_array_to_dlpack(tk_array *array, struct DLManagedTensor **tensor, tk_error **error);
TK_CAPI tk_status tk_array_to_dlpack_versioned(tk_array *array, struct DLManagedTensorVersioned **tensor, tk_error **error);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Arguments: plain values that own nothing. What they refer to must live until the call that takes them returns. Make them by the functions below, which cannot
// fail: one made of a wrong value is refused by the call that takes it.

typedef enum tk_argument_kind {
  TK_ARGUMENT_NONE = 0,
  TK_ARGUMENT_BOOL = 1,
  TK_ARGUMENT_INT = 2,
  TK_ARGUMENT_UINT = 3,
  TK_ARGUMENT_FLOAT = 4,
  TK_ARGUMENT_POINTER = 5,
  TK_ARGUMENT_TYPE = 6,
  TK_ARGUMENT_STRING = 7,
  TK_ARGUMENT_FUNCTION = 8,
  TK_ARGUMENT_TUPLE = 9,
  TK_ARGUMENT_INVALID = 255
} tk_argument_kind;
typedef enum tk_memory { TK_MEMORY_UNKNOWN = 0, TK_MEMORY_HOST = 1, TK_MEMORY_DEVICE = 2 } tk_memory;

typedef struct tk_argument {
  uint32_t kind;                      // tk_argument_kind
  uint32_t typed;                     // not 0: `dtype` fixes a scalar's type
  uint32_t dtype;                     // of a typed scalar, of what a pointer points to, the value of a type
  uint32_t memory;                    // of a pointer: tk_memory
  uint64_t bits;                      // the integer, the double's bits, the address, how many elements
  uint64_t bytes;                     // of a pointer: how much memory there is, from the address on; 0: unknown
  const void *device;                 // that owns device memory
  const char *name;                   // of the parameter, when given by name
  const char *text;                   // of a string or function; why it is invalid
  const struct tk_argument *elements; // of a tuple
} tk_argument;

TK_CAPI tk_argument tk_none(void);
TK_CAPI tk_argument tk_bool(int value);
// Typed by value: 1 folds into the code, else i32 or i64 by what holds it, for tk_uint u64 as well.
TK_CAPI tk_argument tk_int(int64_t value);
TK_CAPI tk_argument tk_uint(uint64_t value);
// fp32.
TK_CAPI tk_argument tk_float(double value);
// A scalar of exactly this type.
TK_CAPI tk_argument tk_scalar_int(tk_dtype dtype, int64_t value);
TK_CAPI tk_argument tk_scalar_float(tk_dtype dtype, double value);
TK_CAPI tk_argument tk_i32(int32_t value);
TK_CAPI tk_argument tk_i64(int64_t value);
TK_CAPI tk_argument tk_f64(double value);
// To elements of any type, in memory that the kernel's device reaches.
TK_CAPI tk_argument tk_pointer(tk_dtype dtype, const void *address);
TK_CAPI tk_argument tk_pointer_to(tk_dtype dtype, const void *address, uint64_t bytes, tk_memory memory);
TK_CAPI tk_argument tk_array_argument(const tk_array *array);
TK_CAPI tk_argument tk_string(const char *text);
TK_CAPI tk_argument tk_type(tk_dtype dtype);
// A function of the kernel's file as a compile-time value.
TK_CAPI tk_argument tk_function(const char *name);
// Elements may be tuples.
TK_CAPI tk_argument tk_tuple(const tk_argument *elements, size_t count);
// For the parameter (or launch option: "num_warps") of this name.
TK_CAPI tk_argument tk_named(const char *name, tk_argument value);
TK_CAPI tk_argument tk_meta(const char *name, int64_t value);
// A pointer to a tensor's first element. TK_ERROR_USER for a type, device or layout that kernels don't take.
TK_CAPI tk_status tk_from_dlpack(const struct DLManagedTensor *tensor, tk_argument *argument, tk_error **error);
TK_CAPI tk_status tk_from_dlpack_versioned(const struct DLManagedTensorVersioned *tensor, tk_argument *argument, tk_error **error);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Grids

typedef struct tk_launch_values tk_launch_values;
// The integer value of a parameter, defaults, configurations and heuristics included.
TK_CAPI tk_status tk_launch_value(const tk_launch_values *values, const char *parameter, int64_t *value, tk_error **error);

// Fills `extents`, which are 1, 1, 1 before. Anything but TK_OK ends the launch with the error it leaves, if any.
typedef tk_status (*tk_grid_function)(const tk_launch_values *values, int64_t extents[3], void *context, tk_error **error);
typedef enum tk_grid_kind { TK_GRID_NUMBERS = 0, TK_GRID_FUNCTION = 1, TK_GRID_KERNEL = 2 } tk_grid_kind;

typedef struct tk_grid {
  uint32_t kind; // tk_grid_kind
  uint32_t reserved;
  int64_t x, y, z;
  tk_grid_function function;
  void *context;
} tk_grid;

// An extent of 0 launches nothing.
TK_CAPI tk_grid tk_grid_of(int64_t x, int64_t y, int64_t z);
TK_CAPI tk_grid tk_grid_call(tk_grid_function function, void *context);
// The kernel's own, from its @tk.grid.
TK_CAPI tk_grid tk_grid_of_kernel(void);

// ---------------------------------------------------------------------------------------------------------------------------------------------------------------
// Modules, kernels, launches (tk/kernel.h says what they mean)

typedef struct tk_module tk_module;
typedef struct tk_kernel tk_kernel;
typedef struct tk_launcher tk_launcher;

TK_CAPI tk_status tk_module_from_file(const char *path, tk_module **module, tk_error **error);
// `name` stands for the file in messages; NULL: "<source>".
TK_CAPI tk_status tk_module_from_source(const char *text, const char *name, tk_module **module, tk_error **error);
TK_CAPI void tk_module_free(tk_module *module);
TK_CAPI size_t tk_module_kernel_count(const tk_module *module);
TK_CAPI const char *tk_module_kernel_name(const tk_module *module, size_t index);
// NULL as the name: the only kernel of the file.
TK_CAPI tk_status tk_module_kernel(const tk_module *module, const char *name, tk_kernel **kernel, tk_error **error);
TK_CAPI void tk_kernel_free(tk_kernel *kernel);
TK_CAPI const char *tk_kernel_name(const tk_kernel *kernel);
TK_CAPI size_t tk_kernel_parameter_count(const tk_kernel *kernel);
TK_CAPI const char *tk_kernel_parameter_name(const tk_kernel *kernel, size_t index);
TK_CAPI size_t tk_kernel_compiled_count(const tk_kernel *kernel);

// Positional arguments first, then named ones in any order. On the host's default stream done when it returns, elsewhere asynchronous.
TK_CAPI tk_status tk_kernel_launch(const tk_kernel *kernel, const tk_stream *stream, tk_grid grid, const tk_argument *arguments, size_t count,
                                   tk_error **error);
// Compiles and loads what a launch with these arguments needs.
TK_CAPI tk_status tk_kernel_prepare(const tk_kernel *kernel, const tk_stream *stream, const tk_argument *arguments, size_t count, tk_error **error);

typedef struct tk_resources {
  size_t size;
  int32_t registers, spill_bytes;      // of a thread
  int32_t shared_bytes, threads;       // of a program
  int32_t programs_per_multiprocessor; // that fit at once; 0: unknown
} tk_resources;
TK_CAPI tk_status tk_kernel_resources(const tk_kernel *kernel, const tk_stream *stream, const tk_argument *arguments, size_t count, tk_resources *resources,
                                      tk_error **error);

typedef enum tk_specialization { TK_SPECIALIZE_FULL = 0, TK_SPECIALIZE_DIVISIBILITY = 1, TK_SPECIALIZE_NONE = 2 } tk_specialization;
// Which facts about arguments code is made for; NULL as the parameter: of all. Before the first launch, from one thread.
TK_CAPI tk_status tk_kernel_specialize(const tk_kernel *kernel, const char *parameter, tk_specialization policy, tk_error **error);

// A launch whose specialization these arguments settle.
TK_CAPI tk_status tk_kernel_launcher(const tk_kernel *kernel, const tk_stream *stream, const tk_argument *arguments, size_t count, tk_launcher **launcher,
                                     tk_error **error);
TK_CAPI void tk_launcher_free(tk_launcher *launcher);
TK_CAPI tk_status tk_launcher_launch(const tk_launcher *launcher, tk_grid grid, tk_error **error);
TK_CAPI tk_status tk_launcher_set(tk_launcher *launcher, const char *parameter, tk_argument value, tk_error **error);
TK_CAPI tk_status tk_launcher_set_index(tk_launcher *launcher, size_t parameter, tk_argument value, tk_error **error);

#ifdef __cplusplus
}
#endif

#include "capi_tune.h"

#endif
