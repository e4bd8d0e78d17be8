// tkc devices: what kernels can run on here, best first.
#include "runtime/Environment.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/jit/GpuTarget.h"
#include "tk/error.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/Verbs.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <fmt/format.h>

namespace tk::tool {

namespace {
double gibibytes(uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(uint64_t(1) << 30); }

/// The compile target, or why there is none.
std::string targetText(const runtime::GpuProperties &device) {
  try {
    return jit::targetOf(device);
  } catch (const Error &) {
    return "too old";
  }
}

std::string asText(const std::vector<std::shared_ptr<runtime::GpuDevice>> &devices, const std::string &why) {
  std::string text;
  for (const auto &device : devices) {
    const runtime::GpuProperties &facts = device->properties();
    text += fmt::format("cuda:{}  {}, {}, {:.1f} GiB, {} multiprocessors, driver for CUDA {}.{}\n", facts.ordinal, facts.name, targetText(facts),
                        gibibytes(facts.memoryBytes), facts.multiprocessors, facts.driverVersion / 1000, facts.driverVersion % 1000 / 10);
  }
  if (devices.empty())
    text += fmt::format("cuda    none: {}\n", why);
  text += fmt::format("cpu     {}, {} threads\n", llvm::sys::getHostCPUName().str(), runtime::availableCores());
  const std::string &ptxas = runtime::environment().ptxas;
  return text + fmt::format("ptxas   {}\n", ptxas.empty() ? "none in PATH: the driver's own assembler is used" : ptxas);
}

std::string asJson(const std::vector<std::shared_ptr<runtime::GpuDevice>> &devices, const std::string &why) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] {
    json.attributeArray("cuda", [&] {
      for (const auto &device : devices)
        json.object([&] {
          const runtime::GpuProperties &facts = device->properties();
          json.attribute("ordinal", facts.ordinal);
          json.attribute("name", llvm::json::fixUTF8(facts.name));
          json.attribute("target", targetText(facts));
          json.attribute("compute_capability", facts.architecture);
          json.attribute("memory_bytes", static_cast<int64_t>(facts.memoryBytes));
          json.attribute("l2_bytes", static_cast<int64_t>(facts.l2Bytes));
          json.attribute("multiprocessors", facts.multiprocessors);
          json.attribute("shared_bytes_per_block", static_cast<int64_t>(facts.maxSharedBytes));
          json.attribute("clock_khz", facts.clockKhz);
          json.attribute("memory_clock_khz", facts.memoryClockKhz);
          json.attribute("memory_bus_bits", facts.memoryBusBits);
          json.attribute("driver_cuda_version", facts.driverVersion);
        });
    });
    if (devices.empty())
      json.attribute("cuda_missing", llvm::json::fixUTF8(why));
    json.attributeObject("cpu", [&] {
      json.attribute("name", llvm::sys::getHostCPUName());
      json.attribute("threads", runtime::availableCores());
    });
    json.attribute("ptxas", runtime::environment().ptxas);
  });
  return text + "\n";
}
} // namespace

int devicesVerb(const std::vector<std::string> &arguments) {
  bool json = false, help = false;
  Verb verb = {"devices",
               "devices [options]",
               "lists what kernels can run on here, best first",
               "",
               {{"--json", "", "print one JSON object", [&](const std::string &) { json = true; }}}};
  std::vector<std::string> left = parseFlags(verb, arguments, help);
  if (help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return 0;
  }
  if (!left.empty())
    throw Failure(Status::Usage, fmt::format("`tkc devices` takes no argument, found `{}`", left[0]));
  std::string why;
  const auto &devices = runtime::cudaDevices(&why);
  std::fputs((json ? asJson(devices, why) : asText(devices, why)).c_str(), stdout);
  return 0;
}

} // namespace tk::tool
