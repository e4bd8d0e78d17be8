// Kernels on a GPU, real or emulated.
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/device/emulated/EmulatedDriver.h"
#include "runtime/jit/GpuTarget.h"
#include "tk/error.h"
#include "tools/tkc/Execution.h"
#include "tools/tkc/Failure.h"
#include <map>

namespace tk::tool {

namespace {
using runtime::DeviceAddress;
using runtime::GpuDevice;

/// Device memory that goes with the object.
class DeviceMemory {
public:
  DeviceMemory(GpuDevice &device, size_t bytes) : device(&device), address(device.allocate(bytes)) {}
  DeviceMemory(DeviceMemory &&other) noexcept : device(std::exchange(other.device, nullptr)), address(other.address) {}
  DeviceMemory &operator=(DeviceMemory &&) = delete;
  ~DeviceMemory() {
    try {
      if (device)
        device->free(address);
    } catch (const Error &) { // the context is lost, and the memory with it
    }
  }
  DeviceAddress get() const { return address; }

private:
  GpuDevice *device;
  DeviceAddress address;
};

/// Copies of the arrays of a launch in device memory.
class DeviceArrays {
public:
  DeviceArrays(GpuDevice &device, const compiler::KernelAbi &abi, const HostArrays &host) : device(device), abi(abi), host(host) {
    for (const compiler::ArgumentSlot &slot : abi.slots) {
      const ArrayArgument *array = slot.isHidden() ? nullptr : arrayOf(slot, host.arguments);
      if (!array || copies.count(array))
        continue;
      const DeviceMemory &copy = copies.emplace(array, DeviceMemory(device, array->array.bytes())).first->second;
      device.copyIn(copy.get(), host.address(*array), array->array.bytes(), nullptr);
    }
  }
  std::vector<uint64_t> slots() const {
    return slotBits(abi.slots, host.arguments, [&](const ArrayArgument &array) { return copies.at(&array).get(); });
  }
  void copyBack() const {
    for (const compiler::ArgumentSlot &slot : abi.slots)
      if (const ArrayArgument *array = slot.written && !slot.isHidden() ? arrayOf(slot, host.arguments) : nullptr)
        device.copyOut(host.address(*array), copies.at(array).get(), array->array.bytes(), nullptr);
  }
  const std::map<const ArrayArgument *, DeviceMemory> &all() const { return copies; }

private:
  GpuDevice &device;
  const compiler::KernelAbi &abi;
  const HostArrays &host;
  std::map<const ArrayArgument *, DeviceMemory> copies;
};

/// Runs `work`; what the device says is the end of this run.
template <typename Work> auto guarded(Work work) {
  try {
    return work();
  } catch (const Error &error) {
    throw Failure(Status::Device, error.what());
  }
}

class GpuExecutable : public Executable {
public:
  GpuExecutable(std::shared_ptr<GpuDevice> device, const compiler::CompiledKernel &compiled)
      : Executable(compiled.abi), device(std::move(device)), kernel(jit::makeKernel(*this->device, compiled)) {}

  bool runsSamples() const override { return false; }
  void run(const HostArrays &host, std::array<int64_t, 3> grid, const std::vector<uint64_t> *) override {
    guarded([&] {
      DeviceArrays arrays(*device, abi(), host);
      device->launch(*kernel, arrays.slots().data(), grid, nullptr);
      device->synchronize(nullptr);
      arrays.copyBack();
    });
  }
  BenchmarkResult measure(const HostArrays &arrays, std::array<int64_t, 3> grid, const Snapshot &before, BenchmarkOptions options) override {
    return guarded([&] { return time(arrays, grid, before, std::move(options)); });
  }

  std::vector<Count> count(const HostArrays &arrays, std::array<int64_t, 3> grid, const Snapshot &before) override;

private:
  BenchmarkResult time(const HostArrays &host, std::array<int64_t, 3> grid, const Snapshot &before, BenchmarkOptions options);

  std::shared_ptr<GpuDevice> device;
  std::shared_ptr<runtime::GpuKernel> kernel;
};

BenchmarkResult GpuExecutable::time(const HostArrays &host, std::array<int64_t, 3> grid, const Snapshot &before, BenchmarkOptions options) {
  Device place(device.get());
  Stream stream = options.graph ? place.newStream() : place.stream();
  before.restore();
  DeviceArrays arrays(*device, abi(), host);
  std::vector<uint64_t> slots = arrays.slots();
  struct Saved {
    const DeviceMemory &live;
    DeviceMemory copy;
    size_t bytes;
  };
  std::vector<Saved> saved;
  for (const auto &[array, memory] : arrays.all())
    if (before.holds(*array)) {
      saved.push_back({memory, DeviceMemory(*device, array->array.bytes()), array->array.bytes()});
      device->copy(saved.back().copy.get(), memory.get(), saved.back().bytes, nullptr);
    }
  device->synchronize(nullptr);
  if (!saved.empty())
    options.prepare = [&] {
      for (const Saved &entry : saved)
        device->copy(entry.live.get(), entry.copy.get(), entry.bytes, stream.handle());
    };
  return benchmark(stream, [&] { device->launch(*kernel, slots.data(), grid, stream.handle()); }, options);
}

std::vector<Count> GpuExecutable::count(const HostArrays &arrays, std::array<int64_t, 3> grid, const Snapshot &before) {
  if (!device->properties().emulated)
    return {};
  emulated::Statistics total;
  emulated::DriverOptions usual = emulated::driverOptions(), counting = usual;
  counting.reporter = [&](const emulated::EmulatedLaunch &launch) {
    total += launch.result.statistics;
    std::fputs(launch.result.text().c_str(), stderr);
  };
  before.restore();
  emulated::setDriverOptions(counting);
  try {
    run(arrays, grid, nullptr);
  } catch (...) {
    emulated::setDriverOptions(usual);
    throw;
  }
  emulated::setDriverOptions(usual);
  std::vector<Count> counts = {{"instructions of threads", total.totalThreadInstructions()}};
  for (size_t i = 0; i < static_cast<size_t>(emulated::Class::Count); ++i)
    if (total.warpInstructions[i])
      counts.push_back({std::string("warp instructions, ") + emulated::nameOf(static_cast<emulated::Class>(i)), total.warpInstructions[i]});
  counts.push_back({"global requests", total.globalRequests});
  counts.push_back({"global transactions of 32 bytes", total.globalSectors});
  counts.push_back({"global bytes", total.globalBytes});
  counts.push_back({"shared requests", total.sharedRequests});
  counts.push_back({"bank conflicts", total.bankConflicts()});
  counts.push_back({"bytes of asynchronous copies", total.asyncBytes});
  counts.push_back({"barriers", total.barriers});
  counts.push_back({"divergent branches", total.divergentBranches});
  counts.push_back({"multiply-adds of matrix units", total.matrixOperations});
  return counts;
}

class GpuExecution : public Execution {
public:
  explicit GpuExecution(std::shared_ptr<GpuDevice> device, Printer printer) : device(std::move(device)) { this->device->setPrinter(std::move(printer)); }
  std::unique_ptr<Executable> load(compiler::CompiledKernel kernel) override { return std::make_unique<GpuExecutable>(device, kernel); }
  std::string place() const override { return device->properties().name; }
  runtime::ThreadPool &pool() override { return hostThreads; }

private:
  std::shared_ptr<GpuDevice> device;
  runtime::ThreadPool hostThreads;
};
} // namespace

void setEmulatedTransfers(bool early) {
  emulated::DriverOptions options = emulated::driverOptions();
  options.timing = early ? emulated::AsyncTiming::Early : emulated::AsyncTiming::Late;
  emulated::setDriverOptions(options);
}

std::unique_ptr<Execution> makeGpuExecution(std::shared_ptr<runtime::GpuDevice> device, Printer printer) {
  return std::make_unique<GpuExecution>(std::move(device), std::move(printer));
}

} // namespace tk::tool
