// One launch: clusters handed to host threads, findings and counts collected.
#pragma once
#include "runtime/device/emulated/EmulatedDevice.h"
#include <mutex>

namespace tk::emulated {

class Launch {
public:
  Launch(EmulatedDevice &device, const Module &module, const Function &kernel, const LaunchSpec &spec);
  LaunchResult run();

  void add(Finding finding);
  /// Completes a finding with where its instruction comes from.
  void locate(Finding &finding, const Function &function, const Instr &i) const;
  bool isCancelled() const { return cancelled.load(std::memory_order_relaxed); }

  EmulatedDevice &device;
  const Module &module;
  const Function &kernel;
  const LaunchSpec &spec;
  uint32_t threadsPerBlock = 0, warpsPerBlock = 0, clusterBlocks = 1, sharedBytes = 0;
  std::array<uint32_t, 3> clusterGrid = {1, 1, 1}, clusterShape = {1, 1, 1};
  uint64_t clusterCount = 0;
  uint64_t parameterBase = 0; // where the kernel's parameters lie
  std::atomic<uint64_t> gridId = 0;

private:
  void work();
  void runResident(Statistics &statistics);
  std::string problem() const;
  static uint64_t totalWarpInstructions(const Statistics &statistics);

  std::atomic<uint64_t> next = 0, finished = 0, activity = 0;
  std::atomic<bool> cancelled = false;
  std::mutex mutex;
  LaunchResult result;
};

} // namespace tk::emulated
