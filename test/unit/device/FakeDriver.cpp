// See FakeDriver.h.
#include "FakeDriver.h"
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace fake {

using namespace tk::cuda;

namespace {
struct FakeContext {
  int device;
  unsigned long long id = ++lastId;
  static inline unsigned long long lastId = 1000;
};
struct FakeModule {
  Context context;
  std::string image;
};
struct FakeFunction {
  Module module;
  std::string name;
};

State theState;
thread_local std::vector<Context> stack;
std::vector<std::unique_ptr<FakeContext>> contexts;
std::vector<std::unique_ptr<FakeFunction>> functions;
Context primary = nullptr;

template <typename To, typename From> To as(From *from) { return reinterpret_cast<To>(from); }

Result failing(const char *call) {
  auto it = theState.failures.find(call);
  return it == theState.failures.end() ? Result::Success : it->second;
}

/// The device's work: every program of the grid, one after another.
Result runKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned threads, unsigned shared, Stream stream, void **parameters) {
  const auto &found = *as<FakeFunction *>(function);
  if (stack.empty() || as<FakeModule *>(found.module)->context != stack.back())
    return Result::InvalidContext;
  theState.calls.push_back(fmt::format("{} grid {} {} {} threads {} shared {}", found.name, gridX, gridY, gridZ, threads, shared));
  for (unsigned z = 0; z < gridZ; ++z)
    for (unsigned y = 0; y < gridY; ++y)
      for (unsigned x = 0; x < gridX; ++x)
        if (theState.pending == Result::Success)
          theState.pending = theState.kernels.at(found.name)({x, y, z, threads, shared, parameters});
  return Result::Success;
}

#define FAIL_OR(call)                                            \
  if (Result result = failing(#call); result != Result::Success) \
  return result

int attributeOf(DeviceAttribute attribute) {
  switch (attribute) {
  case DeviceAttribute::ComputeCapabilityMajor: return theState.capability / 10;
  case DeviceAttribute::ComputeCapabilityMinor: return theState.capability % 10;
  case DeviceAttribute::WarpSize: return 32;
  case DeviceAttribute::MaxThreadsPerBlock: return 1024;
  case DeviceAttribute::MultiprocessorCount: return 4;
  case DeviceAttribute::MaxSharedBytesPerBlockOptin: return 232448;
  default: return 1;
  }
}

Driver makeDriver() {
  Driver d;
  d.init = [](unsigned) { return failing("init"); };
  d.driverGetVersion = [](int *version) { return *version = 12040, Result::Success; };
  d.getErrorName = [](Result error, const char **text) {
    *text = error == Result::OutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : error == Result::IllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
    return Result::Success;
  };
  d.getErrorString = [](Result, const char **text) { return *text = "fake text", Result::Success; };
  d.deviceGetCount = [](int *count) { return *count = theState.devices, failing("deviceGetCount"); };
  d.deviceGet = [](Device *device, int ordinal) { return *device = ordinal, Result::Success; };
  d.deviceGetName = [](char *name, int bytes, Device) { return std::strncpy(name, "Fake GPU", bytes), Result::Success; };
  d.deviceGetAttribute = [](int *value, DeviceAttribute attribute, Device) { return *value = attributeOf(attribute), Result::Success; };
  d.deviceTotalMem = [](size_t *bytes, Device) { return *bytes = 1 << 30, Result::Success; };
  d.devicePrimaryCtxRetain = [](Context *context, Device device) {
    FAIL_OR(devicePrimaryCtxRetain);
    if (!primary) {
      contexts.push_back(std::make_unique<FakeContext>(FakeContext{device}));
      primary = as<Context>(contexts.back().get());
    }
    theState.primaryIsAlive = true;
    return *context = primary, Result::Success;
  };
  d.devicePrimaryCtxRelease = [](Device) { return theState.primaryIsAlive = false, Result::Success; };
  d.ctxGetCurrent = [](Context *context) { return *context = current(), Result::Success; };
  d.ctxSetCurrent = [](Context context) { return setCurrent(context), Result::Success; };
  d.ctxPushCurrent = [](Context context) { return stack.push_back(context), Result::Success; };
  d.ctxPopCurrent = [](Context *context) {
    *context = current();
    stack.pop_back();
    return Result::Success;
  };
  d.ctxGetDevice = [](Device *device) {
    if (!current())
      return ++theState.refused, Result::InvalidContext;
    return *device = as<FakeContext *>(current())->device, Result::Success;
  };
  d.ctxGetId = [](Context context, unsigned long long *id) {
    if (!theState.numbersContexts)
      return Result::NotSupported;
    if (!context)
      context = current();
    if (!context)
      return ++theState.refused, Result::InvalidContext;
    return *id = as<FakeContext *>(context)->id, Result::Success;
  };
  d.ctxSynchronize = [] { return theState.pending; };
  d.moduleLoadDataEx = [](Module *module, const void *image, unsigned, JitOption *, void **) {
    FAIL_OR(moduleLoadDataEx);
    ++theState.loads, ++theState.modules;
    return *module = as<Module>(new FakeModule{current(), static_cast<const char *>(image)}), Result::Success;
  };
  d.moduleUnload = [](Module module) {
    --theState.modules;
    return delete as<FakeModule *>(module), Result::Success;
  };
  d.moduleGetFunction = [](Function *function, Module module, const char *name) {
    if (!theState.kernels.contains(name))
      return Result::NotFound;
    functions.push_back(std::make_unique<FakeFunction>(FakeFunction{module, name}));
    return *function = as<Function>(functions.back().get()), Result::Success;
  };
  d.moduleGetGlobal = [](DevicePointer *, size_t *, Module, const char *) { return Result::NotFound; };
  d.funcGetAttribute = [](int *value, FunctionAttribute attribute, Function) {
    return *value = attribute == FunctionAttribute::Registers ? 40 : 0, Result::Success;
  };
  d.funcSetAttribute = [](Function, FunctionAttribute attribute, int value) {
    return theState.attributes[static_cast<int>(attribute)] = value, Result::Success;
  };
  d.linkCreate = [](unsigned count, JitOption *options, void **values, LinkState *state) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == JitOption::ErrorLogBuffer && theState.failures.contains("linkAddData"))
        std::strcpy(static_cast<char *>(values[i]), "ptxas fatal: fake log");
    return *state = as<LinkState>(new std::string), ++theState.links, Result::Success;
  };
  d.linkAddData = [](LinkState state, JitInputType, void *data, size_t bytes, const char *, unsigned, JitOption *, void **) {
    FAIL_OR(linkAddData);
    return as<std::string *>(state)->assign("cubin of ").append(static_cast<const char *>(data), bytes - 1), Result::Success;
  };
  d.linkComplete = [](LinkState state, void **cubin, size_t *bytes) {
    return *cubin = as<std::string *>(state)->data(), *bytes = as<std::string *>(state)->size(), Result::Success;
  };
  d.linkDestroy = [](LinkState state) { return delete as<std::string *>(state), --theState.links, Result::Success; };
  d.launchKernel = [](Function function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned, unsigned shared, Stream stream,
                      void **parameters, void **) {
    FAIL_OR(launchKernel);
    return runKernel(function, x, y, z, threads, shared, stream, parameters);
  };
  d.streamCreate = [](Stream *stream, unsigned) { return *stream = as<Stream>(new int), ++theState.streams, Result::Success; };
  d.streamDestroy = [](Stream stream) { return delete as<int *>(stream), --theState.streams, Result::Success; };
  d.streamSynchronize = [](Stream) { return theState.pending; };
  d.streamIsCapturing = [](Stream stream, CaptureStatus *status) {
    FAIL_OR(streamIsCapturing);
    return *status = theState.capturing[stream], Result::Success;
  };
  d.eventCreate = [](Event *event, unsigned) { return *event = as<Event>(new int), ++theState.events, Result::Success; };
  d.eventDestroy = [](Event event) { return delete as<int *>(event), --theState.events, Result::Success; };
  d.eventRecord = [](Event, Stream) { return Result::Success; };
  d.streamWaitEvent = [](Stream stream, Event event, unsigned) { return theState.waits.emplace_back(stream, event), Result::Success; };
  d.eventSynchronize = [](Event) { return theState.pending; };
  d.eventElapsedTime = [](float *milliseconds, Event, Event) { return *milliseconds = 1.5f, Result::Success; };
  d.memAlloc = [](DevicePointer *address, size_t bytes) {
    FAIL_OR(memAlloc);
    *address = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    theState.sizes[*address] = bytes;
    return ++theState.allocations, Result::Success;
  };
  d.memGetAddressRange = [](DevicePointer *base, size_t *bytes, DevicePointer address) {
    auto it = theState.sizes.upper_bound(address);
    if (it == theState.sizes.begin() || address - (--it)->first >= it->second)
      return Result::InvalidValue;
    return *base = it->first, *bytes = it->second, Result::Success;
  };
  d.memFree = [](DevicePointer address) {
    return theState.sizes.erase(address), std::free(reinterpret_cast<void *>(address)), --theState.allocations, Result::Success;
  };
  d.memHostAlloc = [](void **address, size_t bytes, unsigned) { return *address = std::malloc(bytes), Result::Success; };
  d.memFreeHost = [](void *address) { return std::free(address), Result::Success; };
  d.memHostGetDevicePointer = [](DevicePointer *device, void *host, unsigned) { return *device = reinterpret_cast<DevicePointer>(host), Result::Success; };
  d.memcpyHtoDAsync = [](DevicePointer to, const void *from, size_t bytes, Stream) {
    return std::memcpy(reinterpret_cast<void *>(to), from, bytes), theState.pending;
  };
  d.memcpyDtoHAsync = [](void *to, DevicePointer from, size_t bytes, Stream) {
    return std::memcpy(to, reinterpret_cast<void *>(from), bytes), theState.pending;
  };
  d.memcpyDtoDAsync = [](DevicePointer to, DevicePointer from, size_t bytes, Stream) {
    return std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes), theState.pending;
  };
  d.memsetD8Async = [](DevicePointer to, unsigned char value, size_t count, Stream) {
    return std::memset(reinterpret_cast<void *>(to), value, count), theState.pending;
  };
  d.memsetD32Async = [](DevicePointer, unsigned, size_t, Stream) { return Result::NotSupported; };
  d.pointerGetAttribute = [](void *, PointerAttribute, DevicePointer) { return Result::InvalidValue; };
  return d;
}
} // namespace

State &state() { return theState; }
void reset() {
  theState = State();
  stack.clear();
  primary = nullptr;
}
const Driver &driver() {
  static const Driver table = makeDriver();
  return table;
}
Context makeContext(int device) {
  contexts.push_back(std::make_unique<FakeContext>(FakeContext{device}));
  setCurrent(as<Context>(contexts.back().get()));
  return current();
}
void setCurrent(Context context) {
  if (stack.empty())
    stack.push_back(context);
  else
    stack.back() = context;
}
Context current() { return stack.empty() ? nullptr : stack.back(); }

} // namespace fake
