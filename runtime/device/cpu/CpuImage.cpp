// See CpuImage.h. The dynamic linker wants a path: an anonymous file has one under /proc. Where anonymous files may not be executed, a temporary file serves.
#include "runtime/device/cpu/CpuImage.h"
#include "runtime/Environment.h"
#include "tk/error.h"
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tk::runtime {

namespace {
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U // Linux 6.3
#endif

/// A file descriptor that is closed at the end.
struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// The dynamic linker takes a path that it has seen before for the same library, and numbers of files come again: so no path is ever the same. A counter's bits
/// are spelled as `./` and `.//`.
std::string uniquePath(int file) {
  static std::atomic<uint32_t> count{0};
  std::string path = "/proc/self/fd/";
  for (uint32_t bits = count.fetch_add(1, std::memory_order_relaxed); bits; bits >>= 1)
    path += bits & 1 ? ".//" : "./";
  return path + std::to_string(file);
}

void *openAnonymous(std::string_view library, const std::string &name) {
  Descriptor file{memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC | MFD_EXEC)};
  if (file.number < 0 && errno == EINVAL) // an older kernel
    file.number = memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC);
  if (file.number < 0 || !writeAll(file.number, library))
    return nullptr;
  return dlopen(uniquePath(file.number).c_str(), RTLD_NOW | RTLD_LOCAL);
}

void *openTemporary(std::string_view library) {
  std::string path = environment().temporaries + "/tkc-XXXXXX";
  Descriptor file{mkstemp(path.data())};
  if (file.number < 0)
    return nullptr;
  void *handle = writeAll(file.number, library) ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  return handle;
}
} // namespace

CpuImage::CpuImage(std::string_view library, const std::string &name) {
  handle = openAnonymous(library, name);
  if (!handle)
    handle = openTemporary(library);
  if (!handle) {
    const char *why = dlerror();
    throw Error(ErrorKind::Device, fmt::format("the code of `{}` can't be loaded: {}", name, why ? why : std::strerror(errno)));
  }
}

CpuImage::~CpuImage() {
  if (handle)
    dlclose(handle);
}

void *CpuImage::symbol(const std::string &name) const {
  if (void *address = dlsym(handle, name.c_str()))
    return address;
  throw Error(ErrorKind::Internal, fmt::format("the code has no symbol `{}`", name));
}

} // namespace tk::runtime
