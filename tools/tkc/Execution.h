// Where the kernels of a run execute: the host, or a GPU.
//
// Arrays live in host memory. A GPU gets copies of them for each run, which are copied back when the kernel writes them.
#pragma once
#include "runtime/device/GpuDevice.h"
#include "tk/benchmark.h"
#include "tools/tkc/Launch.h"

namespace tk::tool {

/// Arguments, and where the elements of their arrays are now.
struct HostArrays {
  const std::vector<ResolvedArgument> &arguments;
  std::function<void *(const ArrayArgument &)> address;
};

/// Something that an emulated device has counted in a launch.
struct Count {
  std::string name;
  uint64_t value;
};

/// Compiled code that is loaded where it runs.
class Executable {
public:
  explicit Executable(compiler::KernelAbi abi) : description(std::move(abi)) {}
  virtual ~Executable() = default;
  const compiler::KernelAbi &abi() const { return description; }

  /// Whether run() can execute some programs of a grid alone.
  virtual bool runsSamples() const = 0;
  /// Launches once; the arrays hold the results when it returns. A failed assertion, or a launch that the device refuses, is Failure(Device).
  virtual void run(const HostArrays &arrays, std::array<int64_t, 3> grid, const std::vector<uint64_t> *programs = nullptr) = 0;
  /// Launches again and again. Before each launch, untimed, `before` is restored (options.prepare is this function's own).
  virtual BenchmarkResult measure(const HostArrays &arrays, std::array<int64_t, 3> grid, const Snapshot &before, BenchmarkOptions options) = 0;
  /// On an emulated device, whose time says nothing: what it counts in one launch. Empty elsewhere.
  virtual std::vector<Count> count(const HostArrays &, std::array<int64_t, 3>, const Snapshot &) { return {}; }

protected:
  compiler::KernelAbi description;
};

class Execution {
public:
  virtual ~Execution() = default;
  virtual std::unique_ptr<Executable> load(compiler::CompiledKernel kernel) = 0;
  /// For people: "2 threads", "NVIDIA H200".
  virtual std::string place() const = 0;
  /// Of the host, for what is done there beside.
  virtual runtime::ThreadPool &pool() = 0;
};

using Printer = std::function<void(std::string_view)>;
/// Where lines of device_print go: with --json, standard output is the report's.
Printer printer(bool json);
std::unique_ptr<Execution> makeCpuExecution(unsigned threads, bool debugSupport, Printer printer);
std::unique_ptr<Execution> makeGpuExecution(std::shared_ptr<runtime::GpuDevice> device, Printer printer);
/// When asynchronous work of emulated GPUs happens, from now on: as early as is legal, or as late.
void setEmulatedTransfers(bool early);

} // namespace tk::tool
