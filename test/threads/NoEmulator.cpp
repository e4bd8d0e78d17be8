// In the place of the emulated GPU.
#include "runtime/device/cuda/EmulatedCuda.h"
#include "tk/error.h"

std::shared_ptr<tk::runtime::GpuDevice> tk::runtime::emulatedCudaDevice(unsigned) { throw Error(ErrorKind::Device, "this program has no emulated GPU"); }

/// Every report fails the program, all of them are shown.
extern "C" const char *__tsan_default_options() { return "halt_on_error=0:exitcode=66:second_deadlock_stack=1"; }
