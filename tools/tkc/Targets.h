// The names that --target takes, what code is made for, and where it runs.
#pragma once
#include "runtime/device/GpuDevice.h"
#include <memory>
#include <string>

namespace tk::tool {

/// Whether code for this target is for a GPU. Throws Failure(Usage) for a name that is no target.
bool isGpuTarget(const std::string &target);
/// What the compiler is asked for: `cuda` becomes the target of the device found. Throws Failure: Usage for an unknown name, Device where there is no such device, or no code
/// generator for it.
std::string compileTarget(const std::string &target);

/// The value of --num-stages. Throws Failure(Usage) for what is not from 1 to 16.
unsigned stagesOf(const std::string &text);
/// The value of --num-warps. Throws Failure(Usage) for what is no power of two from 1 to 32.
unsigned warpsOf(const std::string &text);

/// Where a kernel runs.
struct Place {
  std::string target;                         // of the compiler
  std::shared_ptr<runtime::GpuDevice> device; // null: the host
};
/// `target` is empty for the best there is: a GPU, else the host. `emulate`: GPU code runs on an emulated device. Throws Failure(Device) when code for the target can't run here.
Place choosePlace(const std::string &target, bool emulate);

} // namespace tk::tool
