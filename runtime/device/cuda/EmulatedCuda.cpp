// See EmulatedCuda.h.
#include "runtime/device/cuda/EmulatedCuda.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/emulated/EmulatedDriver.h"
#include "tk/error.h"
#include <fmt/format.h>

namespace tk::runtime {

std::shared_ptr<GpuDevice> emulatedCudaDevice(unsigned architecture) {
  // Never destroyed, as the devices of the real driver.
  static const auto &devices = *[] {
    const cuda::Driver &driver = emulated::getEmulatedDriver();
    driver.init(0);
    return new std::vector<std::shared_ptr<GpuDevice>>(openCudaDevices(driver, true));
  }();
  for (const std::shared_ptr<GpuDevice> &device : devices)
    if (device->properties().architecture == architecture)
      return device;
  throw Error(ErrorKind::Device, fmt::format("sm_{} can't be emulated", architecture));
}

} // namespace tk::runtime
