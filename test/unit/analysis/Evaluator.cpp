// Element by element.
#include "Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::test;
using llvm::APInt;

static constexpr unsigned kMaxIterations = 60;

static unsigned widthOf(Type type) {
  Type element = tt::elementType(type);
  return isa<tt::PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

static int64_t countOf(Type type) {
  int64_t count = 1;
  for (int64_t extent : tt::shapeOf(type))
    count *= extent;
  return count;
}

void Evaluator::set(Value value, Elements elements) {
  seen(value, elements);
  values[value] = std::move(elements);
}

void Evaluator::setAll(ValueRange results, const std::vector<Elements> &elements) {
  for (auto [value, each] : llvm::zip(results, elements))
    set(value, each);
}

std::vector<Elements> Evaluator::all(ValueRange operands) const {
  std::vector<Elements> result;
  for (Value operand : operands)
    result.push_back(of(operand));
  return result;
}

void Evaluator::run(Block &block) {
  for (Operation &op : block.without_terminator())
    execute(&op);
}

void Evaluator::execute(Operation *op) {
  if (control(op))
    return;
  if (auto split = dyn_cast<tt::SplitOp>(op)) {
    Elements halves[2];
    const Elements &source = of(split.getSrc());
    for (size_t i = 0; i < source.size(); ++i)
      halves[i % 2].push_back(source[i]);
    set(split.getOutLHS(), halves[0]);
    set(split.getOutRHS(), halves[1]);
    return;
  }
  Elements result = movement(op);
  set(op->getResult(0), result.empty() ? elementwise(op) : result);
}

bool Evaluator::control(Operation *op) {
  if (auto assume = dyn_cast<tt::AssumeOp>(op)) {
    if (of(assume.getCondition())[0].isZero())
      throw Undefined();
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    bool taken = !of(branch.getCondition())[0].isZero();
    Block &block = taken ? *branch.thenBlock() : *branch.elseBlock();
    run(block);
    setAll(branch.getResults(), all(block.getTerminator()->getOperands()));
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t upper = of(loop.getUpperBound())[0].getSExtValue(), step = of(loop.getStep())[0].getSExtValue();
    unsigned width = widthOf(loop.getInductionVar().getType()), count = 0;
    if (step <= 0)
      throw Unspecified();
    std::vector<Elements> carried = all(loop.getInitArgs());
    for (__int128 i = of(loop.getLowerBound())[0].getSExtValue(); i < upper; i += step) {
      if (++count > kMaxIterations)
        throw Unspecified();
      set(loop.getInductionVar(), {APInt(width, uint64_t(i), false, true)});
      setAll(loop.getRegionIterArgs(), carried);
      run(*loop.getBody());
      carried = all(loop.getYieldedValues());
    }
    setAll(loop.getResults(), carried);
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    std::vector<Elements> carried = all(loop.getInits());
    for (unsigned count = 0;; ++count) {
      if (count > kMaxIterations)
        throw Unspecified();
      setAll(loop.getBeforeArguments(), carried);
      run(*loop.getBeforeBody());
      carried = all(loop.getConditionOp().getArgs());
      if (of(loop.getConditionOp().getCondition())[0].isZero())
        break;
      setAll(loop.getAfterArguments(), carried);
      run(*loop.getAfterBody());
      carried = all(loop.getYieldOp().getOperands());
    }
    setAll(loop.getResults(), carried);
    return true;
  }
  return false;
}

/// Creation and movement; empty for any other operation.
Elements Evaluator::movement(Operation *op) {
  Type type = op->getResult(0).getType();
  unsigned width = widthOf(type);
  size_t count = countOf(type);
  if (auto value = dyn_cast<arith::ConstantOp>(op)) {
    if (auto splat = dyn_cast<SplatElementsAttr>(value.getValue()))
      return Elements(count, splat.getSplatValue<APInt>());
    return {cast<IntegerAttr>(value.getValue()).getValue()};
  }
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    Elements result;
    for (size_t i = 0; i < count; ++i)
      result.push_back(APInt(width, uint64_t(int64_t(int32_t(range.getStart())) + int64_t(i)), false, true));
    return result;
  }
  if (isa<tt::SplatOp>(op))
    return Elements(count, of(op->getOperand(0))[0]);
  if (isa<tt::ExpandDimsOp, tt::ReshapeOp>(op))
    return of(op->getOperand(0));
  if (auto cat = dyn_cast<tt::CatOp>(op)) {
    Elements result = of(cat.getLhs());
    result.insert(result.end(), of(cat.getRhs()).begin(), of(cat.getRhs()).end());
    return result;
  }
  if (auto join = dyn_cast<tt::JoinOp>(op)) {
    Elements result;
    for (size_t i = 0; i < count / 2; ++i) {
      result.push_back(of(join.getLhs())[i]);
      result.push_back(of(join.getRhs())[i]);
    }
    return result;
  }
  if (!isa<tt::BroadcastOp, tt::TransOp>(op))
    return {};
  ArrayRef<int64_t> from = tt::shapeOf(op->getOperand(0).getType()), to = tt::shapeOf(type);
  SmallVector<int64_t> strides(from.size(), 1);
  for (int axis = int(from.size()) - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * from[axis + 1];
  Elements result;
  for (size_t i = 0; i < count; ++i) {
    int64_t rest = i, source = 0;
    for (int axis = int(to.size()) - 1; axis >= 0; --axis) {
      int64_t index = rest % to[axis];
      rest /= to[axis];
      unsigned origin = isa<tt::TransOp>(op) ? cast<tt::TransOp>(op).getOrder()[axis] : axis;
      source += from[origin] == 1 ? 0 : index * strides[origin];
    }
    result.push_back(of(op->getOperand(0))[source]);
  }
  return result;
}

static APInt quotient(Operation *op, const APInt &x, const APInt &y) {
  if (y.isZero() || (isa<arith::DivSIOp, arith::RemSIOp>(op) && x.isMinSignedValue() && y.isAllOnes()))
    throw Unspecified();
  return llvm::TypeSwitch<Operation *, APInt>(op)
      .Case([&](arith::DivSIOp) { return x.sdiv(y); })
      .Case([&](arith::DivUIOp) { return x.udiv(y); })
      .Case([&](arith::RemSIOp) { return x.srem(y); })
      .Default([&](Operation *) { return x.urem(y); });
}

static bool holds(arith::CmpIPredicate predicate, const APInt &x, const APInt &y) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::eq: return x == y;
  case Predicate::ne: return x != y;
  case Predicate::slt: return x.slt(y);
  case Predicate::sle: return x.sle(y);
  case Predicate::sgt: return x.sgt(y);
  case Predicate::sge: return x.sge(y);
  case Predicate::ult: return x.ult(y);
  case Predicate::ule: return x.ule(y);
  case Predicate::ugt: return x.ugt(y);
  case Predicate::uge: return x.uge(y);
  }
  llvm_unreachable("a predicate of arith");
}

static APInt compute(Operation *op, ArrayRef<APInt> in) {
  Type type = op->getResult(0).getType();
  unsigned width = widthOf(type);
  return llvm::TypeSwitch<Operation *, APInt>(op)
      .Case([&](arith::AddIOp) { return in[0] + in[1]; })
      .Case([&](arith::SubIOp) { return in[0] - in[1]; })
      .Case([&](arith::MulIOp) { return in[0] * in[1]; })
      .Case([&](arith::ShLIOp) { return in[1].uge(width) ? APInt::getZero(width) : in[0].shl(in[1]); })
      .Case([&](arith::ShRUIOp) { return in[1].uge(width) ? APInt::getZero(width) : in[0].lshr(in[1]); })
      .Case([&](arith::ShRSIOp) { return in[0].ashr(in[1].uge(width) ? width - 1 : unsigned(in[1].getZExtValue())); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>([&](Operation *division) { return quotient(division, in[0], in[1]); })
      .Case([&](arith::AndIOp) { return in[0] & in[1]; })
      .Case([&](arith::OrIOp) { return in[0] | in[1]; })
      .Case([&](arith::XOrIOp) { return in[0] ^ in[1]; })
      .Case([&](arith::MinSIOp) { return llvm::APIntOps::smin(in[0], in[1]); })
      .Case([&](arith::MaxSIOp) { return llvm::APIntOps::smax(in[0], in[1]); })
      .Case([&](arith::MinUIOp) { return llvm::APIntOps::umin(in[0], in[1]); })
      .Case([&](arith::MaxUIOp) { return llvm::APIntOps::umax(in[0], in[1]); })
      .Case([&](arith::SelectOp) { return in[0].isZero() ? in[2] : in[1]; })
      .Case([&](arith::CmpIOp compare) { return APInt(1, holds(compare.getPredicate(), in[0], in[1])); })
      .Case([&](arith::ExtSIOp) { return in[0].sext(width); })
      .Case([&](arith::ExtUIOp) { return in[0].zext(width); })
      .Case([&](arith::TruncIOp) { return in[0].trunc(width); })
      .Case([&](math::AbsIOp) { return in[0].abs(); })
      .Case([&](tt::AddPtrOp) {
        int64_t bytes = tt::bytesOf(cast<tt::PointerType>(tt::elementType(type)).getPointeeType());
        return in[0] + in[1].sextOrTrunc(64) * APInt(64, uint64_t(bytes));
      })
      .Case<tt::PtrToIntOp, tt::IntToPtrOp, tt::BitcastOp>([&](Operation *) { return in[0]; })
      .Default([&](Operation *other) -> APInt { llvm::report_fatal_error(llvm::Twine("no evaluation of ") + other->getName().getStringRef()); });
}

Elements Evaluator::operands(Operation *op, size_t element) const {
  Elements result;
  for (Value operand : op->getOperands())
    result.push_back(of(operand)[tt::isTile(operand.getType()) ? element : 0]);
  return result;
}

Elements Evaluator::elementwise(Operation *op) {
  if (isa<arith::DivSIOp, arith::RemSIOp>(op))
    divided(op, of(op->getOperand(0)));
  Elements result;
  for (size_t i = 0, count = countOf(op->getResult(0).getType()); i < count; ++i)
    result.push_back(compute(op, operands(op, i)));
  return result;
}
