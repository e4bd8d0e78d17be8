#include "runtime/device/emulated/Memory.h"
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

static constexpr uint64_t gap = 512;

Memory::~Memory() {
  for (auto &[begin, range] : ranges)
    if (range.owned)
      std::free(reinterpret_cast<void *>(begin - gap));
}

uint64_t Memory::allocate(uint64_t bytes, std::string what) {
  if (bytes > uint64_t(1) << 46)
    return 0;
  void *block = std::aligned_alloc(gap, (bytes + gap - 1) / gap * gap + 2 * gap);
  if (!block)
    return 0;
  uint64_t begin = reinterpret_cast<uint64_t>(block) + gap;
  std::unique_lock lock(mutex);
  ranges[begin] = {begin, begin + bytes, false, true, std::move(what)};
  inUse += bytes;
  return begin;
}

void Memory::add(uint64_t begin, uint64_t bytes, bool readOnly, std::string what) {
  std::unique_lock lock(mutex);
  ranges[begin] = {begin, begin + bytes, readOnly, false, std::move(what)};
}

bool Memory::remove(uint64_t begin) {
  std::unique_lock lock(mutex);
  auto found = ranges.find(begin);
  if (found == ranges.end())
    return false;
  if (found->second.owned) {
    inUse -= found->second.end - begin;
    std::free(reinterpret_cast<void *>(begin - gap));
  }
  ranges.erase(found);
  return true;
}

bool Memory::find(uint64_t address, Range &range) const {
  std::shared_lock lock(mutex);
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin())
    return false;
  const Range &before = std::prev(after)->second;
  if (address >= before.end)
    return false;
  range.begin = before.begin;
  range.end = before.end;
  range.readOnly = before.readOnly;
  return true;
}

std::string Memory::describe(uint64_t address) const {
  std::shared_lock lock(mutex);
  auto after = ranges.upper_bound(address);
  if (after != ranges.begin()) {
    const Range &before = std::prev(after)->second;
    if (address - before.end < (uint64_t(1) << 30))
      return fmt::format("{} bytes behind the end of {} of {} bytes", address - before.end, before.what, before.end - before.begin);
  }
  if (after != ranges.end() && after->first - address < (uint64_t(1) << 30))
    return fmt::format("{} bytes before {} of {} bytes", after->first - address, after->second.what, after->second.end - after->first);
  return address < 65536 ? "a null pointer" : "in no allocation";
}

} // namespace tk::emulated
