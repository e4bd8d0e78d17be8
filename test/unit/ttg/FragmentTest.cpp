// matrixLayout against the fragment figures of the PTX ISA ("Matrix Fragments for mma.m16n8k16" and its neighbours), typed here from the document: for every lane and
// element of a fragment its row and column. The layout must place one instruction as the figure does, and further instructions and warps as #ttg.mma promises.
#include "Catch.h"
#include "dialects/ttg/TTG.h"
#include "mlir/IR/MLIRContext.h"
#include <map>
#include <set>

using namespace tk;
using namespace tk::ttg;

namespace {

struct Place {
  int row, column;
  bool operator==(const Place &) const = default;
};
std::ostream &operator<<(std::ostream &out, Place place) { return out << "(" << place.row << ", " << place.column << ")"; }

/// Fragments of one instruction. `group` is laneid >> 2, `inGroup` laneid % 4; i counts the elements a0, a1, ...
struct Figure {
  const char *name;
  MatrixUnit unit;
  unsigned bits; // of an operand's element
  int aCount, bCount, cCount;
  Place (*a)(int group, int inGroup, int i);
  Place (*b)(int group, int inGroup, int i);
  Place (*c)(int group, int inGroup, int i);
};

// C and D of every m16n8 shape: c0 c1 in row `group`, c2 c3 in row `group` + 8.
Place wideSum(int group, int inGroup, int i) { return {i < 2 ? group : group + 8, inGroup * 2 + (i & 1)}; }

const Figure figures[] = {
    {"m16n8k16, 16-bit", MatrixUnit::M16N8K16, 16, 8, 4, 4,
     [](int group, int inGroup, int i) {
       bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
       return Place{upper ? group : group + 8, i < 4 ? inGroup * 2 + (i & 1) : inGroup * 2 + (i & 1) + 8};
     },
     [](int group, int inGroup, int i) { return Place{i < 2 ? inGroup * 2 + (i & 1) : inGroup * 2 + (i & 1) + 8, group}; }, wideSum},
    {"m16n8k8, 16-bit", MatrixUnit::M16N8K8, 16, 4, 2, 4, [](int group, int inGroup, int i) { return Place{i < 2 ? group : group + 8, inGroup * 2 + (i & 1)}; },
     [](int group, int inGroup, int i) { return Place{inGroup * 2 + i, group}; }, wideSum},
    {"m16n8k8, tf32", MatrixUnit::M16N8K8, 32, 4, 2, 4,
     [](int group, int inGroup, int i) { return Place{i == 0 || i == 2 ? group : group + 8, i == 0 || i == 1 ? inGroup : inGroup + 4}; },
     [](int group, int inGroup, int i) { return Place{i == 0 ? inGroup : inGroup + 4, group}; }, wideSum},
    {"m16n8k32, 8-bit", MatrixUnit::M16N8K32, 8, 16, 8, 4,
     [](int group, int inGroup, int i) {
       bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
       return Place{upper ? group : group + 8, i < 8 ? inGroup * 4 + (i & 3) : inGroup * 4 + (i & 3) + 16};
     },
     [](int group, int inGroup, int i) { return Place{i < 4 ? inGroup * 4 + (i & 3) : inGroup * 4 + (i & 3) + 16, group}; }, wideSum},
    {"m8n8k4, f64", MatrixUnit::M8N8K4, 64, 1, 1, 2, [](int group, int inGroup, int) { return Place{group, inGroup}; }, [](int group, int inGroup, int) { return Place{inGroup, group}; },
     [](int group, int inGroup, int i) { return Place{group, inGroup * 2 + (i & 1)}; }},
};

Place placeOf(uint32_t index, int64_t columns) { return {int(index / columns), int(index % columns)}; }

struct Maps {
  mlir::MLIRContext context;
  Maps() { context.loadDialect<TTGDialect>(); }
  TileLayout of(const Figure &figure, MatrixOperand operand, llvm::ArrayRef<int64_t> shape, unsigned warpsM, unsigned warpsN) {
    return matrixLayout(MmaAttr::get(&context, figure.unit, warpsM, warpsN), operand, shape, std::max(1u, 32 / figure.bits));
  }
};

unsigned log2(unsigned value) { return log2Of(value); }

} // namespace

TEST_CASE("one instruction's fragments are the figures of the ISA") {
  Maps maps;
  for (const Figure &figure : figures) {
    MatrixShape unit = shapeOf(figure.unit);
    TileLayout a = maps.of(figure, MatrixOperand::A, {unit.m, unit.k}, 1, 1), b = maps.of(figure, MatrixOperand::B, {unit.k, unit.n}, 1, 1), c = maps.of(figure, MatrixOperand::C, {unit.m, unit.n}, 1, 1);
    INFO(figure.name);
    CHECK(int(a.registers()) == figure.aCount);
    CHECK(int(b.registers()) == figure.bCount);
    CHECK(int(c.registers()) == figure.cCount);
    for (int lane = 0; lane < 32; ++lane) {
      INFO("lane " << lane);
      for (int i = 0; i < figure.aCount; ++i)
        CHECK(placeOf(a.indexOf(i, lane, 0), unit.k) == figure.a(lane >> 2, lane % 4, i));
      for (int i = 0; i < figure.bCount; ++i)
        CHECK(placeOf(b.indexOf(i, lane, 0), unit.n) == figure.b(lane >> 2, lane % 4, i));
      for (int i = 0; i < figure.cCount; ++i)
        CHECK(placeOf(c.indexOf(i, lane, 0), unit.n) == figure.c(lane >> 2, lane % 4, i));
    }
  }
}

TEST_CASE("warps and further instructions are offsets of whole instruction tiles, equal for the operands and the sum") {
  Maps maps;
  struct Case {
    int64_t batch, m, n, k; // in instructions
    unsigned warpsM, warpsN;
  };
  // More warps than tiles, fewer, one axis much longer, a batch.
  const Case cases[] = {{1, 1, 1, 1, 1, 1}, {1, 4, 2, 8, 2, 2}, {1, 2, 16, 1, 2, 4}, {1, 8, 1, 2, 4, 1}, {1, 1, 4, 4, 4, 2}, {1, 2, 2, 2, 1, 8}, {2, 2, 4, 2, 2, 2}, {4, 1, 1, 2, 2, 2}};
  for (const Figure &figure : figures)
    for (const Case &size : cases) {
      MatrixShape unit = shapeOf(figure.unit);
      int64_t m = size.m * unit.m, n = size.n * unit.n, k = size.k * unit.k;
      TileLayout a = maps.of(figure, MatrixOperand::A, {size.batch, m, k}, size.warpsM, size.warpsN);
      TileLayout b = maps.of(figure, MatrixOperand::B, {size.batch, k, n}, size.warpsM, size.warpsN);
      TileLayout c = maps.of(figure, MatrixOperand::C, {size.batch, m, n}, size.warpsM, size.warpsN);
      INFO(figure.name << " batch " << size.batch << ", " << m << "x" << n << "x" << k << ", warps " << size.warpsM << "x" << size.warpsN);
      unsigned warps = size.warpsM * size.warpsN;
      for (const TileLayout *layout : {&a, &b, &c}) {
        REQUIRE(layout->lane.size() == 5);
        REQUIRE(layout->warp.size() == log2(warps));
        REQUIRE(layout->isPermutation());
      }
      std::set<uint32_t> seen;
      for (unsigned warp = 0; warp < warps; ++warp) {
        // The warp's tiles: N first in the warp number.
        int64_t warpColumn = warp % size.warpsN % size.n, warpRow = warp / size.warpsN % size.m;
        for (unsigned fragment = 0; fragment < c.registers() / unsigned(figure.cCount); ++fragment) {
          uint32_t first = c.indexOf(fragment * figure.cCount, 0, warp);
          int64_t batch = first / (m * n);
          Place corner = placeOf(first % (m * n), n);
          REQUIRE(corner.row % unit.m == 0);
          REQUIRE(corner.column % unit.n == 0);
          REQUIRE(corner.row / unit.m % std::min<int64_t>(size.warpsM, size.m) == warpRow);
          REQUIRE(corner.column / unit.n % std::min<int64_t>(size.warpsN, size.n) == warpColumn);
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < figure.cCount; ++i) {
              uint32_t index = c.indexOf(fragment * figure.cCount + i, lane, warp);
              Place inside = figure.c(lane >> 2, lane % 4, i);
              REQUIRE(index == uint32_t((batch * m + corner.row + inside.row) * n + corner.column + inside.column));
              seen.insert(index);
            }
          // Every fragment of the operands that this tile of the sum needs is in the same warp.
          for (int64_t depth = 0; depth < k; depth += unit.k) {
            auto holds = [&](const TileLayout &layout, int count, Place (*figureOf)(int, int, int), int64_t rows, int64_t columns, int64_t row, int64_t column) {
              for (unsigned other = 0; other < layout.registers() / unsigned(count); ++other) {
                if (layout.indexOf(other * count, 0, warp) != uint32_t((batch * rows + row) * columns + column))
                  continue;
                for (int lane = 0; lane < 32; ++lane)
                  for (int i = 0; i < count; ++i) {
                    Place inside = figureOf(lane >> 2, lane % 4, i);
                    REQUIRE(layout.indexOf(other * count + i, lane, warp) == uint32_t((batch * rows + row + inside.row) * columns + column + inside.column));
                  }
                return true;
              }
              return false;
            };
            REQUIRE(holds(a, figure.aCount, figure.a, m, k, corner.row, depth));
            REQUIRE(holds(b, figure.bCount, figure.b, k, n, depth, corner.column));
          }
        }
      }
      CHECK(seen.size() == size_t(size.batch * m * n));
    }
}

// PTX ISA, "Register Fragments for wgmma.mma_async": the sum of m64nNk16, where a warp of the group has 16 rows and d(i) stands in column (i / 4) * 8 + 2 *
// (laneid % 4) + i % 2; A of 16-bit elements in registers is the same fragment as m16n8k16's, in the same rows.
TEST_CASE("the fragments of wgmma are the figures of the ISA, and groups divide rows and columns") {
  Maps maps;
  struct Case {
    int64_t m, n, k;
    unsigned warpsM, warpsN;
  };
  const Case cases[] = {{64, 8, 16, 4, 1}, {64, 256, 64, 4, 1}, {128, 64, 32, 4, 1}, {128, 128, 16, 8, 1}, {64, 128, 16, 4, 2}, {256, 32, 32, 8, 2}};
  for (const Case &size : cases) {
    INFO(size.m << " x " << size.n << " x " << size.k << ", warps " << size.warpsM << " x " << size.warpsN);
    MmaAttr unit = MmaAttr::get(&maps.context, MatrixUnit::Wgmma, size.warpsM, size.warpsN);
    TileLayout c = matrixLayout(unit, MatrixOperand::C, {size.m, size.n}, 1), a = matrixLayout(unit, MatrixOperand::A, {size.m, size.k}, 2);
    REQUIRE(c.isPermutation());
    REQUIRE(a.isPermutation());
    int groupsM = int(size.warpsM) / 4, groupsN = int(size.warpsN), columns = int(size.n) / groupsN, blocks = int(size.m) / 64 / groupsM;
    REQUIRE(int(c.registers()) == blocks * columns / 2);
    REQUIRE(int(a.registers()) == blocks * int(size.k) / 2);
    for (int warp = 0; warp < int(size.warpsM * size.warpsN); ++warp)
      for (int lane = 0; lane < 32; ++lane) {
        int group = warp / 4, groupN = group % groupsN, groupM = group / groupsN, row = groupM * 64 + warp % 4 * 16 + lane / 4;
        bool isRight = true;
        for (int i = 0; i < int(c.registers()); ++i) {
          int block = i / (columns / 2), own = i % (columns / 2);
          Place expected{row + block * 64 * groupsM + (own % 4 < 2 ? 0 : 8), groupN * columns + own / 4 * 8 + lane % 4 * 2 + own % 2};
          isRight = isRight && placeOf(c.indexOf(i, lane, warp), size.n) == expected;
        }
        for (int i = 0; i < int(a.registers()); ++i) {
          int block = i / int(size.k / 2), own = i % int(size.k / 2), part = own % 8;
          Place expected{row + block * 64 * groupsM + (part % 4 < 2 ? 0 : 8), own / 8 * 16 + (part < 4 ? 0 : 8) + lane % 4 * 2 + part % 2};
          isRight = isRight && placeOf(a.indexOf(i, lane, warp), size.k) == expected;
        }
        INFO("warp " << warp << ", lane " << lane);
        REQUIRE(isRight);
      }
  }
}

// PTX ISA, "Shared Memory Matrix Layout" of wgmma: within 8 rows the 16-byte chunk c of row r lies at chunk c ^ (r mod 8) for rows of 128 bytes, (r / 2 mod 4)
// for 64, (r / 4 mod 2) for 32.
TEST_CASE("matrices in shared memory lie as wgmma reads them") {
  Maps maps;
  struct Case {
    int64_t rows, columns;
    unsigned fast, bytes;
  };
  const Case cases[] = {{64, 64, 1, 2},  {64, 32, 1, 2}, {8, 16, 1, 2},  {128, 256, 1, 2}, {256, 64, 0, 2},
                        {32, 128, 0, 2}, {64, 32, 1, 4}, {16, 64, 1, 1}, {16, 8, 1, 4}};
  for (const Case &size : cases) {
    INFO(size.rows << " x " << size.columns << " of " << size.bytes << " bytes, fast axis " << size.fast);
    SharedAttr layout = swizzledLayout(&maps.context, {size.rows, size.columns}, size.fast, size.bytes);
    REQUIRE(layout);
    llvm::SmallVector<uint32_t> places = layout.offsetOfIndexBit();
    int64_t along = size.fast ? size.columns : size.rows, across = size.fast ? size.rows : size.columns, width = std::min<int64_t>(128, along * size.bytes);
    for (int64_t slow = 0; slow < across; ++slow)
      for (int64_t fast = 0; fast < along; ++fast) {
        int64_t byte = fast * size.bytes, panel = byte / width, inRow = byte % width, chunk = inRow / 16;
        int64_t exchanged = chunk ^ (width == 128 ? slow % 8 : width == 64 ? slow / 2 % 4 : slow / 4 % 2);
        int64_t expected = panel * across * width + slow * width + exchanged * 16 + inRow % 16;
        uint32_t index = uint32_t(size.fast ? slow * size.columns + fast : fast * size.columns + slow);
        REQUIRE(int64_t(TileLayout::apply(places, index)) * size.bytes == expected);
      }
    mlir::Type element = mlir::IntegerType::get(&maps.context, size.bytes * 8);
    std::optional<SwizzledMatrix> found = swizzleOf(MemDescType::get(&maps.context, {size.rows, size.columns}, element, layout, 1, false));
    REQUIRE(found);
    CHECK(found->fastAxis == size.fast);
    CHECK(int64_t(found->rowBytes) == width);
    CHECK(int64_t(found->panelBytes) == across * width);
  }
  CHECK_FALSE(swizzledLayout(&maps.context, {64, 8}, 1, 2)); // rows of 16 bytes
  CHECK_FALSE(swizzledLayout(&maps.context, {4, 64}, 1, 2)); // fewer than 8 rows
}
