// The memory that the program may touch: regions, their error bounds, and the sums that atomic additions form in no particular order.
#pragma once
#include "compiler/interpret/Launch.h"
#include "compiler/interpret/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace tk::interpret {

/// What is known of an element that atomic additions update. While only one program adds, one operation after another, the order is fixed and every execution rounds alike.
struct AtomicSum {
  uint64_t count = 0;
  double magnitude = 0;  // sum of |addend|, the first value included
  double propagated = 0; // sum of the addends' bounds
  int lowestBit = 4096;  // every addend is a multiple of 2^lowestBit
  double orderedBound = 0;
  uint64_t program = 0, operation = 0; // of the latest addition
  bool ordered = true;
};

class Memory {
public:
  Memory(const std::vector<Region> &regions, bool check);
  /// Whether all bytes lie in one region. Remembers the region for boundOf and setBound.
  bool accessible(uint64_t address, unsigned bytes);
  /// Where a refused access lies: "is 4 bytes past the end of `x` (4096 bytes)".
  std::string describe(uint64_t address, unsigned bytes) const;

  static uint64_t read(uint64_t address, unsigned bytes);
  void write(uint64_t address, unsigned bytes, uint64_t bits);
  /// The bound of an accessible element; infinity when the access cuts elements that have bounds.
  double boundOf(uint64_t address, unsigned bytes) const;
  void setBound(uint64_t address, unsigned bytes, double bound);

  llvm::DenseMap<uint64_t, AtomicSum> sums;
  /// Counts writes that changed memory.
  uint64_t version = 0;

private:
  struct Range {
    uint64_t begin = 0, end = 0;
    const Region *region = nullptr;
  };
  std::vector<Range> ranges;
  bool check, overlapping = false, anyBounds = false;
  size_t latest = 0;
};

/// Values in memory: i1 is a byte tested against zero, floats are codes.
Element fromMemory(ElementType type, uint64_t bits);
uint64_t toMemory(ElementType type, Element value);

} // namespace tk::interpret
