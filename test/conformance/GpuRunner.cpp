// See GpuRunner.h.
#include "test/conformance/GpuRunner.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/EmulatedCuda.h"
#include "runtime/jit/GpuTarget.h"
#include "tk/error.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::conformance {

namespace {
constexpr uint8_t pattern = 0xA5;
constexpr uint64_t slack = 256;              // around buffers; none on the side where the buffer lies against a page that can't be accessed
constexpr uint64_t forbiddenAddress = 65536; // nothing is ever allocated there

/// A buffer in device memory.
class DeviceBuffer {
public:
  DeviceBuffer(runtime::GpuDevice &device, const Argument &argument, const Memory &memory) : device(device), bytes(memory.bytes()) {
    if (argument.placement == Placement::Forbidden)
      return;
    before = argument.placement == Placement::AgainstLowerPage ? 0 : slack;
    after = argument.placement == Placement::AgainstUpperPage ? 0 : slack;
    base = device.allocate(before + bytes + after);
    device.fill(base, pattern, before + bytes + after, nullptr);
    device.copyIn(base + before, memory.data(), bytes, nullptr);
  }
  ~DeviceBuffer() {
    try {
      if (base)
        device.free(base);
    } catch (const Error &) { // the context is lost
    }
  }
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;

  uint64_t address() const { return base ? base + before : forbiddenAddress; }
  /// Copies the elements back. False when memory beside them was written.
  bool read(Memory &memory) const {
    if (!base)
      return true;
    std::vector<uint8_t> all(before + bytes + after);
    device.copyOut(all.data(), base, all.size(), nullptr);
    std::copy_n(all.begin() + static_cast<ptrdiff_t>(before), bytes, memory.data());
    auto isPattern = [](uint8_t byte) { return byte == pattern; };
    return std::all_of(all.begin(), all.begin() + static_cast<ptrdiff_t>(before), isPattern) &&
           std::all_of(all.end() - static_cast<ptrdiff_t>(after), all.end(), isPattern);
  }

private:
  runtime::GpuDevice &device;
  uint64_t base = 0, before = 0, bytes, after = 0;
};
} // namespace

bool GpuRunner::isGpu(const std::string &execution) { return execution == "cuda" || nvidia::findTarget(execution); }

GpuRunner::GpuRunner(const std::string &execution) {
  if (execution == "cuda") {
    std::string why;
    const auto &devices = runtime::cudaDevices(&why);
    if (devices.empty())
      throw Error(ErrorKind::Device, why);
    device = devices[0];
    compileTarget = jit::targetOf(device->properties());
  } else {
    device = runtime::emulatedCudaDevice(nvidia::findTarget(execution)->sm);
    compileTarget = execution;
  }
  device->setPrinter([this](std::string_view line) { lines.emplace_back(line); });
}

void GpuRunner::run(const Case &testCase, const compiler::CompiledKernel &compiled, const SlotBits &slotBits, Ran &ran) {
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  for (size_t i = 0; i < ran.memory.size(); ++i)
    buffers.push_back(testCase.arguments[i].isBuffer ? std::make_unique<DeviceBuffer>(*device, testCase.arguments[i], ran.memory[i]) : nullptr);
  std::shared_ptr<runtime::GpuKernel> kernel = jit::makeKernel(*device, compiled);
  std::vector<uint64_t> slots = slotBits([&](unsigned parameter) { return buffers.at(parameter)->address(); });
  lines.clear();
  try {
    device->launch(*kernel, slots.data(), testCase.grid, nullptr);
    device->synchronize(nullptr);
  } catch (const Error &error) {
    ran.failure = error.what();
    lost = true;
  }
  ran.lines = std::move(lines);
  if (lost)
    return;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i] && !buffers[i]->read(ran.memory[i]) && ran.overrun.empty())
      ran.overrun = std::to_string(i);
}

} // namespace tk::conformance
