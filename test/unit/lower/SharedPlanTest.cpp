// Tiles in shared memory as mathematics: where ldmatrix applies, every register gets its element by what the ISA says of the instruction, and no lane meets
// another in a bank.
#include "compiler/lower/SharedPlan.h"
#include "Catch.h"
#include <map>
#include <set>

using namespace tk;
using namespace tk::ttg;
using namespace tk::lower;

namespace {
llvm::SmallVector<uint32_t> inverse(llvm::ArrayRef<uint32_t> images, unsigned bits) {
  layout::LinearLayout map({{"offset", bits}}, {{"index", bits}}, std::vector<uint64_t>(images.begin(), images.end()));
  layout::LinearLayout inverted = map.invert();
  return llvm::SmallVector<uint32_t>(inverted.matrix().begin(), inverted.matrix().end());
}

unsigned spread(unsigned number, llvm::ArrayRef<unsigned> bits) {
  unsigned result = 0;
  for (size_t i = 0; i < bits.size(); ++i)
    result |= (number >> i & 1) << bits[i];
  return result;
}

/// The 16-byte vectors of eight lanes lie in different banks.
bool isConflictFree(llvm::ArrayRef<uint32_t> offsets, llvm::ArrayRef<uint32_t> lanes, unsigned bytes) {
  std::set<unsigned> banks;
  for (unsigned lane = 0; lane < 8; ++lane)
    banks.insert(TileLayout::apply(offsets, TileLayout::apply(lanes, lane)) * bytes / 16 % 8);
  return banks.size() == 8;
}

/// The largest number of words that one bank is asked for by the lanes that read at once, each the registers that lie side by side.
unsigned worstBank(llvm::ArrayRef<uint32_t> offsets, const TileLayout &reader, unsigned bytes) {
  unsigned width = bytes;
  for (size_t i = 0; i < reader.reg.size() && width < 16 && TileLayout::apply(offsets, reader.reg[i]) == 1u << i; ++i)
    width *= 2;
  std::map<unsigned, std::set<unsigned>> words;
  for (unsigned lane = 0; lane < (width <= 4 ? 32 : 128 / width); ++lane)
    for (unsigned byte = 0; byte < width; ++byte) {
      unsigned word = (TileLayout::apply(offsets, TileLayout::apply(reader.lane, lane)) * bytes + byte) / 4;
      words[word % 32].insert(word);
    }
  size_t worst = 0;
  for (auto &[bank, asked] : words)
    worst = std::max(worst, asked.size());
  return worst;
}

/// Executes the instruction as the ISA describes it: word and packed element of each lane, against the index that the layout wants there.
void checkMatrixRead(const MatrixRead &read, llvm::ArrayRef<uint32_t> offsets, llvm::ArrayRef<uint32_t> images, const TileLayout &to, unsigned bytes) {
  unsigned perRow = 16 / bytes, packed = 1u << read.packedBits, count = 1u << read.matrixBits.size();
  for (unsigned warp = 0; warp < 1u << to.warp.size(); ++warp)
    for (unsigned matrix = 0; matrix < count; ++matrix)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned k = 0; k < packed; ++k) {
          // Element (row, column) of the matrix that this lane gets.
          unsigned row = read.transposed ? 2 * (lane % 4) + k : lane / 4, column = read.transposed ? lane / 4 : lane % 4 * packed + k;
          unsigned base = spread(matrix, read.matrixBits);
          uint32_t start = TileLayout::apply(offsets, to.indexOf(base, 0, warp) ^ TileLayout::apply(read.rows, row));
          REQUIRE(start % perRow == 0);
          REQUIRE(TileLayout::apply(images, start + column) == to.indexOf(base | k, lane, warp));
        }
}
} // namespace

TEST_CASE("operands of matrix instructions are read by ldmatrix without bank conflicts") {
  struct Case {
    MatrixUnit unit;
    unsigned bytes;
    bool transposedToo;
  };
  mlir::MLIRContext context;
  context.loadDialect<TTGDialect>();
  for (Case kind :
       {Case{MatrixUnit::M16N8K16, 2, true}, Case{MatrixUnit::M16N8K8, 2, true}, Case{MatrixUnit::M16N8K32, 1, false}, Case{MatrixUnit::M16N8K8, 4, false}})
    for (int64_t outer : {64, 128, 256})
      for (int64_t depth : {32, 64, 128})
        for (MatrixOperand operand : {MatrixOperand::A, MatrixOperand::B})
          for (bool alongDepth : {false, true}) {
            int64_t shape[] = {operand == MatrixOperand::A ? outer : depth, operand == MatrixOperand::A ? depth : outer};
            unsigned bits = log2Of(outer * depth), vectorBits = log2Of(16 / kind.bytes);
            bool lastIsDepth = operand == MatrixOperand::A;
            llvm::SmallVector<unsigned> order = alongDepth == lastIsDepth ? llvm::SmallVector<unsigned>{1, 0} : llvm::SmallVector<unsigned>{0, 1};
            TileLayout writer = blockedLayout(shape, order, vectorBits, 5, 2);
            TileLayout reader = matrixLayout(MmaAttr::get(&context, kind.unit, 2, 2), operand, shape, 4 / kind.bytes);
            llvm::SmallVector<uint32_t> images = planShared(writer, vectorBits, reader, bits, kind.bytes), offsets = inverse(images, bits);
            for (unsigned i = 0; i < vectorBits; ++i)
              REQUIRE(TileLayout::apply(offsets, writer.reg[i]) == 1u << i);
            CAPTURE(kind.bytes, outer, depth, int(operand), alongDepth);
            CHECK(isConflictFree(offsets, writer.lane, kind.bytes));
            std::optional<MatrixRead> read = planMatrixRead(offsets, reader, kind.bytes);
            // What runs along K in memory is read as it is; the other direction takes transposition, which 16-bit elements have.
            REQUIRE(read.has_value() == (alongDepth || kind.transposedToo));
            if (!read)
              continue;
            CHECK(read->transposed == !alongDepth);
            CHECK(isConflictFree(offsets, read->rows, kind.bytes));
            checkMatrixRead(*read, offsets, images, reader, kind.bytes);
          }
}

TEST_CASE("operands that ldmatrix can't read are read without bank conflicts too") {
  struct Case {
    MatrixUnit unit;
    unsigned bytes, packed;
    bool alongDepth;
  };
  mlir::MLIRContext context;
  context.loadDialect<TTGDialect>();
  // Doubles, bytes and single precision across the depth, and bytes that become halves before they are multiplied.
  for (Case kind : {Case{MatrixUnit::M8N8K4, 8, 1, true}, Case{MatrixUnit::M8N8K4, 8, 1, false}, Case{MatrixUnit::M16N8K32, 1, 4, false},
                    Case{MatrixUnit::M16N8K8, 4, 1, false}, Case{MatrixUnit::M16N8K16, 1, 2, true}, Case{MatrixUnit::M16N8K16, 1, 2, false}})
    for (int64_t outer : {64, 128, 256})
      for (int64_t depth : {32, 64, 128})
        for (MatrixOperand operand : {MatrixOperand::A, MatrixOperand::B}) {
          int64_t shape[] = {operand == MatrixOperand::A ? outer : depth, operand == MatrixOperand::A ? depth : outer};
          unsigned bits = log2Of(outer * depth), vectorBits = log2Of(16 / kind.bytes);
          bool lastIsDepth = operand == MatrixOperand::A;
          llvm::SmallVector<unsigned> order = kind.alongDepth == lastIsDepth ? llvm::SmallVector<unsigned>{1, 0} : llvm::SmallVector<unsigned>{0, 1};
          TileLayout writer = blockedLayout(shape, order, vectorBits, 5, 2);
          TileLayout reader = matrixLayout(MmaAttr::get(&context, kind.unit, 2, 2), operand, shape, kind.packed);
          llvm::SmallVector<uint32_t> offsets = inverse(planShared(writer, vectorBits, reader, bits, kind.bytes), bits);
          CAPTURE(kind.bytes, kind.packed, outer, depth, int(operand), kind.alongDepth);
          REQUIRE(!planMatrixRead(offsets, reader, kind.bytes));
          CHECK(isConflictFree(offsets, writer.lane, kind.bytes));
          CHECK(worstBank(offsets, reader, kind.bytes) == 1);
        }
}
