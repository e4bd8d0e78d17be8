// Devices, contexts and tensor maps of the emulated driver.
#include "runtime/device/emulated/DriverState.h"
#include "runtime/device/emulated/TensorMap.h"
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

using namespace tk::cuda;

namespace {

constexpr int capabilities[] = {90, 75, 80, 86, 89, 100, 120};
constexpr int deviceCount = int(std::size(capabilities));

struct State {
  State() {
    for (int i = 0; i < deviceCount; ++i) {
      devices.push_back(std::make_unique<DriverDevice>(i, capabilities[i]));
      primary.push_back(std::make_unique<ContextOpaque>());
      primary.back()->device = devices.back().get();
      primary.back()->id = unsigned(i + 1);
    }
  }
  std::vector<std::unique_ptr<DriverDevice>> devices;
  std::vector<std::unique_ptr<ContextOpaque>> primary;
  std::mutex mutex;
  std::vector<int> retained = std::vector<int>(deviceCount);
  DriverOptions options;
};
State &state() {
  static State *instance = new State; // handles may be given back while the process ends
  return *instance;
}
thread_local std::vector<Context> stack;

bool isDevice(Device device) { return device >= 0 && device < deviceCount; }

Result attributeOf(int *value, DeviceAttribute attribute, Device device) {
  if (!isDevice(device))
    return Result::InvalidDevice;
  EmulatedDevice &d = state().devices[size_t(device)]->device;
  int capability = d.computeCapability();
  switch (attribute) {
  case DeviceAttribute::MaxThreadsPerBlock: *value = 1024; break;
  case DeviceAttribute::MaxGridX: *value = 0x7FFFFFFF; break;
  case DeviceAttribute::MaxGridY:
  case DeviceAttribute::MaxGridZ: *value = 65535; break;
  case DeviceAttribute::MaxSharedBytesPerBlock: *value = 48 << 10; break;
  case DeviceAttribute::WarpSize: *value = 32; break;
  case DeviceAttribute::MaxRegistersPerBlock: *value = 65536; break;
  case DeviceAttribute::ClockRateKhz:
  case DeviceAttribute::MemoryClockRateKhz: *value = 1000000; break;
  case DeviceAttribute::MultiprocessorCount: *value = int(EmulatedDevice::multiprocessors); break;
  case DeviceAttribute::MemoryBusBits: *value = 64; break;
  case DeviceAttribute::L2Bytes: *value = 4 << 20; break;
  case DeviceAttribute::MaxThreadsPerMultiprocessor:
    *value = capability == 75 ? 1024 : capability == 86 || capability == 89 || capability == 120 ? 1536 : 2048;
    break;
  case DeviceAttribute::ComputeCapabilityMajor: *value = capability / 10; break;
  case DeviceAttribute::ComputeCapabilityMinor: *value = capability % 10; break;
  case DeviceAttribute::MaxSharedBytesPerMultiprocessor: *value = int(d.maxSharedBytes()) + 1024; break;
  case DeviceAttribute::MaxSharedBytesPerBlockOptin: *value = int(d.maxSharedBytes()); break;
  case DeviceAttribute::PageableMemoryAccess: *value = 0; break;
  case DeviceAttribute::ClusterLaunch: *value = capability >= 90; break;
  default: return Result::InvalidValue;
  }
  return Result::Success;
}

} // namespace

ContextOpaque *currentContext() { return stack.empty() ? nullptr : stack.back(); }

ContextOpaque *ownerOf(uint64_t address) {
  Memory::Range range;
  for (auto &context : state().primary)
    if (context->device->device.memory().find(address, range))
      return context.get();
  return nullptr;
}

DriverOptions driverOptions() {
  std::lock_guard lock(state().mutex);
  return state().options;
}
void setDriverOptions(DriverOptions options) {
  std::lock_guard lock(state().mutex);
  state().options = std::move(options);
}

void addDeviceCalls(Driver &d) {
  d.init = [](unsigned flags) { return flags ? Result::InvalidValue : Result::Success; };
  d.driverGetVersion = [](int *version) {
    *version = 13000;
    return Result::Success;
  };
  d.deviceGetCount = [](int *count) {
    *count = deviceCount;
    return Result::Success;
  };
  d.deviceGet = [](Device *device, int ordinal) {
    *device = ordinal;
    return isDevice(ordinal) ? Result::Success : Result::InvalidDevice;
  };
  d.deviceGetName = [](char *name, int bytes, Device device) {
    if (!isDevice(device) || bytes <= 0)
      return Result::InvalidDevice;
    std::snprintf(name, size_t(bytes), "emulated sm_%d", capabilities[device]);
    return Result::Success;
  };
  d.deviceGetAttribute = attributeOf;
  d.deviceTotalMem = [](size_t *bytes, Device device) {
    *bytes = size_t(16) << 30;
    return isDevice(device) ? Result::Success : Result::InvalidDevice;
  };
  d.devicePrimaryCtxRetain = [](Context *context, Device device) {
    if (!isDevice(device))
      return Result::InvalidDevice;
    std::lock_guard lock(state().mutex);
    ++state().retained[size_t(device)];
    *context = state().primary[size_t(device)].get();
    return Result::Success;
  };
  // With the last release a sticky error goes, as the context does on a GPU.
  d.devicePrimaryCtxRelease = [](Device device) {
    if (!isDevice(device))
      return Result::InvalidDevice;
    std::lock_guard lock(state().mutex);
    if (state().retained[size_t(device)] == 0)
      return Result::InvalidContext;
    if (--state().retained[size_t(device)] == 0)
      state().primary[size_t(device)]->sticky = Result::Success;
    return Result::Success;
  };
  d.ctxGetCurrent = [](Context *context) {
    *context = currentContext();
    return Result::Success;
  };
  d.ctxSetCurrent = [](Context context) {
    if (!stack.empty())
      stack.pop_back();
    if (context)
      stack.push_back(context);
    return Result::Success;
  };
  d.ctxPushCurrent = [](Context context) {
    if (!context)
      return Result::InvalidContext;
    stack.push_back(context);
    return Result::Success;
  };
  d.ctxPopCurrent = [](Context *context) {
    if (stack.empty())
      return Result::InvalidContext;
    if (context)
      *context = stack.back();
    stack.pop_back();
    return Result::Success;
  };
  d.ctxGetDevice = [](Device *device) {
    if (!currentContext())
      return Result::InvalidContext;
    *device = currentContext()->device->ordinal;
    return Result::Success;
  };
  d.ctxGetId = [](Context context, unsigned long long *id) {
    context = context ? context : currentContext();
    if (!context)
      return Result::InvalidContext;
    *id = context->id;
    return Result::Success;
  };
  d.ctxSynchronize = []() { return currentContext() ? currentContext()->sticky.load() : Result::InvalidContext; };
}

// The rules are those of cuTensorMapEncodeTiled in NVIDIA's driver API reference.
Result encodeTensorMap(cuda::TensorMap *map, TensorMapDataType type, uint32_t rank, void *base, const uint64_t *dims, const uint64_t *strides,
                       const uint32_t *box, const uint32_t *elementStrides, TensorMapInterleave interleave, TensorMapSwizzle swizzle, TensorMapL2Promotion,
                       TensorMapFill fill) {
  constexpr uint8_t bytesOfType[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (unsigned(type) >= std::size(bytesOfType) || rank < 1 || rank > 5 || interleave != TensorMapInterleave::None || unsigned(swizzle) > 3)
    return Result::InvalidValue;
  TensorMap encoded = {};
  encoded.magic = TensorMap::magicNumber;
  encoded.type = uint8_t(type);
  encoded.rank = uint8_t(rank);
  encoded.elementBytes = bytesOfType[unsigned(type)];
  encoded.swizzle = uint8_t(swizzle);
  encoded.base = reinterpret_cast<uint64_t>(base);
  encoded.fillsNan = fill == TensorMapFill::NanRequestZeroFma;
  bool isReal = type >= TensorMapDataType::F16;
  if (encoded.base % 16 || !base || (encoded.fillsNan && !isReal))
    return Result::InvalidValue;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == 0 || dims[i] > (uint64_t(1) << 32) || box[i] == 0 || box[i] > 256 || elementStrides[i] == 0 || elementStrides[i] > 8)
      return Result::InvalidValue;
    encoded.dims[i] = dims[i];
    encoded.box[i] = uint16_t(box[i]);
    encoded.elementStrides[i] = uint8_t(elementStrides[i]);
    if (i + 1 == rank)
      break;
    if (strides[i] % 16 || strides[i] >= (uint64_t(1) << 40))
      return Result::InvalidValue;
    encoded.strides[i] = strides[i];
  }
  uint32_t inner = box[0] * encoded.elementBytes;
  if (inner % 16 || (swizzle != TensorMapSwizzle::None && inner > (16u << unsigned(swizzle))))
    return Result::InvalidValue;
  std::memset(map, 0, sizeof(*map));
  std::memcpy(map, &encoded, sizeof(encoded));
  return Result::Success;
}

} // namespace tk::emulated
