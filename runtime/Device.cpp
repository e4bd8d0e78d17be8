// tk::Device, tk::Stream and tk::DeviceArray over the runtime's devices.
#include "tk/device.h"
#include "runtime/device/cpu/HostStream.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/EmulatedCuda.h"
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <utility>

namespace tk {

using runtime::GpuDevice;

Device Device::cuda(unsigned ordinal) {
  std::string why;
  const auto &devices = runtime::cudaDevices(&why);
  if (ordinal < devices.size())
    return Device(devices[ordinal].get());
  throw Error(ErrorKind::Device, devices.empty() ? why : fmt::format("there is no GPU {}: the last one is {}", ordinal, devices.size() - 1));
}

Device Device::emulated(const std::string &target) {
  unsigned architecture = 0;
  const char *end = target.data() + target.size();
  std::from_chars_result parsed{};
  if (target.compare(0, 3, "sm_") == 0)
    parsed = std::from_chars(target.data() + 3, end, architecture);
  if (!architecture || (parsed.ptr != end && !(parsed.ptr + 1 == end && *parsed.ptr == 'a')))
    throw Error(ErrorKind::User, fmt::format("`{}` can't be emulated: expected an NVIDIA GPU, as in sm_90a", target));
  return Device(runtime::emulatedCudaDevice(architecture).get());
}

std::vector<Device> Device::list() {
  std::vector<Device> result;
  for (const auto &device : runtime::cudaDevices())
    result.push_back(Device(device.get()));
  result.push_back(Device());
  return result;
}

Device Device::best() { return list().front(); }
bool Device::isEmulated() const { return gpu && gpu->properties().emulated; }
std::string Device::name() const { return gpu ? gpu->properties().name : fmt::format("CPU, {} threads", runtime::availableCores()); }
unsigned Device::architecture() const { return gpu ? gpu->properties().architecture : 0; }

uint64_t Device::memoryBytes() const {
  if (gpu)
    return gpu->properties().memoryBytes;
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Stream Device::stream() const {
  Stream result;
  result.place = *this;
  return result;
}

Stream Device::newStream() const {
  Stream result = stream();
  if (!gpu) {
    auto queue = std::make_shared<runtime::HostStream>();
    result.stream = queue.get(), result.owner = std::move(queue);
    return result;
  }
  result.stream = gpu->createStream();
  result.owner = std::shared_ptr<void>(result.stream, [gpu = gpu](void *handle) {
    try {
      gpu->destroyStream(handle);
    } catch (const Error &) { // its context is gone
    }
  });
  return result;
}

Stream Stream::cuda(void *handle) {
  Stream result;
  result.place = Device(&runtime::currentCudaDevice());
  result.stream = handle;
  return result;
}

void Stream::synchronize() const {
  if (GpuDevice *gpu = place.implementation())
    gpu->synchronize(stream);
  else if (stream)
    static_cast<runtime::HostStream *>(stream)->synchronize();
}

DeviceArray::DeviceArray(const Device &device, DType dtype, std::vector<int64_t> shape) : place(device), type(dtype), extents(std::move(shape)) {
  GpuDevice *gpu = place.implementation();
  if (!gpu) {
    hostMemory = Array(type, extents);
    address = hostMemory.data();
    return;
  }
  for (int64_t extent : extents)
    if (extent < 0)
      throw Error(ErrorKind::User, fmt::format("an array can't have an extent of {}", extent));
  address = reinterpret_cast<void *>(gpu->allocate(bytes()));
  gpu->fill(reinterpret_cast<uintptr_t>(address), 0, bytes(), nullptr);
  // The driver doesn't wait for it, and other streams don't wait for the default one: their writes could come before the zeros.
  gpu->synchronize(nullptr);
}

DeviceArray::DeviceArray(const Device &device, const Array &array) : DeviceArray(device, array.dtype(), array.shape()) { assign(array); }

DeviceArray::DeviceArray(DeviceArray &&other) noexcept
    : place(other.place), type(other.type), extents(std::exchange(other.extents, {0})), address(std::exchange(other.address, nullptr)),
      hostMemory(std::move(other.hostMemory)) {}

DeviceArray &DeviceArray::operator=(DeviceArray &&other) noexcept {
  std::swap(place, other.place), std::swap(type, other.type), std::swap(extents, other.extents), std::swap(address, other.address),
      std::swap(hostMemory, other.hostMemory);
  return *this;
}

DeviceArray::~DeviceArray() {
  try {
    if (GpuDevice *gpu = place.implementation(); gpu && address)
      gpu->free(reinterpret_cast<uintptr_t>(address));
  } catch (const Error &) { // its context is gone
  }
}

int64_t DeviceArray::size() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(count, extent, &count) || count > INT64_MAX / 8)
      throw Error(ErrorKind::User, fmt::format("an array of shape [{}] is too large", fmt::join(extents, ", ")));
  return count;
}

void DeviceArray::assign(const Array &array) { assign(array, place.stream()); }

void DeviceArray::assign(const Array &array, const Stream &stream) {
  if (array.dtype() != type || array.shape() != extents)
    throw Error(ErrorKind::User, fmt::format("{}[{}] can't be assigned to {}[{}]", spelling(array.dtype()), fmt::join(array.shape(), ", "), spelling(type),
                                             fmt::join(extents, ", ")));
  if (GpuDevice *gpu = place.implementation())
    return gpu->copyIn(reinterpret_cast<uintptr_t>(address), array.data(), bytes(), stream.handle());
  stream.synchronize();
  if (bytes())
    std::memcpy(address, array.data(), bytes());
}

Array DeviceArray::toHost() const { return toHost(place.stream()); }

Array DeviceArray::toHost(const Stream &stream) const {
  GpuDevice *gpu = place.implementation();
  if (!gpu) {
    stream.synchronize();
    return hostMemory.clone();
  }
  Array result(type, extents);
  gpu->copyOut(result.data(), reinterpret_cast<uintptr_t>(address), bytes(), stream.handle());
  return result;
}

} // namespace tk
