// Memory of host arrays. Large ones are mapped, so that they start on a page, are zero without being touched, and may use huge pages.
#include "tk/array.h"
#include "runtime/FloatBits.h"
#include "tk/error.h"
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace tk {

namespace {
constexpr size_t mappedFrom = size_t(1) << 20, hugePage = size_t(2) << 20;

std::shared_ptr<void> allocate(size_t bytes) {
  if (bytes < mappedFrom) {
    size_t rounded = (bytes + 63) / 64 * 64;
    void *memory = std::aligned_alloc(64, rounded ? rounded : 64);
    if (!memory)
      return nullptr;
    std::memset(memory, 0, rounded);
    return std::shared_ptr<void>(memory, std::free);
  }
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  if (bytes >= hugePage)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return std::shared_ptr<void>(memory, [bytes](void *address) { munmap(address, bytes); });
}
} // namespace

Array::Array(DType dtype, std::vector<int64_t> shape) : type(dtype), extents(std::move(shape)), count(1) {
  bool empty = false;
  for (int64_t extent : extents) {
    if (extent < 0)
      throw Error(ErrorKind::User, fmt::format("an array can't have the extent {}", extent));
    empty |= extent == 0;
  }
  int64_t size = 0;
  for (int64_t extent : extents)
    if (!empty && __builtin_mul_overflow(count, extent, &count))
      throw Error(ErrorKind::User, "an array is too large: its elements can't be counted in 64 bits");
  if (empty)
    count = 0;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(bytesOf(type)), &size))
    throw Error(ErrorKind::User, "an array is too large: its bytes can't be counted in 64 bits");
  memory = allocate(static_cast<size_t>(size));
  if (!memory)
    throw Error(ErrorKind::Device, fmt::format("out of memory: an array of {} bytes can't be allocated", size));
}

std::vector<int64_t> Array::strides() const {
  std::vector<int64_t> result(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    result[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(result[i]) * static_cast<uint64_t>(extents[i])); // an empty array's may overflow
  return result;
}

Array Array::clone() const {
  Array copy(type, extents);
  if (bytes())
    std::memcpy(copy.data(), data(), bytes());
  return copy;
}

double Array::get(int64_t index) const { return decodeNumber(type, loadBits(type, data(), index)); }
int64_t Array::getInteger(int64_t index) const { return decodeInteger(type, loadBits(type, data(), index)); }
void Array::set(int64_t index, double value) { storeBits(type, data(), index, encodeNumber(type, value)); }
void Array::setInteger(int64_t index, int64_t value) { storeBits(type, data(), index, encodeInteger(type, value)); }

} // namespace tk
