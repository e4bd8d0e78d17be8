// The driver's entry points over the emulated device, as a table and as a library.
#include "Catch.h"
#include "runtime/device/emulated/EmulatedDriver.h"
#include <cstring>
#include <dlfcn.h>

using namespace tk;
using namespace tk::cuda;

static const char *scale = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .f32 factor = 0f40400000;
.visible .entry scale(.param .u64 px, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [px];
  ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p, %r1, %r2;
  @%p ret;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  ld.global.f32 %f1, [%rd2];
  ld.global.f32 %f2, [factor];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd2], %f3;
  ret;
})";

TEST_CASE("modules, memory, launches and sticky errors through the driver's table") {
  const Driver &d = emulated::getEmulatedDriver();
#define CUDA_ENTRY(need, name, symbol, ...) CHECK(d.name != nullptr);
#include "runtime/device/cuda/CudaEntryPoints.def"
#undef CUDA_ENTRY
  REQUIRE(d.init(0) == Result::Success);
  int count = 0, major = 0;
  REQUIRE(d.deviceGetCount(&count) == Result::Success);
  REQUIRE(count >= 1);
  d.deviceGetAttribute(&major, DeviceAttribute::ComputeCapabilityMajor, 0);
  CHECK(major == 9);
  Context context;
  REQUIRE(d.devicePrimaryCtxRetain(&context, 0) == Result::Success);
  REQUIRE(d.ctxPushCurrent(context) == Result::Success);
  Module module;
  REQUIRE(d.moduleLoadDataEx(&module, scale, 0, nullptr, nullptr) == Result::Success);
  Function function;
  CHECK(d.moduleGetFunction(&function, module, "missing") == Result::NotFound);
  REQUIRE(d.moduleGetFunction(&function, module, "scale") == Result::Success);
  DevicePointer x;
  REQUIRE(d.memAlloc(&x, 40) == Result::Success);
  float host[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  REQUIRE(d.memcpyHtoDAsync(x, host, 40, nullptr) == Result::Success);
  CHECK(d.memcpyHtoDAsync(x, host, 44, nullptr) == Result::InvalidValue);
  unsigned n = 10;
  void *parameters[] = {&x, &n};
  Event before, after;
  d.eventCreate(&before, 0);
  d.eventCreate(&after, 0);
  d.eventRecord(before, nullptr);
  REQUIRE(d.launchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == Result::Success);
  d.eventRecord(after, nullptr);
  float milliseconds = -1;
  CHECK(d.eventElapsedTime(&milliseconds, before, after) == Result::Success);
  CHECK(milliseconds >= 0);
  DevicePointer factor;
  size_t bytes;
  REQUIRE(d.moduleGetGlobal(&factor, &bytes, module, "factor") == Result::Success);
  CHECK(bytes == 4);
  REQUIRE(d.memcpyDtoHAsync(host, x, 40, nullptr) == Result::Success);
  for (int i = 0; i < 10; ++i)
    CHECK(host[i] == float(3 * (i + 1)));
  CHECK(d.launchKernel(function, 1, 1, 1, 2048, 1, 1, 0, nullptr, parameters, nullptr) == Result::InvalidValue);
  CHECK(d.launchKernel(function, 1, 1, 1, 32, 1, 1, 50000, nullptr, parameters, nullptr) == Result::InvalidValue);
  CHECK(d.streamSynchronize(nullptr) == Result::Success);
  // One element too many.
  std::string text;
  emulated::DriverOptions options;
  options.reporter = [&](const emulated::EmulatedLaunch &launch) { text = launch.result.text(); };
  emulated::setDriverOptions(options);
  n = 11;
  CHECK(d.launchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == Result::Success);
  CHECK(text.find("line 13 of the PTX, in `scale`, block (0, 0, 0), thread 10") != std::string::npos);
  CHECK(d.streamSynchronize(nullptr) == Result::IllegalAddress);
  CHECK(d.memcpyDtoHAsync(host, x, 40, nullptr) == Result::IllegalAddress);
  emulated::setDriverOptions({});
  CHECK(d.memFree(x) == Result::Success);
  CHECK(d.memFree(x) == Result::InvalidValue);
  d.moduleUnload(module);
  d.ctxPopCurrent(nullptr);
  CHECK(d.devicePrimaryCtxRelease(0) == Result::Success);
  CHECK(d.devicePrimaryCtxRelease(0) == Result::InvalidContext);
  const char *name;
  CHECK(d.getErrorName(Result::IllegalAddress, &name) == Result::Success);
  CHECK(std::string(name) == "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_CASE("a broken module gives a log with the line") {
  const Driver &d = emulated::getEmulatedDriver();
  Context context;
  d.devicePrimaryCtxRetain(&context, 1);
  d.ctxSetCurrent(context);
  char log[256] = "";
  JitOption options[] = {JitOption::ErrorLogBuffer, JitOption::ErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  Module module;
  CHECK(d.moduleLoadDataEx(&module, ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n  bogus;\n}", 2, options, values) == Result::InvalidPtx);
  CHECK(std::string(log).find("line 5: error: unknown instruction `bogus`") != std::string::npos);
  d.ctxSetCurrent(nullptr);
  d.devicePrimaryCtxRelease(1);
}

TEST_CASE("tensor maps are checked as the driver checks them") {
  const Driver &d = emulated::getEmulatedDriver();
  alignas(16) static char memory[4096];
  TensorMap map;
  uint64_t dims[] = {64, 32}, strides[] = {128};
  uint32_t box[] = {32, 8}, steps[] = {1, 1};
  auto encode = [&](TensorMapSwizzle swizzle, void *base) {
    return d.tensorMapEncodeTiled(&map, TensorMapDataType::F16, 2, base, dims, strides, box, steps, TensorMapInterleave::None, swizzle,
                                  TensorMapL2Promotion::None, TensorMapFill::Zero);
  };
  CHECK(encode(TensorMapSwizzle::Bytes64, memory) == Result::Success);
  CHECK(encode(TensorMapSwizzle::Bytes32, memory) == Result::InvalidValue); // the box is 64 bytes wide
  CHECK(encode(TensorMapSwizzle::None, memory + 2) == Result::InvalidValue);
  strides[0] = 120;
  CHECK(encode(TensorMapSwizzle::None, memory) == Result::InvalidValue);
  strides[0] = 128;
  box[1] = 257;
  CHECK(encode(TensorMapSwizzle::None, memory) == Result::InvalidValue);
}

TEST_CASE("the driver as a library exports every entry point") {
  void *library = dlopen(TKC_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  using Call = Result (*)(int *);
#define CUDA_ENTRY(need, name, symbol, ...) CHECK(dlsym(library, symbol) != nullptr);
#include "runtime/device/cuda/CudaEntryPoints.def"
#undef CUDA_ENTRY
  int count = 0;
  CHECK(reinterpret_cast<Call>(dlsym(library, "cuDeviceGetCount"))(&count) == Result::Success);
  CHECK(count >= 1);
}
