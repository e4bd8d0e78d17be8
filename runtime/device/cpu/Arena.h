// Scratch memory of one thread's kernel calls: aligned to 64 bytes, kept between launches, grown when needed, and followed by a page that faults, so that code which
// writes past its end is caught at once.
#pragma once
#include <cstddef>
#include <utility>

namespace tk::runtime {

class Arena {
public:
  Arena() = default;
  ~Arena() { release(); }
  Arena(Arena &&other) noexcept : base(std::exchange(other.base, nullptr)), mapped(std::exchange(other.mapped, 0)) {}
  Arena &operator=(Arena &&) = delete;

  /// Memory of at least `bytes`, whose end (rounded up to 64) is the guard page. Contents are unspecified. Null when memory is short.
  void *get(size_t bytes);

private:
  void release();
  char *base = nullptr;
  size_t mapped = 0; // with the guard page
};

} // namespace tk::runtime
