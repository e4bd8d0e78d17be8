// An NVIDIA device without the hardware: takes PTX text and executes kernels on the host's processor, checking what silicon does not.
//
//   EmulatedDevice device;
//   auto module = device.load(ptxText);                       // throws PtxError with the line
//   uint64_t x = device.memory().allocate(bytes);             // an address that the host may use as a pointer
//   LaunchResult result = device.launch(*module, *module->find("kernel"), {.grid = {4, 1, 1}, .block = {128, 1, 1}, .parameters = buffer});
//   if (!result.ok()) puts(result.text().c_str());
//
// Threads: everything may be used from several threads at once; a launch returns when it is done.
#pragma once
#include "runtime/device/emulated/Memory.h"
#include "runtime/device/emulated/Report.h"
#include <span>

namespace tk::emulated {

class EmulatedDevice;

/// Code and module variables on a device. Must not outlive it.
class Module {
public:
  ~Module();
  const Function *find(std::string_view name) const;
  /// Address and bytes of a module variable; {0, 0} when there is none.
  std::pair<uint64_t, uint64_t> variable(std::string_view name) const;

  std::unique_ptr<ParsedModule> parsed;
  std::vector<Function> functions; // as in parsed->functions
  std::vector<uint64_t> addresses; // of parsed->variables in global and constant memory, else 0
  uint32_t stores = 0;             // instructions that store to global memory

private:
  friend class EmulatedDevice;
  explicit Module(EmulatedDevice &device) : device(device) {}
  EmulatedDevice &device;
};

enum class AsyncTiming : uint8_t {
  Late, // a transfer happens when someone waits for it: shows what is read too early
  Early // a transfer happens when it is started: shows what is overwritten too early
};

struct LaunchSpec {
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {0, 0, 0}; // blocks; 0: as the kernel says, else 1
  uint32_t dynamicShared = 0;
  std::span<const uint8_t> parameters = {}; // laid out as the kernel's parameters are
  int threads = 0;                          // of the host; 0: as many as it has, 1: the same order every time
  bool checks = true;                       // races, uninitialised shared memory, proxy fences
  AsyncTiming timing = AsyncTiming::Late;
  double stuckSeconds = 20;      // without any progress in any block, this ends the launch as a deadlock
  uint64_t instructionLimit = 0; // of warps; 0: none
};

struct LaunchResult {
  std::vector<Finding> findings; // the first is the fault when there was one
  Statistics statistics;
  double seconds = 0;
  bool failed = false; // a fault or deadlock ended it
  bool ok() const { return findings.empty(); }
  std::string text() const;
};

class EmulatedDevice {
public:
  explicit EmulatedDevice(int computeCapability = 90) : capability(computeCapability) {}
  EmulatedDevice(const EmulatedDevice &) = delete;
  EmulatedDevice &operator=(const EmulatedDevice &) = delete;

  std::unique_ptr<Module> load(std::string ptx);
  LaunchResult launch(const Module &module, const Function &kernel, const LaunchSpec &spec);
  Memory &memory() { return globalMemory; }
  int computeCapability() const { return capability; }
  uint32_t maxSharedBytes() const { return capability >= 90 ? 227 * 1024 : capability == 80 ? 163 * 1024 : 99 * 1024; }
  static constexpr uint32_t multiprocessors = 8;

private:
  Memory globalMemory;
  int capability;
};

} // namespace tk::emulated
