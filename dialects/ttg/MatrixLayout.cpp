// The fragments of matrix instructions as layouts: see TTG.h.
#include "dialects/ttg/TTG.h"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

MatrixShape ttg::shapeOf(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::M16N8K16: return {16, 8, 16};
  case MatrixUnit::M16N8K8: return {16, 8, 8};
  case MatrixUnit::M16N8K32: return {16, 8, 32};
  case MatrixUnit::M8N8K4: return {8, 8, 4};
  case MatrixUnit::Wgmma: return {16, 8, 16}; // of one warp, and 16-bit operands
  }
  return {};
}

TileLayout ttg::matrixLayout(MmaAttr mma, MatrixOperand operand, ArrayRef<int64_t> shape, unsigned elementsPerRegister) {
  MatrixShape unit = shapeOf(mma.getUnit());
  bool isGroup = mma.getUnit() == MatrixUnit::Wgmma;
  if (isGroup)
    unit.k = 8 * elementsPerRegister;
  SmallVector<AxisBits> axes = axisBitsOf(shape);
  AxisBits rows = axes[axes.size() - 2], columns = axes.back();
  TileLayout layout;
  unsigned nextRow = 0, nextColumn = 0; // bits of each axis that are taken
  auto bit = [](AxisBits axis, unsigned number) { return number < axis.count ? uint32_t(1) << (axis.begin + number) : 0; };
  auto take = [&](AxisBits axis, unsigned &next) { return bit(axis, next++); };
  unsigned unitRows = log2Of(operand == MatrixOperand::B ? unit.k : unit.m), unitColumns = log2Of(operand == MatrixOperand::A ? unit.k : unit.n);
  if (operand == MatrixOperand::B) {
    // Registers pack neighbours of K; lanes 0..1 go on along K, lanes 2..4 along N; the rest of K are further registers.
    for (unsigned i = 0; i < log2Of(elementsPerRegister); ++i)
      layout.reg.push_back(take(rows, nextRow));
    layout.lane = {bit(rows, nextRow), bit(rows, nextRow + 1), bit(columns, 0), bit(columns, 1), bit(columns, 2)};
    nextRow += 2, nextColumn = 3;
    while (nextRow < unitRows)
      layout.reg.push_back(take(rows, nextRow));
  } else {
    // A and C: registers pack neighbours of a row; lanes 0..1 go on along it, lanes 2..4 are rows; then row + 8, then the rest of the row.
    for (unsigned i = 0; i < (operand == MatrixOperand::A ? log2Of(elementsPerRegister) : 1); ++i)
      layout.reg.push_back(take(columns, nextColumn));
    layout.lane = {bit(columns, nextColumn), bit(columns, nextColumn + 1), bit(rows, 0), bit(rows, 1), bit(rows, 2)};
    nextColumn += 2, nextRow = 3;
    while (nextRow < unitRows)
      layout.reg.push_back(take(rows, nextRow));
    while (nextColumn < unitColumns)
      layout.reg.push_back(take(columns, nextColumn));
  }
  unsigned inGroup = isGroup ? 2 : 0; // bits of the warp number that are rows of one instruction
  auto alongRows = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      layout.warp.push_back(operand == MatrixOperand::B ? 0 : take(rows, nextRow));
  };
  alongRows(inGroup);
  // An instruction of a group has all its columns side by side, so the groups divide the axis from the top.
  AxisBits ownColumns = columns;
  if (isGroup && operand != MatrixOperand::A)
    ownColumns.count -= std::min(ownColumns.count, log2Of(mma.getWarpsN()));
  for (unsigned i = 0; i < log2Of(mma.getWarpsN()); ++i)
    layout.warp.push_back(operand == MatrixOperand::A ? 0 : isGroup ? bit(columns, ownColumns.count + i) : take(columns, nextColumn));
  alongRows(log2Of(mma.getWarpsM()) - inGroup);
  // Further instructions: along K first for operands, along N first for the accumulator.
  bool rowsFirst = operand == MatrixOperand::B;
  auto rest = [&](AxisBits axis, unsigned &next) {
    while (next < axis.count)
      layout.reg.push_back(take(axis, next));
  };
  rowsFirst ? rest(rows, nextRow) : rest(ownColumns, nextColumn);
  rowsFirst ? rest(ownColumns, nextColumn) : rest(rows, nextRow);
  for (size_t axis = axes.size() - 2; axis-- > 0;) {
    unsigned next = 0;
    rest(axes[axis], next);
  }
  return layout;
}
