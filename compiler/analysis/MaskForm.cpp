// Forms of masks: conjunctions of bounds.
#include "compiler/analysis/AccessForm.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

MaskForm AccessAnalysis::maskOf(Value mask) {
  MaskForm form;
  if (!mask)
    return form;
  ArrayRef<int64_t> shape = tt::shapeOf(mask.getType());
  SmallVector<int> from(shape.size());
  std::iota(from.begin(), from.end(), 0);
  addMask(mask, from, shape, form);
  return form;
}

static std::optional<bool> constantOf(Value mask) {
  Attribute value;
  if (!matchPattern(mask, m_Constant(&value)))
    return std::nullopt;
  if (auto scalar = dyn_cast<IntegerAttr>(value))
    return !scalar.getValue().isZero();
  auto splat = dyn_cast<SplatElementsAttr>(value);
  return splat ? std::optional<bool>(!splat.getSplatValue<APInt>().isZero()) : std::nullopt;
}

/// Adds `mask`, seen through views as `from` says (as in remapForm), to the conjunction.
void AccessAnalysis::addMask(Value mask, ArrayRef<int> from, ArrayRef<int64_t> shape, MaskForm &form) {
  if (auto constant = constantOf(mask)) {
    form.never |= !*constant;
    return;
  }
  Operation *op = mask.getDefiningOp();
  if (op && isa<arith::AndIOp>(op)) {
    addMask(op->getOperand(0), from, shape, form);
    return addMask(op->getOperand(1), from, shape, form);
  }
  if (!tt::isTile(mask.getType())) {
    if (!llvm::is_contained(form.scalars, mask))
      form.scalars.push_back(mask);
    return;
  }
  if (auto splat = dyn_cast_or_null<tt::SplatOp>(op))
    return addMask(splat.getSrc(), {}, shape, form);
  if (auto axes = axesOfView(op)) {
    SmallVector<int> through;
    for (int axis : from)
      through.push_back(axis < 0 ? -1 : (*axes)[axis]);
    return addMask(op->getOperand(0), through, shape, form);
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op); compare && addBound(compare, from, shape, form))
    return;
  MaskForm::Opaque residue{mask, {}};
  AffineForm own = opaque(mask);
  for (int axis : from)
    residue.axes.push_back(axis < 0 ? -1 : own.residues.front().axes[axis]);
  form.residues.push_back(std::move(residue));
}

/// limit P form, the other way round.
static arith::CmpIPredicate swapped(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt: return P::sgt;
  case P::sle: return P::sge;
  case P::sgt: return P::slt;
  case P::sge: return P::sle;
  case P::ult: return P::ugt;
  case P::ule: return P::uge;
  case P::ugt: return P::ult;
  case P::uge: return P::ule;
  default: return predicate;
  }
}

bool AccessAnalysis::addBound(arith::CmpIOp compare, ArrayRef<int> from, ArrayRef<int64_t> shape, MaskForm &form) {
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne)
    return false;
  FormRef left = formOf(compare.getLhs()), right = formOf(compare.getRhs());
  if (!right->isUniform()) {
    std::swap(left, right);
    predicate = swapped(predicate);
  }
  if (!right->isUniform())
    return false;
  bool stepless = llvm::all_of(left->strides, [](const ScalarExpr &stride) { return stride.isZero(); });
  if (stepless && !left->residues.empty())
    return false;
  AffineForm seen = remapForm(*left, from, shape);
  seen.addConditions(*right);
  form.bounds.push_back({predicate, std::make_shared<const AffineForm>(std::move(seen)), right->constant});
  return true;
}
