#include "runtime/device/emulated/MemoryAccess.h"
#include "runtime/device/emulated/Launch.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

ByWindow splitByWindow(Warp &warp, const Instr &i, uint32_t mask, LaneAddresses &addresses) {
  ByWindow result;
  forEachLane(mask, [&](int lane) {
    uint64_t address = addresses.address[lane];
    switch (address >> 60) {
    case 0: result.global |= 1u << lane; break;
    case sharedWindow >> 60: result.shared |= 1u << lane; break;
    case localWindow >> 60: result.local |= 1u << lane; break;
    default: warp.fault(i, 1u << lane, fmt::format("0x{:x} is no address", address), Finding::Cause::Address);
    }
    addresses.address[lane] = address & ~windowMask;
  });
  return result;
}

static void checkLane(Warp &warp, const Instr &i, int lane, uint64_t address, uint32_t bytes, bool writes) {
  for (Warp::Range &range : warp.ranges)
    if (address >= range.low && address < range.high && bytes <= range.high - address) {
      if (writes && range.readOnly)
        warp.fault(i, 1u << lane, fmt::format("a write of {} bytes at 0x{:x}, which is read-only", bytes, address), Finding::Cause::Address);
      return;
    }
  Memory::Range found;
  if (!warp.launch.device.memory().find(address, found))
    warp.fault(i, 1u << lane,
               fmt::format("{} of {} bytes at 0x{:x}, {}", writes ? "a write" : "a read", bytes, address, warp.launch.device.memory().describe(address)),
               Finding::Cause::Address);
  if (bytes > found.end - address)
    warp.fault(i, 1u << lane,
               fmt::format("{} of {} bytes at 0x{:x}, of which only {} are allocated", writes ? "a write" : "a read", bytes, address, found.end - address),
               Finding::Cause::Address);
  warp.ranges[warp.nextRange++ % warp.ranges.size()] = {found.begin, found.end, found.readOnly};
  if (writes && found.readOnly)
    warp.fault(i, 1u << lane, fmt::format("a write of {} bytes at 0x{:x}, which is read-only", bytes, address), Finding::Cause::Address);
}

void checkGlobal(Warp &warp, const Instr &i, uint32_t mask, const LaneAddresses &addresses, uint32_t bytes, uint32_t align, bool writes) {
  uint64_t all = 0, low = ~uint64_t(0), high = 0;
  forEachLane(mask, [&](int lane) {
    uint64_t address = addresses.address[lane];
    all |= address;
    low = std::min(low, address);
    high = std::max(high, address);
  });
  if (all & (align - 1))
    forEachLane(mask, [&](int lane) {
      if (addresses.address[lane] & (align - 1))
        warp.fault(i, 1u << lane, fmt::format("the address 0x{:x} is not aligned to {} bytes", addresses.address[lane], align), Finding::Cause::Alignment);
    });
  for (Warp::Range &range : warp.ranges)
    if (low >= range.low && high < range.high && bytes <= range.high - high && !(writes && range.readOnly))
      return;
  forEachLane(mask, [&](int lane) { checkLane(warp, i, lane, addresses.address[lane], bytes, writes); });
}

Block &sharedBlock(Warp &warp, const Instr &i, int lane, uint64_t address, uint32_t bytes, uint32_t align) {
  uint32_t rank = uint32_t(address >> 24) & 0xFF, offset = sharedOffset(address);
  if (address >> 32 || rank >= warp.launch.clusterBlocks)
    warp.fault(i, 1u << lane, fmt::format("0x{:x} is no address of shared memory", address), Finding::Cause::Address);
  Block &block = *warp.block.cluster.blocks[rank];
  if (!block.shared.contains(offset, bytes))
    warp.fault(
        i, 1u << lane,
        fmt::format("{} bytes at byte {} of shared memory, of which the block has {}", bytes, int64_t(offset) - int64_t(sharedBase), block.shared.size()),
        Finding::Cause::Address);
  if (offset & (align - 1))
    warp.fault(i, 1u << lane, fmt::format("byte {} of shared memory is not aligned to {} bytes", offset - sharedBase, align), Finding::Cause::Alignment);
  return block;
}

uint8_t *checkLocal(Warp &warp, const Instr &i, int lane, uint64_t address, uint32_t bytes, uint32_t align) {
  if (address >= warp.localLimit() || warp.localLimit() - address < bytes || address < 16)
    warp.fault(i, 1u << lane, fmt::format("{} bytes at 0x{:x} of local memory, of which the thread has {}", bytes, address, warp.localLimit()),
               Finding::Cause::Address);
  if (address & (align - 1))
    warp.fault(i, 1u << lane, fmt::format("the address 0x{:x} of local memory is not aligned to {} bytes", address, align), Finding::Cause::Alignment);
  return warp.localMemory(lane) + address;
}

void countGlobal(Warp &warp, uint32_t mask, const LaneAddresses &addresses, uint32_t bytes) {
  Statistics &statistics = warp.statistics;
  ++statistics.globalRequests;
  statistics.globalBytes += uint64_t(std::popcount(mask)) * bytes;
  int first = std::countr_zero(mask), last = 31 - std::countl_zero(mask);
  bool consecutive = true;
  uint64_t begin = addresses.address[first];
  forEachLane(mask, [&](int lane) { consecutive &= addresses.address[lane] == begin + uint64_t(lane - first) * bytes; });
  if (consecutive) {
    // Inactive lanes in between leave gaps, which sectors of 32 bytes mostly cover.
    statistics.globalSectors += ((addresses.address[last] + bytes - 1) >> 5) - (begin >> 5) + 1;
    return;
  }
  uint64_t seen[128];
  uint32_t used = 0;
  std::fill(std::begin(seen), std::end(seen), ~uint64_t(0));
  forEachLane(mask, [&](int lane) {
    for (uint64_t sector = addresses.address[lane] >> 5; sector <= (addresses.address[lane] + bytes - 1) >> 5; ++sector) {
      uint32_t slot = uint32_t(sector * 0x9E3779B97F4A7C15 >> 57);
      while (seen[slot] != ~uint64_t(0) && seen[slot] != sector)
        slot = (slot + 1) & 127;
      if (seen[slot] == ~uint64_t(0)) {
        seen[slot] = sector;
        ++used;
      }
    }
  });
  statistics.globalSectors += used;
}

// 32 banks of 4 bytes. Accesses of 8 and 16 bytes are served for 16 and 8 lanes at a time; lanes that want the same word share it.
void countShared(Warp &warp, uint32_t mask, const LaneAddresses &addresses, uint32_t bytes) {
  Statistics &statistics = warp.statistics;
  ++statistics.sharedRequests;
  uint32_t lanesAtOnce = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8, words = std::max(bytes / 4, 1u);
  for (uint32_t from = 0; from < 32; from += lanesAtOnce) {
    uint32_t part = mask & (lanesAtOnce == 32 ? ~0u : ((1u << lanesAtOnce) - 1) << from);
    if (!part)
      continue;
    uint64_t begin = addresses.address[from];
    bool consecutive = part == (lanesAtOnce == 32 ? ~0u : ((1u << lanesAtOnce) - 1) << from);
    if (consecutive)
      for (uint32_t lane = from; lane < from + lanesAtOnce; ++lane)
        consecutive &= addresses.address[lane] == begin + uint64_t(lane - from) * bytes;
    if (consecutive) {
      ++statistics.sharedWavefronts;
      ++statistics.sharedIdeal;
      continue;
    }
    uint32_t perBank[32] = {}, distinct = 0, most = 1;
    uint32_t list[32][32];
    forEachLane(part, [&](int lane) {
      for (uint32_t k = 0; k < words; ++k) {
        uint32_t word = uint32_t(addresses.address[lane] >> 2) + k, bank = word & 31;
        uint32_t *entries = list[bank], count = perBank[bank];
        bool known = false;
        for (uint32_t n = 0; n < count; ++n)
          known |= entries[n] == word;
        if (known || count >= 32)
          continue;
        entries[count] = word;
        most = std::max(most, ++perBank[bank]);
        ++distinct;
      }
    });
    statistics.sharedWavefronts += most;
    statistics.sharedIdeal += std::max((distinct + 31) / 32, 1u);
  }
}

MemoryModifiers takeMemoryModifiers(Decoding &d) {
  MemoryModifiers m;
  static constexpr std::pair<std::string_view, Space> spaces[] = {{"param", Space::Param},
                                                                  {"param::entry", Space::Param},
                                                                  {"param::func", Space::Param},
                                                                  {"global", Space::Global},
                                                                  {"shared", Space::Shared},
                                                                  {"shared::cta", Space::Shared},
                                                                  {"shared::cluster", Space::SharedCluster},
                                                                  {"local", Space::Local},
                                                                  {"const", Space::Const}};
  for (auto [name, space] : spaces)
    if (d.take(name)) {
      m.space = space;
      break;
    }
  m.isVolatile = d.take("volatile") || d.take("cv");
  m.isRelaxed = d.take("relaxed");
  if (d.take("mmio"))
    m.isRelaxed = true;
  if (d.take("acq_rel"))
    m.acquires = m.releases = true;
  m.acquires |= d.take("acquire");
  m.releases |= d.take("release");
  m.sequential = d.take("sc");
  d.take("weak");
  m.noScope = d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0;
  m.nonCoherent = d.take("nc");
  // How caches are used makes no difference here.
  for (std::string_view word : {"ca", "cg", "cs", "lu", "wb", "wt", "unified"})
    d.take(word);
  for (std::string_view word : {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::evict_last",
                                "L2::evict_normal", "L2::evict_first", "L2::64B", "L2::128B", "L2::256B"})
    d.take(word);
  m.cacheHint = d.take("L2::cache_hint");
  return m;
}

} // namespace tk::emulated
