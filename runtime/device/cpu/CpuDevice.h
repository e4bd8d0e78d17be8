// The host CPU as a device: runs the programs of a launch on a thread pool.
//
// Programs start in the order of their linear index (x fastest) and run in contiguous chunks, large at first and smaller towards the end. When the kernel's code
// spins on memory it calls the `yield` service; the device then lets other programs of the launch run on the same thread, each on a stack of its own, so that
// spin locks, flags between programs and barriers over the grid make progress.
#pragma once
#include "runtime/device/cpu/CpuServices.h"
#include "runtime/device/cpu/ThreadPool.h"
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace tk::runtime {

/// The entry point of compiled CPU code (compiler/Compiler.h, KernelAbi).
using CpuEntry = void (*)(const uint64_t *slots, const int32_t grid[3], uint64_t begin, uint64_t end, void *arena, const void *services);

class LineMap;

struct CpuFunction {
  CpuEntry entry = nullptr;
  uint64_t arenaBytes = 0;
  bool spins = false; // the code may call `yield`: chunks are of one program, since a program may wait for any other
  const LineMap *lines = nullptr; // for messages that the code holds; null: they are right
};

class CpuDevice {
public:
  struct Options {
    unsigned threads = 0;                         // 0: the cores of the affinity mask
    std::function<void(std::string_view)> print;  // receives whole lines of device_print; default: standard output
  };
  CpuDevice();
  explicit CpuDevice(Options options);
  ~CpuDevice();

  /// Runs every program of the grid, or only those of `programs` (linear indices), and returns when they are done. Launches from several threads take turns.
  /// Throws Error(User) for a failed device assertion (of the lowest program that had one) or a grid that can't be, Error(Device) when memory is short.
  /// After a failure further programs don't start and waiting ones are given up.
  void launch(const CpuFunction &function, const uint64_t *slots, std::array<int64_t, 3> grid, const std::vector<uint64_t> *programs = nullptr);

  ThreadPool &pool();
  unsigned threads() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// The one that launches of the process share; its threads start with the first launch.
CpuDevice &hostDevice();

} // namespace tk::runtime
