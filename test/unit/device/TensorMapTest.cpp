// Tensor maps as kernel parameters: what arrives in the kernel is what the driver encodes for the tensor, whether it was kept from an earlier launch or not.
#include "Catch.h"
#include "runtime/device/GpuDevice.h"
#include "runtime/device/emulated/EmulatedDriver.h"
#include "test/unit/runtime/Thrown.h"
#include "tk/tk.h"
#include <cstring>

using namespace tk;
using namespace tk::runtime;

namespace {
/// Copies the 128 bytes of its second parameter.
std::string copyingKernel() {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry show(.param .u64 out, .param .align 64 .b8 map[128])\n"
                     ".reqntid 1, 1, 1\n{\n.reg .b64 %p, %v;\nld.param.u64 %p, [out];\n";
  for (int i = 0; i < 128; i += 8)
    text += "ld.param.b64 %v, [map+" + std::to_string(i) + "];\nst.global.b64 [%p+" + std::to_string(i) + "], %v;\n";
  return text + "ret;\n}\n";
}

KernelAbi abiOf(std::vector<int32_t> box) {
  KernelAbi abi;
  abi.entry = "show", abi.threads = 1;
  ArgumentSlot &out = abi.slots.emplace_back();
  out.kind = ArgumentSlot::Kind::Pointer, out.pointerDepth = 1, out.name = "out";
  ArgumentSlot &map = abi.slots.emplace_back();
  map.kind = ArgumentSlot::Kind::TensorMap, map.dtype = DType::F16, map.name = "a", map.map.box = std::move(box), map.map.swizzle = 3;
  return abi;
}
} // namespace

TEST_CASE("a tensor map reaches the kernel, and follows the tensor") {
  Device device = Device::emulated("sm_90a");
  auto kernel = device.implementation()->makeKernel({GpuImage::Kind::Ptx, copyingKernel()}, abiOf({32, 64}));
  DeviceArray memory(device, DType::F16, {256, 256}), other(device, DType::F16, {256, 256}), out(device, DType::U64, {16});
  auto shown = [&](const TensorDescriptor &tensor) {
    uint64_t slots[2] = {reinterpret_cast<uintptr_t>(out.data()), reinterpret_cast<uintptr_t>(&tensor)};
    device.implementation()->launch(*kernel, slots, {1, 1, 1}, nullptr);
    Array host = out.toHost();
    return std::string(static_cast<const char *>(host.data()), host.bytes());
  };
  auto expected = [](void *data, uint64_t rows, uint64_t columns, uint64_t pitch) {
    cuda::TensorMap map;
    uint64_t dims[2] = {columns, rows}, strides[1] = {pitch};
    uint32_t box[2] = {64, 32}, steps[2] = {1, 1};
    REQUIRE(emulated::getEmulatedDriver().tensorMapEncodeTiled(&map, cuda::TensorMapDataType::F16, 2, data, dims, strides, box, steps, cuda::TensorMapInterleave::None,
                                                               cuda::TensorMapSwizzle::Bytes128, cuda::TensorMapL2Promotion::Bytes128,
                                                               cuda::TensorMapFill::Zero) == cuda::Result::Success);
    return std::string(reinterpret_cast<const char *>(&map), sizeof map);
  };
  for (int round = 0; round < 2; ++round) {
    CHECK(shown(TensorDescriptor({memory.data(), DType::F16, {256, 256}, {256, 1}}, {32, 64})) == expected(memory.data(), 256, 256, 512));
    CHECK(shown(TensorDescriptor({other.data(), DType::F16, {256, 256}, {256, 1}}, {32, 64})) == expected(other.data(), 256, 256, 512));
    CHECK(shown(TensorDescriptor({memory.data(), DType::F16, {100, 200}, {256, 1}}, {32, 64})) == expected(memory.data(), 100, 200, 512));
    CHECK(shown(TensorDescriptor({memory.data(), DType::F16, {64, 200}, {512, 1}}, {32, 64})) == expected(memory.data(), 64, 200, 1024));
  }
  CHECK(contains(thrown(ErrorKind::User, [&] { shown(TensorDescriptor({memory.data(), DType::F16, {256, 256}, {256, 1}}, {64, 64})); }),
                 "parameter `a` is a descriptor of fp16 in blocks of (32, 64), but one of fp16 in blocks of (64, 64) is given"));
  CHECK(contains(thrown(ErrorKind::User, [&] { shown(TensorDescriptor({memory.data(), DType::BF16, {256, 256}, {256, 1}}, {32, 64})); }), "one of bf16"));
}

TEST_CASE("tensors that can't be copied as blocks are refused where they are described") {
  alignas(16) char memory[64];
  auto refusal = [&](void *data, std::vector<int64_t> shape, std::vector<int64_t> strides, std::vector<int32_t> block) {
    return thrown(ErrorKind::User, [&] { TensorDescriptor({data, DType::F16, shape, strides}, block); });
  };
  CHECK(refusal(memory, {4, 8}, {8, 1}, {4, 8}).empty());
  CHECK(contains(refusal(memory + 2, {4, 8}, {8, 1}, {4, 8}), "is not divisible by 16"));
  CHECK(contains(refusal(memory, {4, 8}, {8, 2}, {4, 8}), "the last axis must be contiguous, but its stride is 2"));
  CHECK(contains(refusal(memory, {4, 8}, {9, 1}, {4, 8}), "the stride of axis 0 is 18 bytes"));
  CHECK(contains(refusal(memory, {4, 0}, {8, 1}, {4, 8}), "axis 1 has an extent of 0"));
  CHECK(contains(refusal(memory, {4, 8}, {8, 1}, {4, 512}), "an extent of 512 along axis 1"));
  CHECK(contains(refusal(memory, {4, 8}, {8, 1}, {4}), "a block of 1"));
  CHECK(contains(refusal(memory, {}, {}, {}), "0 axes"));
  CHECK(contains(refusal(memory, {1, 1, 1, 1, 1, 8}, {8, 8, 8, 8, 8, 1}, {1, 1, 1, 1, 1, 8}), "6 axes"));
}
