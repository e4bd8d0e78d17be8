// Elements between two pages that nobody may touch: an access one byte past either end is a segmentation fault, which ends the test program.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tk::test {

/// Which forbidden page the elements touch. Between the elements and the other one there is slack up to a page, filled with a pattern that intact() checks.
enum class Against { Below, Above };

template <typename T> class GuardedMemory {
public:
  GuardedMemory(size_t count, Against side, T fill = T()) : elements(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inner = (count * sizeof(T) + page - 1) / page * page + page;
    total = inner + 2 * page;
    base = static_cast<uint8_t *>(mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + page, inner, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("no memory for a guarded array");
    first = base + page;
    std::memset(first, kPattern, inner);
    start = reinterpret_cast<T *>(side == Against::Below ? first : first + inner - count * sizeof(T));
    for (size_t i = 0; i < count; ++i)
      start[i] = fill;
  }
  ~GuardedMemory() { munmap(base, total); }
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  T *data() const { return start; }
  size_t size() const { return elements; }
  T &operator[](size_t i) const { return start[i]; }
  /// Nothing outside the elements has been written.
  bool intact() const {
    const uint8_t *begin = reinterpret_cast<const uint8_t *>(start), *end = reinterpret_cast<const uint8_t *>(start + elements);
    for (const uint8_t *byte = first; byte < first + inner; ++byte)
      if ((byte < begin || byte >= end) && *byte != kPattern)
        return false;
    return true;
  }

private:
  static constexpr uint8_t kPattern = 0xA5;
  size_t elements, inner = 0, total = 0;
  uint8_t *base = nullptr, *first = nullptr;
  T *start = nullptr;
};

} // namespace tk::test
