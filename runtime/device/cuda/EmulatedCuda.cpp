// See EmulatedCuda.h.
#include "runtime/device/cuda/EmulatedCuda.h"
#include "tk/error.h"

namespace tk::runtime {

std::shared_ptr<GpuDevice> emulatedCudaDevice(unsigned architecture) { throw Error(ErrorKind::Device, "`--emulate` is not available in this version"); }

} // namespace tk::runtime
