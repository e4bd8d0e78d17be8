// See Targets.h.
#include "tools/tkc/Targets.h"
#include "compiler/target/cpu/TargetName.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "lang/syntax/Diagnostic.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/EmulatedCuda.h"
#include "runtime/jit/GpuTarget.h"
#include "tools/tkc/Failure.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::tool {

namespace {
constexpr const char *amdTargets[] = {"hip", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"};

template <typename List> bool holds(const List &list, const std::string &name) { return std::find(std::begin(list), std::end(list), name) != std::end(list); }

std::vector<std::string> allNames() {
  std::vector<std::string> names(std::begin(cpu::targetBases), std::end(cpu::targetBases));
  names.push_back("cuda");
  for (const nvidia::Target &target : nvidia::targets)
    names.emplace_back(target.name);
  names.insert(names.end(), std::begin(amdTargets), std::end(amdTargets));
  return names;
}

[[noreturn]] void noDevice(const std::string &target, const std::string &why) {
  std::string emulation = target == "cuda" ? "name a GPU and add `--emulate`, as in `--target sm_90a --emulate`" : "add `--emulate`";
  throw Failure(Status::Device, fmt::format("target `{}` can't run here: {}; to execute its code without such a GPU, {}", target, why, emulation));
}

#if defined(__x86_64__)
/// Of the instruction sets that a target may add.
bool hostHas(const std::string &feature) {
  if (feature == "avx512vnni")
    return __builtin_cpu_supports("avx512vnni");
  if (feature == "avx512bf16")
    return __builtin_cpu_supports("avx512bf16");
  return feature == "avxvnni" && __builtin_cpu_supports("avxvnni");
}
#endif

void checkHost(const std::string &target) {
  bool right = true;
#if defined(__x86_64__)
  if (std::optional<cpu::TargetName> name = cpu::parseTarget(target)) {
    if (name->base == "x86-64-v3")
      right = __builtin_cpu_supports("x86-64-v3");
    if (name->base == "x86-64-v4")
      right = __builtin_cpu_supports("x86-64-v4");
    for (const std::string &feature : name->features)
      right &= hostHas(feature);
  }
#else
  right = target == "cpu";
#endif
  if (!right)
    throw Failure(Status::Device, fmt::format("this machine can't execute code for `{}`; `tkc compile` can still make it", target));
}
} // namespace

bool isGpuTarget(const std::string &target) {
  if (target.find(',') != std::string::npos)
    throw Failure(Status::Usage, "several targets at once are for objects (`tkc compile FILE --target LIST -o FILE`): name one");
  if (cpu::parseTarget(target))
    return false;
  std::vector<std::string> names = allNames();
  if (!holds(names, target)) {
    std::string near = lang::nearest(target, names);
    throw Failure(Status::Usage,
                  fmt::format("unknown target `{}`{}", target,
                              near.empty() ? ": expected cpu, x86-64-v3, x86-64-v4, cuda or a GPU as in sm_90a" : fmt::format("; did you mean `{}`?", near)));
  }
  if (holds(amdTargets, target))
    throw Failure(Status::Device, fmt::format("target `{}` is not available in this version, which makes code for CPUs and NVIDIA GPUs", target));
  return true;
}

std::string compileTarget(const std::string &target) {
  if (!isGpuTarget(target) || target != "cuda")
    return target;
  std::string why;
  const auto &devices = runtime::cudaDevices(&why);
  if (devices.empty())
    throw Failure(Status::Device, fmt::format("target `cuda` is the GPU found here, but {}; name one, as in `--target sm_90a`", why));
  return jit::targetOf(devices[0]->properties());
}

Place choosePlace(const std::string &target, bool emulate) {
  if (emulate) {
    if (target.empty() || !isGpuTarget(target) || target == "cuda")
      throw Failure(Status::Usage, "`--emulate` needs the GPU that is to be emulated, as in `--target sm_90a`");
    return {target, runtime::emulatedCudaDevice(nvidia::findTarget(target)->sm)};
  }
  if (!target.empty() && !isGpuTarget(target)) {
    checkHost(target);
    return {target, nullptr};
  }
  std::string why;
  const auto &devices = runtime::cudaDevices(&why);
  if (target.empty())
    return devices.empty() ? Place{"cpu", nullptr} : Place{jit::targetOf(devices[0]->properties()), devices[0]};
  if (devices.empty())
    noDevice(target, why);
  if (target == "cuda")
    return {jit::targetOf(devices[0]->properties()), devices[0]};
  for (const auto &device : devices)
    if (jit::runs(device->properties(), target))
      return {target, device};
  const runtime::GpuProperties &first = devices[0]->properties();
  noDevice(target, fmt::format("{} has compute capability {}.{}", first.name, first.architecture / 10, first.architecture % 10));
}

unsigned stagesOf(const std::string &text) {
  for (unsigned stages = 1; stages <= 16; ++stages)
    if (text == std::to_string(stages))
      return stages;
  throw Failure(Status::Usage, fmt::format("`--num-stages` takes 1 to 16, found `{}`", text));
}

unsigned warpsOf(const std::string &text) {
  for (unsigned warps = 1; warps <= 32; warps *= 2)
    if (text == std::to_string(warps))
      return warps;
  throw Failure(Status::Usage, fmt::format("`--num-warps` takes 1, 2, 4, 8, 16 or 32, found `{}`", text));
}

} // namespace tk::tool
