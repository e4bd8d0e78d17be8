// Where the elements of a tile lie in shared memory, so that neither who writes nor who reads them meets another lane in a bank.
#pragma once
#include "dialects/ttg/TTG.h"

namespace tk::lower {

/// Vectors over F2 with an image each; answers the image of any vector of their span.
class LinearImages {
public:
  /// False when the vector is in the span already.
  bool add(uint32_t vector, uint32_t image) {
    for (auto &[row, rowImage] : rows)
      if (std::min(vector, vector ^ row) != vector)
        vector ^= row, image ^= rowImage;
    if (!vector)
      return false;
    rows.push_back({vector, image});
    return true;
  }
  bool contains(uint32_t vector) const { return !reduce(vector, nullptr); }
  uint32_t imageOf(uint32_t vector) const {
    uint32_t image = 0;
    reduce(vector, &image);
    return image;
  }

private:
  uint32_t reduce(uint32_t vector, uint32_t *image) const {
    for (auto &[row, rowImage] : rows)
      if (std::min(vector, vector ^ row) != vector) {
        vector ^= row;
        if (image)
          *image ^= rowImage;
      }
    return vector;
  }
  llvm::SmallVector<std::pair<uint32_t, uint32_t>> rows;
};

/// What must be known of both sides: index vectors.
struct BankSides {
  llvm::ArrayRef<uint32_t> low;              // the lowest offset bits, in order: what moves at once
  llvm::ArrayRef<uint32_t> rounds;           // have no place of their own
  llvm::ArrayRef<uint32_t> writing, reading; // images of the lanes' bits, from the lowest
};
/// The offset of an element, in elements, is the XOR of these over the set bits of its index.
llvm::SmallVector<uint32_t> placeInBanks(const BankSides &sides, unsigned indexBits, unsigned elementBytes);

/// How ldmatrix gives each thread its registers. It reads matrices of 8 rows of 16 bytes; the lanes 8 q .. 8 q + 7 name the rows of matrix q, and all lanes get
/// a word of each matrix. Source: PTX ISA, "ldmatrix".
struct MatrixRead {
  bool transposed = false;                // a word holds neighbours of a column instead of a row
  unsigned packedBits = 0;                // log2 of the elements of a word, which are the lowest registers
  llvm::SmallVector<unsigned> matrixBits; // bits of the register number that number the matrices of one instruction: two at most
  llvm::SmallVector<uint32_t> rows;       // images of the bits of the row number
};
/// Whether ldmatrix applies for a tile that lies in shared memory like this and goes to registers like that.
std::optional<MatrixRead> planMatrixRead(llvm::ArrayRef<uint32_t> offsetOfIndexBit, const ttg::TileLayout &to, unsigned elementBytes);

/// A place for a tile that is written in vectors of 2^vectorBits elements from one layout (its lowest registers) and read to another one, by ldmatrix where the
/// two allow it. The result is what #ttg.shared takes.
llvm::SmallVector<uint32_t> planShared(const ttg::TileLayout &writer, unsigned vectorBits, const ttg::TileLayout &reader, unsigned indexBits,
                                       unsigned elementBytes);

} // namespace tk::lower
