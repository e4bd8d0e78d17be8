// Global memory: the host's own, so that addresses are pointers; every access is checked against what is allocated.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

namespace tk::emulated {

class Memory {
public:
  struct Range {
    uint64_t begin = 0, end = 0;
    bool readOnly = false, owned = false;
    std::string what;
  };
  ~Memory();
  /// 0 when there is no memory. Aligned to 512 bytes (the driver gives 256 at least), with a gap on either side.
  uint64_t allocate(uint64_t bytes, std::string what = "an allocation");
  /// Memory that someone else owns: kernel parameters, pinned host memory.
  void add(uint64_t begin, uint64_t bytes, bool readOnly, std::string what);
  /// False when nothing begins there.
  bool remove(uint64_t begin);
  /// The range that holds the address. False when there is none; then `nearest` describes what lies next to it.
  bool find(uint64_t address, Range &range) const;
  std::string describe(uint64_t address) const;
  uint64_t bytesInUse() const { return inUse; }

private:
  mutable std::shared_mutex mutex;
  std::map<uint64_t, Range> ranges; // by begin
  std::atomic<uint64_t> inUse = 0;
};

} // namespace tk::emulated
