// The lattice of AxisInfo, its fixpoint over structured control flow, and what is read from it of memory accesses.
#include "compiler/analysis/AxisInfo.h"
#include "compiler/analysis/AxisTransfer.h"
#include "compiler/analysis/CarriedEdges.h"
#include "dialects/tt/Facts.h"
#include "dialects/ttg/TTG.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

using Axis = unsigned;

// How often the range of a carried value may grow before it is taken for unbounded.
static constexpr unsigned kMaxGrowths = 3;

int64_t compiler::powerOfTwoPart(int64_t number) {
  if (number == 0)
    return AxisInfo::kMost;
  return int64_t(1) << std::min(62, llvm::countr_zero(uint64_t(number)));
}

// ---- the lattice ----

AxisInfo AxisInfo::unknown(Type type) {
  AxisInfo info;
  size_t axes = std::max<size_t>(1, tt::shapeOf(type).size());
  info.contiguity.assign(axes, 1);
  info.divisibility.assign(axes, 1);
  info.constancy.assign(axes, 1);
  Type element = tt::elementType(type);
  if (auto pointer = dyn_cast<tt::PointerType>(element)) {
    info.unit = tt::bytesOf(pointer.getPointeeType());
  } else if (auto integer = dyn_cast<IntegerType>(element)) {
    SignedRange range = fullRange(integer.getWidth());
    info.low = range.low, info.high = range.high;
  }
  return info;
}

int64_t AxisInfo::divisibilityOfAll() const {
  int64_t most = 1;
  for (Axis axis = 0; axis < contiguity.size(); ++axis)
    most = std::max(most, divisibilityAt(axis, 1));
  return most;
}

AxisInfo AxisInfo::join(const AxisInfo &left, const AxisInfo &right) {
  AxisInfo info = left;
  for (Axis axis = 0; axis < info.contiguity.size(); ++axis) {
    int64_t run = std::min(left.contiguity[axis], right.contiguity[axis]);
    info.contiguity[axis] = run;
    info.divisibility[axis] = std::min(left.divisibilityAt(axis, run), right.divisibilityAt(axis, run));
    info.constancy[axis] = std::min(left.constancy[axis], right.constancy[axis]);
  }
  if (left.constant != right.constant)
    info.constant.reset();
  info.low = std::min(left.low, right.low);
  info.high = std::max(left.high, right.high);
  return info;
}

void AxisInfo::normalise(Type type) {
  if (isa<IntegerType>(tt::elementType(type)) && low == high)
    constant = low;
  if (constant) {
    low = high = *constant;
    contiguity.assign(contiguity.size(), 1);
    divisibility.assign(divisibility.size(), powerOfTwoPart(*constant));
    constancy.assign(constancy.size(), kMost);
  }
  ArrayRef<int64_t> shape = tt::shapeOf(type);
  for (Axis axis = 0; axis < contiguity.size(); ++axis) {
    int64_t whole = shape.empty() ? 1 : int64_t(llvm::PowerOf2Ceil(shape[axis]));
    if (contiguity[axis] > whole) {
      divisibility[axis] = divisibilityAt(axis, whole);
      contiguity[axis] = whole;
    }
    constancy[axis] = std::min(constancy[axis], whole);
  }
  int64_t all = divisibilityOfAll();
  for (int64_t &each : divisibility)
    each = std::max(each, all);
}

// ---- what the user says ----

/// The attribute's number for an axis; 1 when there is none.
static int64_t hintOf(Attribute attribute, Axis axis) {
  int64_t number = 1;
  if (auto each = dyn_cast_or_null<DenseI32ArrayAttr>(attribute)) {
    if (axis < each.size())
      number = each[axis];
  } else if (auto one = dyn_cast_or_null<IntegerAttr>(attribute)) {
    number = one.getInt();
  }
  return number > 0 ? powerOfTwoPart(number) : 1;
}

static void applyHints(AxisInfo &info, Type type, Attribute contiguity, Attribute divisibility, Attribute constancy) {
  if (!contiguity && !divisibility && !constancy)
    return;
  for (Axis axis = 0; axis < info.contiguity.size(); ++axis) {
    info.contiguity[axis] = std::max(info.contiguity[axis], hintOf(contiguity, axis));
    info.divisibility[axis] = std::max(info.divisibility[axis], hintOf(divisibility, axis));
    info.constancy[axis] = std::max(info.constancy[axis], hintOf(constancy, axis));
  }
  info.normalise(type);
}

void AxisInfoAnalysis::readArguments(tt::FuncOp function) {
  for (BlockArgument argument : function.getBody().getArguments()) {
    AxisInfo info = AxisInfo::unknown(argument.getType());
    auto attribute = [&](StringRef name) { return function.getArgAttr(argument.getArgNumber(), name); };
    applyHints(info, argument.getType(), attribute(tt::kContiguity), attribute(tt::kDivisibility), attribute(tt::kConstancy));
    set(argument, std::move(info));
  }
}

/// Whether everything that has an effect and uses `value` comes after `assume`, so that what is assumed holds wherever it matters.
static bool holdsForAllUses(Value value, tt::AssumeOp assume) {
  if (value.getParentBlock() != assume->getBlock())
    return false;
  Operation *first = value.getDefiningOp() ? value.getDefiningOp()->getNextNode() : &value.getParentBlock()->front();
  for (Operation *op = first; op && op != assume; op = op->getNextNode())
    if (!isa<tt::AssumeOp>(op) && !isMemoryEffectFree(op))
      return false;
  return true;
}

/// `a and b`, `x < c` and the like, `x % c == 0`; other conditions say nothing that is kept.
void AxisInfoAnalysis::readAssumption(tt::AssumeOp assume, Value condition) {
  using Predicate = arith::CmpIPredicate;
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    readAssumption(assume, both.getLhs());
    readAssumption(assume, both.getRhs());
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !isa<IntegerType>(compare.getLhs().getType()) || compare.getLhs().getType().isInteger(1))
    return;
  Value value = compare.getLhs();
  Predicate predicate = compare.getPredicate();
  APInt limit;
  if (matchPattern(value, m_ConstantInt(&limit))) { // the constant on the right
    value = compare.getRhs();
    constexpr std::pair<Predicate, Predicate> mirrored[] = {
        {Predicate::slt, Predicate::sgt}, {Predicate::sle, Predicate::sge}, {Predicate::sgt, Predicate::slt}, {Predicate::sge, Predicate::sle}};
    for (auto [from, to] : mirrored)
      if (predicate == from) {
        predicate = to;
        break;
      }
  } else if (!matchPattern(compare.getRhs(), m_ConstantInt(&limit))) {
    return;
  }
  int64_t number = limit.getSExtValue();
  if (Operation *rest = value.getDefiningOp(); rest && isa<arith::RemSIOp, arith::RemUIOp>(rest) && predicate == Predicate::eq && number == 0) {
    APInt divisor;
    Value dividend = rest->getOperand(0);
    if (matchPattern(rest->getOperand(1), m_ConstantInt(&divisor)) && !divisor.isZero() && holdsForAllUses(dividend, assume)) {
      Bounds &bounds = assumed[dividend];
      bounds.divisibility = std::max(bounds.divisibility, powerOfTwoPart(divisor.getSExtValue()));
    }
  }
  if (!holdsForAllUses(value, assume))
    return;
  Bounds &bounds = assumed[value];
  if (predicate == Predicate::sge || predicate == Predicate::eq)
    bounds.low = std::max(bounds.low, number);
  if (predicate == Predicate::sle || predicate == Predicate::eq)
    bounds.high = std::min(bounds.high, number);
  if (predicate == Predicate::sgt && number != INT64_MAX)
    bounds.low = std::max(bounds.low, number + 1);
  if (predicate == Predicate::slt && number != INT64_MIN)
    bounds.high = std::min(bounds.high, number - 1);
}

// ---- the fixpoint ----

const AxisInfo *AxisInfoAnalysis::find(Value value) const {
  auto found = infos.find(value);
  return found == infos.end() ? nullptr : &found->second;
}

void AxisInfoAnalysis::set(Value value, AxisInfo info) {
  if (auto found = assumed.find(value); found != assumed.end()) {
    const Bounds &bounds = found->second;
    int64_t low = std::max(info.low, bounds.low), high = std::min(info.high, bounds.high);
    if (low <= high) // else it is never reached
      info.low = low, info.high = high;
    for (int64_t &each : info.divisibility)
      each = std::max(each, bounds.divisibility);
    info.normalise(value.getType());
  }
  infos.insert_or_assign(value, std::move(info));
}

/// Joins what comes in to what is known. Facts only get fewer, so this ends; a range that keeps growing becomes the full one.
bool AxisInfoAnalysis::updateCarried(Value carried, ArrayRef<Value> incoming) {
  const AxisInfo *known = find(carried);
  std::optional<AxisInfo> joined;
  if (known)
    joined = *known;
  for (Value value : incoming)
    if (const AxisInfo *info = find(value))
      joined = joined ? AxisInfo::join(*joined, *info) : *info;
  if (!joined)
    return false;
  if (known && (joined->low < known->low || joined->high > known->high) && ++growths[carried] > kMaxGrowths) {
    AxisInfo full = AxisInfo::unknown(carried.getType());
    joined->low = joined->low < known->low ? full.low : joined->low;
    joined->high = joined->high > known->high ? full.high : joined->high;
  }
  joined->normalise(carried.getType());
  if (known && *known == *joined)
    return false;
  set(carried, std::move(*joined));
  return true;
}

void AxisInfoAnalysis::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) { // lower, lower + step, ... below upper
    const AxisInfo *lower = find(loop.getLowerBound()), *upper = find(loop.getUpperBound()), *step = find(loop.getStep());
    if (!lower || !upper || !step)
      return;
    AxisInfo variable = AxisInfo::unknown(loop.getInductionVar().getType());
    variable.divisibility[0] = std::min(lower->divisibility[0], step->divisibility[0]);
    bool ordered = !loop.getUnsignedCmp() || (lower->low >= 0 && upper->low >= 0);
    if (ordered && isa<IntegerType>(loop.getInductionVar().getType()) && lower->low < upper->high) {
      variable.low = lower->low;
      variable.high = upper->high - 1;
    }
    variable.normalise(loop.getInductionVar().getType());
    set(loop.getInductionVar(), std::move(variable));
    return;
  }
  if (isa<scf::WhileOp, scf::IfOp, ttg::WarpSpecializeOp, ub::PoisonOp>(op)) // poison is whatever suits
    return;
  SmallVector<const AxisInfo *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(find(operand));
    if (!operands.back())
      return;
  }
  AxisTransfer transfer{op, operands, presume};
  SmallVector<AxisInfo> results = transfer.run();
  if (transfer.presumed)
    presumedDivisions.insert(op);
  for (auto [value, info] : llvm::zip(op->getResults(), results)) {
    applyHints(info, value.getType(), op->getAttr(tt::kContiguity), op->getAttr(tt::kDivisibility), op->getAttr(tt::kConstancy));
    set(value, std::move(info));
  }
}

AxisInfoAnalysis::AxisInfoAnalysis(tt::FuncOp function, Dividends dividends) : presume(dividends == Dividends::Presumed) {
  if (function.isExternal())
    return;
  function.walk([&](tt::AssumeOp assume) { readAssumption(assume, assume.getCondition()); });
  readArguments(function);
  function.walk([&](Operation *op) { // what combine regions are given
    if (!isa<tt::FuncOp, scf::ForOp, scf::WhileOp, scf::IfOp, ttg::WarpPartitionOp>(op))
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          set(argument, AxisInfo::unknown(argument.getType()));
  });
  // Optimistic: a value has no facts until its operands have some, and a carried one then only loses facts. Each sweep is in order of dominance, so after one
  // that changes nothing carried, everything follows from everything else.
  for (bool changed = true; changed;) {
    changed = false;
    presumedDivisions.clear();
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == function)
        return;
      forEachCarried(op, [&](Value carried, ArrayRef<Value> incoming) { changed |= updateCarried(carried, incoming); });
      visit(op);
    });
  }
}

const AxisInfo &AxisInfoAnalysis::of(Value value) { return infos.try_emplace(value, AxisInfo::unknown(value.getType())).first->second; }

// ---- accesses ----

/// The longest run that divides the extent, so that no access is cut short.
static int64_t wholeRuns(Value value, Axis axis, int64_t run) {
  ArrayRef<int64_t> shape = tt::shapeOf(value.getType());
  return shape.empty() ? 1 : std::min(run, powerOfTwoPart(shape[axis]));
}

int64_t AxisInfoAnalysis::pointerContiguity(Value pointer, Axis axis) {
  const AxisInfo &info = of(pointer);
  // Aligned parts of a run begin at multiples of their length if the run does.
  return wholeRuns(pointer, axis, std::max<int64_t>(1, std::min(info.contiguity[axis], info.divisibility[axis] / info.unit)));
}

int64_t AxisInfoAnalysis::maskAlignment(Value mask, Axis axis) { return wholeRuns(mask, axis, of(mask).constancy[axis]); }

Value compiler::maskOf(Operation *access) {
  if (auto load = dyn_cast<tt::LoadOp>(access))
    return load.getMask();
  if (auto store = dyn_cast<tt::StoreOp>(access))
    return store.getMask();
  if (auto rmw = dyn_cast<tt::AtomicRMWOp>(access))
    return rmw.getMask();
  auto swap = dyn_cast<tt::AtomicCASOp>(access);
  return swap ? swap.getMask() : Value();
}

int64_t AxisInfoAnalysis::vectorWidth(Operation *access, Axis axis) {
  if (!isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(access) || !tt::isTile(access->getOperand(0).getType()))
    return 1;
  Value pointer = access->getOperand(0), mask = maskOf(access);
  int64_t width = pointerContiguity(pointer, axis);
  return mask ? std::min(width, maskAlignment(mask, axis)) : width;
}
