// bench-launch: what a launch costs its caller. On the host an empty kernel of one program; on a GPU an empty kernel through tk beside the driver's own call with
// the same function, grid, stream and arguments. Both sides run in turn, in batches that fit the driver's queue; a time is the median over batches.
//
//   bench-launch [--device N | --emulate sm_90a] [--json FILE]
#include "runtime/device/cuda/CudaDriver.h"
#include "runtime/Environment.h"
#include "runtime/device/GpuDevice.h"
#include "tk/tk.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <vector>

using namespace tk;

namespace {
struct Row {
  std::string name;
  double ours = 0, raw = 0; // seconds; raw 0: there is none
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Seconds of one call each, in turn; `wait` comes between batches, outside of the time.
template <typename Ours, typename Raw, typename Wait> Row inTurn(const std::string &name, Ours ours, Raw raw, Wait wait, bool hasRaw) {
  constexpr int batches = 400, calls = 100;
  std::vector<double> mine, theirs;
  auto batch = [&](auto call, std::vector<double> &times) {
    double start = now();
    for (int i = 0; i < calls; ++i)
      call();
    times.push_back((now() - start) / calls);
    wait();
  };
  for (int i = 0; i < batches; ++i) {
    batch(ours, mine);
    if (hasRaw)
      batch(raw, theirs);
  }
  return {name, median(mine), hasRaw ? median(theirs) : 0};
}

/// `def empty(a0, ..): pass`: half of the parameters are pointers, a third integers, the rest floats.
std::string sourceOf(unsigned parameters) {
  std::string text = "@triton.jit\ndef empty(";
  for (unsigned i = 0; i < parameters; ++i)
    text += fmt::format("{}a{}", i ? ", " : "", i);
  return text + "):\n    pass\n";
}

std::vector<Argument> argumentsOf(unsigned count, const float *memory) {
  std::vector<Argument> arguments;
  for (unsigned i = 0; i < count; ++i)
    arguments.push_back(i % 2 == 0 ? Argument(memory) : i % 3 == 0 ? Argument(0.5) : Argument(1000 + static_cast<int>(i)));
  return arguments;
}

void host(std::vector<Row> &rows) {
  alignas(64) static float m[64];
  Kernel kernel = Module::fromSource(sourceOf(10)).kernel("empty");
  auto launch = [&] { kernel.launch({}, grid(1), m, 100, m, 200, m, 0.5f, m, 16, m, 300); };
  launch();
  rows.push_back(inTurn("host, 10 arguments", launch, [] {}, [] {}, false));
  Launcher launcher = kernel.launcher({}, m, 100, m, 200, m, 0.5f, m, 16, m, 300);
  rows.push_back(inTurn("host, launcher", [&] { launcher.launch({1}); }, [] {}, [] {}, false));
}

void gpu(std::vector<Row> &rows, const Device &device) {
  const cuda::Driver *driver = device.isEmulated() ? nullptr : &cuda::loadDriver(runtime::environment().cudaDriver);
  Stream stream = device.newStream();
  DeviceArray memory(device, DType::F32, {1024});
  for (unsigned count : {4u, 40u}) {
    Kernel kernel = Module::fromSource(sourceOf(count)).kernel("empty");
    std::vector<Argument> arguments = argumentsOf(count, static_cast<const float *>(memory.data()));
    auto ours = [&] { kernel.launchList(stream, grid(1), arguments.data(), arguments.size()); };
    ours();
    stream.synchronize();
    // The same code by hand: a kernel of as many parameters of the same sizes.
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
    std::vector<uint64_t> values(count, 0);
    std::vector<void *> parameters;
    if (driver) {
      std::string ptx = fmt::format(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty(");
      for (unsigned i = 0; i < count; ++i) {
        ptx += fmt::format("{}.param .{} p{}", i ? ", " : "", i % 2 == 0 ? "u64" : "u32", i);
        values[i] = arguments[i].bits;
        parameters.push_back(&values[i]);
      }
      ptx += ")\n.reqntid 128, 1, 1\n{ ret; }\n";
      cuda::Context context = nullptr;
      driver->devicePrimaryCtxRetain(&context, 0);
      driver->ctxSetCurrent(context);
      if (driver->moduleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr) != cuda::Result::Success ||
          driver->moduleGetFunction(&function, module, "empty") != cuda::Result::Success)
        throw Error(ErrorKind::Device, "the empty kernel can't be loaded");
    }
    auto handle = static_cast<cuda::Stream>(stream.handle());
    auto raw = [&] { driver->launchKernel(function, 1, 1, 1, 128, 1, 1, 0, handle, parameters.data(), nullptr); };
    rows.push_back(inTurn(fmt::format("GPU, {} arguments", count), ours, raw, [&] { stream.synchronize(); }, driver != nullptr));
    Launcher launcher = kernel.launcherList(stream, arguments.data(), arguments.size());
    rows.push_back(inTurn(fmt::format("GPU, {} arguments, launcher", count), [&] { launcher.launch({1}); }, raw, [&] { stream.synchronize(); }, driver != nullptr));
  }
}

/// Two tensor maps and three scalars, as a matrix product's kernel takes them. The code is by hand on both sides.
void tensorMaps(std::vector<Row> &rows, const Device &device) {
  const bool real = !device.isEmulated();
  const cuda::Driver *driver = real ? &cuda::loadDriver(runtime::environment().cudaDriver) : nullptr;
  Stream stream = device.newStream();
  DeviceArray memory(device, DType::BF16, {1024, 1024});
  runtime::KernelAbi abi;
  abi.entry = "empty", abi.threads = 128;
  for (const char *name : {"a", "b"}) {
    runtime::ArgumentSlot &slot = abi.slots.emplace_back();
    slot.kind = runtime::ArgumentSlot::Kind::TensorMap, slot.dtype = DType::BF16, slot.name = name, slot.map.box = {128, 64}, slot.map.swizzle = 3;
  }
  for (const char *name : {"m", "n", "k"})
    abi.slots.emplace_back().name = name;
  std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u32 m, "
                    ".param .u32 n, .param .u32 k)\n.reqntid 128, 1, 1\n{ ret; }\n";
  std::shared_ptr<runtime::GpuKernel> kernel = device.implementation()->makeKernel({runtime::GpuImage::Kind::Ptx, ptx}, abi);
  TensorDescriptor a({memory.data(), DType::BF16, {1024, 1024}, {1024, 1}}, {128, 64}), b({memory.data(), DType::BF16, {512, 1024}, {1024, 1}}, {128, 64});
  uint64_t slots[5] = {reinterpret_cast<uintptr_t>(&a), reinterpret_cast<uintptr_t>(&b), 1, 2, 3};
  auto ours = [&] { device.implementation()->launch(*kernel, slots, {1, 1, 1}, stream.handle()); };
  ours();
  stream.synchronize();
  alignas(64) cuda::TensorMap maps[2] = {};
  uint32_t numbers[3] = {1, 2, 3};
  void *parameters[5] = {&maps[0], &maps[1], &numbers[0], &numbers[1], &numbers[2]};
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  if (driver && (driver->moduleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr) != cuda::Result::Success ||
                 driver->moduleGetFunction(&function, module, "empty") != cuda::Result::Success))
    throw Error(ErrorKind::Device, "the empty kernel can't be loaded");
  auto raw = [&] { driver->launchKernel(function, 1, 1, 1, 128, 1, 1, 0, static_cast<cuda::Stream>(stream.handle()), parameters, nullptr); };
  rows.push_back(inTurn("GPU, two tensor maps", ours, raw, [&] { stream.synchronize(); }, real));
}
} // namespace

int main(int argc, char **argv) {
  try {
    std::string json;
    std::vector<Device> devices = Device::list();
    if (devices.size() > 1)
      devices.resize(1);
    for (int i = 1; i + 1 < argc; i += 2) {
      if (!std::strcmp(argv[i], "--json"))
        json = argv[i + 1];
      else if (!std::strcmp(argv[i], "--emulate"))
        devices = {Device::emulated(argv[i + 1])};
      else if (!std::strcmp(argv[i], "--device"))
        devices = {Device::cuda(static_cast<unsigned>(std::atoi(argv[i + 1])))};
    }
    std::vector<Row> rows;
    host(rows);
    for (const Device &device : devices)
      if (!device.isHost())
        gpu(rows, device), tensorMaps(rows, device);
    std::string text = "{\"rows\": [\n";
    for (const Row &row : rows) {
      fmt::print("{:<32} {:8.1f} ns{}\n", row.name, row.ours * 1e9, row.raw > 0 ? fmt::format("   driver {:8.1f} ns   {:.3f}", row.raw * 1e9, row.ours / row.raw) : "");
      text += fmt::format("{}  {{\"name\": \"{}\", \"seconds\": {:.9f}, \"driver\": {:.9f}}}", &row == rows.data() ? "" : ",\n", row.name, row.ours, row.raw);
    }
    if (!json.empty())
      std::ofstream(json) << text << "\n]}\n";
  } catch (const Error &error) {
    fmt::print(stderr, "bench-launch: {}\n", error.what());
    return 1;
  }
  return 0;
}
