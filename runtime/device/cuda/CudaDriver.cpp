// See CudaDriver.h.
#include "runtime/device/cuda/CudaDriver.h"
#include "tk/error.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>

namespace tk::cuda {

namespace {
enum class Need : uint8_t { Required, Optional };

constexpr const char *defaultLibrary = "libcuda.so.1";

std::unique_ptr<Driver> load(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    throw Error(ErrorKind::Device, fmt::format("NVIDIA's driver can't be loaded: {}", why ? why : library.c_str()));
  }
  auto driver = std::make_unique<Driver>();
  std::string missing;
#define CUDA_ENTRY(need, name, symbol, ...)                           \
  if (void *address = dlsym(handle, symbol))                          \
    driver->name = reinterpret_cast<decltype(driver->name)>(address); \
  else if (Need::need == Need::Required)                              \
    missing += (missing.empty() ? "" : ", ") + std::string(symbol);
#include "runtime/device/cuda/CudaEntryPoints.def"
#undef CUDA_ENTRY
  if (missing.empty())
    return driver;
  dlclose(handle);
  throw Error(ErrorKind::Device, fmt::format("`{}` is no driver that tkc can use, or one too old: it lacks {}", library, missing));
}
} // namespace

const Driver &loadDriver(const std::string &path) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Driver>> drivers;
  std::lock_guard lock(mutex);
  std::string library = path.empty() ? defaultLibrary : path;
  std::unique_ptr<Driver> &driver = drivers[library];
  if (!driver)
    driver = load(library);
  return *driver;
}

std::string describe(const Driver &driver, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (!driver.getErrorName || driver.getErrorName(result, &name) != Result::Success || !name)
    return fmt::format("error {}", static_cast<int>(result));
  if (!driver.getErrorString || driver.getErrorString(result, &text) != Result::Success || !text)
    return fmt::format("{} ({})", name, static_cast<int>(result));
  return fmt::format("{} ({}): {}", name, static_cast<int>(result), text);
}

} // namespace tk::cuda
