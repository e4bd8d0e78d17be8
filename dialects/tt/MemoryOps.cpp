// Pointers, loads, stores and atomics: builders, effects, verifiers, folders and canonicalizations.
#include "dialects/tt/Facts.h"
#include "dialects/tt/TT.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tk::tt;

/// `found`, named `what`, must have the type `expected`.
static LogicalResult verifyType(Operation *op, StringRef what, Type expected, Type found, StringRef id) {
  if (expected == found)
    return success();
  return op->emitOpError() << "`" << what << "` must be " << expected << ", found " << found << " [" << id << "]";
}

// ---- tt.addptr ----

/// p + 0 = p
OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero()))
    return getPtr();
  return {};
}

// ---- tt.bitcast ----

LogicalResult BitcastOp::verify() {
  Type from = elementType(getSrc().getType()), to = elementType(getResult().getType());
  bool pointers = isa<PointerType>(from) && isa<PointerType>(to);
  bool numbers = !isa<PointerType>(from) && !isa<PointerType>(to) && from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth();
  if (!pointers && !numbers)
    return emitOpError() << "needs element types of equal bit width, or pointers on both sides, found " << from << " -> " << to << " [B1]";
  return success();
}

static Attribute withBits(Type type, const APInt &bits) {
  if (auto floating = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(floating.getFloatSemantics(), bits));
  return IntegerAttr::get(type, bits);
}

bool tk::tt::hasFacts(Operation *op) {
  return llvm::any_of(kFactNames, [&](llvm::StringRef name) { return op->hasAttr(name); });
}

bool tk::tt::isFactCarrier(Operation *op) { return isa<BitcastOp>(op) && op->getOperand(0).getType() == op->getResult(0).getType(); }

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  Type type = getResult().getType();
  if (getSrc().getType() == type && !hasFacts(*this))
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<BitcastOp>(); inner && !hasFacts(inner)) { // bitcast(bitcast(x)) = bitcast(x)
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  Type element = elementType(type);
  if (isa<PointerType>(element))
    return {};
  if (auto integer = dyn_cast_or_null<IntegerAttr>(adaptor.getSrc()))
    return withBits(element, integer.getValue());
  if (auto floating = dyn_cast_or_null<FloatAttr>(adaptor.getSrc()))
    return withBits(element, floating.getValue().bitcastToAPInt());
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc())) {
    APInt bits = isa<FloatType>(splat.getElementType()) ? splat.getSplatValue<APFloat>().bitcastToAPInt() : splat.getSplatValue<APInt>();
    return SplatElementsAttr::get(cast<ShapedType>(type), withBits(element, bits));
  }
  return {};
}

// ---- tt.load ----

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr) { build(builder, state, ptr, Value(), Value()); }
void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask) { build(builder, state, ptr, mask, Value()); }

LogicalResult LoadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands, DictionaryAttr, OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  Type type = operands.empty() ? Type() : pointeesOf(operands.front().getType());
  if (!type)
    return emitOptionalError(location, "`tt.load` needs a pointer or a tile of pointers");
  types.push_back(type);
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable(), GlobalMemory::get());
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

LogicalResult LoadOp::verify() {
  Type type = getResult().getType();
  if (failed(verifyType(*this, "result", pointeesOf(getPtr().getType()), type, "L1")))
    return failure();
  if (getMask() && failed(verifyType(*this, "mask", maskTypeFor(type), getMask().getType(), "L2")))
    return failure();
  if (getOther() && failed(verifyType(*this, "other", type, getOther().getType(), "L3")))
    return failure();
  if (getOther() && !getMask())
    return emitOpError() << "has `other` without `mask` [L4]";
  return success();
}

/// Whether `mask` is a constant, all true or all false.
static std::optional<bool> constantMask(Value mask) {
  Attribute value;
  if (!mask || !matchPattern(mask, m_Constant(&value)))
    return std::nullopt;
  if (auto scalar = dyn_cast<IntegerAttr>(value))
    return !scalar.getValue().isZero();
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    return !splat.getSplatValue<APInt>().isZero();
  return std::nullopt;
}

/// Zero of any type that a load may have.
static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  if (!isa<PointerType>(elementType(type)))
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value address = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(withShapeOf(builder.getI64Type(), type)));
  return IntToPtrOp::create(builder, loc, type, address);
}

static LogicalResult simplifyLoadMask(LoadOp op, PatternRewriter &rewriter) {
  std::optional<bool> mask = constantMask(op.getMask());
  if (!mask)
    return rewriter.notifyMatchFailure(op, "the mask is not a constant");
  if (*mask) // load(p, true, o) = load(p)
    rewriter.replaceOpWithNewOp<LoadOp>(op, op.getPtr(), Value(), Value(), op.getCache(), op.getEvict(), op.getIsVolatile());
  else // load(p, false, o) = o
    rewriter.replaceOp(op, op.getOther() ? op.getOther() : zeroOf(rewriter, op.getLoc(), op.getType()));
  return success();
}

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(simplifyLoadMask); }

// ---- tt.store ----

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value value) { build(builder, state, ptr, value, Value()); }

LogicalResult StoreOp::verify() {
  Type type = pointeesOf(getPtr().getType());
  if (failed(verifyType(*this, "value", type, getValue().getType(), "S1")))
    return failure();
  return getMask() ? verifyType(*this, "mask", maskTypeFor(type), getMask().getType(), "S2") : success();
}

static LogicalResult simplifyStoreMask(StoreOp op, PatternRewriter &rewriter) {
  std::optional<bool> mask = constantMask(op.getMask());
  if (!mask)
    return rewriter.notifyMatchFailure(op, "the mask is not a constant");
  if (*mask) // store(p, v, true) = store(p, v)
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  else // store(p, v, false) does nothing
    rewriter.eraseOp(op);
  return success();
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(simplifyStoreMask); }

// ---- atomics ----

LogicalResult AtomicRMWOp::verify() {
  Type type = pointeesOf(getPtr().getType());
  if (failed(verifyType(*this, "val", type, getVal().getType(), "RMW1")) || failed(verifyType(*this, "result", type, getResult().getType(), "RMW1")))
    return failure();
  return getMask() ? verifyType(*this, "mask", maskTypeFor(type), getMask().getType(), "RMW2") : success();
}

LogicalResult AtomicCASOp::verify() {
  Type type = pointeesOf(getPtr().getType());
  if (failed(verifyType(*this, "cmp", type, getCmp().getType(), "CAS1")) || failed(verifyType(*this, "val", type, getVal().getType(), "CAS1")) ||
      failed(verifyType(*this, "result", type, getResult().getType(), "CAS1")))
    return failure();
  return getMask() ? verifyType(*this, "mask", maskTypeFor(type), getMask().getType(), "CAS2") : success();
}
