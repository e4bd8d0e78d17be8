// Between the compiler's GPU code and the runtime's GPU devices.
#pragma once
#include "compiler/Compiler.h"
#include "runtime/device/GpuDevice.h"

namespace tk::jit {

/// The compile target that serves a device best: sm_90a. Throws Error(Device) for a device that is too old.
std::string targetOf(const runtime::GpuProperties &device);
/// The same by ten times the compute capability.
std::string targetOf(unsigned architecture);
/// Whether code for `target` runs on the device.
bool runs(const runtime::GpuProperties &device, const std::string &target);

/// A compiled kernel, ready to be launched. Throws as GpuDevice::makeKernel does.
std::shared_ptr<runtime::GpuKernel> makeKernel(runtime::GpuDevice &device, const compiler::CompiledKernel &compiled);

} // namespace tk::jit
