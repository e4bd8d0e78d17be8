// The emulated device behind the entry points of NVIDIA's driver, so that the runtime's real path runs without a GPU.
//
// There is a device for every compute capability that tkc compiles for, 9.0 first. Modules are PTX text; work happens during the call that asks for it. Errors
// of kernels are sticky in their context, as with the driver. All functions are thread-safe.
#pragma once
#include "runtime/device/cuda/CudaDriver.h"
#include "runtime/device/emulated/EmulatedDevice.h"
#include <functional>

namespace tk::emulated {

const cuda::Driver &getEmulatedDriver();

struct EmulatedLaunch {
  std::string kernel;
  LaunchSpec spec; // without the parameters
  LaunchResult result;
};

struct DriverOptions {
  /// Called after every launch, by the launching thread. Default: findings are written to standard error.
  std::function<void(const EmulatedLaunch &)> reporter;
  bool strict = true; // findings other than faults make a launch fail as well
  bool checks = true; // look for races, uninitialised shared memory and missing fences
  AsyncTiming timing = AsyncTiming::Late;
  int threads = 0; // of the host, for one launch; 0: all
};
DriverOptions driverOptions();
/// For launches from now on.
void setDriverOptions(DriverOptions options);

} // namespace tk::emulated
