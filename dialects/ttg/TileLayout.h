// A tile's distribution over registers, lanes and warps: bases of a linear map over GF(2) into the tile's row-major index.
//
// README.md has a worked example. This is LinearLayout with its dimensions fixed, as what passes and lowering ask is about single bits.
#pragma once
#include "dialects/layout/LinearLayout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tk::ttg {

/// Bits of a row-major index that belong to one axis: [begin, begin + count), the last axis lowest.
struct AxisBits {
  unsigned begin = 0, count = 0;
  uint32_t mask() const { return ((uint32_t(1) << count) - 1) << begin; }
};
/// `shape` has power-of-two extents.
llvm::SmallVector<AxisBits> axisBitsOf(llvm::ArrayRef<int64_t> shape);
unsigned log2Of(int64_t powerOfTwo);

struct TileLayout {
  llvm::SmallVector<uint32_t, 8> reg, lane, warp;

  bool operator==(const TileLayout &) const = default;
  unsigned registers() const { return 1u << reg.size(); }
  /// XOR of the bases that the bits of the number select.
  static uint32_t apply(llvm::ArrayRef<uint32_t> bases, uint32_t bits);
  uint32_t indexOfRegister(unsigned number) const { return apply(reg, number); }
  uint32_t indexOf(unsigned regNumber, unsigned laneNumber, unsigned warpNumber) const { return apply(reg, regNumber) ^ apply(lane, laneNumber) ^ apply(warp, warpNumber); }
  layout::LinearLayout toLinear(unsigned indexBits) const;

  /// Bits of lane and warp number whose value does not matter, as a mask of the thread number (lane bits lowest): the elements are held once for each of their values
  /// (in the same registers when no lane or warp base overlaps those of registers, as in a permutation).
  uint32_t freeThreadBits() const;
  /// Registers that hold elements that a lower register of the same thread holds too.
  bool isDuplicateRegister(unsigned number) const;
  /// Every base is 0 or a single bit, no bit twice: then registers, lanes and warps each own bits of the index.
  bool isPermutation() const;

  /// The layout after the axis is gone: its bits are dropped from every base, registers that only counted along it vanish.
  TileLayout withoutAxis(AxisBits axis) const;
  /// The inverse direction: every base with `axis` bits of 0 inserted (a new axis of extent 1 << axis.count whose bits no one owns yet).
  TileLayout withAxis(AxisBits axis) const;
  /// The bits of the index renumbered: bit i becomes bit order[i].
  TileLayout permuted(llvm::ArrayRef<unsigned> order) const;
  /// All bases cut to the bits of `mask`, then compressed to the bits where `mask` is set; registers with base 0 vanish.
  TileLayout restrictedTo(uint32_t mask) const;
  /// Elements of `contiguous` index bits [0, n) that registers 0.. hold in order: log2 of a vector along the last axis.
  unsigned vectorBits() const;
};
llvm::hash_code hash_value(const TileLayout &layout);

/// Registers along the lowest index bits first (2^vector elements a thread), then lanes, then warps, then registers again. `order` lists axes from the
/// fastest; the last axis is the fastest in memory, but a tile may be read along another one.
TileLayout blockedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order, unsigned vectorBits, unsigned laneBits, unsigned warpBits);
/// The axes from the last to the first: row-major order, the fastest first.
llvm::SmallVector<unsigned> fastestLast(size_t rank);
/// blockedLayout with the row-major order and no vectors.
TileLayout defaultLayout(llvm::ArrayRef<int64_t> shape, unsigned laneBits, unsigned warpBits);

} // namespace tk::ttg
