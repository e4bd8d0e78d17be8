// See Memory.h.
#include "test/conformance/Memory.h"
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace tk::conformance {

namespace {
constexpr uint8_t kPattern = 0xA5;
constexpr uint64_t kSlack = 256; // around plain buffers, also filled with the pattern
} // namespace

Memory::Memory(const Argument &argument) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), width = bytesOf(argument.initial.dtype);
  size = argument.initial.size() * width;
  innerBytes = (size + 2 * kSlack + page - 1) / page * page;
  total = innerBytes + 2 * page;
  void *mapped = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::runtime_error("no memory for a buffer");
  base = static_cast<uint8_t *>(mapped), inner = base + page;
  forbidden = argument.placement == Placement::Forbidden;
  start = argument.placement == Placement::AgainstLowerPage ? inner : argument.placement == Placement::AgainstUpperPage ? inner + innerBytes - size : inner + kSlack;
  if (forbidden)
    return;
  if (mprotect(inner, innerBytes, PROT_READ | PROT_WRITE) != 0)
    throw std::runtime_error("no memory for a buffer");
  std::memset(inner, kPattern, innerBytes);
  for (uint64_t i = 0; i < argument.initial.size(); ++i)
    std::memcpy(start + i * width, &argument.initial.bits[i], width);
}

Memory::Memory(Memory &&other) noexcept
    : base(std::exchange(other.base, nullptr)), inner(other.inner), start(other.start), total(other.total), innerBytes(other.innerBytes), size(other.size), forbidden(other.forbidden) {}

Memory::~Memory() {
  if (base)
    munmap(base, total);
}

Values Memory::read(const Argument &argument) const {
  if (forbidden)
    return argument.initial;
  const uint64_t width = bytesOf(argument.initial.dtype);
  Values result(argument.initial.dtype, std::vector<uint64_t>(argument.initial.size(), 0));
  for (uint64_t i = 0; i < result.size(); ++i)
    std::memcpy(&result.bits[i], start + i * width, width);
  return result;
}

bool Memory::intact() const {
  if (forbidden)
    return true;
  for (const uint8_t *byte = inner; byte < inner + innerBytes; ++byte)
    if ((byte < start || byte >= start + size) && *byte != kPattern)
      return false;
  return true;
}

} // namespace tk::conformance
