// The public API of devices, streams and arrays: on the host, and on a GPU whose driver is made of C++ functions.
#include "Catch.h"
#include "FakeDriver.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "test/unit/runtime/Thrown.h"
#include "tk/tk.h"

using namespace tk;

namespace {
constexpr const char *source = "@triton.jit\n"
                               "def add(x, y, out, n, BLOCK: tl.constexpr = 64):\n"
                               "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                               "    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)\n";

Array counting(int64_t count, float first) {
  Array array(DType::F32, {count});
  for (int64_t i = 0; i < count; ++i)
    array.as<float>()[i] = first + static_cast<float>(i);
  return array;
}
} // namespace

TEST_CASE("one program text serves every device: here the host") {
  Device device;
  CHECK(device.isHost());
  CHECK(device.architecture() == 0);
  CHECK(device.memoryBytes() > 0);
  Stream stream = device.newStream();
  DeviceArray x(device, counting(100, 0)), y(device, counting(100, 1000)), out(device, DType::F32, {100});
  Kernel kernel = Module::fromSource(source).kernel("add");
  kernel.prepare(stream, x, y, out, 100);
  CHECK(kernel.compiledCount() == 1);
  kernel.launch(stream, grid(2), x, y, out, 100);
  stream.synchronize();
  CHECK(kernel.compiledCount() == 1);
  Array result = out.toHost();
  for (int64_t i = 0; i < 100; ++i)
    CHECK(result.get(i) == 1000 + 2 * static_cast<double>(i));
  DeviceArray moved = std::move(out);
  CHECK(moved.toHost(stream).get(99) == 1198);
  out = DeviceArray(device, DType::I8, {2, 3});
  CHECK(out.bytes() == 6);
}

TEST_CASE("the same text on emulated GPUs: arrays on the device, two of them at once") {
  Kernel kernel = Module::fromSource(source).kernel("add");
  for (const char *target : {"sm_80", "sm_90a", "sm_80"}) {
    Device device = Device::emulated(target);
    CHECK(device.isEmulated());
    CHECK(device == Device::emulated(target));
    Stream stream = device.newStream();
    DeviceArray x(device, counting(100, 0)), y(device, counting(100, 1000)), out(device, DType::F32, {100});
    kernel.prepare(stream, x, y, out, 100);
    kernel.launch(stream, grid(2), x, y, out, 100);
    stream.synchronize();
    Array result = out.toHost(stream);
    for (int64_t i = 0; i < 100; ++i)
      CHECK(result.get(i) == 1000 + 2 * static_cast<double>(i));
  }
  CHECK(kernel.compiledCount() == 2); // one for each architecture
}

TEST_CASE("the list of devices ends with the host") {
  std::vector<Device> devices = Device::list();
  REQUIRE(!devices.empty());
  CHECK(devices.back().isHost());
  CHECK(Device::best() == devices.front());
  CHECK(contains(thrown(ErrorKind::Device, [&] { Device::cuda(static_cast<unsigned>(devices.size())); }), devices.size() == 1 ? "driver" : "there is no GPU"));
  CHECK(contains(thrown(ErrorKind::User, [] { Device::emulated("sm_"); }), "`sm_` can't be emulated: expected an NVIDIA GPU"));
  CHECK(contains(thrown(ErrorKind::User, [] { Device::emulated("sm_90x"); }), "can't be emulated"));
  CHECK(contains(thrown(ErrorKind::User, [] { Device::emulated("gfx942"); }), "can't be emulated"));
}

TEST_CASE("arrays in a GPU's memory") {
  fake::reset();
  auto gpus = runtime::openCudaDevices(fake::driver());
  {
    Device device(gpus.at(0).get());
    CHECK(device.name() == "Fake GPU");
    CHECK(device.architecture() == 90);
    CHECK_FALSE(device.isEmulated());
    DeviceArray zeros(device, DType::F16, {3, 5}), x(device, counting(10, 1));
    CHECK(fake::state().allocations == 2);
    CHECK(zeros.toHost().get(14) == 0);
    CHECK(x.toHost().get(9) == 10);
    x.assign(counting(10, 5));
    CHECK(x.toHost().get(0) == 5);
    CHECK(thrown(ErrorKind::User, [&] { x.assign(counting(11, 0)); }) == "fp32[11] can't be assigned to fp32[10]");
    CHECK(thrown(ErrorKind::User, [&] { zeros.assign(x.toHost()); }) == "fp32[10] can't be assigned to fp16[3, 5]");
    CHECK(contains(thrown(ErrorKind::User, [&] { DeviceArray(device, DType::F32, {-1}); }), "-1"));
    {
      Stream stream = device.newStream(), copy = stream;
      CHECK(fake::state().streams == 1);
      CHECK(copy.device() == device);
      CHECK(copy.handle() != nullptr);
      copy.synchronize();
    }
    CHECK(fake::state().streams == 0);
  }
  CHECK(fake::state().allocations == 0);
}

TEST_CASE("an array must lie where the kernel runs") {
  fake::reset();
  auto gpus = runtime::openCudaDevices(fake::driver());
  Device device(gpus.at(0).get());
  Array host = counting(100, 0);
  DeviceArray x(device, host);
  Kernel kernel = Module::fromSource(source).kernel("add");
  CHECK(thrown(ErrorKind::User, [&] { kernel.launch(device.stream(), grid(2), x, host, x, 100); }) ==
        "parameter `y`: the array lies in host memory, but the stream is one of Fake GPU: copy it into a tk::DeviceArray");
  CHECK(thrown(ErrorKind::User, [&] { kernel.launch(Stream(), grid(2), host, x, host, 100); }) ==
        "parameter `y`: the array lies in the memory of Fake GPU, but the stream is one of the host");
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.prepare(Stream(), host, x, host, 100); }), "parameter `y`"));
  CHECK(kernel.compiledCount() == 0);
}
