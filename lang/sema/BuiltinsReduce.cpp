// Reductions, scans and histograms. sum, max, argmax, cumsum and the others are library functions over these (lang/stdlib/reductions.tk).
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"

namespace tk::lang {

namespace {
/// The operands of a reduction or scan: one tile or a tuple of tiles, of one shape.
struct Operands {
  std::vector<Runtime> tiles;
  bool isTuple = false;
};
} // namespace

static std::optional<Operands> tileOperands(Elaborator &e, const BoundCall &call) {
  Operands operands;
  std::vector<Value> values = {call[0]};
  if (std::optional<std::vector<Value>> elements = call[0].elements()) {
    values = *elements;
    operands.isTuple = true;
  }
  for (const Value &value : values) {
    std::optional<Runtime> tile = value.asRuntime() ? *value.asRuntime() : std::optional<Runtime>();
    if (!tile) {
      e.error(call.values[0].range, Diag::NeedsTile, std::string("input"), call.info->display, value.describe());
      return std::nullopt;
    }
    operands.tiles.push_back(*tile);
  }
  if (operands.tiles.empty()) {
    e.error(call.values[0].range, Diag::NeedsTile, std::string("input"), call.info->display, std::string("an empty tuple"));
    return std::nullopt;
  }
  if (!e.broadcastAll(operands.tiles, "`" + call.info->display + "`", call.range))
    return std::nullopt;
  return operands;
}

static std::vector<TypeValue> typesOf(const Operands &operands) {
  std::vector<TypeValue> types;
  for (const Runtime &tile : operands.tiles)
    types.push_back(tile.type);
  return types;
}

static Value results(const Operands &operands, mlir::ValueRange values) {
  std::vector<Value> list;
  for (size_t i = 0; i < values.size(); ++i)
    list.push_back(Runtime{values[i], operands.tiles[i].type});
  return operands.isTuple ? Value::tuple(std::move(list)) : list[0];
}

Value BuiltinHandlers::reduce(Elaborator &e, const BoundCall &call) {
  std::optional<Operands> operands = tileOperands(e, call);
  std::optional<bool> keepDims = constantBool(e, call, 3);
  if (!operands || !keepDims)
    return Value();
  mlir::Location at = e.loc(call.range);
  llvm::SmallVector<int64_t> shape(operands->tiles[0].shape());
  if (shape.empty()) // a scalar is its own reduction
    return call[0];
  unsigned axis = 0;
  bool all = call[1].isNone();
  if (all) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    for (Runtime &tile : operands->tiles)
      tile = e.reshape(tile, {count}, at, /*canReorder=*/true);
  } else {
    std::optional<int64_t> number = constantInteger(e, call, 1);
    std::optional<unsigned> normal = number ? normalizedAxis(e, call, *number, shape.size()) : std::nullopt;
    if (!normal)
      return Value();
    axis = *normal;
  }
  llvm::SmallVector<mlir::Value> sources;
  for (const Runtime &tile : operands->tiles)
    sources.push_back(tile.ssa);
  auto op = tt::ReduceOp::create(e.builder, at, mlir::ValueRange(sources), static_cast<int>(axis));
  if (!e.combineRegion(op.getCombineOp(), call[2], typesOf(*operands), false, call.values[2].range))
    return Value();
  Value result = results(*operands, op->getResults());
  if (!*keepDims)
    return result;
  llvm::SmallVector<int64_t> kept(all ? llvm::SmallVector<int64_t>(shape.size(), 1) : shape);
  kept[axis] = 1;
  std::vector<Value> list;
  for (size_t i = 0; i < operands->tiles.size(); ++i) {
    Runtime part{op->getResult(static_cast<unsigned>(i)), operands->tiles[i].type};
    if (!part.isTile())
      part = e.broadcastTo(part, kept, at);
    else
      part.ssa = tt::ExpandDimsOp::create(e.builder, at, e.mlirType(part.type, kept), part.ssa, axis);
    list.push_back(part);
  }
  return operands->isTuple ? Value::tuple(std::move(list)) : list[0];
}

Value BuiltinHandlers::associativeScan(Elaborator &e, const BoundCall &call) {
  std::optional<Operands> operands = tileOperands(e, call);
  std::optional<int64_t> number = constantInteger(e, call, 1);
  std::optional<bool> reverse = constantBool(e, call, 3);
  if (!operands || !number || !reverse)
    return Value();
  std::optional<unsigned> axis = normalizedAxis(e, call, *number, operands->tiles[0].shape().size());
  if (!axis)
    return Value();
  llvm::SmallVector<mlir::Value> sources;
  for (const Runtime &tile : operands->tiles)
    sources.push_back(tile.ssa);
  auto op = tt::ScanOp::create(e.builder, e.loc(call.range), mlir::ValueRange(sources), static_cast<int>(*axis), *reverse);
  if (!e.combineRegion(op.getCombineOp(), call[2], typesOf(*operands), true, call.values[2].range))
    return Value();
  return results(*operands, op->getResults());
}

Value BuiltinHandlers::histogram(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> input = runtimeOperand(e, call, 0);
  std::optional<int64_t> bins = constantInteger(e, call, 1);
  if (!input || !bins)
    return Value();
  if (input->shape().size() != 1 || input->isPointer() || isFloat(input->type.dtype) || bitsOf(input->type.dtype) != 32)
    return e.error(call.values[0].range, Diag::NeedsType, call.info->display, std::string("a one-dimensional tile of 32-bit integers"), typeText(*input));
  if (!e.checkShape({*bins}, call.values[1].range))
    return Value();
  mlir::Value mask;
  if (!call[2].isNone()) {
    std::optional<Runtime> value = runtimeOperand(e, call, 2);
    if (!value)
      return Value();
    Runtime both[2] = {*input, e.toBool(*value, call.values[2].range)};
    if (!e.broadcastAll(both, "`tl.histogram`", call.range))
      return Value();
    mask = both[1].ssa;
  }
  TypeValue type{DType::I32, 0, false};
  return Runtime{tt::HistogramOp::create(e.builder, e.loc(call.range), e.mlirType(type, {*bins}), input->ssa, mask), type};
}

} // namespace tk::lang
