// What the runtime decides between a launch and the driver: contexts, loading, parameters, limits, errors and their kernels, prints. Against a driver made of
// C++ functions.
#include "Catch.h"
#include "FakeDriver.h"
#include "runtime/device/LaunchLog.h"
#include "runtime/device/PrintBuffer.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "test/unit/runtime/Thrown.h"
#include <cstring>

using namespace tk;
using namespace tk::runtime;
using Kind = ArgumentSlot::Kind;

namespace {
ArgumentSlot slot(Kind kind, DType dtype = DType::I32) {
  ArgumentSlot result;
  result.kind = kind, result.dtype = dtype, result.pointerDepth = kind == Kind::Pointer;
  return result;
}

KernelAbi abiOf(const std::string &entry, std::vector<ArgumentSlot> slots) {
  KernelAbi abi;
  abi.entry = entry, abi.slots = std::move(slots), abi.threads = 128, abi.file = "k.tk", abi.line = 7;
  return abi;
}

const GpuImage image = {GpuImage::Kind::Binary, "binary"};

struct Fixture {
  Fixture() {
    fake::reset();
    devices = openCudaDevices(fake::driver(), false, 4);
    device = devices.at(0).get();
    fake::state().kernels["nothing"] = [](const fake::Block &) { return cuda::Result::Success; };
  }
  std::vector<std::shared_ptr<GpuDevice>> devices;
  GpuDevice *device;
};

/// What a kernel would write of one value.
void writeRecord(DeviceAddress buffer, PrintRecord record) {
  auto *header = reinterpret_cast<PrintHeader *>(buffer);
  uint32_t place = header->count++;
  if (place < header->capacity)
    std::memcpy(reinterpret_cast<char *>(buffer) + sizeof(PrintHeader) + place * sizeof(record), &record, sizeof(record));
}
} // namespace

TEST_CASE_METHOD(Fixture, "properties come from the driver") {
  CHECK(device->properties().name == "Fake GPU");
  CHECK(device->properties().architecture == 90);
  CHECK(device->properties().maxSharedBytes == 232448);
  CHECK(device->properties().driverVersion == 12040);
  CHECK(fake::current() == nullptr);
}

TEST_CASE_METHOD(Fixture, "every slot is a parameter of its own size") {
  int64_t sum = 0;
  fake::state().kernels["mix"] = [&](const fake::Block &block) {
    sum += block.parameter<uint8_t>(0) + block.parameter<int16_t>(1) + block.parameter<int32_t>(2) + block.parameter<int64_t>(3) +
           static_cast<int64_t>(block.parameter<float>(4));
    *reinterpret_cast<uint32_t *>(block.parameter<DeviceAddress>(5)) += block.x + 10 * block.y + 100 * block.z;
    return cuda::Result::Success;
  };
  auto kernel = device->makeKernel(image, abiOf("mix", {slot(Kind::Scalar, DType::I1), slot(Kind::Scalar, DType::I16), slot(Kind::Scalar),
                                                        slot(Kind::Scalar, DType::I64), slot(Kind::Scalar, DType::F32), slot(Kind::Pointer)}));
  DeviceAddress memory = device->allocate(4);
  device->fill(memory, 0, 4, nullptr);
  uint64_t slots[] = {1, 0xffff, 1000, uint64_t(1) << 40, 0x40400000, memory};
  device->launch(*kernel, slots, {2, 2, 2}, nullptr);
  device->synchronize(nullptr);
  CHECK(sum == 8 * (1 - 1 + 1000 + (int64_t(1) << 40) + 3));
  uint32_t written = 0;
  device->copyOut(&written, memory, 4, nullptr);
  CHECK(written == 444);
  CHECK(fake::state().calls == std::vector<std::string>{"mix grid 2 2 2 threads 128 shared 0"});
  device->free(memory);
  CHECK(fake::state().allocations == 0);
}

TEST_CASE_METHOD(Fixture, "the caller's context is used, and the primary one only where there is none") {
  fake::state().numbersContexts = GENERATE(true, false); // drivers before CUDA 12 don't
  auto kernel = device->makeKernel(image, abiOf("nothing", {}));
  SECTION("none") {
    device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
    CHECK(fake::state().primaryIsAlive);
    CHECK(fake::current() == nullptr);
  }
  SECTION("one of the device") {
    cuda::Context context = fake::makeContext();
    device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
    CHECK_FALSE(fake::state().primaryIsAlive);
    CHECK(fake::current() == context);
    // Each context has the code once.
    CHECK(fake::state().loads == 1);
    device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
    CHECK(fake::state().loads == 1);
    cuda::Context other = fake::makeContext();
    device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
    CHECK(fake::state().loads == 2);
    CHECK(fake::current() == other);
    fake::setCurrent(context);
    device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
    CHECK(fake::state().loads == 2);
  }
  SECTION("one of another device") {
    cuda::Context context = fake::makeContext(1);
    device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
    CHECK(fake::state().primaryIsAlive);
    CHECK(fake::current() == context);
  }
  kernel.reset();
  CHECK(fake::state().modules == 0);
  CHECK(fake::state().refused == 0);
}

TEST_CASE_METHOD(Fixture, "limits are told before the driver is asked") {
  KernelAbi abi = abiOf("nothing", {});
  abi.sharedBytes = 232449;
  CHECK(thrown(ErrorKind::User, [&] { device->makeKernel(image, abi); }) ==
        "`nothing` needs 232449 bytes of shared memory a program, but Fake GPU has 232448: smaller tiles or a lower num_stages need less");
  abi.sharedBytes = 0, abi.threads = 2048;
  CHECK(thrown(ErrorKind::User, [&] { device->makeKernel(image, abi); }) ==
        "`nothing` needs 2048 threads a program, but Fake GPU has 1024 at most: lower num_warps");
  auto kernel = device->makeKernel(image, abiOf("nothing", {}));
  CHECK(thrown(ErrorKind::User, [&] { device->launch(*kernel, nullptr, {1, 65536, 1}, nullptr); }).find("(1, 65536, 1)") != std::string::npos);
  CHECK(thrown(ErrorKind::User, [&] { device->launch(*kernel, nullptr, {-1, 1, 1}, nullptr); }).find("(-1, 1, 1)") != std::string::npos);
  device->launch(*kernel, nullptr, {1, 0, 1}, nullptr);
  CHECK(fake::state().calls.empty());
  abi.threads = 128, abi.clusterSize = 2;
  auto clustered = device->makeKernel(image, abi);
  CHECK(thrown(ErrorKind::User, [&] { device->launch(*clustered, nullptr, {3, 1, 1}, nullptr); }).find("clusters of 2 programs") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "more than 48 KiB of shared memory is asked for") {
  KernelAbi abi = abiOf("nothing", {});
  abi.sharedBytes = 48 << 10;
  auto small = device->makeKernel(image, abi);
  device->launch(*small, nullptr, {1, 1, 1}, nullptr);
  CHECK(fake::state().attributes.empty());
  abi.sharedBytes = 100000;
  auto large = device->makeKernel(image, abi);
  device->launch(*large, nullptr, {1, 1, 1}, nullptr);
  CHECK(fake::state().attributes[static_cast<int>(cuda::FunctionAttribute::MaxDynamicSharedBytes)] == 100000);
  CHECK(fake::state().calls.back() == "nothing grid 1 1 1 threads 128 shared 100000");
}

TEST_CASE_METHOD(Fixture, "code is not loaded into a capture") {
  auto kernel = device->makeKernel(image, abiOf("nothing", {}));
  StreamHandle stream = device->createStream();
  fake::state().capturing[stream] = cuda::CaptureStatus::Active;
  CHECK(device->isCapturing(stream));
  CHECK(thrown(ErrorKind::User, [&] { device->launch(*kernel, nullptr, {1, 1, 1}, stream); }) ==
        "kernel `nothing` (k.tk:7) is launched on a stream that is being captured, but its code is not loaded yet, and loading is not possible then: call "
        "Kernel::prepare() with the same "
        "arguments before the capture");
  CHECK(fake::state().loads == 0);
  SECTION("prepared before") {
    device->prepare(*kernel, nullptr);
    device->launch(*kernel, nullptr, {1, 1, 1}, stream);
    CHECK(fake::state().loads == 1);
    CHECK(fake::state().calls.size() == 1);
  }
  SECTION("another stream is captured, and the driver refuses to load") {
    fake::state().failures["moduleLoadDataEx"] = cuda::Result::StreamCaptureUnsupported;
    CHECK(thrown(ErrorKind::User, [&] { device->launch(*kernel, nullptr, {1, 1, 1}, nullptr); }).find("Kernel::prepare()") != std::string::npos);
  }
  SECTION("a kernel that prints") {
    KernelAbi abi = abiOf("nothing", {slot(Kind::PrintBuffer)});
    auto printing = device->makeKernel(image, abi);
    device->prepare(*printing, nullptr);
    CHECK(thrown(ErrorKind::User, [&] { device->launch(*printing, nullptr, {1, 1, 1}, stream); }) ==
          "kernel `nothing` (k.tk:7) prints or asserts, which can't be captured into a graph");
  }
  device->destroyStream(stream);
}

TEST_CASE_METHOD(Fixture, "late errors name the kernels they may come from") {
  for (const char *name : {"good", "bad"})
    fake::state().kernels[name] = [name](const fake::Block &) { return *name == 'b' ? cuda::Result::IllegalAddress : cuda::Result::Success; };
  auto good = device->makeKernel(image, abiOf("good", {})), bad = device->makeKernel(image, abiOf("bad", {}));
  SECTION("one since the last synchronisation") {
    device->launch(*good, nullptr, {1, 1, 1}, nullptr);
    device->synchronize(nullptr);
    device->launch(*bad, nullptr, {1, 1, 1}, nullptr);
    CHECK(thrown(ErrorKind::Device, [&] { device->synchronize(nullptr); }) == "kernel `bad` (k.tk:7) failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): fake text");
    CHECK(thrown(ErrorKind::Device, [&] { device->synchronize(nullptr); }).find("the device's context was lost through the failure of kernel `bad` (k.tk:7)") !=
          std::string::npos);
    uint32_t word;
    CHECK(thrown(ErrorKind::Device, [&] {
            device->copyOut(&word, reinterpret_cast<DeviceAddress>(&word), 4, nullptr);
          }).find("lost through the failure of kernel `bad`") != std::string::npos);
  }
  SECTION("several") {
    device->launch(*good, nullptr, {1, 1, 1}, nullptr);
    device->launch(*bad, nullptr, {1, 1, 1}, nullptr);
    CHECK(thrown(ErrorKind::Device, [&] { device->synchronize(nullptr); }) ==
          "one of the kernels `good` (k.tk:7), `bad` (k.tk:7) failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): fake text");
  }
}

TEST_CASE("the log of launches") {
  auto label = [](const std::string &name) { return std::make_shared<const std::string>(name); };
  int one = 0, two = 0;
  auto a = label("a"), b = label("b");
  LaunchLog log, other;
  CHECK(log.suspects(&one).empty());
  log.launched(a, &one), log.launched(a, &one), log.launched(a, &one);
  CHECK(log.suspects(&one) == "kernel a");
  CHECK(log.suspects(&two) == "kernel a"); // an error may come from any stream
  SECTION("what waited for the stream is forgotten, and noted again") {
    log.synchronized(&two);
    CHECK(log.suspects(&one) == "kernel a");
    log.synchronized(&one);
    CHECK(log.suspects(&one).empty());
    log.launched(a, &one);
    CHECK(log.suspects(&one) == "kernel a");
  }
  SECTION("the same kernel in another log") {
    other.launched(a, &one);
    CHECK(other.suspects(&one) == "kernel a");
    log.synchronized(&one);
    CHECK(other.suspects(&one) == "kernel a");
  }
  SECTION("kernels that take turns stand there once, in the order of their last launches") {
    for (int i = 0; i < 20; ++i)
      log.launched(b, &two), log.launched(a, &one);
    CHECK(log.suspects(&one) == "one of the kernels a, b");
    log.launched(b, &one);
    CHECK(log.suspects(&one) == "one of the kernels a, b");
    log.synchronized(&one);
    CHECK(log.suspects(&one) == "kernel b");
  }
  SECTION("the last eight") {
    std::vector<std::shared_ptr<const std::string>> labels;
    for (int i = 0; i < 8; ++i)
      log.launched(labels.emplace_back(label(std::to_string(i))), &one);
    CHECK(log.suspects(&one) == "one of the kernels 0, 1, 2, 3, 4, 5, 6, 7");
    log.launched(labels[0], &one);
    log.launched(a, &one); // 1 was launched longest ago
    CHECK(log.suspects(&one) == "one of the kernels 2, 3, 4, 5, 6, 7, 0, a");
  }
}

TEST_CASE_METHOD(Fixture, "errors say what was tried") {
  fake::state().failures["memAlloc"] = cuda::Result::OutOfMemory;
  CHECK(thrown(ErrorKind::Device, [&] { device->allocate(123); }) == "123 bytes can't be allocated on Fake GPU: CUDA_ERROR_OUT_OF_MEMORY (2): fake text");
  auto kernel = device->makeKernel(image, abiOf("absent", {}));
  CHECK(thrown(ErrorKind::Device, [&] { device->prepare(*kernel, nullptr); }).find("the code of kernel `absent` (k.tk:7) can't be used on Fake GPU") == 0);
  CHECK(fake::state().modules == 0);
  fake::state().failures["launchKernel"] = cuda::Result::LaunchOutOfResources;
  auto other = device->makeKernel(image, abiOf("nothing", {}));
  CHECK(thrown(ErrorKind::Device, [&] { device->launch(*other, nullptr, {1, 1, 1}, nullptr); }).find("kernel `nothing` (k.tk:7) can't be launched: ") == 0);
}

TEST_CASE_METHOD(Fixture, "prints appear when the stream is synchronised, in order") {
  std::vector<std::string> lines;
  device->setPrinter([&](std::string_view line) { lines.emplace_back(line); });
  fake::state().kernels["prints"] = [](const fake::Block &block) {
    auto buffer = block.parameter<DeviceAddress>(1);
    for (uint32_t element : {1, 0})
      writeRecord(buffer, {0, {static_cast<int32_t>(1 - block.x), 0, 0}, element, 0, element + static_cast<uint64_t>(block.parameter<int32_t>(0))});
    return cuda::Result::Success;
  };
  KernelAbi abi = abiOf("prints", {slot(Kind::Scalar), slot(Kind::PrintBuffer)});
  abi.printSites.push_back({false, false, "x =", {{DType::I32, true, false, {2}}}, "k.tk", 9});
  auto kernel = device->makeKernel(image, abi);
  uint64_t first[] = {5}, second[] = {7};
  StreamHandle other = device->createStream();
  device->launch(*kernel, first, {1, 1, 1}, nullptr);
  device->launch(*kernel, second, {1, 1, 1}, nullptr);
  device->launch(*kernel, second, {1, 1, 1}, other);
  CHECK(lines.empty());
  device->synchronize(nullptr);
  CHECK(lines == std::vector<std::string>{"pid (1, 0, 0) idx (0) x =: 5", "pid (1, 0, 0) idx (1) x =: 6", "pid (1, 0, 0) idx (0) x =: 7",
                                          "pid (1, 0, 0) idx (1) x =: 8"});
  device->synchronize(nullptr);
  CHECK(lines.size() == 4);
  device->synchronize(other);
  CHECK(lines.size() == 6);
  lines.clear();
  device->launch(*kernel, first, {3, 1, 1}, nullptr); // 6 records, and the buffer holds 4
  device->synchronize(nullptr);
  REQUIRE(lines.size() == 5);
  CHECK(lines.back() == "(2 more lines were printed than the buffer of 4 holds)");
  device->destroyStream(other);
}

TEST_CASE_METHOD(Fixture, "a failed assertion is the user's error, with place and program") {
  fake::state().kernels["asserts"] = [](const fake::Block &block) {
    auto buffer = block.parameter<DeviceAddress>(0);
    for (int32_t program : {2, 1}) {
      writeRecord(buffer, {0, {program, 0, 0}, 3, 0, 0});
      auto *header = reinterpret_cast<PrintHeader *>(buffer);
      header->failed = header->failed ? header->failed : 1;
    }
    return cuda::Result::LaunchFailed;
  };
  KernelAbi abi = abiOf("asserts", {slot(Kind::PrintBuffer)});
  abi.printSites.push_back({true, false, "n is small", {}, "k.tk", 9});
  auto kernel = device->makeKernel(image, abi);
  device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
  CHECK(thrown(ErrorKind::User, [&] { device->synchronize(nullptr); }) == "device assertion failed: k.tk:9: n is small [program (1, 0, 0)]");
  CHECK(thrown(ErrorKind::Device, [&] { device->synchronize(nullptr); }).find("lost through a failed device assertion") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "scratch memory is hidden, grows, and is kept") {
  std::vector<DeviceAddress> seen;
  fake::state().kernels["scratch"] = [&](const fake::Block &block) {
    seen.push_back(block.parameter<DeviceAddress>(1));
    std::memset(reinterpret_cast<void *>(seen.back()), 1, 1000 * 3);
    return cuda::Result::Success;
  };
  KernelAbi abi = abiOf("scratch", {slot(Kind::Scalar), slot(Kind::Scratch)});
  abi.scratchBytes = 1000;
  auto kernel = device->makeKernel(image, abi);
  uint64_t slots[] = {0};
  device->launch(*kernel, slots, {3, 1, 1}, nullptr);
  CHECK(fake::state().allocations == 1);
  device->launch(*kernel, slots, {2, 1, 1}, nullptr);
  CHECK(seen.back() == seen.front());
  device->launch(*kernel, slots, {300, 1, 1}, nullptr);
  CHECK(fake::state().allocations == 1);
}

TEST_CASE_METHOD(Fixture, "time comes from events") {
  bool worked = false;
  CHECK(device->measure(nullptr, [&] { worked = true; }) == Approx(0.0015));
  CHECK(worked);
  CHECK(fake::state().events == 0);
}

TEST_CASE("a driver that is no driver is refused by name") {
  CHECK(thrown(ErrorKind::Device, [] { cuda::loadDriver("/nowhere/libcuda.so.1"); }).find("/nowhere/libcuda.so.1") != std::string::npos);
  CHECK(thrown(ErrorKind::Device, [] { cuda::loadDriver("libm.so.6"); }).find("it lacks cuInit, cuDriverGetVersion") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "PTX is assembled by the driver where there is no ptxas, and its log is shown") {
  // Neither assembler of this machine is asked: the text is no PTX for ptxas, whose refusal must be shown as well where it is found.
  fake::state().failures["linkAddData"] = cuda::Result::InvalidPtx;
  std::string error = thrown(ErrorKind::Internal, [&] { device->makeKernel({GpuImage::Kind::Ptx, "no PTX"}, abiOf("nothing", {})); });
  CHECK(error.find("the code of kernel `nothing` can't be assembled for Fake GPU:\n") == 0);
  CHECK(error.find("the driver's assembler: CUDA_ERROR_OTHER (218): fake text\nptxas fatal: fake log") != std::string::npos);
  fake::state().failures.clear();
  auto kernel = device->makeKernel({GpuImage::Kind::Ptx, "no PTX"}, abiOf("nothing", {}));
  device->launch(*kernel, nullptr, {1, 1, 1}, nullptr);
  CHECK(fake::state().links == 0);
  CHECK(fake::state().calls.size() == 1);
}
