// See GpuTarget.h.
#include "runtime/jit/GpuTarget.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "tk/error.h"
#include <fmt/format.h>

namespace tk::jit {

static std::string targetOf(unsigned architecture, const std::string &device) {
  if (const nvidia::Target *target = nvidia::targetFor(architecture))
    return std::string(target->name);
  throw Error(ErrorKind::Device, fmt::format("{} has compute capability {}.{}; tkc serves {}.{} and later", device, architecture / 10, architecture % 10,
                                             nvidia::targets[0].sm / 10, nvidia::targets[0].sm % 10));
}

std::string targetOf(const runtime::GpuProperties &device) { return targetOf(device.architecture, device.name); }
std::string targetOf(unsigned architecture) { return targetOf(architecture, "the device"); }

bool runs(const runtime::GpuProperties &device, const std::string &name) {
  const nvidia::Target *target = nvidia::findTarget(name);
  return target && (target->isExact() ? target->sm == device.architecture : target->sm <= device.architecture);
}

std::shared_ptr<runtime::GpuKernel> makeKernel(runtime::GpuDevice &device, const compiler::CompiledKernel &compiled) {
  if (compiled.objectKind == compiler::ObjectKind::Elf)
    throw Error(ErrorKind::Internal, fmt::format("`{}` was compiled for the CPU and can't run on {}", compiled.abi.entry, device.properties().name));
  runtime::GpuImage image{compiled.objectKind == compiler::ObjectKind::Ptx ? runtime::GpuImage::Kind::Ptx : runtime::GpuImage::Kind::Binary, compiled.object};
  return device.makeKernel(image, compiled.abi);
}

} // namespace tk::jit
