// NVIDIA GPUs, real and emulated, as devices of the runtime.
#pragma once
#include "runtime/device/GpuDevice.h"
#include "runtime/device/cuda/CudaDriver.h"
#include <memory>
#include <vector>

namespace tk::runtime {

/// The devices of an initialised driver. `emulated`: PTX is loaded as text. `printCapacity`: records that one launch may print.
std::vector<std::shared_ptr<GpuDevice>> openCudaDevices(const cuda::Driver &driver, bool emulated = false, uint32_t printCapacity = 1 << 15);

/// The devices of this machine, found once; they live as long as the process. Empty without a driver or a device: `why` (may be null) then says what was looked
/// for.
const std::vector<std::shared_ptr<GpuDevice>> &cudaDevices(std::string *why = nullptr);

/// The device of the calling thread's current context, else the first one. Throws Error(Device) when there is none.
GpuDevice &currentCudaDevice();

} // namespace tk::runtime
