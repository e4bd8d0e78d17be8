// Forms of offsets and masks.
#include "compiler/analysis/AccessForm.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

// How many operations a form is followed through; what lies deeper is opaque.
static constexpr unsigned kMaxDepth = 200;
static constexpr unsigned kMaxResidues = 8;

// ---- AffineForm ----

bool AffineForm::variesAlong(unsigned axis) const {
  return !strides[axis].isZero() || llvm::any_of(residues, [&](const Residue &residue) { return residue.axes[axis] >= 0; });
}

bool AffineForm::isAffineAlong(unsigned axis) const {
  return llvm::none_of(residues, [&](const Residue &residue) { return residue.axes[axis] >= 0; });
}

bool AffineForm::isUniform() const {
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (variesAlong(axis))
      return false;
  return residues.empty();
}

int AffineForm::onlyAxis() const {
  int only = -1;
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (variesAlong(axis)) {
      if (only >= 0)
        return -1;
      only = axis;
    }
  return only;
}

static AffineForm emptyForm(Type type) {
  AffineForm form;
  form.width = tt::elementType(type).getIntOrFloatBitWidth();
  form.shape.assign(tt::shapeOf(type).begin(), tt::shapeOf(type).end());
  form.constant = ScalarExpr(form.width);
  form.strides.assign(form.shape.size(), ScalarExpr(form.width));
  return form;
}

/// Whether the form stays within its width, as far as constants tell.
static bool provenNoWrap(const AffineForm &form, bool isSigned) {
  auto constant = form.constant.asConstant();
  if (!constant || !form.residues.empty())
    return false;
  unsigned wide = form.width + 40 + 8; // an extent below 2^40 times a stride, a few of them
  auto widen = [&](const APInt &value) { return isSigned ? value.sext(wide) : value.zext(wide); };
  APInt low = widen(*constant), high = low;
  for (auto [stride, extent] : llvm::zip(form.strides, form.shape)) {
    auto step = stride.asConstant();
    if (!step)
      return false;
    APInt travel = widen(*step) * APInt(wide, extent - 1);
    (travel.isNegative() ? low : high) += travel;
  }
  APInt least = isSigned ? APInt::getSignedMinValue(form.width).sext(wide) : APInt::getZero(wide);
  APInt most = isSigned ? APInt::getSignedMaxValue(form.width).sext(wide) : APInt::getMaxValue(form.width).zext(wide);
  return low.sge(least) && high.sle(most);
}

static std::optional<Residue::Extension> extendAgain(Residue::Extension before, bool isSigned) {
  if (before == Residue::None)
    return isSigned ? Residue::Signed : Residue::Unsigned;
  if (before == Residue::Signed && !isSigned)
    return std::nullopt;
  return before; // what was zero-extended is not negative
}

AffineForm compiler::extendForm(const FormRef &form, unsigned width, bool isSigned) {
  if (form->width == width)
    return *form;
  AffineForm wide = *form;
  wide.width = width;
  wide.constant = form->constant.extend(width, isSigned);
  for (ScalarExpr &stride : wide.strides)
    stride = stride.extend(width, isSigned);
  for (Residue &residue : wide.residues) {
    residue.factor = residue.factor.extend(width, isSigned);
    residue.extension = extendAgain(residue.extension, isSigned).value_or(residue.extension);
  }
  bool onlyResidue = form->constant.isZero() && form->residues.size() == 1 && form->residues.front().factor.isConstant(1) &&
                     llvm::all_of(form->strides, [](const ScalarExpr &stride) { return stride.isZero(); });
  if (!form->isUniform() && !onlyResidue && !provenNoWrap(*form, isSigned))
    wide.conditions.push_back({form, isSigned});
  return wide;
}

AffineForm compiler::remapForm(const AffineForm &form, ArrayRef<int> from, ArrayRef<int64_t> shape) {
  AffineForm result = form;
  result.shape.assign(shape.begin(), shape.end());
  result.strides.clear();
  for (int axis : from)
    result.strides.push_back(axis < 0 ? ScalarExpr(form.width) : form.strides[axis]);
  for (Residue &residue : result.residues) {
    SmallVector<int> axes;
    for (int axis : from)
      axes.push_back(axis < 0 ? -1 : residue.axes[axis]);
    residue.axes = axes;
  }
  return result;
}

std::optional<SmallVector<int>> compiler::axesOfView(Operation *op) {
  if (!op || op->getNumOperands() != 1 || op->getNumResults() != 1)
    return std::nullopt;
  ArrayRef<int64_t> source = tt::shapeOf(op->getOperand(0).getType()), result = tt::shapeOf(op->getResult(0).getType());
  SmallVector<int> axes;
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    axes.assign(trans.getOrder().begin(), trans.getOrder().end());
  } else if (isa<tt::BroadcastOp>(op)) {
    for (unsigned axis = 0; axis < result.size(); ++axis)
      axes.push_back(source[axis] == result[axis] ? int(axis) : -1);
  } else if (isa<tt::ExpandDimsOp, tt::ReshapeOp>(op)) { // axes of extent 1 come and go
    if (auto reshape = dyn_cast<tt::ReshapeOp>(op); reshape && reshape.getAllowReorder())
      return std::nullopt;
    unsigned next = 0;
    for (int64_t extent : result) {
      while (next < source.size() && source[next] == 1 && extent != 1)
        ++next;
      if (extent == 1) {
        axes.push_back(-1);
      } else if (next < source.size() && source[next] == extent) {
        axes.push_back(next++);
      } else {
        return std::nullopt;
      }
    }
  } else {
    return std::nullopt;
  }
  return axes;
}

void AffineForm::print(raw_ostream &os, AsmState &names) const {
  bool first = true;
  auto plus = [&]() -> raw_ostream & { return first ? (first = false, os) : os << " + "; };
  if (!constant.isZero() || (residues.empty() && llvm::all_of(strides, [](const ScalarExpr &stride) { return stride.isZero(); })))
    constant.print(plus(), names);
  for (auto [axis, stride] : llvm::enumerate(strides)) {
    if (stride.isZero())
      continue;
    plus();
    if (bool simple = stride.terms().size() == 1; !stride.isConstant(1)) {
      os << (simple ? "" : "(");
      stride.print(os, names);
      os << (simple ? "*" : ")*");
    }
    os << "i" << axis;
  }
  for (const Residue &residue : residues) {
    plus();
    if (!residue.factor.isConstant(1)) {
      os << "(";
      residue.factor.print(os, names);
      os << ")*";
    }
    static constexpr StringRef kExtensions[] = {"", "sext ", "zext "};
    os << kExtensions[residue.extension];
    residue.tile.printAsOperand(os, names);
    os << "[";
    llvm::interleaveComma(residue.axes, os, [&](int axis) { axis < 0 ? os << "*" : os << "i" << axis; });
    os << "]";
  }
}

// ---- offsets ----

FormRef AccessAnalysis::formOf(Value value) {
  if (auto found = forms.find(value); found != forms.end())
    return found->second;
  ++depth;
  auto form = std::make_shared<const AffineForm>(depth > kMaxDepth ? opaque(value) : compute(value));
  --depth;
  forms[value] = form;
  return form;
}

/// The tile itself as a residue. An elementwise result varies along an axis only if an operand does.
AffineForm AccessAnalysis::opaque(Value value) {
  AffineForm form = emptyForm(value.getType());
  Residue residue{value, {}, ScalarExpr::constant(form.width, 1)};
  Operation *op = value.getDefiningOp();
  bool elementwise = op && op->hasTrait<OpTrait::Elementwise>() && depth <= kMaxDepth;
  for (unsigned axis = 0; axis < form.shape.size(); ++axis) {
    bool varies = form.shape[axis] != 1;
    if (varies && elementwise)
      varies = llvm::any_of(op->getOperands(), [&](Value operand) {
        return tt::isTile(operand.getType()) && (!isa<IntegerType>(tt::elementType(operand.getType())) || formOf(operand)->variesAlong(axis));
      });
    residue.axes.push_back(varies ? int(axis) : -1);
  }
  form.residues.push_back(std::move(residue));
  return form;
}

AffineForm AccessAnalysis::compute(Value value) {
  AffineForm form = emptyForm(value.getType());
  if (!tt::isTile(value.getType())) {
    form.constant = ScalarExpr::of(value);
    return form;
  }
  SplatElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense))) {
    form.constant = ScalarExpr::constant(dense.getSplatValue<APInt>());
    return form;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return opaque(value);
  if (auto splat = dyn_cast<tt::SplatOp>(op)) {
    form.constant = ScalarExpr::of(splat.getSrc());
    return form;
  }
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    form.constant = ScalarExpr::constant(form.width, int32_t(range.getStart()));
    if (form.shape[0] != 1)
      form.strides[0] = ScalarExpr::constant(form.width, 1);
    return form;
  }
  if (auto axes = axesOfView(op))
    return remapForm(*formOf(op->getOperand(0)), *axes, form.shape);
  if (auto result = arithmetic(op); result && result->residues.size() <= kMaxResidues)
    return *result;
  return opaque(value);
}

void AffineForm::addConditions(const AffineForm &other) {
  for (const NoWrap &condition : other.conditions)
    if (llvm::none_of(conditions, [&](const NoWrap &known) { return known.form == condition.form && known.isSigned == condition.isSigned; }))
      conditions.push_back(condition);
}

static AffineForm sum(const AffineForm &left, const AffineForm &right, bool subtract) {
  auto combine = [&](const ScalarExpr &a, const ScalarExpr &b) { return subtract ? a - b : a + b; };
  AffineForm form = left;
  form.constant = combine(left.constant, right.constant);
  for (auto [stride, other] : llvm::zip(form.strides, right.strides))
    stride = combine(stride, other);
  for (const Residue &residue : right.residues) {
    auto same = llvm::find_if(
        form.residues, [&](const Residue &known) { return known.tile == residue.tile && known.axes == residue.axes && known.extension == residue.extension; });
    if (same == form.residues.end())
      form.residues.push_back({residue.tile, residue.axes, combine(ScalarExpr(form.width), residue.factor), residue.extension});
    else if (same->factor = combine(same->factor, residue.factor); same->factor.isZero())
      form.residues.erase(same);
  }
  form.addConditions(right);
  return form;
}

static std::optional<AffineForm> scaled(const AffineForm &form, const AffineForm &uniform) {
  AffineForm result = form;
  bool fits = true;
  auto scale = [&](ScalarExpr &expr) {
    auto product = expr.times(uniform.constant);
    fits &= product.has_value();
    if (product)
      expr = *product;
  };
  scale(result.constant);
  llvm::for_each(result.strides, scale);
  for (Residue &residue : result.residues)
    scale(residue.factor);
  llvm::erase_if(result.residues, [](const Residue &residue) { return residue.factor.isZero(); });
  result.addConditions(uniform);
  return fits ? std::optional<AffineForm>(result) : std::nullopt;
}

/// Sums, products with a uniform factor, shifts by a constant, extensions. Never quotients or remainders.
std::optional<AffineForm> AccessAnalysis::arithmetic(Operation *op) {
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return sum(*formOf(op->getOperand(0)), *formOf(op->getOperand(1)), isa<arith::SubIOp>(op));
  if (isa<arith::MulIOp>(op)) {
    FormRef left = formOf(op->getOperand(0)), right = formOf(op->getOperand(1));
    if (right->isUniform())
      return scaled(*left, *right);
    return left->isUniform() ? scaled(*right, *left) : std::nullopt;
  }
  if (isa<arith::ShLIOp>(op)) {
    AffineForm factor = *formOf(op->getOperand(1));
    auto amount = factor.isUniform() ? factor.constant.asConstant() : std::nullopt;
    if (!amount)
      return std::nullopt;
    factor.constant = amount->ult(factor.width) ? ScalarExpr::constant(APInt::getOneBitSet(factor.width, amount->getZExtValue())) : ScalarExpr(factor.width);
    return scaled(*formOf(op->getOperand(0)), factor);
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    bool isSigned = isa<arith::ExtSIOp>(op);
    FormRef inner = formOf(op->getOperand(0));
    if (llvm::any_of(inner->residues, [&](const Residue &residue) { return !extendAgain(residue.extension, isSigned); }))
      return std::nullopt;
    return extendForm(inner, tt::elementType(op->getResult(0).getType()).getIntOrFloatBitWidth(), isSigned);
  }
  return std::nullopt;
}

// ---- accesses ----

std::optional<Access> AccessAnalysis::accessOf(Operation *op) {
  Value pointer, mask;
  if (auto load = dyn_cast<tt::LoadOp>(op))
    pointer = load.getPtr(), mask = load.getMask();
  else if (auto store = dyn_cast<tt::StoreOp>(op))
    pointer = store.getPtr(), mask = store.getMask();
  else if (auto update = dyn_cast<tt::AtomicRMWOp>(op))
    pointer = update.getPtr(), mask = update.getMask();
  else if (auto swap = dyn_cast<tt::AtomicCASOp>(op))
    pointer = swap.getPtr(), mask = swap.getMask();
  else
    return std::nullopt;

  Access access;
  access.elementBytes = tt::bytesOf(cast<tt::PointerType>(tt::elementType(pointer.getType())).getPointeeType());
  AffineForm offset = emptyForm(tt::withShapeOf(IntegerType::get(op->getContext(), 64), pointer.getType()));
  access.base = pointer;
  if (tt::isTile(pointer.getType())) {
    if (auto add = pointer.getDefiningOp<tt::AddPtrOp>()) {
      offset = extendForm(formOf(add.getOffset()), 64, /*isSigned=*/true);
      pointer = add.getPtr();
    }
    auto splat = pointer.getDefiningOp<tt::SplatOp>();
    if (!splat)
      return std::nullopt;
    access.base = splat.getSrc();
  }
  access.offset = std::make_shared<const AffineForm>(std::move(offset));
  access.mask = maskOf(mask);
  return access;
}
