// See SharedPlan.h.
#include "compiler/lower/SharedPlan.h"
#include <bit>

using namespace mlir;
using namespace tk;
using namespace tk::lower;
using namespace tk::ttg;

/// A place in shared memory for every element such that neither the writing nor the reading lanes of a warp meet in a bank, where that is possible: the bits
/// above one row of all banks are spanned by vectors H with (vector + H) disjoint from both sides' lanes. Source: "Linear Layouts: Robust Code Generation of
/// Efficient Tensor Computation Using F2" (2025), section on optimal swizzling.
SmallVector<uint32_t> lower::placeInBanks(const BankSides &sides, unsigned indexBits, unsigned elementBytes) {
  unsigned vectorBits = sides.low.size(), vectorBytes = elementBytes << vectorBits;
  unsigned bits = indexBits - sides.rounds.size();
  // Lanes that access the banks together: 32 of 4 bytes, 16 of 8, 8 of 16.
  unsigned phaseBits = vectorBytes <= 4 ? 5 : 5 - log2Of(vectorBytes / 4);
  unsigned bankBits = std::min<unsigned>(bits - vectorBits, vectorBytes >= 128 ? 0 : log2Of(128 / vectorBytes));
  unsigned highBits = bits - vectorBits - bankBits;

  auto side = [&](ArrayRef<uint32_t> lanes) {
    LinearImages span;
    for (uint32_t base : sides.low)
      span.add(base, 0);
    for (uint32_t base : sides.rounds)
      span.add(base, 0);
    // Lanes that share what moves at once, or an element, go on to the next ones: narrower accesses have more lanes in a phase.
    SmallVector<uint32_t> added;
    for (uint32_t lane : lanes)
      if (added.size() < phaseBits && span.add(lane, 0))
        added.push_back(lane);
    return std::make_pair(span, added);
  };
  auto [writers, writing] = side(sides.writing);
  auto [readers, reading] = side(sides.reading);
  LinearImages both = writers;
  for (uint32_t base : reading)
    both.add(base, 0);

  LinearImages taken; // what has a place
  unsigned next = 0;
  for (uint32_t base : sides.rounds)
    taken.add(base, 0);
  for (uint32_t base : sides.low)
    taken.add(base, 1u << next++);
  unsigned high = 0;
  auto placeHigh = [&](uint32_t vector) {
    if (high < highBits && taken.add(vector, 1u << (vectorBits + bankBits + high)))
      ++high;
  };
  // Directions that no lane of either side moves along, then sums of one of each side.
  for (unsigned i = 0; i < indexBits; ++i)
    if (both.add(1u << i, 0))
      placeHigh(1u << i);
  SmallVector<uint32_t> onlyWriting, onlyReading;
  for (uint32_t base : writing)
    if (!readers.contains(base))
      onlyWriting.push_back(base);
  for (uint32_t base : reading)
    if (!writers.contains(base))
      onlyReading.push_back(base);
  for (size_t i = 0; i < std::min(onlyWriting.size(), onlyReading.size()); ++i)
    placeHigh(onlyWriting[i] ^ onlyReading[i]);
  for (unsigned i = indexBits; i-- > 0;) // no choice is left: some lanes will meet
    placeHigh(1u << i);
  for (unsigned i = 0; i < indexBits; ++i)
    if (next < vectorBits + bankBits && taken.add(1u << i, 1u << next))
      ++next;
  SmallVector<uint32_t> offsets;
  for (unsigned i = 0; i < indexBits; ++i)
    offsets.push_back(taken.imageOf(1u << i));
  return offsets;
}

namespace {
/// The two ways of ldmatrix to fill a layout: the index vectors along a row of 16 bytes, and those that number the rows.
struct MatrixShapeOf {
  SmallVector<uint32_t> low, rows;
};
} // namespace

/// Lanes 0 and 1 (bits) go on along what a word packs, lanes 2 to 4 across it. Transposed, a row in memory runs across, and the words pack neighbouring rows.
static std::optional<MatrixShapeOf> matrixShape(const TileLayout &to, unsigned elementBytes, bool transposed) {
  if (elementBytes > 4 || (transposed && elementBytes != 2) || to.lane.size() != 5)
    return std::nullopt;
  unsigned packed = log2Of(4 / elementBytes);
  if (to.reg.size() < packed)
    return std::nullopt;
  MatrixShapeOf shape;
  shape.low.assign(to.reg.begin(), to.reg.begin() + packed);
  shape.low.append({to.lane[0], to.lane[1]});
  shape.rows.assign({to.lane[2], to.lane[3], to.lane[4]});
  if (transposed)
    std::swap(shape.low, shape.rows);
  return shape;
}

std::optional<MatrixRead> lower::planMatrixRead(ArrayRef<uint32_t> offsetOfIndexBit, const TileLayout &to, unsigned elementBytes) {
  for (bool transposed : {false, true}) {
    std::optional<MatrixShapeOf> shape = matrixShape(to, elementBytes, transposed);
    if (!shape)
      continue;
    unsigned lowBits = shape->low.size();
    auto offsetOf = [&](uint32_t vector) { return TileLayout::apply(offsetOfIndexBit, vector); };
    auto isAligned = [&](uint32_t vector) { return (offsetOf(vector) & ((1u << lowBits) - 1)) == 0; };
    MatrixRead read;
    read.transposed = transposed, read.packedBits = log2Of(4 / elementBytes), read.rows = shape->rows;
    bool fits = llvm::all_of(shape->rows, isAligned) && llvm::all_of(to.warp, isAligned);
    for (unsigned i = 0; fits && i < lowBits; ++i)
      fits = offsetOf(shape->low[i]) == 1u << i;
    for (unsigned i = read.packedBits; fits && i < to.reg.size(); ++i)
      fits = isAligned(to.reg[i]);
    if (!fits)
      continue;
    for (unsigned i = read.packedBits; i < to.reg.size() && read.matrixBits.size() < 2; ++i)
      if (to.reg[i])
        read.matrixBits.push_back(i);
    return read;
  }
  return std::nullopt;
}

/// No other base of the layout moves along these vectors, which are bits of the index.
static bool ownsBits(const TileLayout &layout, ArrayRef<uint32_t> vectors) {
  uint32_t mask = 0;
  for (uint32_t vector : vectors) {
    if (!std::has_single_bit(vector) || mask & vector)
      return false;
    mask |= vector;
  }
  for (auto *group : {&layout.reg, &layout.lane, &layout.warp})
    for (uint32_t base : *group)
      if (base & mask && !llvm::is_contained(vectors, base))
        return false;
  return true;
}

SmallVector<uint32_t> lower::planShared(const TileLayout &writer, unsigned vectorBits, const TileLayout &reader, unsigned indexBits, unsigned elementBytes) {
  ArrayRef<uint32_t> vector = ArrayRef(writer.reg).take_front(vectorBits);
  SmallVector<uint32_t> low(vector.begin(), vector.end()), reading(reader.lane.begin(), reader.lane.end());
  for (bool transposed : {false, true}) {
    std::optional<MatrixShapeOf> shape = matrixShape(reader, elementBytes, transposed);
    if (!shape || shape->low.size() < vectorBits || ArrayRef(shape->low).take_front(vectorBits) != vector || !ownsBits(reader, shape->low))
      continue;
    low = shape->low, reading = shape->rows;
    break;
  }
  SmallVector<uint32_t> offsets = placeInBanks({low, {}, writer.lane, reading}, indexBits, elementBytes);
  layout::LinearLayout toOffset({{"index", indexBits}}, {{"offset", indexBits}}, std::vector<uint64_t>(offsets.begin(), offsets.end()));
  layout::LinearLayout toIndex = toOffset.invert();
  return SmallVector<uint32_t>(toIndex.matrix().begin(), toIndex.matrix().end());
}
