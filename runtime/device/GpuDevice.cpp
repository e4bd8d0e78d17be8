// See GpuDevice.h.
#include "runtime/device/GpuDevice.h"
#include <fmt/format.h>

namespace tk::runtime {

GpuKernel::GpuKernel(KernelAbi abi) : description(std::move(abi)) {
  std::string place = description.file.empty() ? "" : fmt::format(" ({}:{})", description.file, description.line);
  name = std::make_shared<const std::string>(fmt::format("`{}`{}", description.entry, place));
}

} // namespace tk::runtime
