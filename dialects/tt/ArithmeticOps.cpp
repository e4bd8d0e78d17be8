// Elementwise arithmetic: verifiers and folders.
#include "dialects/tt/TT.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk::tt;

// ---- tt.fp_to_fp ----

LogicalResult FpToFpOp::verify() {
  unsigned from = elementType(getSrc().getType()).getIntOrFloatBitWidth(), to = elementType(getResult().getType()).getIntOrFloatBitWidth();
  if ((to < from) != getRounding().has_value())
    return emitOpError() << (to < from ? "narrows and needs `rounding`" : "does not narrow and must not have `rounding`") << ", found " << getSrc().getType() << " -> "
                         << getResult().getType() << " [FP1]";
  return success();
}

/// Exact conversions, and those that round to nearest even. 8-bit results saturate, which APFloat does not do: they stay.
OpFoldResult FpToFpOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getResult().getType())
    return getSrc();
  auto target = cast<FloatType>(elementType(getResult().getType()));
  bool narrows = getRounding().has_value();
  if (target.getWidth() == 8 || (narrows && *getRounding() != RoundingMode::RTNE))
    return {};
  auto convert = [&](APFloat value) {
    bool losesInfo;
    value.convert(target.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return value;
  };
  if (auto scalar = dyn_cast_or_null<FloatAttr>(adaptor.getSrc()))
    return FloatAttr::get(target, convert(scalar.getValue()));
  if (auto tile = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc()))
    return DenseElementsAttr::get(cast<ShapedType>(getResult().getType()), convert(tile.getSplatValue<APFloat>()));
  return {};
}
