// The emulated NVIDIA device as a device of the runtime.
#pragma once
#include "runtime/device/GpuDevice.h"
#include <memory>

namespace tk::runtime {

/// That of this architecture (90 for compute capability 9.0). One for the process, which lives as long: code that is loaded refers to it. Throws Error(Device) for one that can't
/// be emulated.
std::shared_ptr<GpuDevice> emulatedCudaDevice(unsigned architecture);

} // namespace tk::runtime
