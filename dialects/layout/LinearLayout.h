// Layouts as linear maps over GF(2).
//
// Worked example. A 4 x 8 tile is held by 2 warps of 4 lanes with 4 registers each: 5 bits of tile index, 1 + 2 + 2 bits of place. Say that a thread holds 4
// neighbours of a row, lanes 0 and 1 share row 0, lanes 2 and 3 row 1, and the second warp has rows 2 and 3. Each *bit* of a place moves the tile index by a fixed
// amount, and amounts add up by exclusive or:
//
//     register bit 0 -> (0, 1)    register bit 1 -> (0, 2)
//     lane     bit 0 -> (0, 4)    lane     bit 1 -> (1, 0)
//     warp     bit 0 -> (2, 0)
//
// So register 3 of lane 2 in warp 1 holds (0,1) ^ (0,2) ^ (1,0) ^ (2,0) = row 3, column 3. These images are the map's *bases*. A zero basis means that the bit does
// not matter: the element is replicated. A swizzle is a map of shared-memory offset bits whose bases overlap in exclusive or. Composition of maps answers "who holds
// the element that thread t needs", a kernel or rank answers "is anything held twice", and quotients answer "is this store a row of 16-byte vectors".
//
// The mathematics is that of vector spaces over F2; see "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (2025) for its use in tile compilers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tk::layout {

/// A named dimension with a power-of-two size, given by its number of bits.
struct Dimension {
  std::string name;
  unsigned bits = 0;
  bool operator==(const Dimension &) const = default;
};

/// A place or an index: one value per dimension, by name.
using Coordinates = std::vector<std::pair<std::string, uint32_t>>;

/// A linear map from input dimensions to output dimensions. At most 64 bits on each side. Immutable.
///
/// Bits are numbered with the first dimension lowest, as `flatten` orders them: for inputs (register 2 bits, lane 5 bits) lane bit 0 is bit 2.
class LinearLayout {
public:
  /// The map without dimensions: the neutral element of `*`.
  LinearLayout() = default;
  /// `bases[i]` is the image of input bit i (flattened), as flattened output bits.
  LinearLayout(std::vector<Dimension> ins, std::vector<Dimension> outs, std::vector<uint64_t> bases);

  /// One input dimension onto one output dimension, bit by bit.
  static LinearLayout identity(const std::string &in, const std::string &out, unsigned bits);
  /// An input dimension whose bits don't matter; the output dimension has size 1.
  static LinearLayout zeros(const std::string &in, const std::string &out, unsigned bits);

  const std::vector<Dimension> &ins() const { return inDims; }
  const std::vector<Dimension> &outs() const { return outDims; }
  bool hasIn(const std::string &name) const;
  bool hasOut(const std::string &name) const;
  unsigned inBits(const std::string &name) const;  // 0 when absent
  unsigned outBits(const std::string &name) const; // 0 when absent
  unsigned totalInBits() const;
  unsigned totalOutBits() const;
  /// Image of bit `bit` of input dimension `in`, in output dimension `out`.
  uint32_t basis(const std::string &in, unsigned bit, const std::string &out) const;
  /// All bases, flattened.
  const std::vector<uint64_t> &matrix() const { return columns; }

  uint64_t apply(uint64_t in) const;
  Coordinates apply(const Coordinates &in) const;

  /// this * other: the other map on further bits. A dimension that both have is extended upwards: this has its low bits, other its high bits.
  LinearLayout operator*(const LinearLayout &other) const;
  /// x such that low * x == *this, when there is one.
  std::optional<LinearLayout> divideLeft(const LinearLayout &low) const;
  /// outer after this: (outer . this)(v) = outer(this(v)). This map's outputs are outer's inputs, by name, sizes equal.
  LinearLayout compose(const LinearLayout &outer) const;
  /// The inverse of a bijection.
  LinearLayout invert() const;
  /// For each input of this map an input of `other` with the same output: other^-1 . this. `other` must reach every output of this map; of several inputs the one with
  /// zeros in the free bits is taken.
  LinearLayout invertAndCompose(const LinearLayout &other) const;

  /// Dimensions renamed or reordered; the map stays the same function of names.
  LinearLayout transposeIns(const std::vector<std::string> &order) const;
  LinearLayout transposeOuts(const std::vector<std::string> &order) const;
  LinearLayout renameIn(const std::string &from, const std::string &to) const;
  LinearLayout renameOut(const std::string &from, const std::string &to) const;
  /// The same bits cut into other dimensions; the totals agree.
  LinearLayout reshapeIns(std::vector<Dimension> dims) const;
  LinearLayout reshapeOuts(std::vector<Dimension> dims) const;
  /// Only some inputs (the others are 0) or outputs.
  LinearLayout restrictIns(const std::vector<std::string> &names) const;
  LinearLayout restrictOuts(const std::vector<std::string> &names) const;

  unsigned rank() const;
  bool isSurjective() const { return rank() == totalOutBits(); }
  bool isInjective() const { return rank() == totalInBits(); }
  bool isBijective() const { return isSurjective() && isInjective(); }
  /// Input bits of `in` that can be cleared without losing an output: bit i is set when basis i depends on the lower ones. These are replication.
  uint64_t freeBits() const;
  uint32_t freeBits(const std::string &in) const;
  /// Number of low bits of input `in` that run along the low bits of output `out` one to one, alone: log2 of a vector's length.
  unsigned contiguousBits(const std::string &in, const std::string &out) const;

  bool operator==(const LinearLayout &) const = default;
  /// " - register: (0, 1) (0, 2)\n - lane: ..." for messages and tests.
  std::string toString() const;

private:
  unsigned inOffset(const std::string &name) const;
  unsigned outOffset(const std::string &name) const;
  std::vector<Dimension> inDims, outDims;
  std::vector<uint64_t> columns;
};

} // namespace tk::layout
