// See AccessRange.h.
#include "compiler/schedule/AccessRange.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

std::optional<AccessRange> compiler::rangeOf(Operation *op, AccessAnalysis &analysis) {
  std::optional<Access> access = analysis.accessOf(op);
  if (!access || !access->offset->residues.empty())
    return std::nullopt;
  AccessRange range;
  range.form = access->offset;
  range.elementBytes = access->elementBytes;
  auto add = [&](const ScalarExpr &elements, int64_t bytes) {
    auto product = elements.times(ScalarExpr::constant(64, bytes));
    if (product)
      range.offset = range.offset + *product;
    return product.has_value();
  };
  if (!add(access->offset->constant, access->elementBytes))
    return std::nullopt;
  range.root = access->base;
  while (Operation *source = range.root.getDefiningOp()) {
    if (auto step = dyn_cast<tt::AddPtrOp>(source)) {
      if (!add(ScalarExpr::of(step.getOffset()).extend(64, /*isSigned=*/true), tt::bytesOf(cast<tt::PointerType>(step.getType()).getPointeeType())))
        return std::nullopt;
      range.root = step.getPtr();
    } else if (auto cast = dyn_cast<tt::BitcastOp>(source); cast && isa<tt::PointerType>(cast.getSrc().getType())) {
      range.root = cast.getSrc();
    } else {
      break;
    }
  }
  Type pointer = op->getOperand(0).getType();
  range.isTile = tt::isTile(pointer);
  if (range.isTile)
    range.layout = ttg::layoutOf(pointer);
  return range;
}

/// Every element has an address of its own, as far as constants tell.
static bool isInjective(const AffineForm &form) {
  SmallVector<std::pair<uint64_t, uint64_t>> steps; // size, extent
  for (auto [stride, extent] : llvm::zip(form.strides, form.shape))
    if (extent > 1) {
      auto step = stride.asConstant();
      if (!step)
        return false;
      steps.push_back({step->abs().getZExtValue(), uint64_t(extent)});
    }
  llvm::sort(steps);
  uint64_t reach = 0;
  for (auto [step, extent] : steps) {
    if (step <= reach)
      return false;
    reach += step * (extent - 1);
  }
  return true;
}

/// Where one's element i lies where the other's does, it belongs to the same thread, and to no other.
static bool sameThreads(const AccessRange &read, const AccessRange &write) {
  return read.isTile && write.isTile && read.layout == write.layout && !read.layout.freeThreadBits() && read.elementBytes == write.elementBytes &&
         read.form->shape == write.form->shape && read.form->strides == write.form->strides && isInjective(*read.form);
}

namespace {
/// Lowest and highest offset of a form's elements from its constant, with the part that isn't known here.
struct Reach {
  int64_t low = 0, high = 0;
  SmallVector<std::pair<ScalarExpr, int64_t>> open; // stride, extent - 1
};
} // namespace

static Reach reachOf(const AffineForm &form, bool isSigned) {
  Reach reach;
  for (auto [stride, extent] : llvm::zip(form.strides, form.shape)) {
    if (extent <= 1 || stride.isZero())
      continue;
    if (auto step = stride.asConstant()) {
      int64_t travel = (isSigned || form.width == 64 ? step->getSExtValue() : int64_t(step->getZExtValue())) * (extent - 1);
      (travel < 0 ? reach.low : reach.high) += travel;
    } else {
      reach.open.push_back({stride.extend(64, isSigned), extent - 1});
    }
  }
  return reach;
}

Meeting compiler::meetingOf(const AccessRange &read, const AccessRange &write) {
  if (read.root != write.root)
    return Meeting::Sometimes;
  auto distance = (write.offset - read.offset).asConstant();
  if (!distance || !read.form->conditions.empty() || !write.form->conditions.empty()) {
    // The same addresses whatever they are.
    return distance && distance->isZero() && sameThreads(read, write) ? Meeting::Never : Meeting::Sometimes;
  }
  if (distance->isZero())
    return sameThreads(read, write) ? Meeting::Never : Meeting::Always;
  Reach reads = reachOf(*read.form, true), writes = reachOf(*write.form, true);
  if (!reads.open.empty() || !writes.open.empty())
    return Meeting::Sometimes;
  int64_t d = distance->getSExtValue();
  bool apart = d + (writes.high + 1) * write.elementBytes <= reads.low * read.elementBytes ||
               (reads.high + 1) * read.elementBytes <= d + writes.low * write.elementBytes;
  return apart ? Meeting::Never : Meeting::Always;
}

Meeting compiler::elementsMeet(const AccessRange &before, const AccessRange &after, bool scalarsChange) {
  if (before.isTile != after.isTile || before.elementBytes != after.elementBytes || before.form->shape != after.form->shape ||
      before.form->strides != after.form->strides || sameThreads(before, after))
    return Meeting::Never;
  if (before.root != after.root)
    return Meeting::Sometimes;
  if (scalarsChange)
    return Meeting::Always;
  auto distance = (after.offset - before.offset).asConstant();
  return !distance ? Meeting::Sometimes : distance->isZero() ? Meeting::Always : Meeting::Never;
}

namespace {
/// Scalar arithmetic in 64 bits.
class Builder64 {
public:
  Builder64(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) { return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y); }
  Value either(Value x, Value y) { return !x ? y : !y ? x : b.createOrFold<arith::OrIOp>(loc, x, y); }
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }

  Value make(const ScalarExpr &expr) {
    Type type = b.getIntegerType(expr.width());
    Value sum;
    for (const ScalarExpr::Term &term : expr.terms()) {
      Value product;
      for (const ScalarExpr::Atom &atom : term.factors) {
        Value factor = atom.value;
        if (!factor) {
          factor = make(*atom.inner);
          if (atom.isSigned)
            factor = arith::ExtSIOp::create(b, loc, type, factor);
          else
            factor = arith::ExtUIOp::create(b, loc, type, factor);
        }
        product = product ? mul(product, factor) : factor;
      }
      if (Value coefficient = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, term.coefficient)); !product)
        product = coefficient;
      else if (!term.coefficient.isOne())
        product = mul(product, coefficient);
      sum = sum ? add(sum, product) : product;
    }
    return sum ? sum : Value(arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 0)));
  }

  /// Lowest and highest value of base + the form's elements times `scale`.
  std::pair<Value, Value> extremes(Value base, const AffineForm &form, bool isSigned, int64_t scale) {
    Reach reach = reachOf(form, isSigned);
    Value low = add(base, constant(reach.low * scale)), high = add(base, constant(reach.high * scale));
    for (auto &[stride, steps] : reach.open) {
      Value travel = mul(make(stride), constant(steps * scale)), zero = constant(0);
      low = add(low, b.createOrFold<arith::MinSIOp>(loc, travel, zero));
      high = add(high, b.createOrFold<arith::MaxSIOp>(loc, travel, zero));
    }
    return {low, high};
  }

  /// The form is not what the addresses are, because narrow arithmetic wraps.
  Value wraps(const NoWrap &condition) {
    const AffineForm &form = *condition.form;
    auto [low, high] = extremes(make(form.constant.extend(64, condition.isSigned)), form, condition.isSigned, 1);
    int64_t least = condition.isSigned ? -(int64_t(1) << (form.width - 1)) : 0,
            most = condition.isSigned ? (int64_t(1) << (form.width - 1)) - 1 : (int64_t(1) << form.width) - 1;
    return either(compare(arith::CmpIPredicate::slt, low, constant(least)), compare(arith::CmpIPredicate::sgt, high, constant(most)));
  }

private:
  OpBuilder &b;
  Location loc;
};
} // namespace

static Value startOf(OpBuilder &builder, Location loc, const AccessRange &range) {
  Builder64 b(builder, loc);
  return b.add(tt::PtrToIntOp::create(builder, loc, builder.getI64Type(), range.root), b.make(range.offset));
}

Value compiler::testElements(OpBuilder &builder, Location loc, const AccessRange &before, const AccessRange &after) {
  return Builder64(builder, loc).compare(arith::CmpIPredicate::eq, startOf(builder, loc, before), startOf(builder, loc, after));
}

Value compiler::testMeeting(OpBuilder &builder, Location loc, const AccessRange &read, const AccessRange &write) {
  Builder64 b(builder, loc);
  Value from = startOf(builder, loc, read), to = startOf(builder, loc, write);
  auto [readLow, readHigh] = b.extremes(from, *read.form, true, read.elementBytes);
  auto [writeLow, writeHigh] = b.extremes(to, *write.form, true, write.elementBytes);
  Value meets = b.both(b.compare(arith::CmpIPredicate::slt, writeLow, b.add(readHigh, b.constant(read.elementBytes))),
                       b.compare(arith::CmpIPredicate::slt, readLow, b.add(writeHigh, b.constant(write.elementBytes))));
  if (sameThreads(read, write))
    meets = b.both(meets, b.compare(arith::CmpIPredicate::ne, from, to));
  for (const AccessRange *range : {&read, &write})
    for (const NoWrap &condition : range->form->conditions)
      meets = b.either(meets, b.wraps(condition));
  return meets;
}

static void collect(const ScalarExpr &expr, SmallVectorImpl<Value> &scalars) {
  for (const ScalarExpr::Term &term : expr.terms())
    for (const ScalarExpr::Atom &atom : term.factors)
      atom.value ? scalars.push_back(atom.value) : collect(*atom.inner, scalars);
}

void compiler::collectScalars(const AccessRange &range, SmallVectorImpl<Value> &scalars) {
  scalars.push_back(range.root);
  collect(range.offset, scalars);
  auto ofForm = [&](const AffineForm &form) {
    for (const ScalarExpr &stride : form.strides)
      collect(stride, scalars);
  };
  ofForm(*range.form);
  for (const NoWrap &condition : range.form->conditions) {
    collect(condition.form->constant, scalars);
    ofForm(*condition.form);
  }
}
