// Loads, stores, atomics, barriers (NUMERICS 10 and 11).
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include "llvm/ADT/StringSwitch.h"

namespace tk::lang {

std::optional<tt::CacheModifier> cacheModifier(Elaborator &e, const BoundCall &call, size_t index, bool isStore) {
  std::optional<std::string> text = constantString(e, call, index);
  if (!text)
    return std::nullopt;
  using M = tt::CacheModifier;
  auto mode = llvm::StringSwitch<std::optional<M>>(*text).Case("", M::NONE).Case(".cg", M::CG).Case(".cs", M::CS).Default(std::nullopt);
  if (!mode)
    mode = isStore ? llvm::StringSwitch<std::optional<M>>(*text).Case(".wb", M::WB).Case(".wt", M::WT).Default(std::nullopt)
                   : llvm::StringSwitch<std::optional<M>>(*text).Case(".ca", M::CA).Case(".cv", M::CV).Default(std::nullopt);
  if (!mode)
    e.error(call.values[index].range, Diag::BadChoice, *text, std::string("cache_modifier"),
            std::string(isStore ? "`.wb`, `.cg`, `.cs` or `.wt`" : "`.ca`, `.cg`, `.cs` or `.cv`"));
  return mode;
}

std::optional<tt::EvictionPolicy> evictionPolicy(Elaborator &e, const BoundCall &call, size_t index) {
  std::optional<std::string> text = constantString(e, call, index);
  if (!text)
    return std::nullopt;
  using P = tt::EvictionPolicy;
  auto policy = llvm::StringSwitch<std::optional<P>>(*text)
                    .Cases({"", "evict_normal"}, P::NORMAL)
                    .Case("evict_first", P::EVICT_FIRST)
                    .Case("evict_last", P::EVICT_LAST)
                    .Default(std::nullopt);
  if (!policy)
    e.error(call.values[index].range, Diag::BadChoice, *text, std::string("eviction_policy"), std::string("`evict_first`, `evict_last` or `evict_normal`"));
  return policy;
}

/// The pointer operand; reports anything else.
static std::optional<Runtime> pointerOperand(Elaborator &e, const BoundCall &call) {
  auto *runtime = call[0].asRuntime();
  if (runtime && runtime->isPointer())
    return *runtime;
  e.error(call.values[0].range, Diag::NeedsPointer, call.info->display, call[0].describe());
  return std::nullopt;
}

/// The mask as i1; none when there is no mask. False after a report.
static bool maskOperand(Elaborator &e, const BoundCall &call, size_t index, std::optional<Runtime> &mask) {
  if (call[index].isNone())
    return true;
  std::optional<Runtime> value = runtimeOperand(e, call, index);
  if (!value)
    return false;
  if (value->type != TypeValue{DType::I1, 0, false}) {
    auto *c = call[index].asConst();
    if (!c) {
      e.error(call.values[index].range, Diag::MaskType, typeText(*value));
      return false;
    }
    value = e.toBool(*value, call.values[index].range);
  }
  mask = *value;
  return true;
}

static TypeValue pointee(const Runtime &pointer) { return TypeValue{pointer.type.dtype, pointer.type.pointerDepth - 1, false}; }

/// Brings an operand to the pointer's shape, which is never changed.
static bool fitToPointer(Elaborator &e, Runtime &value, const Runtime &pointer, const char *what, SourceRange range) {
  std::optional<llvm::SmallVector<int64_t>> joint = e.broadcastShape(value.shape(), pointer.shape());
  if (!joint || llvm::ArrayRef<int64_t>(*joint) != pointer.shape()) {
    e.error(range, Diag::NotPointerShape, std::string(what), typeText(value), typeText(pointer));
    return false;
  }
  value = e.broadcastTo(value, pointer.shape(), e.loc(range));
  return true;
}

Value BuiltinHandlers::load(Elaborator &e, const BoundCall &call) {
  if (auto *block = call[0].as<BlockPointer>())
    return loadBlock(e, *block, call);
  std::optional<Runtime> pointer = pointerOperand(e, call);
  std::optional<Runtime> mask, other;
  if (!pointer || !maskOperand(e, call, 1, mask))
    return Value();
  if (std::optional<std::vector<Value>> axes = call[3].elements(); !call[3].isNone() && !(axes && axes->empty()))
    return e.error(call.values[3].range, Diag::BoundaryCheckOnPointer);
  std::optional<tt::CacheModifier> cache = cacheModifier(e, call, 5, false);
  std::optional<tt::EvictionPolicy> evict = evictionPolicy(e, call, 6);
  std::optional<bool> isVolatile = constantBool(e, call, 7);
  if (!cache || !evict || !isVolatile)
    return Value();
  TypeValue type = pointee(*pointer);
  if (!call[2].isNone()) {
    if (!mask)
      return e.error(call.values[2].range, Diag::OtherWithoutMask);
    other = e.cast(call[2], type, call.values[2].range);
    if (!other)
      return Value();
  }
  // Pointer, mask and other are broadcast together; a scalar pointer takes scalars only.
  if (!pointer->isTile() && ((mask && mask->isTile()) || (other && other->isTile())))
    return e.error(call.range, Diag::ScalarPointerTileMask, mask && mask->isTile() ? std::string("mask") : std::string("other"));
  llvm::SmallVector<Runtime> operands = {*pointer};
  if (mask)
    operands.push_back(*mask);
  if (other)
    operands.push_back(*other);
  if (!e.broadcastAll(operands, "`tl.load`", call.range))
    return Value();
  mlir::Type result = e.mlirType(type, operands[0].shape());
  auto op = tt::LoadOp::create(e.builder, e.loc(call.range), result, operands[0].ssa, mask ? operands[1].ssa : mlir::Value(),
                               other ? operands[2].ssa : mlir::Value(), *cache, *evict, *isVolatile);
  return Runtime{op, type};
}

Value storeThrough(Elaborator &e, const Runtime &pointer, const Value &value, std::optional<Runtime> mask, tt::CacheModifier cache, tt::EvictionPolicy evict,
                   SourceRange range) {
  if (!pointer.isTile() && mask && mask->isTile())
    return e.error(range, Diag::ScalarPointerTileMask, std::string("mask"));
  std::optional<Runtime> stored = e.cast(value, pointee(pointer), range);
  if (!stored || !fitToPointer(e, *stored, pointer, "value", range) || (mask && !fitToPointer(e, *mask, pointer, "mask", range)))
    return Value();
  tt::StoreOp::create(e.builder, e.loc(range), pointer.ssa, stored->ssa, mask ? mask->ssa : mlir::Value(), cache, evict);
  return Value::none();
}

Value BuiltinHandlers::store(Elaborator &e, const BoundCall &call) {
  if (auto *block = call[0].as<BlockPointer>())
    return storeBlock(e, *block, call);
  std::optional<Runtime> pointer = pointerOperand(e, call), mask;
  if (!pointer || !maskOperand(e, call, 2, mask))
    return Value();
  if (pointer->type.isConst)
    return e.error(call.values[0].range, Diag::StoreToConst);
  std::optional<tt::CacheModifier> cache = cacheModifier(e, call, 4, true);
  std::optional<tt::EvictionPolicy> evict = evictionPolicy(e, call, 5);
  if (!cache || !evict)
    return Value();
  return storeThrough(e, *pointer, call[1], mask, *cache, *evict, call.range);
}

// ---- atomics ----
static std::optional<tt::MemSemantic> semantic(Elaborator &e, const BoundCall &call, size_t index) {
  std::optional<std::string> text = constantString(e, call, index);
  if (!text)
    return std::nullopt;
  using S = tt::MemSemantic;
  auto value = llvm::StringSwitch<std::optional<S>>(*text)
                   .Cases({"", "acq_rel"}, S::ACQUIRE_RELEASE)
                   .Case("acquire", S::ACQUIRE)
                   .Case("release", S::RELEASE)
                   .Case("relaxed", S::RELAXED)
                   .Default(std::nullopt);
  if (!value)
    e.error(call.values[index].range, Diag::BadChoice, *text, std::string("sem"), std::string("`acquire`, `release`, `acq_rel` or `relaxed`"));
  return value;
}

static std::optional<tt::MemSyncScope> syncScope(Elaborator &e, const BoundCall &call, size_t index) {
  std::optional<std::string> text = constantString(e, call, index);
  if (!text)
    return std::nullopt;
  using S = tt::MemSyncScope;
  auto value = llvm::StringSwitch<std::optional<S>>(*text).Cases({"", "gpu"}, S::GPU).Case("cta", S::CTA).Case("sys", S::SYSTEM).Default(std::nullopt);
  if (!value)
    e.error(call.values[index].range, Diag::BadChoice, *text, std::string("scope"), std::string("`gpu`, `cta` or `sys`"));
  return value;
}

namespace {
struct Atomic {
  Runtime pointer, value;
  std::optional<Runtime> mask;
  tt::MemSemantic sem;
  tt::MemSyncScope scope;
};
} // namespace

static std::optional<Atomic> atomicOperands(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> pointer = pointerOperand(e, call);
  Atomic atomic;
  if (!pointer || !maskOperand(e, call, 2, atomic.mask))
    return std::nullopt;
  if (pointer->type.isConst)
    return e.error(call.values[0].range, Diag::StoreToConst), std::nullopt;
  std::optional<tt::MemSemantic> sem = semantic(e, call, 3);
  std::optional<tt::MemSyncScope> scope = syncScope(e, call, 4);
  std::optional<Runtime> value = e.cast(call[1], pointee(*pointer), call.values[1].range);
  if (!sem || !scope || !value || !fitToPointer(e, *value, *pointer, "val", call.values[1].range) ||
      (atomic.mask && !fitToPointer(e, *atomic.mask, *pointer, "mask", call.values[2].range)))
    return std::nullopt;
  atomic.pointer = *pointer;
  atomic.value = *value;
  atomic.sem = *sem;
  atomic.scope = *scope;
  return atomic;
}

static Value atomicType(Elaborator &e, const BoundCall &call, const Runtime &pointer) {
  return e.error(call.values[0].range, Diag::AtomicType, call.info->display, typeText(pointee(pointer), {}));
}

static Value emitAtomic(Elaborator &e, const BoundCall &call, const Atomic &atomic, tt::RMWOp op, const Runtime &pointer, const Runtime &value,
                        std::optional<Runtime> mask) {
  auto result = tt::AtomicRMWOp::create(e.builder, e.loc(call.range), value.ssa.getType(), op, pointer.ssa, value.ssa, mask ? mask->ssa : mlir::Value(),
                                        atomic.sem, atomic.scope);
  return Runtime{result, value.type};
}

static bool isWide(DType type) { return bitsOf(type) == 32 || bitsOf(type) == 64; }

static Value integerAtomic(Elaborator &e, const BoundCall &call, tt::RMWOp op) {
  std::optional<Atomic> atomic = atomicOperands(e, call);
  if (!atomic)
    return Value();
  if (atomic->value.isPointer() || isFloat(atomic->value.type.dtype) || !isWide(atomic->value.type.dtype))
    return atomicType(e, call, atomic->pointer);
  return emitAtomic(e, call, *atomic, op, atomic->pointer, atomic->value, atomic->mask);
}

Value BuiltinHandlers::atomicAnd(Elaborator &e, const BoundCall &call) { return integerAtomic(e, call, tt::RMWOp::AND); }
Value BuiltinHandlers::atomicOr(Elaborator &e, const BoundCall &call) { return integerAtomic(e, call, tt::RMWOp::OR); }
Value BuiltinHandlers::atomicXor(Elaborator &e, const BoundCall &call) { return integerAtomic(e, call, tt::RMWOp::XOR); }

Value BuiltinHandlers::atomicAdd(Elaborator &e, const BoundCall &call) {
  std::optional<Atomic> atomic = atomicOperands(e, call);
  if (!atomic)
    return Value();
  DType type = atomic->value.type.dtype;
  bool isFloating = isFloat(type) && !isFloat8(type);
  if (atomic->value.isPointer() || !(isFloating || (isInteger(type) && isWide(type))))
    return atomicType(e, call, atomic->pointer);
  return emitAtomic(e, call, *atomic, isFloating ? tt::RMWOp::FADD : tt::RMWOp::ADD, atomic->pointer, atomic->value, atomic->mask);
}

Value BuiltinHandlers::atomicXchg(Elaborator &e, const BoundCall &call) {
  std::optional<Atomic> atomic = atomicOperands(e, call);
  if (!atomic)
    return Value();
  if (!atomic->value.isPointer() && !isWide(atomic->value.type.dtype))
    return atomicType(e, call, atomic->pointer);
  return emitAtomic(e, call, *atomic, tt::RMWOp::XCHG, atomic->pointer, atomic->value, atomic->mask);
}

/// Floats are ordered as integers: those with the sign bit clear as signed numbers, the others as unsigned ones, whose order is reversed. Each lane takes part
/// in one of the two atomics.
static Value floatMinMax(Elaborator &e, const BoundCall &call, const Atomic &atomic, bool isMax) {
  namespace arith = mlir::arith;
  mlir::Location at = e.loc(call.range);
  unsigned bits = bitsOf(atomic.value.type.dtype);
  TypeValue integer{bits == 32 ? DType::I32 : DType::I64, 0, false}, pointerType{integer.dtype, 1, false};
  auto shape = atomic.value.shape();
  Runtime pointer{tt::BitcastOp::create(e.builder, at, e.mlirType(pointerType, shape), atomic.pointer.ssa), pointerType};
  Runtime value{tt::BitcastOp::create(e.builder, at, e.mlirType(integer, shape), atomic.value.ssa), integer};
  mlir::Value zero = e.placeholder(value.ssa.getType(), at);
  TypeValue boolean{DType::I1, 0, false};
  Runtime positive{arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::sge, value.ssa, zero), boolean},
      negative{arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::slt, value.ssa, zero), boolean};
  mlir::Value sign = positive.ssa;
  if (atomic.mask) {
    positive.ssa = arith::AndIOp::create(e.builder, at, positive.ssa, atomic.mask->ssa);
    negative.ssa = arith::AndIOp::create(e.builder, at, negative.ssa, atomic.mask->ssa);
  }
  Value up = emitAtomic(e, call, atomic, isMax ? tt::RMWOp::MAX : tt::RMWOp::MIN, pointer, value, positive);
  Value down = emitAtomic(e, call, atomic, isMax ? tt::RMWOp::UMIN : tt::RMWOp::UMAX, pointer, value, negative);
  mlir::Value old = arith::SelectOp::create(e.builder, at, sign, up.asRuntime()->ssa, down.asRuntime()->ssa);
  return Runtime{tt::BitcastOp::create(e.builder, at, atomic.value.ssa.getType(), old), atomic.value.type};
}

static Value atomicMinMax(Elaborator &e, const BoundCall &call, bool isMax) {
  std::optional<Atomic> atomic = atomicOperands(e, call);
  if (!atomic)
    return Value();
  DType type = atomic->value.type.dtype;
  if (atomic->value.isPointer() || !isWide(type))
    return atomicType(e, call, atomic->pointer);
  if (isFloat(type))
    return floatMinMax(e, call, *atomic, isMax);
  tt::RMWOp op = isSigned(type) ? (isMax ? tt::RMWOp::MAX : tt::RMWOp::MIN) : (isMax ? tt::RMWOp::UMAX : tt::RMWOp::UMIN);
  return emitAtomic(e, call, *atomic, op, atomic->pointer, atomic->value, atomic->mask);
}

Value BuiltinHandlers::atomicMax(Elaborator &e, const BoundCall &call) { return atomicMinMax(e, call, true); }
Value BuiltinHandlers::atomicMin(Elaborator &e, const BoundCall &call) { return atomicMinMax(e, call, false); }

Value BuiltinHandlers::atomicCas(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> pointer = pointerOperand(e, call);
  if (!pointer)
    return Value();
  if (pointer->type.isConst)
    return e.error(call.values[0].range, Diag::StoreToConst);
  std::optional<tt::MemSemantic> sem = semantic(e, call, 3);
  std::optional<tt::MemSyncScope> scope = syncScope(e, call, 4);
  TypeValue type = pointee(*pointer);
  if (!type.pointerDepth && bitsOf(type.dtype) < 16)
    return atomicType(e, call, *pointer);
  std::optional<Runtime> operands[2];
  for (size_t i : {0, 1}) {
    // Compile-time numbers take the element's type; run-time values must have it.
    auto *runtime = call[i + 1].asRuntime();
    if (runtime && runtime->type != type)
      return e.error(call.values[i + 1].range, Diag::CasType, typeText(*runtime), typeText(type, {}));
    operands[i] = e.cast(call[i + 1], type, call.values[i + 1].range);
    if (!operands[i] || !fitToPointer(e, *operands[i], *pointer, call.info->params[i + 1].name.c_str(), call.values[i + 1].range))
      return Value();
  }
  if (!sem || !scope)
    return Value();
  return Runtime{tt::AtomicCASOp::create(e.builder, e.loc(call.range), operands[0]->ssa.getType(), pointer->ssa, operands[0]->ssa, operands[1]->ssa,
                                         mlir::Value(), *sem, *scope),
                 type};
}

Value BuiltinHandlers::debugBarrier(Elaborator &e, const BoundCall &call) {
  tt::BarrierOp::create(e.builder, e.loc(call.range));
  return Value::none();
}

} // namespace tk::lang
