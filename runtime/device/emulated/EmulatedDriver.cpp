#include "runtime/device/emulated/EmulatedDriver.h"
#include "runtime/device/emulated/DriverState.h"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

using namespace tk::cuda;
using Time = std::chrono::steady_clock;

namespace {

Result errorText(Result error, const char **text, bool isName) {
  static const std::map<Result, std::pair<const char *, const char *>> names = {
      {Result::Success, {"CUDA_SUCCESS", "no error"}},
      {Result::InvalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
      {Result::OutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
      {Result::NotInitialized, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
      {Result::InvalidDevice, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
      {Result::InvalidContext, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
      {Result::InvalidPtx, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
      {Result::InvalidHandle, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
      {Result::NotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
      {Result::IllegalAddress, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
      {Result::LaunchOutOfResources, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
      {Result::LaunchTimeout, {"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"}},
      {Result::Assert, {"CUDA_ERROR_ASSERT", "device-side assert triggered"}},
      {Result::MisalignedAddress, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
      {Result::LaunchFailed, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
      {Result::NotSupported, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
  };
  auto found = names.find(error);
  if (found == names.end()) {
    *text = nullptr;
    return Result::InvalidValue;
  }
  *text = isName ? found->second.first : found->second.second;
  return Result::Success;
}
Result errorName(Result error, const char **text) { return errorText(error, text, true); }
Result errorString(Result error, const char **text) { return errorText(error, text, false); }

/// Runs f with the current context's state; a sticky error comes back instead.
template <typename F> Result inContext(F f) {
  ContextOpaque *context = currentContext();
  if (!context)
    return Result::InvalidContext;
  if (Result sticky = context->sticky.load(); sticky != Result::Success)
    return sticky;
  return f(*context);
}

Result loadModule(cuda::Module *module, const void *image, unsigned count, JitOption *options, void **values) {
  return inContext([&](ContextOpaque &context) {
    try {
      auto loaded = std::make_unique<ModuleOpaque>();
      loaded->context = &context;
      loaded->module = context.device->device.load(static_cast<const char *>(image));
      *module = loaded.release();
      return Result::Success;
    } catch (PtxError &error) {
      std::string text = fmt::format("ptx, line {}: error: {}\n", error.line, error.what());
      size_t room = 0;
      char *buffer = nullptr;
      for (unsigned i = 0; i < count; ++i) {
        if (options[i] == JitOption::ErrorLogBuffer)
          buffer = static_cast<char *>(values[i]);
        if (options[i] == JitOption::ErrorLogBufferBytes)
          room = reinterpret_cast<size_t>(values[i]);
      }
      if (buffer && room) {
        std::snprintf(buffer, room, "%s", text.c_str());
      } else {
        std::fputs(text.c_str(), stderr);
      }
      return Result::InvalidPtx;
    }
  });
}

Result getFunction(cuda::Function *function, cuda::Module module, const char *name) {
  const Function *found = module->module->find(name);
  if (!found || !found->isEntry)
    return Result::NotFound;
  auto &handle = module->functions[name];
  if (!handle)
    handle = std::make_unique<FunctionOpaque>(FunctionOpaque{module, found});
  *function = handle.get();
  return Result::Success;
}

/// A launch whose parameters are in `buffer`.
Result execute(cuda::Function function, LaunchSpec spec, const std::vector<uint8_t> &buffer) {
  return inContext([&](ContextOpaque &context) {
    const Function &kernel = *function->function;
    DriverOptions options = driverOptions();
    spec.parameters = buffer;
    spec.checks = options.checks;
    spec.timing = options.timing;
    spec.threads = options.threads;
    EmulatedLaunch record{kernel.name, spec, context.device->device.launch(*function->module->module, kernel, spec)};
    record.spec.parameters = {};
    if (options.reporter)
      options.reporter(record);
    else
      std::fputs(record.result.text().c_str(), stderr);
    const LaunchResult &result = record.result;
    if (result.ok() || (!result.failed && !options.strict))
      return Result::Success;
    Result code = Result::LaunchFailed;
    switch (result.findings[0].cause) {
    case Finding::Cause::Launch: return Result::InvalidValue; // nothing has happened yet
    case Finding::Cause::Address: code = Result::IllegalAddress; break;
    case Finding::Cause::Alignment: code = Result::MisalignedAddress; break;
    case Finding::Cause::Hang: code = Result::LaunchTimeout; break;
    case Finding::Cause::Assertion: code = Result::Assert; break;
    case Finding::Cause::Other: break;
    }
    // As on a GPU the launch itself succeeds, and whatever comes next fails.
    context.sticky = code;
    return Result::Success;
  });
}

/// Does the work now, or when the graph is launched into which the stream is being captured.
Result enqueue(Stream stream, std::function<Result()> work) {
  if (!stream || !stream->recording)
    return work();
  stream->recording->steps.push_back(std::move(work));
  return Result::Success;
}

Result launch(cuda::Function function, LaunchSpec spec, Stream stream, void **parameters, void **extra) {
  return inContext([&](ContextOpaque &context) {
    if (!function || function->module->context != &context)
      return Result::InvalidHandle;
    const Function &kernel = *function->function;
    std::vector<uint8_t> buffer(kernel.parameterBytes);
    if (extra) {
      const void *from = nullptr;
      size_t bytes = 0;
      for (; *extra; extra += 2) {
        if (*extra == reinterpret_cast<void *>(1))
          from = extra[1];
        else if (*extra == reinterpret_cast<void *>(2))
          bytes = *static_cast<size_t *>(extra[1]);
      }
      if (from)
        std::memcpy(buffer.data(), from, std::min(bytes, buffer.size()));
    } else if (!kernel.parameters.empty()) {
      if (!parameters)
        return Result::InvalidValue;
      for (size_t i = 0; i < kernel.parameters.size(); ++i)
        std::memcpy(buffer.data() + kernel.parameters[i].offset, parameters[i], kernel.parameters[i].bytes);
    }
    if (spec.dynamicShared > function->maxDynamicShared)
      return Result::InvalidValue;
    return enqueue(stream, [function, spec, buffer = std::move(buffer)] { return execute(function, spec, buffer); });
  });
}

Result launchPlain(cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, Stream stream,
                   void **parameters, void **extra) {
  LaunchSpec spec;
  spec.grid = {gx, gy, gz};
  spec.block = {bx, by, bz};
  spec.dynamicShared = shared;
  return launch(function, spec, stream, parameters, extra);
}

Result launchExtended(const LaunchConfig *config, cuda::Function function, void **parameters, void **extra) {
  LaunchSpec spec;
  spec.grid = {config->gridX, config->gridY, config->gridZ};
  spec.block = {config->blockX, config->blockY, config->blockZ};
  spec.dynamicShared = config->sharedBytes;
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (const LaunchAttribute &attribute = config->attributes[i]; attribute.id == LaunchAttributeId::ClusterDimension)
      spec.cluster = {attribute.value.cluster.x, attribute.value.cluster.y, attribute.value.cluster.z};
  return launch(function, spec, config->stream, parameters, extra);
}

Result functionAttribute(int *value, FunctionAttribute attribute, cuda::Function function) {
  const Function &kernel = *function->function;
  const ParsedModule &parsed = *function->module->module->parsed;
  switch (attribute) {
  case FunctionAttribute::MaxThreadsPerBlock:
    *value = kernel.maxThreads[0]        ? int(kernel.maxThreads[0] * kernel.maxThreads[1] * kernel.maxThreads[2])
             : kernel.requiredThreads[0] ? int(kernel.requiredThreads[0] * kernel.requiredThreads[1] * kernel.requiredThreads[2])
                                         : 1024;
    break;
  case FunctionAttribute::SharedBytes: *value = int(kernel.staticShared); break;
  case FunctionAttribute::LocalBytes: *value = int(kernel.localBytes); break;
  case FunctionAttribute::PtxVersion: *value = parsed.versionMajor * 10 + parsed.versionMinor; break;
  case FunctionAttribute::BinaryVersion: *value = function->module->context->device->device.computeCapability(); break;
  case FunctionAttribute::MaxDynamicSharedBytes: *value = int(function->maxDynamicShared); break;
  case FunctionAttribute::ConstBytes:
  case FunctionAttribute::Registers:
  case FunctionAttribute::PreferredSharedCarveout:
  case FunctionAttribute::NonPortableClusterSizeAllowed: *value = 0; break;
  default: return Result::InvalidValue;
  }
  return Result::Success;
}

Result setFunctionAttribute(cuda::Function function, FunctionAttribute attribute, int value) {
  if (attribute == FunctionAttribute::MaxDynamicSharedBytes) {
    if (value < 0 || uint32_t(value) + function->function->staticShared > function->module->context->device->device.maxSharedBytes())
      return Result::InvalidValue;
    function->maxDynamicShared = uint32_t(value);
  }
  return Result::Success;
}

Result occupancy(int *blocks, cuda::Function function, int threads, size_t shared) {
  if (threads <= 0 || threads > 1024)
    return Result::InvalidValue;
  size_t perBlock = shared + function->function->staticShared + 1024, room = function->module->context->device->device.maxSharedBytes() + 1024;
  *blocks = int(std::min<size_t>({size_t(2048 / ((threads + 31) / 32 * 32)), room / perBlock, 32}));
  return Result::Success;
}

/// The addresses given are all in one allocation.
bool isDeviceRange(ContextOpaque &context, DevicePointer address, size_t bytes) {
  Memory::Range range;
  return bytes == 0 || (context.device->device.memory().find(address, range) && bytes <= range.end - address);
}

template <typename T> Result fill(DevicePointer to, T value, size_t count) {
  return inContext([&](ContextOpaque &context) {
    if (!isDeviceRange(context, to, count * sizeof(T)) || to % sizeof(T))
      return Result::InvalidValue;
    std::fill_n(reinterpret_cast<T *>(to), count, value);
    return Result::Success;
  });
}

Result copy(uint64_t to, uint64_t from, size_t bytes, bool toDevice, bool fromDevice) {
  return inContext([&](ContextOpaque &context) {
    if ((toDevice && !isDeviceRange(context, to, bytes)) || (fromDevice && !isDeviceRange(context, from, bytes)))
      return Result::InvalidValue;
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
    return Result::Success;
  });
}

Result allocate(uint64_t *address, size_t bytes) {
  return inContext([&](ContextOpaque &context) {
    if (!bytes)
      return Result::InvalidValue;
    *address = context.device->device.memory().allocate(bytes);
    return *address ? Result::Success : Result::OutOfMemory;
  });
}
Result release(uint64_t address) {
  if (!address)
    return Result::Success;
  ContextOpaque *context = currentContext();
  if (!context)
    return Result::InvalidContext;
  return context->device->device.memory().remove(address) ? Result::Success : Result::InvalidValue;
}

Result pointerAttribute(void *value, PointerAttribute attribute, DevicePointer address) {
  ContextOpaque *owner = ownerOf(address);
  if (!owner)
    return Result::InvalidValue;
  switch (attribute) {
  case PointerAttribute::Context: *static_cast<Context *>(value) = owner; break;
  case PointerAttribute::MemoryType: *static_cast<unsigned *>(value) = unsigned(MemoryType::Device); break;
  case PointerAttribute::DevicePointer: *static_cast<DevicePointer *>(value) = address; break;
  case PointerAttribute::HostPointer: *static_cast<void **>(value) = reinterpret_cast<void *>(address); break;
  case PointerAttribute::DeviceOrdinal: *static_cast<int *>(value) = owner->device->ordinal; break;
  default: return Result::InvalidValue;
  }
  return Result::Success;
}

Result addressRange(DevicePointer *base, size_t *bytes, DevicePointer address) {
  return inContext([&](ContextOpaque &context) {
    Memory::Range range;
    if (!context.device->device.memory().find(address, range))
      return Result::InvalidValue;
    if (base)
      *base = range.begin;
    if (bytes)
      *bytes = range.end - range.begin;
    return Result::Success;
  });
}

Result ping() {
  return inContext([](ContextOpaque &) { return Result::Success; });
}

Driver makeTable() {
  Driver d;
  addDeviceCalls(d);
  d.getErrorName = errorName;
  d.getErrorString = errorString;
  d.moduleLoadDataEx = loadModule;
  d.moduleUnload = [](cuda::Module module) {
    delete module;
    return Result::Success;
  };
  d.moduleGetFunction = getFunction;
  d.moduleGetGlobal = [](DevicePointer *address, size_t *bytes, cuda::Module module, const char *name) {
    auto [where, size] = module->module->variable(name);
    if (!where)
      return Result::NotFound;
    if (address)
      *address = where;
    if (bytes)
      *bytes = size;
    return Result::Success;
  };
  d.funcGetAttribute = functionAttribute;
  d.funcSetAttribute = setFunctionAttribute;
  d.occupancyMaxActiveBlocksPerMultiprocessor = occupancy;
  // The linker gives the text back: loading it is what assembles it.
  d.linkCreate = [](unsigned, JitOption *, void **, LinkState *state) {
    *state = new LinkStateOpaque;
    return Result::Success;
  };
  d.linkAddData = [](LinkState state, JitInputType type, void *data, size_t bytes, const char *, unsigned, JitOption *, void **) {
    if (type != JitInputType::Ptx)
      return Result::NotSupported;
    state->text.assign(static_cast<const char *>(data), bytes);
    return Result::Success;
  };
  d.linkComplete = [](LinkState state, void **cubin, size_t *bytes) {
    state->text.resize(std::strlen(state->text.c_str()));
    *cubin = state->text.data();
    *bytes = state->text.size() + 1;
    return Result::Success;
  };
  d.linkDestroy = [](LinkState state) {
    delete state;
    return Result::Success;
  };
  d.launchKernel = launchPlain;
  d.launchKernelEx = launchExtended;
  d.tensorMapEncodeTiled = encodeTensorMap;
  d.streamCreate = [](Stream *stream, unsigned) {
    return inContext([&](ContextOpaque &context) {
      *stream = new StreamOpaque{&context, nullptr};
      return Result::Success;
    });
  };
  d.streamDestroy = [](Stream stream) {
    delete stream;
    return Result::Success;
  };
  d.streamSynchronize = [](Stream stream) { return stream && stream->recording ? Result::StreamCaptureUnsupported : ping(); };
  d.streamIsCapturing = [](Stream stream, CaptureStatus *status) {
    *status = stream && stream->recording ? CaptureStatus::Active : CaptureStatus::None;
    return Result::Success;
  };
  d.streamBeginCapture = [](Stream stream, CaptureMode) {
    if (!stream || stream->recording)
      return Result::StreamCaptureUnsupported;
    stream->recording = std::make_unique<GraphOpaque>();
    return Result::Success;
  };
  d.streamEndCapture = [](Stream stream, Graph *graph) {
    if (!stream || !stream->recording)
      return Result::InvalidValue;
    *graph = stream->recording.release();
    return Result::Success;
  };
  d.graphInstantiate = [](GraphExec *executable, Graph graph, unsigned long long) {
    *executable = new GraphExecOpaque{*graph};
    return Result::Success;
  };
  d.graphLaunch = [](GraphExec executable, Stream) {
    Result result = ping();
    for (const auto &step : executable->graph.steps)
      result = result == Result::Success ? step() : result;
    return result;
  };
  d.graphExecDestroy = [](GraphExec executable) {
    delete executable;
    return Result::Success;
  };
  d.graphDestroy = [](Graph graph) {
    delete graph;
    return Result::Success;
  };
  d.streamGetCtx = [](Stream stream, Context *context) {
    *context = stream ? stream->context : currentContext();
    return Result::Success;
  };
  d.eventCreate = [](Event *event, unsigned) {
    *event = new EventOpaque;
    return Result::Success;
  };
  d.eventDestroy = [](Event event) {
    delete event;
    return Result::Success;
  };
  d.eventRecord = [](Event event, Stream) {
    event->time = Time::now();
    event->recorded = true;
    return ping();
  };
  d.streamWaitEvent = [](Stream, Event, unsigned) { return ping(); }; // what was recorded is done
  d.eventSynchronize = [](Event) { return ping(); };
  d.eventElapsedTime = [](float *milliseconds, Event start, Event end) {
    if (!start->recorded || !end->recorded)
      return Result::InvalidHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return Result::Success;
  };
  d.memAlloc = [](DevicePointer *address, size_t bytes) {
    uint64_t where = 0;
    Result result = allocate(&where, bytes);
    *address = where;
    return result;
  };
  d.memFree = [](DevicePointer address) { return release(address); };
  d.memGetAddressRange = addressRange;
  d.memHostAlloc = [](void **address, size_t bytes, unsigned) {
    uint64_t where = 0;
    Result result = allocate(&where, bytes);
    *address = reinterpret_cast<void *>(where);
    return result;
  };
  d.memFreeHost = [](void *address) { return release(reinterpret_cast<uint64_t>(address)); };
  d.memHostGetDevicePointer = [](DevicePointer *device, void *host, unsigned) {
    *device = reinterpret_cast<uint64_t>(host);
    return Result::Success;
  };
  d.memcpyHtoDAsync = [](DevicePointer to, const void *from, size_t bytes, Stream) { return copy(to, reinterpret_cast<uint64_t>(from), bytes, true, false); };
  d.memcpyDtoHAsync = [](void *to, DevicePointer from, size_t bytes, Stream) { return copy(reinterpret_cast<uint64_t>(to), from, bytes, false, true); };
  d.memcpyDtoDAsync = [](DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
    return enqueue(stream, [=] { return copy(to, from, bytes, true, true); });
  };
  d.memsetD8Async = [](DevicePointer to, unsigned char value, size_t count, Stream stream) {
    return enqueue(stream, [=] { return fill<uint8_t>(to, value, count); });
  };
  d.memsetD32Async = [](DevicePointer to, unsigned value, size_t count, Stream stream) {
    return enqueue(stream, [=] { return fill<uint32_t>(to, value, count); });
  };
  d.pointerGetAttribute = pointerAttribute;
  return d;
}

} // namespace

const Driver &getEmulatedDriver() {
  static const Driver table = makeTable();
  return table;
}

} // namespace tk::emulated
