// The dialect, its layouts and its operations.
#include "dialects/ttg/TTG.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/ttg/TTGDialect.cpp.inc"
#include "dialects/ttg/TTGEnums.cpp.inc"
#include "dialects/ttg/TTGAttrInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/ttg/TTGAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/ttg/TTGOps.cpp.inc"

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

void TTGDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/ttg/TTGAttributes.cpp.inc"
      >();
}

namespace {
/// Layouts are long: text names them once.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (isa<LinearAttr>(attribute))
      return os << "layout", AliasResult::FinalAlias;
    if (isa<MmaAttr>(attribute))
      return os << "mma", AliasResult::FinalAlias;
    return AliasResult::NoAlias;
  }
};
} // namespace

void TTGDialect::initialize() {
  addInterfaces<LayoutAliases>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/ttg/TTGOps.cpp.inc"
      >();
}

// ---- #ttg.linear ----

TileLayout LinearAttr::toTileLayout(ArrayRef<int64_t>) const { return getLayout(); }

static ParseResult parseBases(AsmParser &parser, StringRef name, SmallVectorImpl<uint32_t> &bases) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parser.parseInteger(bases.emplace_back()); });
}

Attribute LinearAttr::parse(AsmParser &parser, Type) {
  TileLayout layout;
  if (parser.parseLess() || parseBases(parser, "register", layout.reg) || parser.parseComma() || parseBases(parser, "lane", layout.lane) || parser.parseComma() ||
      parseBases(parser, "warp", layout.warp) || parser.parseGreater())
    return {};
  return get(parser.getContext(), layout);
}

void LinearAttr::print(AsmPrinter &printer) const {
  const TileLayout &layout = getLayout();
  printer << "<register = [";
  llvm::interleaveComma(layout.reg, printer);
  printer << "], lane = [";
  llvm::interleaveComma(layout.lane, printer);
  printer << "], warp = [";
  llvm::interleaveComma(layout.warp, printer);
  printer << "]>";
}

// ---- #ttg.mma ----

TileLayout MmaAttr::toTileLayout(ArrayRef<int64_t> shape) const { return matrixLayout(*this, MatrixOperand::C, shape, 1); }

Attribute MmaAttr::parse(AsmParser &parser, Type) {
  StringRef unit;
  SmallVector<int64_t> warps;
  if (parser.parseLess() || parser.parseKeyword(&unit) || parser.parseComma() || parser.parseKeyword("warps") || parser.parseEqual() ||
      parser.parseDimensionList(warps, /*allowDynamic=*/false, /*withTrailingX=*/false) || parser.parseGreater())
    return {};
  std::optional<MatrixUnit> known = symbolizeMatrixUnit(unit);
  if (!known || warps.size() != 2) {
    parser.emitError(parser.getCurrentLocation(), "expected a matrix unit and two warp counts");
    return {};
  }
  return get(parser.getContext(), *known, warps[0], warps[1]);
}

void MmaAttr::print(AsmPrinter &printer) const { printer << "<" << stringifyMatrixUnit(getUnit()) << ", warps = " << getWarpsM() << "x" << getWarpsN() << ">"; }

MatrixShape ttg::shapeOf(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::M16N8K16: return {16, 8, 16};
  case MatrixUnit::M16N8K8: return {16, 8, 8};
  case MatrixUnit::M16N8K32: return {16, 8, 32};
  case MatrixUnit::M8N8K4: return {8, 8, 4};
  }
  return {};
}

TileLayout ttg::matrixLayout(MmaAttr mma, MatrixOperand operand, ArrayRef<int64_t> shape, unsigned elementsPerRegister) {
  MatrixShape unit = shapeOf(mma.getUnit());
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
  for (unsigned i = 0; i < log2Of(mma.getWarpsN()); ++i)
    layout.warp.push_back(operand == MatrixOperand::A ? 0 : take(columns, nextColumn));
  for (unsigned i = 0; i < log2Of(mma.getWarpsM()); ++i)
    layout.warp.push_back(operand == MatrixOperand::B ? 0 : take(rows, nextRow));
  // Further instructions: along K first for operands, along N first for the accumulator.
  bool rowsFirst = operand == MatrixOperand::B;
  auto rest = [&](AxisBits axis, unsigned &next) {
    while (next < axis.count)
      layout.reg.push_back(take(axis, next));
  };
  rowsFirst ? rest(rows, nextRow) : rest(columns, nextColumn);
  rowsFirst ? rest(columns, nextColumn) : rest(rows, nextRow);
  for (size_t axis = axes.size() - 2; axis-- > 0;) {
    unsigned next = 0;
    rest(axes[axis], next);
  }
  return layout;
}

// ---- operations ----

LogicalResult ConvertLayoutOp::verify() {
  for (Type type : {getSrc().getType(), getType()})
    if (!isa_and_nonnull<LayoutAttr>(cast<RankedTensorType>(type).getEncoding()))
      return emitOpError() << "needs tiles with layouts, found " << type << " [CL1]";
  return success();
}

TileLayout ttg::layoutOf(Type tile) {
  auto type = cast<RankedTensorType>(tile);
  return cast<LayoutAttr>(type.getEncoding()).toTileLayout(type.getShape());
}

RankedTensorType ttg::withLayout(Type tile, Attribute layout) {
  auto type = cast<RankedTensorType>(tile);
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

RankedTensorType ttg::withLayout(Type tile, const TileLayout &layout) { return withLayout(tile, LinearAttr::get(tile.getContext(), layout)); }
