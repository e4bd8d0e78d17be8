// See Frontend.h. A library that is loaded late has to be of the same build: its first call compares.
#include "runtime/Frontend.h"
#include "tk/error.h"
#include <atomic>
#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>

namespace tk::runtime {

namespace {
constexpr const char *libraryName = "libtkc_jit.so.0";
std::atomic<Frontend *> known{nullptr};

using Entry = Frontend *(*)(const char *identity);

/// Beside the library, or the program, that holds this function.
std::string besideUs() {
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<void *>(&besideUs), &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1) + libraryName;
}

Frontend *load() {
  std::string beside = besideUs();
  void *handle = beside.empty() ? nullptr : dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    handle = dlopen(libraryName, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    throw Error(ErrorKind::Device, fmt::format("a kernel has to be compiled, but tkc's compiler can't be loaded: {}: it belongs to the package that holds {}",
                                               why ? why : libraryName, libraryName));
  }
  auto entry = reinterpret_cast<Entry>(dlsym(handle, "tkc_jit_frontend"));
  Frontend *found = entry ? entry(compilerIdentity()) : nullptr;
  if (!found)
    throw Error(ErrorKind::Device, fmt::format("{} is of another version of tkc than the runtime that loads it", libraryName));
  return found;
}
} // namespace

Frontend &frontend() {
  if (Frontend *found = known.load(std::memory_order_acquire))
    return *found;
  static std::mutex &mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  if (!known.load(std::memory_order_relaxed))
    known.store(load(), std::memory_order_release);
  return *known.load(std::memory_order_relaxed);
}

void registerFrontend(Frontend &frontend) { known.store(&frontend, std::memory_order_release); }

} // namespace tk::runtime
