// Block pointers: a base, extents, strides and offsets, which loads and stores turn into pointer tiles and masks. All addresses are computed in 64 bits.
#include "lang/sema/ConstText.h"
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include <cmath>

namespace tk::lang {

namespace arith = mlir::arith;

static const TypeValue kI1{DType::I1, 0, false}, kI32{DType::I32, 0, false}, kI64{DType::I64, 0, false};

/// A tuple of scalar integers, each as `type`; empty after a report.
static std::optional<std::vector<Runtime>> integers(Elaborator &e, const BoundCall &call, size_t index, DType type) {
  std::optional<std::vector<Value>> elements = call[index].elements();
  std::vector<Value> values = elements ? *elements : std::vector<Value>{call[index]};
  std::vector<Runtime> result;
  for (const Value &value : values) {
    auto *runtime = value.asRuntime();
    bool integer = runtime ? !runtime->isTile() && !runtime->isPointer() && isInteger(runtime->type.dtype) : value.asConst() && value.asConst()->get<BigInt>();
    if (!integer) {
      e.error(call.values[index].range, Diag::NeedsIntegers, call.info->params[index].name, call.info->display, value.describe());
      return std::nullopt;
    }
    std::optional<Runtime> part = e.cast(value, TypeValue{type, 0, false}, call.values[index].range);
    if (!part)
      return std::nullopt;
    result.push_back(*part);
  }
  return result;
}

Value BuiltinHandlers::makeBlockPtr(Elaborator &e, const BoundCall &call) {
  auto *base = call[0].asRuntime();
  if (!base || !base->isPointer() || base->isTile())
    return e.error(call.values[0].range, Diag::NeedsPointer, call.info->display, call[0].describe());
  std::optional<std::vector<Runtime>> shape = integers(e, call, 1, DType::I64), strides = integers(e, call, 2, DType::I64), offsets = integers(e, call, 3, DType::I32);
  std::optional<llvm::SmallVector<int64_t>> extents = constantIntegers(e, {call.values[4]}, call, "block_shape");
  if (!shape || !strides || !offsets || !extents || !e.checkShape(*extents, call.values[4].range))
    return Value();
  if (shape->size() != extents->size() || strides->size() != extents->size() || offsets->size() != extents->size() || extents->empty())
    return e.error(call.range, Diag::BlockPointerRank, shape->size(), strides->size(), offsets->size(), extents->size());
  if (!call[5].isNone()) {
    std::optional<llvm::SmallVector<int64_t>> order = constantIntegers(e, {call.values[5]}, call, "order");
    if (!order)
      return Value();
    std::vector<bool> used(extents->size());
    for (int64_t axis : *order) {
      if (axis < 0 || axis >= static_cast<int64_t>(used.size()) || used[static_cast<size_t>(axis)])
        return e.error(call.values[5].range, Diag::BlockPointerOrder);
      used[static_cast<size_t>(axis)] = true;
    }
  }
  auto pointer = std::make_shared<BlockPointer>();
  pointer->base = *base;
  pointer->shape = std::move(*shape);
  pointer->strides = std::move(*strides);
  pointer->offsets = std::move(*offsets);
  pointer->blockShape.assign(extents->begin(), extents->end());
  return Value(std::shared_ptr<const BlockPointer>(std::move(pointer)));
}

Value BuiltinHandlers::advance(Elaborator &e, const BoundCall &call) {
  auto *pointer = call[0].as<BlockPointer>();
  if (!pointer)
    return e.error(call.values[0].range, Diag::NeedsBlockPointer, call[0].describe());
  std::optional<std::vector<Runtime>> offsets = integers(e, call, 1, DType::I32);
  if (!offsets)
    return Value();
  if (offsets->size() != pointer->offsets.size())
    return e.error(call.values[1].range, Diag::BlockPointerRank, pointer->shape.size(), pointer->strides.size(), offsets->size(), pointer->blockShape.size());
  auto moved = std::make_shared<BlockPointer>(*pointer);
  for (size_t i = 0; i < offsets->size(); ++i)
    moved->offsets[i].ssa = arith::AddIOp::create(e.builder, e.loc(call.range), pointer->offsets[i].ssa, (*offsets)[i].ssa);
  return Value(std::shared_ptr<const BlockPointer>(std::move(moved)));
}

/// offset[axis] + 0, 1, ... as i64, laid along the axis.
static Runtime indices(Elaborator &e, const BlockPointer &pointer, size_t axis, mlir::Location at) {
  int64_t extent = pointer.blockShape[axis];
  Runtime range{tt::MakeRangeOp::create(e.builder, at, e.mlirType(kI32, {extent}), 0u, static_cast<uint32_t>(extent)), kI32};
  range = e.convert(range, DType::I64, at);
  Runtime offset = e.broadcastTo(e.convert(pointer.offsets[axis], DType::I64, at), {extent}, at);
  range.ssa = arith::AddIOp::create(e.builder, at, range.ssa, offset.ssa);
  for (size_t i = 0; i < pointer.blockShape.size(); ++i) {
    if (i == axis)
      continue;
    llvm::SmallVector<int64_t> shape(range.shape());
    unsigned place = i < axis ? 0 : static_cast<unsigned>(shape.size());
    shape.insert(shape.begin() + place, 1);
    range.ssa = tt::ExpandDimsOp::create(e.builder, at, e.mlirType(kI64, shape), range.ssa, place);
  }
  return range;
}

namespace {
struct Tile {
  Runtime pointers;
  std::optional<Runtime> mask;
};
} // namespace

static std::optional<Tile> expand(Elaborator &e, const BlockPointer &pointer, const BoundCall &call, size_t checkIndex) {
  std::optional<llvm::SmallVector<int64_t>> checks = call[checkIndex].isNone() ? llvm::SmallVector<int64_t>() : constantIntegers(e, {call.values[checkIndex]}, call, "boundary_check");
  if (!checks)
    return std::nullopt;
  std::vector<bool> checked(pointer.blockShape.size());
  for (int64_t check : *checks) {
    std::optional<unsigned> axis = normalizedAxis(e, call, check, checked.size());
    if (!axis)
      return std::nullopt;
    checked[*axis] = true;
  }
  mlir::Location at = e.loc(call.range);
  Tile tile{e.broadcastTo(pointer.base, pointer.blockShape, at), std::nullopt};
  for (size_t i = 0; i < pointer.blockShape.size(); ++i) {
    Runtime index = indices(e, pointer, i, at);
    Runtime stride = e.broadcastTo(pointer.strides[i], index.shape(), at);
    Runtime offset = e.broadcastTo(Runtime{arith::MulIOp::create(e.builder, at, index.ssa, stride.ssa), kI64}, pointer.blockShape, at);
    tile.pointers.ssa = tt::AddPtrOp::create(e.builder, at, tile.pointers.ssa.getType(), tile.pointers.ssa, offset.ssa);
    if (!checked[i])
      continue;
    Runtime zero = e.broadcastTo(Runtime{e.constantInt(0, 64, at), kI64}, index.shape(), at), limit = e.broadcastTo(pointer.shape[i], index.shape(), at);
    mlir::Value low = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::sge, index.ssa, zero.ssa);
    mlir::Value high = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::slt, index.ssa, limit.ssa);
    Runtime inside = e.broadcastTo(Runtime{arith::AndIOp::create(e.builder, at, low, high), kI1}, pointer.blockShape, at);
    tile.mask = tile.mask ? Runtime{arith::AndIOp::create(e.builder, at, tile.mask->ssa, inside.ssa), kI1} : inside;
  }
  return tile;
}

Value loadBlock(Elaborator &e, const BlockPointer &pointer, const BoundCall &call) {
  if (!call[1].isNone() || !call[2].isNone())
    return e.error(call.range, Diag::MaskOnBlockPointer);
  std::optional<std::string> padding = constantString(e, call, 4);
  std::optional<tt::CacheModifier> cache = cacheModifier(e, call, 5, false);
  std::optional<tt::EvictionPolicy> evict = evictionPolicy(e, call, 6);
  std::optional<bool> isVolatile = constantBool(e, call, 7);
  if (!padding || !cache || !evict || !isVolatile)
    return Value();
  TypeValue type{pointer.base.type.dtype, pointer.base.type.pointerDepth - 1, false};
  if (*padding != "" && *padding != "zero" && *padding != "nan")
    return e.error(call.values[4].range, Diag::BadChoice, *padding, std::string("padding_option"), std::string("`zero` or `nan`"));
  if (*padding == "nan" && (type.pointerDepth || !isFloat(type.dtype)))
    return e.error(call.values[4].range, Diag::NanPadding, typeText(type));
  std::optional<Tile> tile = expand(e, pointer, call, 3);
  if (!tile)
    return Value();
  mlir::Location at = e.loc(call.range);
  mlir::Value other;
  if (tile->mask && *padding == "nan")
    other = e.broadcastTo(e.materialize(ConstValue(static_cast<double>(NAN)), type.dtype, call.range), pointer.blockShape, at).ssa;
  return Runtime{tt::LoadOp::create(e.builder, at, e.mlirType(type, pointer.blockShape), tile->pointers.ssa, tile->mask ? tile->mask->ssa : mlir::Value(), other, *cache, *evict, *isVolatile), type};
}

Value storeBlock(Elaborator &e, const BlockPointer &pointer, const BoundCall &call) {
  if (!call[2].isNone())
    return e.error(call.range, Diag::MaskOnBlockPointer);
  if (pointer.base.type.isConst)
    return e.error(call.values[0].range, Diag::StoreToConst);
  std::optional<tt::CacheModifier> cache = cacheModifier(e, call, 4, true);
  std::optional<tt::EvictionPolicy> evict = evictionPolicy(e, call, 5);
  std::optional<Tile> tile = cache && evict ? expand(e, pointer, call, 3) : std::nullopt;
  return tile ? storeThrough(e, tile->pointers, call[1], tile->mask, *cache, *evict, call.range) : Value();
}

} // namespace tk::lang
