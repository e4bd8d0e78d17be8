// Kernels on the host's threads.
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/jit/ObjectLoader.h"
#include "tk/error.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Execution.h"
#include "tools/tkc/Failure.h"
#include <fmt/format.h>

namespace tk::tool {

namespace {
class CpuExecutable : public Executable {
public:
  CpuExecutable(runtime::CpuDevice &device, jit::ObjectLoader &loader, const compiler::CompiledKernel &kernel) : Executable(kernel.abi), device(device) {
    function.entry = reinterpret_cast<runtime::CpuEntry>(loader.load(kernel.object, kernel.abi.entry));
    function.arenaBytes = kernel.abi.arenaBytes;
    function.spins = kernel.abi.spins;
  }

  bool runsSamples() const override { return true; }
  void run(const HostArrays &arrays, std::array<int64_t, 3> grid, const std::vector<uint64_t> *programs) override { launch(bitsOf(arrays), grid, programs); }
  BenchmarkResult measure(const HostArrays &arrays, std::array<int64_t, 3> grid, const Snapshot &before, BenchmarkOptions options) override;

private:
  std::vector<uint64_t> bitsOf(const HostArrays &arrays) const {
    return slotBits(abi().slots, arrays.arguments, [&](const ArrayArgument &array) { return reinterpret_cast<uintptr_t>(arrays.address(array)); });
  }
  void launch(const std::vector<uint64_t> &slots, std::array<int64_t, 3> grid, const std::vector<uint64_t> *programs) {
    KernelRunning running;
    try {
      device.launch(function, slots.data(), grid, programs);
    } catch (const Error &error) {
      throw Failure(Status::Device, error.what());
    }
  }

  runtime::CpuDevice &device;
  runtime::CpuFunction function;
};

BenchmarkResult CpuExecutable::measure(const HostArrays &arrays, std::array<int64_t, 3> grid, const Snapshot &before, BenchmarkOptions options) {
  std::vector<uint64_t> slots = bitsOf(arrays);
  if (!before.isEmpty())
    options.prepare = [&] { before.restore(); };
  KernelRunning running;
  try {
    return benchmark(Stream(), [&] { device.launch(function, slots.data(), grid); }, options);
  } catch (const Error &error) {
    throw Failure(Status::Device, error.what());
  }
}

class CpuExecution : public Execution {
public:
  CpuExecution(unsigned threads, bool debugSupport, Printer printer) : loader(debugSupport), device({threads, std::move(printer)}) {}
  std::unique_ptr<Executable> load(compiler::CompiledKernel kernel) override { return std::make_unique<CpuExecutable>(device, loader, kernel); }
  std::string place() const override { return fmt::format("{} thread{}", device.threads(), device.threads() == 1 ? "" : "s"); }
  runtime::ThreadPool &pool() override { return device.pool(); }

private:
  jit::ObjectLoader loader;
  runtime::CpuDevice device;
};
} // namespace

Printer printer(bool json) {
  if (!json)
    return {};
  return [](std::string_view line) { fmt::print(stderr, "{}{}", line, line.ends_with('\n') ? "" : "\n"); };
}

std::unique_ptr<Execution> makeCpuExecution(unsigned threads, bool debugSupport, Printer printer) {
  return std::make_unique<CpuExecution>(threads, debugSupport, std::move(printer));
}

} // namespace tk::tool
