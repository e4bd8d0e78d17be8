// See CpuDevice.h. What a thread does with its share of a launch is in Strand.cpp.
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/LineMap.h"
#include "runtime/device/cpu/Strand.h"
#include "tk/error.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::runtime {

struct CpuDevice::Impl {
  explicit Impl(Options options) : options(std::move(options)), pool(this->options.threads), schedulers(pool.size()) {}
  Options options;
  ThreadPool pool;
  std::vector<StrandScheduler> schedulers; // one per thread
  std::mutex launchMutex, printMutex;
};

CpuDevice::CpuDevice() : CpuDevice(Options()) {}
CpuDevice::CpuDevice(Options options) : impl(std::make_unique<Impl>(std::move(options))) {}
CpuDevice::~CpuDevice() = default;
ThreadPool &CpuDevice::pool() { return impl->pool; }
unsigned CpuDevice::threads() const { return impl->pool.size(); }

void CpuDevice::launch(const CpuFunction &function, const uint64_t *slots, std::array<int64_t, 3> grid, const std::vector<uint64_t> *programs) {
  CpuLaunch launch;
  launch.total = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (grid[axis] < 0 || grid[axis] > INT32_MAX)
      throw Error(ErrorKind::User, fmt::format("a grid of ({}, {}, {}) can't be launched: extents lie between 0 and 2^31 - 1", grid[0], grid[1], grid[2]));
    launch.grid[axis] = static_cast<int32_t>(grid[axis]);
    if (__builtin_mul_overflow(launch.total, static_cast<uint64_t>(grid[axis]), &launch.total))
      throw Error(ErrorKind::User, fmt::format("a grid of ({}, {}, {}) can't be launched: its programs can't be counted in 64 bits", grid[0], grid[1], grid[2]));
  }
  if (programs) {
    for (uint64_t program : *programs)
      if (program >= launch.total)
        throw Error(ErrorKind::Internal, fmt::format("program {} is not one of the grid's {}", program, launch.total));
    launch.total = programs->size();
  }
  if (launch.total == 0)
    return;
  launch.function = function, launch.slots = slots, launch.programs = programs;
  launch.print = &impl->options.print, launch.printMutex = &impl->printMutex;
  launch.threads = static_cast<unsigned>(std::min<uint64_t>(impl->pool.size(), launch.total));
  {
    std::lock_guard lock(impl->launchMutex);
    impl->pool.run(launch.threads, [&](unsigned thread) { impl->schedulers[thread].run(launch); });
  }
  if (launch.outOfMemory)
    throw Error(ErrorKind::Device, fmt::format("out of memory: {} bytes of scratch memory a thread can't be allocated", function.arenaBytes));
  if (launch.failed) {
    if (function.lines)
      launch.failure = function.lines->moved(launch.failure);
    uint64_t x = launch.failedProgram % static_cast<uint64_t>(grid[0]), rest = launch.failedProgram / static_cast<uint64_t>(grid[0]);
    throw Error(ErrorKind::User, fmt::format("device assertion failed: {} [program ({}, {}, {})]", launch.failure, x, rest % static_cast<uint64_t>(grid[1]), rest / static_cast<uint64_t>(grid[1])));
  }
}

CpuDevice &hostDevice() {
  static CpuDevice device;
  return device;
}

} // namespace tk::runtime
