// See TileLayout.h.
#include "dialects/ttg/TileLayout.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>

namespace tk::ttg {

unsigned log2Of(int64_t powerOfTwo) { return std::countr_zero(uint64_t(powerOfTwo)); }

llvm::SmallVector<AxisBits> axisBitsOf(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<AxisBits> result(shape.size());
  unsigned begin = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    result[axis] = {begin, log2Of(shape[axis])};
    begin += result[axis].count;
  }
  return result;
}

uint32_t TileLayout::apply(llvm::ArrayRef<uint32_t> bases, uint32_t bits) {
  uint32_t index = 0;
  for (size_t i = 0; i < bases.size(); ++i)
    if (bits >> i & 1)
      index ^= bases[i];
  return index;
}

layout::LinearLayout TileLayout::toLinear(unsigned indexBits) const {
  std::vector<uint64_t> bases;
  for (auto *group : {&reg, &lane, &warp})
    bases.insert(bases.end(), group->begin(), group->end());
  return layout::LinearLayout({{"register", unsigned(reg.size())}, {"lane", unsigned(lane.size())}, {"warp", unsigned(warp.size())}}, {{"index", indexBits}}, std::move(bases));
}

namespace {
/// A growing subspace of F2^32 in echelon form.
struct Span {
  llvm::SmallVector<uint32_t> rows; // each with a leading bit that no other has
  /// False when the vector is in the span already.
  bool add(uint32_t vector) {
    for (uint32_t row : rows)
      vector = std::min(vector, vector ^ row);
    if (vector)
      rows.push_back(vector);
    return vector != 0;
  }
};
} // namespace

uint32_t TileLayout::freeThreadBits() const {
  // Registers first: a lane whose base is a sum of register bases has the elements of the lane without it, in other registers.
  Span span;
  for (uint32_t base : reg)
    span.add(base);
  uint32_t free = 0;
  unsigned bit = 0;
  for (auto *group : {&lane, &warp})
    for (uint32_t base : *group) {
      if (!span.add(base))
        free |= 1u << bit;
      ++bit;
    }
  return free;
}

bool TileLayout::isDuplicateRegister(unsigned number) const {
  Span span;
  for (size_t i = 0; i < reg.size(); ++i)
    if (!span.add(reg[i]) && number >> i & 1)
      return true;
  return false;
}

bool TileLayout::isPermutation() const {
  uint32_t seen = 0;
  for (auto *group : {&reg, &lane, &warp})
    for (uint32_t base : *group) {
      if (!base)
        continue;
      if (!std::has_single_bit(base) || seen & base)
        return false;
      seen |= base;
    }
  return true;
}

/// The bits of `value` where `mask` is set, moved together.
static uint32_t compress(uint32_t value, uint32_t mask) {
  uint32_t result = 0;
  for (unsigned from = 0, to = 0; from < 32; ++from)
    if (mask >> from & 1)
      result |= (value >> from & 1) << to++;
  return result;
}

static TileLayout mapBases(const TileLayout &layout, llvm::function_ref<uint32_t(uint32_t)> map, bool dropZeroRegisters) {
  TileLayout result;
  for (uint32_t base : layout.reg)
    if (uint32_t mapped = map(base); mapped || !dropZeroRegisters || !base)
      result.reg.push_back(mapped);
  for (uint32_t base : layout.lane)
    result.lane.push_back(map(base));
  for (uint32_t base : layout.warp)
    result.warp.push_back(map(base));
  return result;
}

TileLayout TileLayout::restrictedTo(uint32_t mask) const {
  return mapBases(*this, [&](uint32_t base) { return compress(base, mask); }, /*dropZeroRegisters=*/true);
}

TileLayout TileLayout::withoutAxis(AxisBits axis) const { return restrictedTo(~axis.mask()); }

TileLayout TileLayout::withAxis(AxisBits axis) const {
  uint32_t low = (uint32_t(1) << axis.begin) - 1;
  return mapBases(*this, [&](uint32_t base) { return (base & low) | (base & ~low) << axis.count; }, /*dropZeroRegisters=*/false);
}

TileLayout TileLayout::permuted(llvm::ArrayRef<unsigned> order) const {
  return mapBases(*this, [&](uint32_t base) {
    uint32_t result = 0;
    for (unsigned bit = 0; bit < order.size(); ++bit)
      result |= (base >> bit & 1) << order[bit];
    return result;
  }, /*dropZeroRegisters=*/false);
}

unsigned TileLayout::vectorBits() const {
  unsigned bits = 0;
  while (bits < reg.size() && reg[bits] == uint32_t(1) << bits)
    ++bits;
  // No other base may touch these bits, else a vector would not be aligned.
  uint32_t others = 0;
  for (auto *group : {&lane, &warp})
    for (uint32_t base : *group)
      others |= base;
  for (size_t i = bits; i < reg.size(); ++i)
    others |= reg[i];
  return std::min<unsigned>(bits, std::countr_zero(others));
}

llvm::hash_code hash_value(const TileLayout &layout) {
  return llvm::hash_combine(llvm::hash_combine_range(layout.reg.begin(), layout.reg.end()), llvm::hash_combine_range(layout.lane.begin(), layout.lane.end()),
                            llvm::hash_combine_range(layout.warp.begin(), layout.warp.end()), layout.reg.size(), layout.lane.size());
}

TileLayout blockedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order, unsigned vectorBits, unsigned laneBits, unsigned warpBits) {
  llvm::SmallVector<AxisBits> axes = axisBitsOf(shape);
  llvm::SmallVector<uint32_t> bits; // of the index, from the fastest
  for (unsigned axis : order)
    for (unsigned i = 0; i < axes[axis].count; ++i)
      bits.push_back(uint32_t(1) << (axes[axis].begin + i));
  // A vector stays within the fastest axis.
  vectorBits = std::min(vectorBits, order.empty() ? 0u : axes[order.front()].count);
  TileLayout result;
  size_t next = 0;
  auto take = [&] { return next < bits.size() ? bits[next++] : 0; };
  for (unsigned i = 0; i < vectorBits; ++i)
    result.reg.push_back(take());
  for (unsigned i = 0; i < laneBits; ++i)
    result.lane.push_back(take());
  for (unsigned i = 0; i < warpBits; ++i)
    result.warp.push_back(take());
  while (next < bits.size())
    result.reg.push_back(take());
  return result;
}

llvm::SmallVector<unsigned> fastestLast(size_t rank) {
  llvm::SmallVector<unsigned> order;
  while (rank > 0)
    order.push_back(--rank);
  return order;
}

TileLayout defaultLayout(llvm::ArrayRef<int64_t> shape, unsigned laneBits, unsigned warpBits) {
  return blockedLayout(shape, fastestLast(shape.size()), 0, laneBits, warpBits);
}

} // namespace tk::ttg
