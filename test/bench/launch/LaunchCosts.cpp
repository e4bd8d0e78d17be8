// What a launch costs its caller. On the host an empty kernel of one program; on a GPU an empty kernel through tk beside the driver's own call with the same
// function, grid, stream and arguments. Both sides run in turn, in batches that fit the driver's queue; a time is the median over batches.
#include "runtime/Environment.h"
#include "runtime/device/GpuDevice.h"
#include "runtime/device/cuda/CudaDriver.h"
#include "test/bench/Table.h"
#include "test/bench/launch/Costs.h"
#include "tk/tk.h"
#include <fmt/format.h>
#include <utility>

namespace tk::bench {

namespace {
/// Seconds of one call each, in turn; `wait` comes between batches, outside of the time.
template <typename Ours, typename Raw, typename Wait>
Cost inTurn(unsigned batches, const std::string &name, double most, Ours ours, Raw raw, Wait wait, bool hasRaw) {
  constexpr int calls = 100;
  std::vector<double> mine, theirs;
  auto batch = [&](auto call, std::vector<double> &times) {
    double start = seconds();
    for (int i = 0; i < calls; ++i)
      call();
    times.push_back((seconds() - start) / calls);
    wait();
  };
  for (unsigned i = 0; i < batches; ++i) {
    batch(ours, mine);
    if (hasRaw)
      batch(raw, theirs);
  }
  return {name, median(mine), hasRaw ? median(theirs) : 0, most};
}

/// `def empty(a0, ..): pass`.
std::string sourceOf(unsigned parameters) {
  std::string text = "@triton.jit\ndef empty(";
  for (unsigned i = 0; i < parameters; ++i)
    text += fmt::format("{}a{}", i ? ", " : "", i);
  return text + "):\n    pass\n";
}

/// Argument `Index` of such a kernel, as the caller of a launch has it.
template <size_t Index> auto argumentAt(const float *memory) {
  if constexpr (Index % 2 == 0)
    return memory;
  else if constexpr (Index % 3 == 0)
    return 0.5;
  else
    return 1000 + static_cast<int>(Index);
}

/// Calls `call` with all of them.
template <size_t... Index, typename Call> auto withArguments(std::index_sequence<Index...>, const float *memory, Call call) {
  return call(argumentAt<Index>(memory)...);
}

void host(unsigned batches, std::vector<Cost> &rows) {
  alignas(64) static float m[64];
  Kernel kernel = Module::fromSource(sourceOf(10)).kernel("empty");
  auto launch = [&] { kernel.launch({}, grid(1), m, 100, m, 200, m, 0.5f, m, 16, m, 300); };
  launch();
  rows.push_back(inTurn(batches, "host, 10 arguments", 300e-9, launch, [] {}, [] {}, false));
  Kernel many = Module::fromSource(sourceOf(40)).kernel("empty");
  auto launchMany = [&] { withArguments(std::make_index_sequence<40>(), m, [&](auto... arguments) { many.launch({}, grid(1), arguments...); }); };
  launchMany();
  rows.push_back(inTurn(batches, "host, 40 arguments", 0, launchMany, [] {}, [] {}, false));
  Launcher launcher = kernel.launcher({}, m, 100, m, 200, m, 0.5f, m, 16, m, 300);
  rows.push_back(inTurn(batches, "host, launcher", 0, [&] { launcher.launch({1}); }, [] {}, [] {}, false));
}

template <size_t Count> void gpu(unsigned batches, std::vector<Cost> &rows, const Device &device) {
  constexpr auto all = std::make_index_sequence<Count>();
  const bool real = !device.isEmulated();
  const cuda::Driver *driver = real ? &cuda::loadDriver(runtime::environment().cudaDriver) : nullptr;
  Stream stream = device.newStream();
  DeviceArray array(device, DType::F32, {1024});
  const auto *memory = static_cast<const float *>(array.data());
  Kernel kernel = Module::fromSource(sourceOf(Count)).kernel("empty");
  auto ours = [&] { withArguments(all, memory, [&](auto... arguments) { kernel.launch(stream, grid(1), arguments...); }); };
  ours();
  stream.synchronize();
  // The same code by hand: a kernel of as many parameters of the same sizes.
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  uint64_t values[Count] = {};
  void *parameters[Count];
  const std::vector<Argument> arguments = withArguments(all, memory, [](auto... list) { return std::vector<Argument>{Argument(list)...}; });
  std::string ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty(";
  for (size_t i = 0; i < Count; ++i) {
    ptx += fmt::format("{}.param .{} p{}", i ? ", " : "", i % 2 == 0 ? "u64" : "u32", i);
    values[i] = arguments[i].bits, parameters[i] = &values[i];
  }
  ptx += ")\n.reqntid 128, 1, 1\n{ ret; }\n";
  if (driver) {
    cuda::Context context = nullptr;
    driver->devicePrimaryCtxRetain(&context, static_cast<cuda::Device>(device.implementation()->properties().ordinal));
    driver->ctxSetCurrent(context);
    if (driver->moduleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr) != cuda::Result::Success ||
        driver->moduleGetFunction(&function, module, "empty") != cuda::Result::Success)
      throw Error(ErrorKind::Device, "the empty kernel can't be loaded");
  }
  auto handle = static_cast<cuda::Stream>(stream.handle());
  auto raw = [&] { driver->launchKernel(function, 1, 1, 1, 128, 1, 1, 0, handle, parameters, nullptr); };
  auto wait = [&] { stream.synchronize(); };
  rows.push_back(inTurn(batches, fmt::format("GPU, {} arguments", Count), real ? 1.10 : 0, ours, raw, wait, real));
  Launcher launcher = kernel.launcherList(stream, arguments.data(), arguments.size());
  rows.push_back(inTurn(batches, fmt::format("GPU, {} arguments, launcher", Count), real ? 1.10 : 0, [&] { launcher.launch({1}); }, raw, wait, real));
}

/// Two tensor maps and three scalars, as a matrix product's kernel takes them. The code is by hand on both sides.
void tensorMaps(unsigned batches, std::vector<Cost> &rows, const Device &device) {
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
  std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u32 m, "
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
  rows.push_back(inTurn(batches, "GPU, two tensor maps", real ? 1.25 : 0, ours, raw, [&] { stream.synchronize(); }, real));
}
} // namespace

void launchCosts(const CostOptions &options, std::vector<Cost> &costs) {
  host(options.rounds, costs);
  if (options.device.isHost())
    return;
  gpu<4>(options.rounds, costs, options.device);
  gpu<40>(options.rounds, costs, options.device);
  tensorMaps(options.rounds, costs, options.device);
}

} // namespace tk::bench
