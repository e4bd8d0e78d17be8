// The memory behind the buffers of a case: plain, against a page that can't be accessed, or such pages altogether.
#pragma once
#include "test/conformance/Case.h"

namespace tk::conformance {

class Memory {
public:
  explicit Memory(const Argument &argument);
  ~Memory();
  Memory(Memory &&other) noexcept;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  uint8_t *data() const { return start; }
  uint64_t bytes() const { return size; }
  /// The elements as they are now; the initial ones of forbidden memory.
  Values read(const Argument &argument) const;
  /// Whether everything around the elements is untouched.
  bool intact() const;

private:
  uint8_t *base = nullptr, *inner = nullptr, *start = nullptr;
  uint64_t total = 0, innerBytes = 0, size = 0;
  bool forbidden = false;
};

} // namespace tk::conformance
