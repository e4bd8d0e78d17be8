// A GPU behind its vendor's driver, or an emulated one: memory, streams, kernels, time.
//
// Every call works in the caller's current context when that belongs to this device, else in the device's primary context, and leaves the thread's current
// context as it was. Streams are the driver's handles: the caller's own or those of createStream; null is the default stream. Work on a stream is ordered and
// asynchronous; what a kernel prints, the assertion that failed in it and the driver's late errors come to light in synchronize(). All functions are
// thread-safe; those that fail throw Error(Device), with the exceptions that are named.
#pragma once
#include "runtime/KernelAbi.h"
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tk::runtime {

using StreamHandle = void *;
using DeviceAddress = uint64_t;
using EventHandle = void *;

struct GpuProperties {
  std::string name;
  unsigned ordinal = 0;
  unsigned architecture = 0; // NVIDIA: ten times the compute capability
  uint64_t memoryBytes = 0, l2Bytes = 0;
  unsigned multiprocessors = 0, warpSize = 0, maxThreads = 0; // of a block
  uint64_t maxSharedBytes = 0;                                // of a block
  unsigned clockKhz = 0, memoryClockKhz = 0, memoryBusBits = 0;
  int driverVersion = 0; // NVIDIA: 1000 * major + 10 * minor of CUDA
  bool emulated = false;
  bool pageableAccess = false; // kernels can use any memory of the host
};

struct GpuImage {
  enum class Kind : uint8_t { Ptx, Binary } kind = Kind::Ptx;
  std::string bytes;
};

/// A kernel's code. Loaded into a context at its first launch there, or by prepare(); unloaded with the last reference.
class GpuKernel {
public:
  virtual ~GpuKernel() = default;
  const KernelAbi &abi() const { return description; }
  /// "`softmax` (softmax.tk:3)". Outlives the kernel.
  const std::shared_ptr<const std::string> &label() const { return name; }

protected:
  explicit GpuKernel(KernelAbi abi);
  KernelAbi description;
  std::shared_ptr<const std::string> name;
};

/// What the driver says of loaded code.
struct GpuKernelUse {
  int registers = 0, spillBytes = 0; // of a thread
  int staticSharedBytes = 0;
  int blocksPerMultiprocessor = 0; // that fit at once; 0: unknown
};

/// Work on a stream, recorded once: a replay costs the host one call. What it refers to (kernels, memory) must outlive it.
class GpuGraph {
public:
  virtual ~GpuGraph() = default;
  /// Asynchronous.
  virtual void launch(StreamHandle stream) = 0;
};

class GpuDevice {
public:
  using Printer = std::function<void(std::string_view)>;
  virtual ~GpuDevice() = default;
  virtual const GpuProperties &properties() const = 0;
  /// Where lines of device_print go; default: standard output.
  virtual void setPrinter(Printer printer) = 0;

  /// PTX to what is loaded, machine code on real devices. Error(Internal) with the assembler's log.
  virtual GpuImage assemble(const GpuImage &image, const KernelAbi &abi) = 0;
  /// What its result depends on besides the image and the architecture: the assembler and its version.
  virtual std::string assemblerIdentity() = 0;
  /// "host memory" or another device's name, when the driver knows that kernels of this device can't use the address; else empty.
  virtual std::string foreign(uint64_t address) = 0;
  /// PTX is assembled here; nothing is loaded yet. Error(User) when the device can't hold such a kernel.
  virtual std::shared_ptr<GpuKernel> makeKernel(const GpuImage &image, KernelAbi abi) = 0;
  /// Loads the code into the context, so that later launches may be captured into a graph.
  virtual void prepare(GpuKernel &kernel, StreamHandle stream) = 0;
  virtual GpuKernelUse useOf(GpuKernel &kernel) = 0;
  /// `slots`: the bits of every argument that is not hidden, in order; of a TensorMap the address of a tk::TensorDescriptor. Error(User) for a grid that can't be, for code that is not loaded while the stream is
  /// being captured, and for capturing a kernel that prints.
  virtual void launch(GpuKernel &kernel, const uint64_t *slots, std::array<int64_t, 3> grid, StreamHandle stream) = 0;
  /// Waits for the stream, then prints what its kernels printed. Error(User) for a failed device assertion.
  virtual void synchronize(StreamHandle stream) = 0;
  /// Records what `work` puts on the stream, which is not the default one, instead of executing it. Kernels must have been prepared; nothing may wait or print.
  virtual std::unique_ptr<GpuGraph> capture(StreamHandle stream, const std::function<void()> &work) = 0;
  virtual bool isCapturing(StreamHandle stream) = 0;
  virtual StreamHandle createStream() = 0;
  virtual void destroyStream(StreamHandle stream) = 0;

  /// At least 256-byte aligned; 0 bytes give an address as well.
  virtual DeviceAddress allocate(size_t bytes) = 0;
  virtual void free(DeviceAddress address) = 0;
  /// Host memory may be changed when the call returns, and holds the data when copyOut returns.
  virtual void copyIn(DeviceAddress to, const void *from, size_t bytes, StreamHandle stream) = 0;
  virtual void copyOut(void *to, DeviceAddress from, size_t bytes, StreamHandle stream) = 0;
  /// Asynchronous.
  virtual void copy(DeviceAddress to, DeviceAddress from, size_t bytes, StreamHandle stream) = 0;
  virtual void fill(DeviceAddress to, uint8_t value, size_t bytes, StreamHandle stream) = 0;

  /// The allocation that holds the address: where it begins and how long it is.
  virtual std::pair<DeviceAddress, size_t> allocationOf(DeviceAddress address) = 0;

  /// An event belongs to the context in which it is made, as streams do.
  virtual EventHandle createEvent() = 0;
  virtual void destroyEvent(EventHandle event) = 0;
  virtual void recordEvent(EventHandle event, StreamHandle stream) = 0;
  /// Waits for what was on the stream when the event was recorded.
  virtual void synchronizeEvent(EventHandle event) = 0;
  /// Later work of the stream waits; the host does not.
  virtual void waitForEvent(StreamHandle stream, EventHandle event) = 0;
  /// Of two events that have been recorded; waits for the later one.
  virtual double secondsBetween(EventHandle start, EventHandle stop) = 0;

  /// Seconds that the device needs for what `work` puts on the stream, by the driver's events; waits for it.
  virtual double measure(StreamHandle stream, const std::function<void()> &work) = 0;
};

} // namespace tk::runtime
