// What handles of the emulated driver point to.
#pragma once
#include "runtime/device/emulated/EmulatedDriver.h"
#include <chrono>

namespace tk::emulated {

struct DriverDevice {
  DriverDevice(int ordinal, int capability) : device(capability), ordinal(ordinal) {}
  EmulatedDevice device;
  int ordinal;
};
cuda::ContextOpaque *currentContext();
/// Of the device whose memory holds the address; null when none does.
cuda::ContextOpaque *ownerOf(uint64_t address);
void addDeviceCalls(cuda::Driver &table);
cuda::Result encodeTensorMap(cuda::TensorMap *map, cuda::TensorMapDataType type, uint32_t rank, void *base, const uint64_t *dims, const uint64_t *strides,
                             const uint32_t *box, const uint32_t *elementStrides, cuda::TensorMapInterleave interleave, cuda::TensorMapSwizzle swizzle,
                             cuda::TensorMapL2Promotion promotion, cuda::TensorMapFill fill);

} // namespace tk::emulated

namespace tk::cuda {

struct ContextOpaque {
  emulated::DriverDevice *device;
  unsigned long long id;
  std::atomic<Result> sticky = Result::Success;
};
struct ModuleOpaque {
  ContextOpaque *context = nullptr;
  std::unique_ptr<emulated::Module> module;
  std::map<std::string, std::unique_ptr<FunctionOpaque>> functions;
  ~ModuleOpaque();
};
struct FunctionOpaque {
  ModuleOpaque *module;
  const emulated::Function *function;
  uint32_t maxDynamicShared = 48 << 10;
};
inline ModuleOpaque::~ModuleOpaque() = default;
/// Work on a stream that was recorded instead of done, in order.
struct GraphOpaque {
  std::vector<std::function<Result()>> steps;
};
struct GraphExecOpaque {
  GraphOpaque graph;
};
struct StreamOpaque {
  ContextOpaque *context;
  std::unique_ptr<GraphOpaque> recording = {}; // while the stream is being captured
};
struct EventOpaque {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};
struct LinkStateOpaque {
  std::string text;
};

} // namespace tk::cuda
