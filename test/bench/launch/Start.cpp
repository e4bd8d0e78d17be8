// bench-start: one start of a program that finds its code in the disk cache, taken apart; it says whether a compiler was loaded.
//
//   bench-start SOFTMAX.tk [--device N | --emulate sm_90a]
//
// The first launch ever compiles: then the runtime loads libtkc_jit, where it is. Prints one JSON object of seconds since main() began; status 1 for a wrong
// result.
#include "FirstLaunch.h"
#include "runtime/Environment.h"
#include "runtime/device/cuda/CudaDriver.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace tk;

static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Libraries of a compiler in this process: "libLLVM.so.22.1 libtkc_jit.so.0".
static std::string compilers() {
  std::string found, line;
  for (std::ifstream maps("/proc/self/maps"); std::getline(maps, line);) {
    const std::string file = line.substr(line.rfind('/') + 1);
    for (const char *part : {"libLLVM", "libMLIR", "libtkc_jit"})
      if (line.find('/') != std::string::npos && file.rfind(part, 0) == 0 && found.find(file) == std::string::npos)
        found += (found.empty() ? "" : " ") + file;
  }
  return found;
}

int main(int argc, char **argv) {
  const double begin = now();
  double driver = 0, init = 0, context = 0; // what any program that uses the GPU pays
  try {
    if (argc != 2 && argc != 4)
      throw Error(ErrorKind::User, "usage: bench-start SOFTMAX.tk [--device N | --emulate sm_90a]");
    Device device;
    if (argc == 4 && !std::strcmp(argv[2], "--emulate"))
      device = Device::emulated(argv[3]);
    else if (argc == 4) {
      const auto ordinal = static_cast<unsigned>(std::atoi(argv[3]));
      double start = now();
      const cuda::Driver &cuda = cuda::loadDriver(runtime::environment().cudaDriver);
      driver = now() - start, start = now();
      cuda.init(0);
      init = now() - start, start = now();
      cuda::Device handle = 0;
      cuda::Context made = nullptr;
      if (cuda.deviceGet(&handle, static_cast<int>(ordinal)) != cuda::Result::Success || cuda.devicePrimaryCtxRetain(&made, handle) != cuda::Result::Success ||
          cuda.ctxSetCurrent(made) != cuda::Result::Success)
        throw Error(ErrorKind::Device, "the driver makes no context");
      context = now() - start;
      device = Device::cuda(ordinal);
    }
    bench::FirstLaunch first(device, argv[1]);
    const double end = now();
    const bool right = first.isRight();
    std::printf(
        "{\"device\": \"%s\", \"right\": %s, \"compiled\": %zu, \"compilers\": \"%s\", \"total\": %.6f, \"driver\": %.6f, \"init\": %.6f, \"context\": %.6f, "
        "\"beyond\": %.6f}\n",
        device.name().c_str(), right ? "true" : "false", first.compiled, compilers().c_str(), end - begin, driver, init, context, end - begin - init - context);
    return right ? 0 : 1;
  } catch (const Error &error) {
    std::fprintf(stderr, "bench-start: %s\n", error.what());
    return 1;
  }
}
