// The emulated driver under the driver's own names: a library that can be loaded where libcuda.so.1 is.
//
// Each name is an indirect function: the dynamic linker asks once for its address and gets that of the table's entry, so that no parameter list is written
// twice.
#include "runtime/device/emulated/EmulatedDriver.h"

using namespace tk::cuda;

#define CUDA_ENTRY(need, name, symbol, ...)                                                                        \
  extern "C" void *tkResolve_##name() { return reinterpret_cast<void *>(tk::emulated::getEmulatedDriver().name); } \
  extern "C" [[gnu::visibility("default")]] Result tkExport_##name(__VA_ARGS__) asm(symbol) __attribute__((ifunc("tkResolve_" #name)));
#include "runtime/device/cuda/CudaEntryPoints.def"
#undef CUDA_ENTRY
