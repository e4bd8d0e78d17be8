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
#define GET_TYPEDEF_CLASSES
#include "dialects/ttg/TTGTypes.cpp.inc"
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

void TTGDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/ttg/TTGTypes.cpp.inc"
      >();
}

namespace {
/// Layouts are long: text names them once.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (isa<LinearAttr>(attribute))
      return os << "layout", AliasResult::FinalAlias;
    if (isa<SharedAttr>(attribute))
      return os << "shared", AliasResult::FinalAlias;
    if (isa<MmaAttr>(attribute))
      return os << "mma", AliasResult::FinalAlias;
    return AliasResult::NoAlias;
  }
};
} // namespace

void TTGDialect::initialize() {
  addInterfaces<LayoutAliases>();
  registerAttributes();
  registerTypes();
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
  if (*known == MatrixUnit::Wgmma && warps[0] % 4) {
    parser.emitError(parser.getCurrentLocation(), "four warps execute wgmma, each for its rows");
    return {};
  }
  return get(parser.getContext(), *known, warps[0], warps[1]);
}

void MmaAttr::print(AsmPrinter &printer) const { printer << "<" << stringifyMatrixUnit(getUnit()) << ", warps = " << getWarpsM() << "x" << getWarpsN() << ">"; }

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
