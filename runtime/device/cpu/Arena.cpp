// See Arena.h.
#include "runtime/device/cpu/Arena.h"
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace tk::runtime {

void Arena::release() {
  if (base)
    munmap(base, mapped);
  base = nullptr, mapped = 0;
}

void *Arena::get(size_t bytes) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), needed = (bytes + 63) / 64 * 64;
  if (needed < bytes || needed > SIZE_MAX / 2)
    return nullptr;
  if (!base || needed > mapped - page) {
    release();
    size_t size = (needed + page - 1) / page * page + page;
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    base = static_cast<char *>(memory), mapped = size;
    if (mprotect(base + mapped - page, page, PROT_NONE) != 0) {
      release();
      return nullptr;
    }
  }
  return base + mapped - page - needed;
}

} // namespace tk::runtime
