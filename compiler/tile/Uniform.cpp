// Tiles whose elements are all one scalar.
#include "compiler/tile/Uniform.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;

/// The tile that `tile` is a view of, looking through any number of views.
static Value skipViews(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (!isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

static SplatElementsAttr constantOf(Value tile) {
  SplatElementsAttr splat;
  return matchPattern(tile, m_Constant(&splat)) ? splat : SplatElementsAttr();
}

bool compiler::isUniform(Value tile) {
  Value source = skipViews(tile);
  return source.getDefiningOp<tt::SplatOp>() || constantOf(source);
}

Value compiler::uniformScalar(OpBuilder &builder, Location loc, Value tile) {
  Value source = skipViews(tile);
  if (auto splat = source.getDefiningOp<tt::SplatOp>())
    return splat.getSrc();
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(constantOf(source).getSplatValue<Attribute>()));
}
