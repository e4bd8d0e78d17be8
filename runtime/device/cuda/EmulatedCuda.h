// The emulated NVIDIA device as a device of the runtime.
#pragma once
#include "runtime/device/GpuDevice.h"
#include <memory>

namespace tk::runtime {

/// A new one of this architecture (90 for compute capability 9.0). Throws Error(Device) for one that can't be emulated.
std::shared_ptr<GpuDevice> emulatedCudaDevice(unsigned architecture);

} // namespace tk::runtime
