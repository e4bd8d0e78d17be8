// May the loads and stores of a group share one loop? A store runs before the loads of later points, so only if no later load reads what it
// wrote: the ranges are disjoint, or both access the same addresses point by point. Where the addresses are affine in the tile's indices, a test at run time decides.
#include "compiler/target/cpu/Emitter.h"
#include "mlir/IR/Matchers.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace tk::cpu {

/// value(i) = constant + sum strides[k] * i[k] in 64-bit arithmetic, when the value has that form; `exact`: 32-bit arithmetic in it did not wrap.
std::optional<Emitter::AffineForm> Emitter::affineForm(mlir::Value value) {
  auto shape = tt::shapeOf(value.getType());
  AffineForm form;
  form.strides.assign(shape.size(), i64(0));
  auto uniform = [&](mlir::Value scalarValue) { form.constant = b.CreateSExt(scalar(scalarValue), b.getInt64Ty()); };
  mlir::Operation *op = value.getDefiningOp();
  if (!tt::isTile(value.getType())) {
    uniform(value);
    return form;
  }
  if (!op || buffers.count(value))
    return std::nullopt;
  auto both = [&](Value *lhs, Value *rhs) { return lhs && rhs ? b.CreateAnd(lhs, rhs) : lhs ? lhs : rhs; };
  if (auto range = mlir::dyn_cast<tt::MakeRangeOp>(op)) {
    form.constant = i64(range.getStartAttr().getInt());
    form.strides[0] = i64(1);
    return form;
  }
  if (auto splat = mlir::dyn_cast<tt::SplatOp>(op)) {
    uniform(splat.getSrc());
    return form;
  }
  mlir::APInt bits;
  if (matchPattern(value, mlir::m_ConstantInt(&bits))) {
    form.constant = i64(bits.getSExtValue());
    return form;
  }
  if (isView(op)) {
    auto inner = affineForm(op->getOperand(0));
    if (!inner)
      return std::nullopt;
    form.constant = inner->constant, form.exact = inner->exact;
    if (auto expand = mlir::dyn_cast<tt::ExpandDimsOp>(op)) {
      for (unsigned dim = 0, from = 0; dim < shape.size(); ++dim)
        if (dim != expand.getAxis())
          form.strides[dim] = inner->strides[from++];
    } else if (auto broadcast = mlir::dyn_cast<tt::BroadcastOp>(op)) {
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        if (tt::shapeOf(broadcast.getSrc().getType())[dim] == shape[dim])
          form.strides[dim] = inner->strides[dim];
    } else {
      for (auto [dim, source] : llvm::enumerate(mlir::cast<tt::TransOp>(op).getOrder()))
        form.strides[dim] = inner->strides[source];
    }
    return form;
  }
  if (mlir::isa<mlir::arith::ExtSIOp>(op))
    return affineForm(op->getOperand(0));
  if (!mlir::isa<mlir::arith::AddIOp, mlir::arith::SubIOp, mlir::arith::MulIOp>(op))
    return std::nullopt;
  auto lhs = affineForm(op->getOperand(0)), rhs = affineForm(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  auto isZero = [](Value *v) { auto *c = dyn_cast<ConstantInt>(v); return c && c->isZero(); };
  auto isUniform = [&](const AffineForm &f) { return llvm::all_of(f.strides, isZero); };
  form.exact = both(lhs->exact, rhs->exact);
  if (mlir::isa<mlir::arith::MulIOp>(op)) {
    if (!isUniform(*rhs))
      std::swap(lhs, rhs);
    if (!isUniform(*rhs))
      return std::nullopt;
    form.constant = b.CreateMul(lhs->constant, rhs->constant);
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      form.strides[dim] = isZero(lhs->strides[dim]) ? lhs->strides[dim] : b.CreateMul(lhs->strides[dim], rhs->constant);
  } else {
    bool add = mlir::isa<mlir::arith::AddIOp>(op);
    form.constant = add ? b.CreateAdd(lhs->constant, rhs->constant) : b.CreateSub(lhs->constant, rhs->constant);
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      form.strides[dim] = add ? b.CreateAdd(lhs->strides[dim], rhs->strides[dim]) : b.CreateSub(lhs->strides[dim], rhs->strides[dim]);
  }
  // In 32 bits the form is right only if its extremes fit: the arithmetic is exact modulo 2^32, and linear between the corners.
  if (tt::elementType(value.getType()).getIntOrFloatBitWidth() < 64) {
    unsigned width = tt::elementType(value.getType()).getIntOrFloatBitWidth();
    Value *low = form.constant, *high = form.constant;
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      if (isZero(form.strides[dim]))
        continue;
      Value *travel = b.CreateMul(form.strides[dim], i64(shape[dim] - 1));
      low = b.CreateAdd(low, b.CreateBinaryIntrinsic(Intrinsic::smin, travel, i64(0)));
      high = b.CreateAdd(high, b.CreateBinaryIntrinsic(Intrinsic::smax, travel, i64(0)));
    }
    Value *fits = b.CreateAnd(b.CreateICmpSGE(low, i64(-(int64_t(1) << (width - 1)))), b.CreateICmpSLT(high, i64(int64_t(1) << (width - 1))));
    auto *known = dyn_cast<ConstantInt>(fits);
    if (!known || known->isZero())
      form.exact = both(form.exact, fits);
  }
  return form;
}

std::optional<Value *> Emitter::overlapTest(const Step &step) {
  SmallVector<mlir::Value> loads, stores;
  for (mlir::Operation *op : step.ops) {
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
      loads.push_back(load.getPtr());
    else if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
      stores.push_back(store.getPtr());
  }
  if (stores.empty() || (loads.empty() && stores.size() == 1))
    return nullptr;
  struct Range {
    Value *low, *high; // addresses, half-open
    SmallVector<Value *> strides;
    Value *exact;
    int64_t size;
    mlir::Value base, offset;
  };
  auto rangeOf = [&](mlir::Value pointer) -> std::optional<Range> {
    Range range{};
    if (!tileAddress(pointer, range.base, range.offset))
      return std::nullopt;
    auto shape = tt::shapeOf(pointer.getType());
    range.size = tt::bytesOf(mlir::cast<tt::PointerType>(tt::elementType(pointer.getType())).getPointeeType());
    AffineForm form;
    form.constant = i64(0);
    form.strides.assign(shape.size(), i64(0));
    if (range.offset) {
      auto affine = affineForm(range.offset);
      if (!affine)
        return std::nullopt;
      form = *affine;
    }
    range.low = range.high = b.CreateAdd(b.CreatePtrToInt(scalar(range.base), b.getInt64Ty()), b.CreateMul(form.constant, i64(range.size)));
    for (auto [stride, extent] : llvm::zip(form.strides, shape)) {
      Value *travel = b.CreateMul(stride, i64((extent - 1) * range.size));
      range.low = b.CreateAdd(range.low, b.CreateBinaryIntrinsic(Intrinsic::smin, travel, i64(0)));
      range.high = b.CreateAdd(range.high, b.CreateBinaryIntrinsic(Intrinsic::smax, travel, i64(0)));
    }
    range.high = b.CreateAdd(range.high, i64(range.size));
    range.strides = form.strides, range.exact = form.exact;
    return range;
  };
  Value *all = nullptr;
  auto require = [&](Value *condition) { all = all ? b.CreateAnd(all, condition) : condition; };
  SmallVector<Range> loadRanges, storeRanges;
  for (mlir::Value pointer : loads) {
    auto range = rangeOf(pointer);
    if (!range)
      return std::nullopt;
    loadRanges.push_back(*range);
  }
  for (mlir::Value pointer : stores) {
    auto range = rangeOf(pointer);
    if (!range)
      return std::nullopt;
    storeRanges.push_back(*range);
  }
  auto apart = [&](const Range &x, const Range &y) {
    if (x.base == y.base && x.offset == y.offset && x.size == y.size)
      return; // the same addresses point by point
    Value *disjoint = b.CreateOr(b.CreateICmpULE(x.high, y.low), b.CreateICmpULE(y.high, x.low));
    if (x.exact)
      disjoint = b.CreateAnd(disjoint, x.exact);
    if (y.exact)
      disjoint = b.CreateAnd(disjoint, y.exact);
    if (x.size == y.size) {
      Value *same = b.CreateAnd(b.CreateICmpEQ(x.low, y.low), b.CreateICmpEQ(x.high, y.high));
      for (auto [mine, theirs] : llvm::zip(x.strides, y.strides))
        same = b.CreateAnd(same, b.CreateICmpEQ(mine, theirs));
      if (x.exact)
        same = b.CreateAnd(same, x.exact);
      if (y.exact)
        same = b.CreateAnd(same, y.exact);
      disjoint = b.CreateOr(disjoint, same);
    }
    require(disjoint);
  };
  for (unsigned i = 0; i < storeRanges.size(); ++i) {
    for (const Range &load : loadRanges)
      apart(load, storeRanges[i]);
    for (unsigned j = i + 1; j < storeRanges.size(); ++j)
      apart(storeRanges[i], storeRanges[j]);
  }
  return all;
}

} // namespace tk::cpu
