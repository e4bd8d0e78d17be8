// Shapes and selection of elements.
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include <numeric>

namespace tk::lang {

namespace arith = mlir::arith;

Value BuiltinHandlers::broadcast(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> a = runtimeOperand(e, call, 0), b = runtimeOperand(e, call, 1);
  if (!a || !b)
    return Value();
  Runtime both[2] = {*a, *b};
  return e.broadcastAll(both, "`tl.broadcast`", call.range) ? Value::tuple({both[0], both[1]}) : Value();
}

Value BuiltinHandlers::broadcastTo(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> value = runtimeOperand(e, call, 0);
  std::optional<llvm::SmallVector<int64_t>> shape = constantIntegers(e, call.rest, call, "shape");
  if (!value || !shape || !e.checkShape(*shape, call.range))
    return Value();
  if (!value->isTile())
    return e.broadcastTo(*value, *shape, e.loc(call.range));
  bool fits = value->shape().size() == shape->size();
  for (size_t i = 0; fits && i < shape->size(); ++i)
    fits = value->shape()[i] == 1 || value->shape()[i] == (*shape)[i];
  if (!fits)
    return e.error(call.range, Diag::CannotBroadcast, typeText(*value), typeText(value->type, *shape));
  return e.broadcastTo(*value, *shape, e.loc(call.range));
}

Value BuiltinHandlers::expandDims(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> value = runtimeOperand(e, call, 0);
  std::optional<llvm::SmallVector<int64_t>> axes = constantIntegers(e, {call.values[1]}, call, "axis");
  if (!value || !axes)
    return Value();
  size_t rank = value->shape().size() + axes->size();
  std::vector<bool> isNew(rank);
  for (int64_t axis : *axes) {
    std::optional<unsigned> at = normalizedAxis(e, call, axis, rank);
    if (!at)
      return Value();
    if (isNew[*at])
      return e.error(call.values[1].range, Diag::AxisTwice, axis);
    isNew[*at] = true;
  }
  if (!value->isTile())
    return e.broadcastTo(*value, llvm::SmallVector<int64_t>(rank, 1), e.loc(call.range));
  Runtime result = *value;
  for (unsigned axis = 0; axis < rank; ++axis)
    if (isNew[axis]) {
      llvm::SmallVector<int64_t> shape(result.shape());
      shape.insert(shape.begin() + axis, 1);
      result.ssa = tt::ExpandDimsOp::create(e.builder, e.loc(call.range), e.mlirType(result.type, shape), result.ssa, axis);
    }
  return result;
}

static int64_t elementCount(llvm::ArrayRef<int64_t> shape) { return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()); }

static Value reshaped(Elaborator &e, const BoundCall &call, bool canReorder) {
  std::optional<Runtime> value = runtimeOperand(e, call, 0);
  std::optional<llvm::SmallVector<int64_t>> shape = constantIntegers(e, call.rest, call, "shape");
  if (!value || !shape)
    return Value();
  int64_t total = elementCount(value->shape());
  if (size_t unknown = static_cast<size_t>(std::count(shape->begin(), shape->end(), -1)); unknown == 1) { // one extent from the others
    int64_t rest = 1;
    for (int64_t extent : *shape)
      if (extent != -1)
        rest = extent > 0 && rest <= total ? rest * extent : total + 1;
    if (rest <= total && total % rest == 0)
      *std::find(shape->begin(), shape->end(), -1) = total / rest;
  }
  if (!e.checkShape(*shape, call.range))
    return Value();
  if (elementCount(*shape) != total)
    return e.error(call.range, Diag::ReshapeCount, typeText(*value), typeText(value->type, *shape), total, elementCount(*shape));
  return e.reshape(*value, *shape, e.loc(call.range), canReorder);
}

Value BuiltinHandlers::reshape(Elaborator &e, const BoundCall &call) {
  std::optional<bool> canReorder = constantBool(e, call, 2);
  return canReorder ? reshaped(e, call, *canReorder) : Value();
}

Value BuiltinHandlers::view(Elaborator &e, const BoundCall &call) { return reshaped(e, call, false); }

static Value permuted(Elaborator &e, const Runtime &value, llvm::ArrayRef<int32_t> order, SourceRange range) {
  llvm::SmallVector<int64_t> shape;
  for (int32_t axis : order)
    shape.push_back(value.shape()[static_cast<size_t>(axis)]);
  return Runtime{tt::TransOp::create(e.builder, e.loc(range), e.mlirType(value.type, shape), value.ssa, order), value.type};
}

static Value permutation(Elaborator &e, const BoundCall &call, bool swapLast) {
  std::optional<Runtime> value = runtimeOperand(e, call, 0);
  std::optional<llvm::SmallVector<int64_t>> dims = constantIntegers(e, call.rest, call, "dims");
  if (!value || !dims)
    return Value();
  size_t rank = value->shape().size();
  llvm::SmallVector<int32_t> order;
  if (dims->empty() && swapLast) {
    if (rank < 2)
      return e.error(call.range, Diag::TransposeRank, typeText(*value));
    for (size_t i = 0; i < rank; ++i)
      order.push_back(static_cast<int32_t>(i));
    std::swap(order[rank - 2], order[rank - 1]);
    return permuted(e, *value, order, call.range);
  }
  if (dims->size() != rank)
    return e.error(call.range, Diag::PermutationCount, dims->size(), typeText(*value));
  std::vector<bool> used(rank);
  for (int64_t dim : *dims) {
    std::optional<unsigned> axis = normalizedAxis(e, call, dim, rank);
    if (!axis)
      return Value();
    if (used[*axis])
      return e.error(call.range, Diag::AxisTwice, dim);
    used[*axis] = true;
    order.push_back(static_cast<int32_t>(*axis));
  }
  return permuted(e, *value, order, call.range);
}

Value BuiltinHandlers::trans(Elaborator &e, const BoundCall &call) { return permutation(e, call, true); }
Value BuiltinHandlers::permute(Elaborator &e, const BoundCall &call) { return permutation(e, call, false); }

/// Two operands of one type and shape; pointers must agree, numbers are promoted.
static std::optional<std::pair<Runtime, Runtime>> pairOperands(Elaborator &e, const BoundCall &call, size_t first) {
  const Value &a = call[first], &b = call[first + 1];
  auto isPointer = [](const Value &value) { return value.asRuntime() && value.asRuntime()->isPointer(); };
  if (!isPointer(a) && !isPointer(b))
    return e.promote(a, b, Arithmetic::Ordinary, "`" + call.info->display + "`", call.range);
  if (!isPointer(a) || !isPointer(b) || a.asRuntime()->type != b.asRuntime()->type) {
    e.error(call.range, Diag::BadOperands, "`" + call.info->display + "`", a.describe(), b.describe());
    return std::nullopt;
  }
  Runtime both[2] = {*a.asRuntime(), *b.asRuntime()};
  if (!e.broadcastAll(both, "`" + call.info->display + "`", call.range))
    return std::nullopt;
  return std::make_pair(both[0], both[1]);
}

Value BuiltinHandlers::join(Elaborator &e, const BoundCall &call) {
  auto operands = pairOperands(e, call, 0);
  if (!operands)
    return Value();
  auto [a, b] = *operands;
  mlir::Location at = e.loc(call.range);
  bool scalars = !a.isTile();
  if (scalars)
    a = e.broadcastTo(a, {1}, at), b = e.broadcastTo(b, {1}, at);
  llvm::SmallVector<int64_t> shape(a.shape());
  shape.push_back(2);
  if (!e.checkShape(shape, call.range))
    return Value();
  Runtime result{tt::JoinOp::create(e.builder, at, e.mlirType(a.type, shape), a.ssa, b.ssa), a.type};
  return scalars ? e.reshape(result, {2}, at) : result;
}

Value BuiltinHandlers::split(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> value = runtimeOperand(e, call, 0);
  if (!value)
    return Value();
  if (!value->isTile() || value->shape().back() != 2)
    return e.error(call.range, Diag::SplitExtent, typeText(*value));
  mlir::Location at = e.loc(call.range);
  bool scalars = value->shape().size() == 1;
  Runtime source = scalars ? e.reshape(*value, {1, 2}, at) : *value;
  mlir::Type half = e.mlirType(source.type, source.shape().drop_back());
  auto op = tt::SplitOp::create(e.builder, at, half, half, source.ssa);
  Runtime halves[2] = {{op.getOutLHS(), source.type}, {op.getOutRHS(), source.type}};
  if (scalars)
    for (Runtime &part : halves)
      part = e.reshape(part, {}, at);
  return Value::tuple({halves[0], halves[1]});
}

Value BuiltinHandlers::cat(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> a = runtimeOperand(e, call, 0), b = runtimeOperand(e, call, 1);
  std::optional<int64_t> dim = constantInteger(e, call, 3);
  if (!a || !b || !dim)
    return Value();
  if (!a->isTile() || !b->isTile() || a->shape().size() != b->shape().size() || !(a->type == b->type))
    return e.error(call.range, Diag::BadOperands, std::string("`tl.cat`"), typeText(*a), typeText(*b));
  std::optional<unsigned> axis = normalizedAxis(e, call, *dim, a->shape().size());
  if (!axis)
    return Value();
  llvm::SmallVector<int64_t> shape(a->shape());
  for (unsigned i = 0; i < shape.size(); ++i)
    if (i != *axis && shape[i] != b->shape()[i])
      return e.error(call.range, Diag::ShapeMismatch, std::string("`tl.cat`"), typeText(*a), typeText(*b));
  // The operation concatenates along axis 0; another axis is brought to the front and back.
  std::vector<int32_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[*axis]);
  Runtime x = *a, y = *b;
  if (*axis) {
    x = *permuted(e, x, order, call.range).asRuntime();
    y = *permuted(e, y, order, call.range).asRuntime();
  }
  llvm::SmallVector<int64_t> joint(x.shape());
  joint[0] += y.shape()[0];
  if (!e.checkShape(joint, call.range))
    return Value();
  Runtime result{tt::CatOp::create(e.builder, e.loc(call.range), e.mlirType(x.type, joint), x.ssa, y.ssa), x.type};
  return *axis ? permuted(e, result, order, call.range) : Value(result);
}

Value BuiltinHandlers::item(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> value = runtimeOperand(e, call, 0);
  if (!value)
    return Value();
  if (elementCount(value->shape()) != 1)
    return e.error(call.range, Diag::ItemCount, typeText(*value));
  return e.reshape(*value, {}, e.loc(call.range));
}

Value BuiltinHandlers::gather(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> source = runtimeOperand(e, call, 0), index = runtimeOperand(e, call, 1);
  std::optional<int64_t> dim = constantInteger(e, call, 2);
  if (!source || !index || !dim)
    return Value();
  if (!source->isTile() || !index->isTile() || index->isPointer() || !isInteger(index->type.dtype) || source->shape().size() != index->shape().size())
    return e.error(call.range, Diag::BadOperands, std::string("`tl.gather`"), typeText(*source), typeText(*index));
  std::optional<unsigned> axis = normalizedAxis(e, call, *dim, source->shape().size());
  if (!axis)
    return Value();
  for (unsigned i = 0; i < source->shape().size(); ++i)
    if (i != *axis && source->shape()[i] != index->shape()[i])
      return e.error(call.range, Diag::ShapeMismatch, std::string("`tl.gather`"), typeText(*source), typeText(*index));
  mlir::Location at = e.loc(call.range);
  if (isUnsigned(index->type.dtype) && bitsOf(index->type.dtype) < 64)
    index = e.convert(*index, DType::I64, at);
  return Runtime{tt::GatherOp::create(e.builder, at, e.mlirType(source->type, index->shape()), source->ssa, index->ssa, *axis), source->type};
}

Value BuiltinHandlers::where(Elaborator &e, const BoundCall &call) {
  if (auto *c = call[0].asConst(); c && c->asDouble() && !call[1].asRuntime() && !call[2].asRuntime())
    return c->truth() ? call[1] : call[2];
  std::optional<Runtime> condition = runtimeOperand(e, call, 0);
  auto operands = pairOperands(e, call, 1);
  if (!condition || !operands)
    return Value();
  Runtime all[3] = {e.toBool(*condition, call.values[0].range), operands->first, operands->second};
  // A scalar condition selects whole tiles.
  bool scalarCondition = !all[0].isTile();
  if (scalarCondition ? !e.broadcastAll(llvm::MutableArrayRef<Runtime>(all + 1, 2), "`tl.where`", call.range) : !e.broadcastAll(all, "`tl.where`", call.range))
    return Value();
  return Runtime{arith::SelectOp::create(e.builder, e.loc(call.range), all[0].ssa, all[1].ssa, all[2].ssa), all[1].type};
}

} // namespace tk::lang
