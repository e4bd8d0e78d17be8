// A kernel made ready for one set of arguments, and the measurement of its launches.
#pragma once
#include "compiler/Compiler.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/jit/ObjectLoader.h"
#include "tools/tkc/ArgumentResolver.h"

namespace tk::tool {

/// The bits of every slot. `address` gives where the elements of an array are.
std::vector<uint64_t> slotBits(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments,
                               const std::function<void *(const ArrayArgument &)> &address);

/// The array that a slot points to, null for a scalar.
const ArrayArgument *arrayOf(const compiler::ArgumentSlot &slot, const std::vector<ResolvedArgument> &arguments);

/// Compiles to object code and links it. Throws Failure(Diagnostics).
struct LoadedKernel {
  compiler::CompiledKernel compiled;
  runtime::CpuFunction function;
};
LoadedKernel loadKernel(compiler::Compiler &compiler, jit::ObjectLoader &loader, const jit::Program &program, const std::string &kernel, const std::vector<lang::ParamSpec> &specs,
                        const compiler::Options &options);

/// Launches once. A failed assertion, or a launch that the device refuses, is Failure(Device).
void launchKernel(runtime::CpuDevice &device, const runtime::CpuFunction &function, const std::vector<uint64_t> &slots, std::array<int64_t, 3> grid,
                  const std::vector<uint64_t> *programs = nullptr);

/// Seconds per launch.
struct Timing {
  double median = 0, least = 0, p95 = 0;
  unsigned runs = 0;
};
/// What a kernel both reads and writes, as it was before the first launch: a counter or a flag that a second launch must find as the first one did.
class Snapshot {
public:
  Snapshot(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments);
  void restore() const;

private:
  std::vector<std::pair<const ArrayArgument *, std::vector<char>>> arrays;
};

/// Launches again and again, at least three times and for about `budget` seconds. Before each launch, untimed, `before` is restored; buffers are warm.
Timing measure(runtime::CpuDevice &device, const runtime::CpuFunction &function, const std::vector<uint64_t> &slots, std::array<int64_t, 3> grid, const Snapshot &before, double budget);

} // namespace tk::tool
