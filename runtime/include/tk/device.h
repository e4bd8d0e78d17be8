// Where kernels run: devices, streams, and arrays in a device's memory.
//
//   tk::Device device = tk::Device::best();
//   tk::Stream stream = device.stream();
//   tk::DeviceArray x(device, hostX), out(device, tk::DType::F32, {n});
//   kernel.launch(stream, tk::grid(blocks), x, out, n, tk::meta("BLOCK", 1024));
//   stream.synchronize();
//   tk::Array result = out.toHost();
//
// Devices and streams are handles: cheap to copy, safe to use from several threads. Calls work in the caller's current driver context when that belongs to the
// device, else in the device's primary context. Everything that fails throws tk::Error.
#pragma once
#include "tk/array.h"
#include "tk/error.h"
#include <memory>
#include <string>
#include <vector>

namespace tk {

namespace runtime {
class GpuDevice;
}
class Stream;

/// The host's CPU, a GPU of this machine, or an emulated GPU. Devices live as long as the process.
class Device {
public:
  Device() = default; // the host
  static Device host() { return Device(); }
  /// The GPU with this number. Error(Device) when there is none.
  static Device cuda(unsigned ordinal = 0);
  /// One that executes GPU code on the host, slowly, and reports what silicon hides: `target` as in "sm_90a". Error(User) for an unknown one.
  static Device emulated(const std::string &target);
  /// The GPUs that are there, then the host.
  static std::vector<Device> list();
  /// The first of them.
  static Device best();

  bool isHost() const { return gpu == nullptr; }
  bool isEmulated() const;
  std::string name() const;
  /// Ten times the compute capability of an NVIDIA GPU; 0 for the host.
  unsigned architecture() const;
  uint64_t memoryBytes() const;
  /// The default stream.
  Stream stream() const;
  /// A new one, which ends with its last handle.
  Stream newStream() const;

  bool operator==(const Device &other) const { return gpu == other.gpu; }
  bool operator!=(const Device &other) const { return gpu != other.gpu; }
  runtime::GpuDevice *implementation() const { return gpu; }
  explicit Device(runtime::GpuDevice *gpu) : gpu(gpu) {}

private:
  runtime::GpuDevice *gpu = nullptr;
};

/// An order of work on a device. Work on a GPU's stream, and on a new stream of the host, is asynchronous; what goes wrong there, and what kernels print, comes to
/// light in synchronize(). The host's default stream runs on the caller's thread and is done with each call.
class Stream {
public:
  Stream() = default; // the host's
  /// A stream of the caller's, a CUstream; null is the default stream. Its device is that of the current context, else the first one. The caller keeps it
  /// alive.
  static Stream cuda(void *handle = nullptr);

  /// Waits. Error(User) for a failed device assertion, Error(Device) for what the driver reports, naming the kernel.
  void synchronize() const;
  const Device &device() const { return place; }
  void *handle() const { return stream; }

private:
  friend class Device;
  Device place;
  void *stream = nullptr;
  std::shared_ptr<void> owner; // of a stream that newStream made
};

/// A point in a stream's work. A handle: cheap to copy. Thread-safe.
class Event {
public:
  /// Not recorded yet.
  explicit Event(const Device &device);
  /// What is on the stream by now comes before the event. Error(User) for a stream of another device.
  void record(const Stream &stream) const;
  /// Waits for it. Returns at once when it was never recorded.
  void synchronize() const;
  /// Later work of the stream waits for the event.
  void wait(const Stream &stream) const;
  /// Seconds from `start` to this event; both have been recorded, and are waited for.
  double secondsSince(const Event &start) const;

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
};

/// An array in a device's memory, contiguous and row-major; on the host, plain memory. Movable. It must outlive the kernels that use it.
class DeviceArray {
public:
  DeviceArray() = default;
  /// Zeros.
  DeviceArray(const Device &device, DType dtype, std::vector<int64_t> shape);
  /// A copy of a host array.
  DeviceArray(const Device &device, const Array &array);
  DeviceArray(DeviceArray &&other) noexcept;
  DeviceArray &operator=(DeviceArray &&other) noexcept;
  ~DeviceArray();

  const Device &device() const { return place; }
  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return extents; }
  int64_t size() const;
  size_t bytes() const { return static_cast<size_t>(size()) * bytesOf(type); }
  /// The address that kernels get.
  void *data() const { return address; }

  /// Copies from or to host memory, in the order of the stream, and waits; the default is the device's default stream. Error(User) when type or shape differ.
  void assign(const Array &array);
  void assign(const Array &array, const Stream &stream);
  Array toHost() const;
  Array toHost(const Stream &stream) const;

private:
  Device place;
  DType type = DType::F32;
  std::vector<int64_t> extents = {0};
  void *address = nullptr;
  Array hostMemory; // on the host
};

} // namespace tk
