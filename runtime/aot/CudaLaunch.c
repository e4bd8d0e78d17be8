/* NVIDIA GPUs, through the driver, which is loaded when it is first wanted: what it is called and how its calls look is part of its binary interface, so that no SDK is
 * needed. Part of Launcher.c.
 *
 * Code is loaded once for each context, of several images the first that the device runs and the driver takes. Streams, contexts and graph capture are the caller's.
 */
#include <dlfcn.h>

typedef int CuResult;
typedef int CuDevice;
typedef struct CuContextOpaque *CuContext;
typedef struct CuModuleOpaque *CuModule;
typedef struct CuFunctionOpaque *CuFunction;
typedef struct CuStreamOpaque *CuStream;
typedef struct {
  int id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
} CuLaunchAttribute;
typedef struct {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CuStream stream;
  CuLaunchAttribute *attributes;
  unsigned attributeCount;
} CuLaunchConfig;

enum {
  cudaOk = 0,
  cudaOutOfMemory = 2,
  cudaNotSupported = 801,
  cudaFirstCaptureError = 900,
  cudaLastCaptureError = 909,
  attributeMajor = 75,
  attributeMinor = 76,
  attributeMaxShared = 97,
  functionMaxShared = 8,
  functionNonPortableCluster = 14,
  launchClusterDimension = 4,
  jitErrorLog = 5,
  jitErrorLogBytes = 6,
  pointerMemoryType = 2,
  pointerOrdinal = 9,
  memoryOfDevice = 2,
  alwaysShared = 48 << 10,
  portableCluster = 8,
  longestReason = 600
};

/* CALL(optional, name, symbol, parameters ...) */
#define TK_AOT_CUDA_CALLS(CALL)                                                                                                                      \
  CALL(0, init, "cuInit", unsigned flags)                                                                                                            \
  CALL(0, getErrorName, "cuGetErrorName", CuResult error, const char **text)                                                                         \
  CALL(0, getErrorString, "cuGetErrorString", CuResult error, const char **text)                                                                     \
  CALL(0, deviceGetCount, "cuDeviceGetCount", int *count)                                                                                            \
  CALL(0, deviceGet, "cuDeviceGet", CuDevice *device, int ordinal)                                                                                   \
  CALL(0, deviceGetName, "cuDeviceGetName", char *name, int bytes, CuDevice device)                                                                  \
  CALL(0, deviceGetAttribute, "cuDeviceGetAttribute", int *value, int attribute, CuDevice device)                                                    \
  CALL(0, primaryRetain, "cuDevicePrimaryCtxRetain", CuContext *context, CuDevice device)                                                            \
  CALL(0, ctxGetCurrent, "cuCtxGetCurrent", CuContext *context)                                                                                      \
  CALL(0, ctxPush, "cuCtxPushCurrent_v2", CuContext context)                                                                                         \
  CALL(0, ctxPop, "cuCtxPopCurrent_v2", CuContext *context)                                                                                          \
  CALL(0, ctxGetDevice, "cuCtxGetDevice", CuDevice *device)                                                                                          \
  CALL(1, ctxGetId, "cuCtxGetId", CuContext context, unsigned long long *id)                                                                         \
  CALL(1, streamGetCtx, "cuStreamGetCtx", CuStream stream, CuContext *context)                                                                       \
  CALL(0, streamIsCapturing, "cuStreamIsCapturing", CuStream stream, int *status)                                                                    \
  CALL(0, moduleLoad, "cuModuleLoadDataEx", CuModule *module, const void *image, unsigned count, int *options, void **values)                        \
  CALL(0, moduleUnload, "cuModuleUnload", CuModule module)                                                                                           \
  CALL(0, moduleGetFunction, "cuModuleGetFunction", CuFunction *function, CuModule module, const char *name)                                         \
  CALL(0, funcSetAttribute, "cuFuncSetAttribute", CuFunction function, int attribute, int value)                                                     \
  CALL(0, launch, "cuLaunchKernel", CuFunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, \
       unsigned sharedBytes, CuStream stream, void **parameters, void **extra)                                                                       \
  CALL(1, launchEx, "cuLaunchKernelEx", const CuLaunchConfig *config, CuFunction function, void **parameters, void **extra)                          \
  CALL(0, pointerGetAttribute, "cuPointerGetAttribute", void *value, int attribute, unsigned long long address)

typedef struct {
  int isThere;
  char why[256]; /* it is not */
#define CALL(optional, name, symbol, ...) CuResult (*name)(__VA_ARGS__);
  TK_AOT_CUDA_CALLS(CALL)
#undef CALL
} CudaDriver;

static CudaDriver theCudaDriver;

static void describeCuda(const CudaDriver *cuda, CuResult result, char *text, size_t size) {
  const char *name = NULL, *words = NULL;
  if (!cuda->getErrorName || cuda->getErrorName(result, &name) != cudaOk || !name)
    snprintf(text, size, "error %d", result);
  else if (!cuda->getErrorString || cuda->getErrorString(result, &words) != cudaOk || !words)
    snprintf(text, size, "%s (%d)", name, result);
  else
    snprintf(text, size, "%s (%d): %s", name, result, words);
}

/* Loads and starts the driver; it stays for the life of the process. TK_AOT_CUDA_DRIVER names another library in its place. */
static void loadCudaDriver(void) {
  CudaDriver *cuda = &theCudaDriver;
  const char *named = getenv("TK_AOT_CUDA_DRIVER"), *library = named && *named ? named : "libcuda.so.1", *missing = NULL;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  CuResult result;
  int count = 0;
  if (!handle) {
    const char *why = dlerror();
    snprintf(cuda->why, sizeof cuda->why, "NVIDIA's driver can't be loaded: %s", why ? why : library);
    return;
  }
#define CALL(optional, name, symbol, ...)                 \
  *(void **)&cuda->name = dlsym(handle, symbol);          \
  if (!cuda->name && !(optional) && !missing)             \
    missing = symbol;
  TK_AOT_CUDA_CALLS(CALL)
#undef CALL
  if (missing) {
    snprintf(cuda->why, sizeof cuda->why, "`%s` is no driver, or one too old: it lacks %s", library, missing);
    return;
  }
  result = cuda->init(0);
  if (result == cudaOk)
    result = cuda->deviceGetCount(&count);
  if (result != cudaOk) {
    char text[200];
    describeCuda(cuda, result, text, sizeof text);
    snprintf(cuda->why, sizeof cuda->why, "NVIDIA's driver does not start: %s", text);
  } else if (!count) {
    snprintf(cuda->why, sizeof cuda->why, "NVIDIA's driver knows no device");
  } else {
    cuda->isThere = 1;
  }
}

static const CudaDriver *cudaDriver(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, loadCudaDriver);
  return &theCudaDriver;
}

static tk_aot_status failCuda(const TkAotKernel *kernel, const char *what, CuResult result) {
  char reason[300];
  describeCuda(cudaDriver(), result, reason, sizeof reason);
  return fail(result == cudaOutOfMemory ? TK_AOT_OUT_OF_MEMORY : TK_AOT_DRIVER_ERROR, kernel, "%s: %s", what, reason);
}

/* ---- where memory lies, and which context is used ---- */

typedef enum { PlaceHost, PlaceDevice, PlaceBoth } Place;

static Place cudaPlaceOf(uint64_t address) {
  int type = 0;
  if (cudaDriver()->pointerGetAttribute(&type, pointerMemoryType, address) != cudaOk)
    return PlaceHost; /* memory that the driver doesn't know */
  return type == memoryOfDevice ? PlaceDevice : PlaceBoth;
}

static int cudaHasContext(void) {
  CuContext current = NULL;
  return cudaDriver()->ctxGetCurrent(&current) == cudaOk && current;
}

/* The context for a call. It is the current one, or becomes it; `pushed` says that it must be popped. */
static CuResult enterContext(const TkAotKernel *kernel, const uint64_t *values, CuStream stream, CuContext *context, int *pushed) {
  const CudaDriver *cuda = cudaDriver();
  CuDevice device = 0;
  int ordinal = 0;
  CuResult result = cuda->ctxGetCurrent(context);
  *pushed = 0;
  if (result != cudaOk || *context)
    return result;
  if (!stream || !cuda->streamGetCtx || cuda->streamGetCtx(stream, context) != cudaOk || !*context) {
    for (uint32_t i = 0; values && i < kernel->parameterCount; ++i)
      if (kernel->parameters[i].kind == TkAotPointer && values[i] && cuda->pointerGetAttribute(&ordinal, pointerOrdinal, values[i]) == cudaOk)
        break;
    result = cuda->deviceGet(&device, ordinal < 0 ? 0 : ordinal);
    if (result == cudaOk)
      result = cuda->primaryRetain(context, device); /* and kept: modules are loaded into it */
  }
  if (result == cudaOk)
    result = cuda->ctxPush(*context);
  *pushed = result == cudaOk;
  return result;
}

static void leaveContext(int pushed) {
  CuContext popped;
  if (pushed)
    cudaDriver()->ctxPop(&popped);
}

/* ---- loading ---- */

/* A variant's code in one context. Append-only, so that launches look it up without a lock. */
typedef struct Loaded Loaded;
struct Loaded {
  uint64_t id;
  CuContext context;
  CuModule module;
  CuFunction function;
  const TkAotCode *code;
  Loaded *next;
};

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* A number for the context that no later one gets, where the driver has such numbers. */
static uint64_t idOf(CuContext context) {
  unsigned long long id = 0;
  if (cudaDriver()->ctxGetId && cudaDriver()->ctxGetId(context, &id) == cudaOk)
    return id;
  return (uint64_t)(uintptr_t)context;
}

static Loaded *findLoaded(const TkAotVariant *variant, uint64_t id) {
  Loaded *loaded = atomic_load_explicit((_Atomic(Loaded *) *)variant->loaded, memory_order_acquire);
  while (loaded && loaded->id != id)
    loaded = loaded->next;
  return loaded;
}

/* Whether a device of this compute capability runs the code: PTX on later ones as well, a cubin on later ones of the same major number, code for one alone on that. */
static int runsOn(const TkAotCode *code, unsigned capability) {
  if (code->device != TK_AOT_CUDA || capability < code->needs)
    return 0;
  return code->isExact ? capability == code->needs : code->isPtx || capability / 10 == code->needs / 10;
}

static CuResult loadCode(const TkAotCode *code, Loaded *loaded, char *log, size_t logBytes) {
  const CudaDriver *cuda = cudaDriver();
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, (void *)(uintptr_t)logBytes};
  CuResult result = cuda->moduleLoad(&loaded->module, code->image, code->isPtx ? 2 : 0, options, values);
  if (result != cudaOk)
    return result;
  result = cuda->moduleGetFunction(&loaded->function, loaded->module, code->entry);
  if (result == cudaOk && code->sharedBytes > alwaysShared)
    result = cuda->funcSetAttribute(loaded->function, functionMaxShared, (int)code->sharedBytes);
  if (result == cudaOk && code->cluster > portableCluster)
    result = cuda->funcSetAttribute(loaded->function, functionNonPortableCluster, 1);
  if (result != cudaOk)
    cuda->moduleUnload(loaded->module);
  return result;
}

/* With `loading` held and the context current. */
static tk_aot_status load(const TkAotKernel *kernel, const TkAotVariant *variant, Loaded *loaded) {
  const CudaDriver *cuda = cudaDriver();
  CuDevice device = 0;
  int major = 0, minor = 0, shared = 0, tried = 0;
  char name[128] = "the device", reason[300];
  Text text;
  CuResult result = cuda->ctxGetDevice(&device);
  if (result == cudaOk)
    result = cuda->deviceGetAttribute(&major, attributeMajor, device);
  if (result == cudaOk)
    result = cuda->deviceGetAttribute(&minor, attributeMinor, device);
  if (result == cudaOk)
    result = cuda->deviceGetAttribute(&shared, attributeMaxShared, device);
  if (result != cudaOk)
    return failCuda(kernel, "the device can't be asked what it is", result);
  cuda->deviceGetName(name, sizeof name - 1, device);
  text = failure(kernel);
  for (uint32_t i = 0; i < variant->codeCount; ++i) {
    const TkAotCode *code = &variant->codes[i];
    char log[longestReason] = "";
    if (!runsOn(code, (unsigned)(10 * major + minor)))
      continue;
    add(&text, tried++ ? "; " : "the code can't be used on %s: ", name);
    if (code->sharedBytes > (unsigned)shared) {
      add(&text, "that for %s needs %u bytes of shared memory, and the device has %d", code->target, code->sharedBytes, shared);
      continue;
    }
    result = loadCode(code, loaded, log, sizeof log - 1);
    if (result == cudaOk) {
      tk_aot_error_text[0] = 0;
      loaded->code = code;
      return TK_AOT_OK;
    }
    if (result >= cudaFirstCaptureError && result <= cudaLastCaptureError)
      return fail(TK_AOT_DRIVER_ERROR, kernel, "the code is not loaded yet, and can't be while a stream is captured: call %s_prepare before", kernel->name);
    describeCuda(cuda, result, reason, sizeof reason);
    add(&text, "that for %s: %s%s%s", code->target, reason, log[0] ? ": " : "", log);
    if (result == cudaOutOfMemory)
      return TK_AOT_OUT_OF_MEMORY;
  }
  if (tried)
    return TK_AOT_DRIVER_ERROR;
  add(&text, "the object has no code for %s with compute capability %d.%d: it was compiled for ", name, major, minor);
  addTargets(&text, kernel);
  return TK_AOT_NO_VARIANT;
}

static tk_aot_status findOrLoad(const TkAotKernel *kernel, const TkAotVariant *variant, CuContext context, CuStream stream, const Loaded **found) {
  uint64_t id = idOf(context);
  Loaded *loaded = findLoaded(variant, id);
  tk_aot_status status = TK_AOT_OK;
  int capturing = 0;
  CuResult result;
  *found = loaded;
  if (loaded)
    return TK_AOT_OK;
  result = cudaDriver()->streamIsCapturing(stream, &capturing);
  if (capturing || (result >= cudaFirstCaptureError && result <= cudaLastCaptureError))
    return fail(TK_AOT_DRIVER_ERROR, kernel, "the code is not loaded yet, and can't be while a stream is captured: call %s_prepare before", kernel->name);
  pthread_mutex_lock(&loading);
  loaded = findLoaded(variant, id); /* another thread may have been faster */
  if (!loaded) {
    loaded = calloc(1, sizeof *loaded);
    status = loaded ? load(kernel, variant, loaded) : fail(TK_AOT_OUT_OF_MEMORY, kernel, "no memory for the code's table");
    if (status == TK_AOT_OK) {
      loaded->id = id, loaded->context = context;
      loaded->next = atomic_load((_Atomic(Loaded *) *)variant->loaded);
      atomic_store_explicit((_Atomic(Loaded *) *)variant->loaded, loaded, memory_order_release);
    } else {
      free(loaded);
      loaded = NULL;
    }
  }
  pthread_mutex_unlock(&loading);
  *found = loaded;
  return status;
}

static tk_aot_status cudaEnter(const TkAotKernel *kernel, const TkAotVariant *variant, const uint64_t *values, CuStream stream, const Loaded **loaded, int *pushed) {
  CuContext context = NULL;
  tk_aot_status status;
  CuResult result;
  *pushed = 0;
  if (!cudaDriver()->isThere)
    return fail(TK_AOT_NO_DEVICE, kernel, "%s", cudaDriver()->why);
  result = enterContext(kernel, values, stream, &context, pushed);
  if (result != cudaOk)
    return failCuda(kernel, "no context", result);
  status = findOrLoad(kernel, variant, context, stream, loaded);
  if (status != TK_AOT_OK)
    leaveContext(*pushed);
  return status;
}

static tk_aot_status cudaPrepare(const TkAotKernel *kernel, const TkAotVariant *variant, void *stream) {
  const Loaded *loaded;
  int pushed;
  tk_aot_status status = cudaEnter(kernel, variant, NULL, stream, &loaded, &pushed);
  if (status == TK_AOT_OK)
    leaveContext(pushed);
  return status;
}

static void cudaUnload(const TkAotVariant *variant) {
  Loaded *loaded = atomic_exchange((_Atomic(Loaded *) *)variant->loaded, NULL);
  while (loaded) {
    Loaded *next = loaded->next;
    CuContext popped;
    if (cudaDriver()->ctxPush(loaded->context) == cudaOk) { /* else the context has gone, and its modules with it */
      cudaDriver()->moduleUnload(loaded->module);
      cudaDriver()->ctxPop(&popped);
    }
    free(loaded);
    loaded = next;
  }
}

static CuResult callDriver(const TkAotCode *code, CuFunction function, const int64_t grid[3], CuStream stream, void **parameters) {
  const CudaDriver *cuda = cudaDriver();
  CuLaunchAttribute cluster = {.id = launchClusterDimension, .value.cluster = {code->cluster, 1, 1}};
  CuLaunchConfig config = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], code->threads, 1, 1, code->sharedBytes, stream, &cluster, 1};
  if (code->cluster == 1)
    return cuda->launch(function, config.gridX, config.gridY, config.gridZ, code->threads, 1, 1, code->sharedBytes, stream, parameters, NULL);
  return cuda->launchEx ? cuda->launchEx(&config, function, parameters, NULL) : cudaNotSupported;
}

static tk_aot_status cudaLaunch(const TkAotKernel *kernel, const TkAotVariant *variant, const int64_t grid[3], const uint64_t *values, void *stream) {
  static const int64_t most[3] = {INT32_MAX, UINT16_MAX, UINT16_MAX};
  const Loaded *loaded = NULL;
  uint64_t slots[TK_AOT_PARAMETERS];
  void *parameters[TK_AOT_PARAMETERS];
  tk_aot_status status;
  CuResult result;
  int pushed;
  for (int axis = 0; axis < 3; ++axis)
    if (grid[axis] < 0 || grid[axis] > most[axis])
      return fail(TK_AOT_BAD_ARGUMENT, kernel, "a grid of (%lld, %lld, %lld) can't be launched: extents lie between 0 and 2^31 - 1, 65535, 65535",
                  (long long)grid[0], (long long)grid[1], (long long)grid[2]);
  status = cudaEnter(kernel, variant, values, stream, &loaded, &pushed);
  if (status != TK_AOT_OK)
    return status;
  if (grid[0] % loaded->code->cluster)
    status = fail(TK_AOT_BAD_ARGUMENT, kernel, "a grid of (%lld, %lld, %lld) can't be launched: clusters have %u programs along x", (long long)grid[0],
                  (long long)grid[1], (long long)grid[2], loaded->code->cluster);
  if (status == TK_AOT_OK && grid[0] && grid[1] && grid[2]) {
    for (uint32_t i = 0; i < loaded->code->slotCount; ++i) {
      slots[i] = values[loaded->code->slots[i].parameter]; /* a narrow value lies at the start of its bits */
      parameters[i] = &slots[i];
    }
    result = callDriver(loaded->code, loaded->function, grid, stream, parameters);
    if (result != cudaOk)
      status = failCuda(kernel, "the kernel can't be launched", result);
  }
  leaveContext(pushed);
  return status;
}
