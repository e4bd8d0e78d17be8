// Regions are few, so a linear search behind the latest hit is enough.
#include "compiler/interpret/Memory.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tk::interpret {

Memory::Memory(const std::vector<Region> &regions, bool check) : check(check) {
  for (const Region &region : regions) {
    uint64_t begin = reinterpret_cast<uint64_t>(region.data);
    for (const Range &other : ranges)
      overlapping |= begin < other.end && other.begin < begin + region.bytes;
    ranges.push_back({begin, begin + region.bytes, &region});
    anyBounds |= region.bounds != nullptr && region.elementBytes != 0;
  }
}

bool Memory::accessible(uint64_t address, unsigned bytes) {
  if (latest < ranges.size() && address >= ranges[latest].begin && address + bytes <= ranges[latest].end && address + bytes > address)
    return true;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (address >= ranges[i].begin && address + bytes <= ranges[i].end && address + bytes > address) {
      latest = i;
      return true;
    }
  }
  latest = ranges.size();
  return !check;
}

std::string Memory::describe(uint64_t address, unsigned bytes) const {
  const Range *nearest = nullptr;
  uint64_t distance = UINT64_MAX;
  for (const Range &range : ranges) {
    // Bytes between the access and the range; 0 when they touch or overlap.
    uint64_t gap = address >= range.end ? address - range.end : address + bytes <= range.begin ? range.begin - (address + bytes) : 0;
    if (gap < distance || !nearest) {
      distance = gap;
      nearest = &range;
    }
  }
  if (!nearest)
    return fmt::format("is at {:#x}, where no array is", address);
  std::string name = fmt::format("`{}` ({} bytes)", nearest->region->name, nearest->region->bytes);
  if (distance > (uint64_t(1) << 40))
    return fmt::format("is at {:#x}, far from every array", address);
  if (address >= nearest->end)
    return distance ? fmt::format("is {} bytes past the end of {}", distance, name) : fmt::format("is just past the end of {}", name);
  if (address + bytes <= nearest->begin)
    return fmt::format("is {} bytes before the start of {}", nearest->begin - address, name);
  return fmt::format("crosses the {} of {}", address < nearest->begin ? "start" : "end", name);
}

uint64_t Memory::read(uint64_t address, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void *>(address), bytes);
  return bits;
}

void Memory::write(uint64_t address, unsigned bytes, uint64_t bits) {
  if (read(address, bytes) == bits)
    return;
  std::memcpy(reinterpret_cast<void *>(address), &bits, bytes);
  ++version;
}

static double boundIn(const Region &region, uint64_t begin, uint64_t address, unsigned bytes) {
  uint64_t offset = address - begin, width = region.elementBytes;
  if (width == bytes && offset % width == 0)
    return region.bounds[offset / width];
  for (uint64_t i = offset / width; i <= (offset + bytes - 1) / width && i < region.bytes / width; ++i)
    if (region.bounds[i] != 0)
      return infinity();
  return 0;
}

double Memory::boundOf(uint64_t address, unsigned bytes) const {
  if (!anyBounds)
    return 0;
  auto has = [](const Range &range) { return range.region->bounds && range.region->elementBytes; };
  if (!overlapping)
    return latest < ranges.size() && has(ranges[latest]) ? boundIn(*ranges[latest].region, ranges[latest].begin, address, bytes) : 0;
  double bound = 0;
  for (const Range &range : ranges)
    if (has(range) && address >= range.begin && address + bytes <= range.end)
      bound = std::fmax(bound, boundIn(*range.region, range.begin, address, bytes));
  return bound;
}

void Memory::setBound(uint64_t address, unsigned bytes, double bound) {
  if (!sums.empty())
    sums.erase(address);
  if (!anyBounds)
    return;
  auto set = [&](const Range &range) {
    const Region &region = *range.region;
    if (!region.bounds || !region.elementBytes)
      return;
    // The part of the access inside this region.
    uint64_t first = address < range.begin ? range.begin : address, last = address + bytes > range.end ? range.end : address + bytes;
    uint64_t width = region.elementBytes, offset = first - range.begin;
    bool whole = width == bytes && offset % width == 0 && last - first == bytes;
    for (uint64_t i = offset / width; i <= (last - range.begin - 1) / width && i < region.bytes / width; ++i)
      region.bounds[i] = whole ? bound : bound != 0 ? infinity() : region.bounds[i];
  };
  if (!overlapping) {
    if (latest < ranges.size())
      set(ranges[latest]);
    return;
  }
  for (const Range &range : ranges)
    if (address < range.end && address + bytes > range.begin)
      set(range);
}

Element fromMemory(ElementType type, uint64_t bits) {
  Element value;
  if (type.kind == ElementType::Float) {
    float single;
    switch (type.format) {
    case Format::F32:
      single = std::bit_cast<float>(uint32_t(bits));
      value.f = single == single ? double(single) : decode(Format::F32, bits);
      return value;
    default:
      value.f = decode(type.format, bits);
      return value;
    }
  }
  value.i = type.bits == 1 ? (bits & 0xff) != 0 : bits & type.mask();
  return value;
}

uint64_t toMemory(ElementType type, Element value) {
  if (type.kind != ElementType::Float)
    return value.i;
  if (type.format == Format::F32 && !isNan(value.f))
    return std::bit_cast<uint32_t>(float(value.f));
  return encode(type.format, value.f);
}

} // namespace tk::interpret
