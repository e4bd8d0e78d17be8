// Tensor maps of NVIDIA's driver for launches: encoding one takes longer than launching a kernel, so the last ones are kept.
#pragma once
#include "runtime/KernelAbi.h"
#include "runtime/device/cuda/CudaDriver.h"
#include "tk/descriptor.h"

namespace tk::cuda {

/// Fills `map` for a tensor as the kernel's slot wants it. Every thread keeps the maps that it made last, by everything that they depend on. Throws
/// Error(User) that names `slot` for a tensor of another type, rank or block than the code was made for, Error(Device) for what the driver refuses.
void tensorMap(const Driver &driver, const TensorDescriptor &tensor, const runtime::ArgumentSlot &slot, TensorMap &map);

} // namespace tk::cuda
