// A GpuDevice over a driver's table of entry points, written once for all vendors.
//
// `Api` says what a vendor's driver looks like: the types Driver, Device, Context, Module, Function, Stream, Event, Graph, GraphExec and Result; and static
// functions
//   describe(driver, result)            the error as text
//   isSticky(result)                    the context is lost
//   isCaptureConflict(result)           the call is not allowed while a stream is being captured
//   readProperties(driver, device, &properties)
//   assemble(driver, image, properties, abi)  the image as it is loaded; throws with the assembler's log; a context is current
//   assemblerIdentity(driver, properties)
//   foreign(driver, address, properties)  see GpuDevice
//   TensorMap, tensorMap(driver, tensor, slot, map)  what a TensorMap slot passes
//   loadModule(driver, &module, image)
//   allowSharedBytes(driver, function, abi)
//   launch(driver, function, abi, grid, stream, parameters)
//   use(driver, function, abi)          GpuKernelUse
#pragma once
#include "runtime/device/GpuDevice.h"
#include "runtime/device/LaunchLog.h"
#include "runtime/device/PrintBuffer.h"
#include "tk/error.h"
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tk::runtime {

template <typename Api> class DriverDevice : public GpuDevice {
public:
  using Driver = typename Api::Driver;
  using Context = typename Api::Context;
  using Stream = typename Api::Stream;
  using Event = typename Api::Event;
  using Result = typename Api::Result;

  struct Options {
    unsigned ordinal = 0;
    bool emulated = false;
    uint32_t printCapacity = 1 << 15; // records of one launch
  };
  /// `driver` is initialised and outlives the device; the device outlives its kernels.
  DriverDevice(const Driver &driver, Options options) : driver(driver), printCapacity(options.printCapacity) {
    check(driver.deviceGet(&device, static_cast<int>(options.ordinal)), "device {} can't be opened", options.ordinal);
    facts.emulated = options.emulated, facts.ordinal = options.ordinal;
    check(Api::readProperties(driver, device, facts), "device {} can't be asked for its properties", options.ordinal);
  }
  ~DriverDevice() override {
    if (primary)
      driver.devicePrimaryCtxRelease(device);
  }

  const GpuProperties &properties() const override { return facts; }
  void setPrinter(Printer newPrinter) override { printer = std::move(newPrinter); }

  GpuImage assemble(const GpuImage &image, const KernelAbi &abi) override {
    Scope scope(*this);
    return Api::assemble(driver, image, facts, abi);
  }
  std::string assemblerIdentity() override { return Api::assemblerIdentity(driver, facts); }
  std::string foreign(uint64_t address) override {
    Scope scope(*this);
    return Api::foreign(driver, address, facts);
  }
  std::shared_ptr<GpuKernel> makeKernel(const GpuImage &image, KernelAbi abi) override;
  void prepare(GpuKernel &kernel, StreamHandle stream) override {
    Scope scope(*this);
    load(static_cast<Kernel &>(kernel), stream);
  }
  GpuKernelUse useOf(GpuKernel &kernel) override {
    Scope scope(*this);
    return Api::use(driver, load(static_cast<Kernel &>(kernel), nullptr).function, kernel.abi());
  }
  void launch(GpuKernel &kernel, const uint64_t *slots, std::array<int64_t, 3> grid, StreamHandle stream) override;
  void synchronize(StreamHandle stream) override;
  std::unique_ptr<GpuGraph> capture(StreamHandle stream, const std::function<void()> &work) override;
  bool isCapturing(StreamHandle stream) override {
    Scope scope(*this);
    return capturing(stream);
  }

  StreamHandle createStream() override {
    Scope scope(*this);
    Stream stream = nullptr;
    check(driver.streamCreate(&stream, Api::streamFlags), "a stream can't be created");
    return stream;
  }
  void destroyStream(StreamHandle stream) override {
    Scope scope(*this);
    check(driver.streamDestroy(static_cast<Stream>(stream)), "a stream can't be destroyed");
  }

  DeviceAddress allocate(size_t bytes) override {
    Scope scope(*this);
    typename Api::DevicePointer address = 0;
    check(driver.memAlloc(&address, std::max<size_t>(bytes, 1)), "{} bytes can't be allocated on {}", bytes, facts.name);
    return address;
  }
  void free(DeviceAddress address) override {
    Scope scope(*this);
    check(driver.memFree(address), "memory can't be freed");
  }
  void copyIn(DeviceAddress to, const void *from, size_t bytes, StreamHandle stream) override {
    Scope scope(*this);
    if (!bytes)
      return;
    check(driver.memcpyHtoDAsync(to, from, bytes, static_cast<Stream>(stream)), "{} bytes can't be copied to the device", bytes);
    wait(stream);
  }
  void copyOut(void *to, DeviceAddress from, size_t bytes, StreamHandle stream) override {
    Scope scope(*this);
    if (bytes)
      check(driver.memcpyDtoHAsync(to, from, bytes, static_cast<Stream>(stream)), "{} bytes can't be copied from the device", bytes);
    wait(stream);
  }
  void copy(DeviceAddress to, DeviceAddress from, size_t bytes, StreamHandle stream) override {
    Scope scope(*this);
    if (bytes)
      check(driver.memcpyDtoDAsync(to, from, bytes, static_cast<Stream>(stream)), "{} bytes can't be copied on the device", bytes);
  }
  void fill(DeviceAddress to, uint8_t value, size_t bytes, StreamHandle stream) override {
    Scope scope(*this);
    if (bytes)
      check(driver.memsetD8Async(to, value, bytes, static_cast<Stream>(stream)), "{} bytes can't be filled on the device", bytes);
  }
  std::pair<DeviceAddress, size_t> allocationOf(DeviceAddress address) override {
    Scope scope(*this);
    typename Api::DevicePointer base = 0;
    size_t bytes = 0;
    check(driver.memGetAddressRange(&base, &bytes, address), "address {:#x} lies in no memory of {}", address, facts.name);
    return {base, bytes};
  }
  EventHandle createEvent() override {
    Scope scope(*this);
    typename Api::Event event = nullptr;
    check(driver.eventCreate(&event, 0), "an event can't be created");
    return event;
  }
  void destroyEvent(EventHandle event) override {
    Scope scope(*this);
    check(driver.eventDestroy(static_cast<Event>(event)), "an event can't be destroyed");
  }
  void recordEvent(EventHandle event, StreamHandle stream) override {
    Scope scope(*this);
    check(driver.eventRecord(static_cast<Event>(event), static_cast<Stream>(stream)), "an event can't be recorded");
  }
  void synchronizeEvent(EventHandle event) override {
    Scope scope(*this);
    if (Result result = driver.eventSynchronize(static_cast<Event>(event)); result != Api::success)
      fail(result, "", nullptr);
  }
  void waitForEvent(StreamHandle stream, EventHandle event) override {
    Scope scope(*this);
    check(driver.streamWaitEvent(static_cast<Stream>(stream), static_cast<Event>(event), 0), "a stream can't wait for an event");
  }
  double secondsBetween(EventHandle start, EventHandle stop) override;
  double measure(StreamHandle stream, const std::function<void()> &work) override;

private:
  struct Kernel;
  struct Graph;
  struct Loaded {
    uint64_t context;
    Context handle;
    typename Api::Module module;
    typename Api::Function function;
  };
  /// A buffer for prints in host memory that the device sees.
  struct Buffer {
    uint64_t context;
    void *host;
    typename Api::DevicePointer device;
  };
  struct PendingPrint {
    Buffer buffer;
    StreamHandle stream;
    std::shared_ptr<const std::vector<PrintSite>> sites;
  };
  struct Scratch {
    typename Api::DevicePointer address = 0;
    size_t bytes = 0;
  };

  /// Makes a context of the device current while it lives.
  class Scope {
  public:
    explicit Scope(DriverDevice &device) : device(device) {
      Context current = nullptr;
      typename Api::Device owner = {};
      device.check(device.driver.ctxGetCurrent(&current), "the current context is unknown");
      if (current && device.driver.ctxGetDevice(&owner) == Api::success && owner == device.device)
        return;
      device.check(device.driver.ctxPushCurrent(device.primaryContext()), "the device's context can't be made current");
      pushed = true;
    }
    ~Scope() {
      Context popped;
      if (pushed)
        device.driver.ctxPopCurrent(&popped);
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    DriverDevice &device;
    bool pushed = false;
  };

  template <typename... Args> void check(Result result, fmt::format_string<Args...> what, Args &&...args) {
    if (result != Api::success)
      fail(result, fmt::format(what, std::forward<Args>(args)...), nullptr);
  }
  [[noreturn]] void fail(Result result, const std::string &what, StreamHandle stream);
  Context primaryContext() {
    std::lock_guard lock(mutex);
    if (!primary)
      check(driver.devicePrimaryCtxRetain(&primary, device), "{}: no context can be made", facts.name);
    return primary;
  }
  uint64_t currentContext(Context *handle = nullptr);
  bool capturing(StreamHandle stream);
  void wait(StreamHandle stream) {
    if (Result result = driver.streamSynchronize(static_cast<Stream>(stream)); result != Api::success)
      fail(result, "", stream);
  }
  const Loaded *loadedHere(const Kernel &kernel);
  const Loaded &load(Kernel &kernel, StreamHandle stream);
  Buffer takeBuffer(uint64_t context);
  size_t waitingPrints(StreamHandle stream);
  typename Api::DevicePointer scratch(uint64_t context, StreamHandle stream, size_t bytes);

  static constexpr size_t mostPendingPrints = 64; // launches whose prints wait for a synchronisation
  const Driver &driver;
  typename Api::Device device = {};
  GpuProperties facts;
  Printer printer;
  const uint32_t printCapacity;
  LaunchLog log;
  std::mutex mutex; // guards what follows
  Context primary = nullptr;
  std::string lostTo; // what was running when the context was lost
  std::vector<Buffer> freeBuffers;
  std::vector<PendingPrint> pendingPrints;
  std::map<std::pair<uint64_t, StreamHandle>, Scratch> scratches;
};

/// Code and the contexts into which it is loaded: an append-only list, so that launches look it up without a lock.
template <typename Api> struct DriverDevice<Api>::Kernel : GpuKernel {
  struct Node {
    Loaded loaded;
    const Node *next;
  };
  Kernel(DriverDevice &device, GpuImage image, KernelAbi abi)
      : GpuKernel(std::move(abi)), device(device), image(std::move(image)), sites(std::make_shared<const std::vector<PrintSite>>(description.printSites)) {
    for (const ArgumentSlot &slot : description.slots) {
      prints |= slot.kind == ArgumentSlot::Kind::PrintBuffer;
      hidden += slot.isHidden();
      maps += slot.kind == ArgumentSlot::Kind::TensorMap;
    }
  }
  ~Kernel() override {
    for (const Node *node = nodes.load(); node;) {
      // Launches may still run. Errors mean that the context is gone, and the module with it.
      Context popped;
      if (device.driver.ctxPushCurrent(node->loaded.handle) == Api::success) {
        device.driver.ctxSynchronize();
        device.driver.moduleUnload(node->loaded.module);
        device.driver.ctxPopCurrent(&popped);
      }
      delete std::exchange(node, node->next);
    }
  }
  const Loaded *find(uint64_t context) const {
    for (const Node *node = nodes.load(std::memory_order_acquire); node; node = node->next)
      if (node->loaded.context == context)
        return &node->loaded;
    return nullptr;
  }

  DriverDevice &device;
  GpuImage image;
  std::shared_ptr<const std::vector<PrintSite>> sites;
  bool prints = false;
  size_t hidden = 0, maps = 0; // how many slots are such
  std::mutex loading;
  std::atomic<const Node *> nodes{nullptr};
};

template <typename Api> struct DriverDevice<Api>::Graph : GpuGraph {
  explicit Graph(DriverDevice &device) : device(device) {}
  ~Graph() override {
    if (executable)
      device.driver.graphExecDestroy(executable);
    if (graph)
      device.driver.graphDestroy(graph);
  }
  void launch(StreamHandle stream) override {
    Scope scope(device);
    device.check(device.driver.graphLaunch(executable, static_cast<Stream>(stream)), "a graph can't be launched");
  }
  DriverDevice &device;
  typename Api::Graph graph = nullptr;
  typename Api::GraphExec executable = nullptr;
};

} // namespace tk::runtime
