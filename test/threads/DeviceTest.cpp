// A GPU's launches from many threads: contexts, loading, the log of launches, prints, scratch memory. The driver is a table of C++ functions.
#include "Catch.h"
#include "TestFrontend.h"
#include "runtime/device/PrintBuffer.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "test/unit/device/FakeDriver.h"

using namespace tk;
using namespace tk::test;
using namespace tk::runtime;
using Kind = ArgumentSlot::Kind;

namespace {
struct LoadedModule {
  cuda::Context context;
};
std::atomic<int> loads{0}, launches{0};

/// The fake driver counts without a lock where it is asked by one thread; here by many.
const cuda::Driver &threadedDriver() {
  static const cuda::Driver driver = [] {
    cuda::Driver d = fake::driver();
    d.moduleLoadDataEx = [](cuda::Module *module, const void *, unsigned, cuda::JitOption *, void **) {
      ++loads;
      return *module = reinterpret_cast<cuda::Module>(new LoadedModule{fake::current()}), cuda::Result::Success;
    };
    d.moduleUnload = [](cuda::Module module) { return delete reinterpret_cast<LoadedModule *>(module), cuda::Result::Success; };
    d.moduleGetFunction = [](cuda::Function *function, cuda::Module module, const char *) {
      return *function = reinterpret_cast<cuda::Function>(module), cuda::Result::Success;
    };
    d.launchKernel = [](cuda::Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, cuda::Stream, void **parameters,
                        void **) {
      if (reinterpret_cast<LoadedModule *>(function)->context != fake::current())
        return cuda::Result::InvalidContext;
      ++launches;
      if (shared) { // a kernel that prints
        auto *header = *static_cast<PrintHeader **>(parameters[0]);
        *reinterpret_cast<PrintRecord *>(header + 1) = {};
        header->count = 1;
      }
      return cuda::Result::Success;
    };
    d.streamIsCapturing = [](cuda::Stream, cuda::CaptureStatus *status) { return *status = {}, cuda::Result::Success; };
    return d;
  }();
  return driver;
}

KernelAbi abiOf(const std::string &entry) {
  KernelAbi abi;
  abi.entry = entry, abi.threads = 128;
  return abi;
}

struct Fixture {
  Fixture() {
    fake::reset();
    loads = launches = 0;
    devices = openCudaDevices(threadedDriver(), false, 16);
    device = devices.at(0).get();
  }
  std::vector<std::shared_ptr<GpuDevice>> devices;
  GpuDevice *device;
};
} // namespace

TEST_CASE_METHOD(Fixture, "a kernel is loaded once a context, whoever launches it first") {
  fake::state().numbersContexts = GENERATE(true, false);
  cuda::Context two[2] = {fake::makeContext(), fake::makeContext()};
  fake::setCurrent(nullptr);
  std::vector<std::shared_ptr<GpuKernel>> kernels;
  for (int i = 0; i < 12; ++i) // more than the log of launches holds
    kernels.push_back(device->makeKernel({GpuImage::Kind::Binary, "binary"}, abiOf("kernel" + std::to_string(i))));
  std::vector<int> streams(4);
  CHECK(onThreads(8, [&](int thread) {
          if (thread % 4 != 3) // else in no context: in the device's primary one
            fake::setCurrent(two[thread % 2]);
          for (int round = 0; round < 50; ++round) {
            for (const auto &kernel : kernels)
              for (int again = 0; again < 2; ++again)
                device->launch(*kernel, nullptr, {1, 1, 1}, &streams[static_cast<size_t>(thread % 4)]);
            if (round % 10 == thread)
              device->synchronize(&streams[static_cast<size_t>(round % 4)]);
          }
        }).empty());
  CHECK(launches == 8 * 50 * 12 * 2);
  CHECK(loads == 3 * 12);
  kernels.clear();
}

TEST_CASE_METHOD(Fixture, "what kernels print comes out whole, whoever synchronises") {
  KernelAbi abi = abiOf("prints");
  abi.sharedBytes = 16;
  ArgumentSlot &slot = abi.slots.emplace_back();
  slot.kind = Kind::PrintBuffer;
  PrintSite site;
  site.text = "here";
  abi.printSites.push_back(site);
  auto kernel = device->makeKernel({GpuImage::Kind::Binary, "binary"}, abi);
  std::atomic<int> lines{0};
  device->setPrinter([&](std::string_view) { ++lines; });
  std::vector<int> streams(4);
  CHECK(onThreads(8, [&](int thread) {
          int *stream = &streams[static_cast<size_t>(thread % 4)];
          for (int n = 0; n < 100; ++n)
            device->launch(*kernel, nullptr, {1, 1, 1}, stream);
          device->synchronize(stream);
        }).empty());
  for (int &stream : streams)
    device->synchronize(&stream);
  CHECK(lines == 800);
}
