// See PaddedCombine.h.
//
// Parts of an axis are combined in order, and its true elements are a prefix. So of two neighbouring parts the one nearer to the end is padding first, and what
// both together have of true elements the one nearer to the beginning has any of:
//
//   ^(%l, %r):                                        ^(%l, %lt : i1, %r, %rt : i1):
//     %s = arith.subf %l, %r                            %s = arith.subf %l, %r
//     tt.reduce.return %s                      ->       %v = arith.select %rt, %s, %l
//                                                       tt.reduce.return %v, %lt
//
// In reverse the left part is the one nearer to the end: select %lt, %s, %r and return %rt.
#include "compiler/tile/PaddedCombine.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;

static FloatAttr floatOf(Type type, llvm::function_ref<APFloat(const llvm::fltSemantics &)> make) {
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type)) // the 8-bit formats lack infinities or signed zeros
    return {};
  return FloatAttr::get(type, make(cast<FloatType>(type).getFloatSemantics()));
}

TypedAttr compiler::neutralElement(Region &combine) {
  Block &body = combine.front();
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body.without_terminator(), 1))
    return {};
  Operation &op = body.front();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 || body.getTerminator()->getOperand(0) != op.getResult(0))
    return {};
  Value left = body.getArgument(0), right = body.getArgument(1);
  if (!((op.getOperand(0) == left && op.getOperand(1) == right) || (op.getOperand(0) == right && op.getOperand(1) == left)))
    return {};
  Type type = op.getResult(0).getType();
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  auto integer = [&](APInt value) { return IntegerAttr::get(type, std::move(value)); };
  using Semantics = llvm::fltSemantics;
  return llvm::TypeSwitch<Operation *, TypedAttr>(&op)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>([&](auto) { return integer(APInt::getZero(width)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return integer(APInt::getAllOnes(width)); })
      .Case<arith::MulIOp>([&](auto) { return integer(APInt(width, 1)); })
      .Case<arith::MaxSIOp>([&](auto) { return integer(APInt::getSignedMinValue(width)); })
      .Case<arith::MinSIOp>([&](auto) { return integer(APInt::getSignedMaxValue(width)); })
      .Case<arith::AddFOp>([&](auto) {
        return floatOf(type, [](const Semantics &s) { return APFloat::getZero(s, /*Negative=*/true); });
      }) // 0.0 would turn a sum of -0.0 into 0.0
      .Case<arith::MulFOp>([&](auto) { return floatOf(type, [](const Semantics &s) { return APFloat::getOne(s); }); })
      .Case<arith::MaximumFOp>([&](auto) { return floatOf(type, [](const Semantics &s) { return APFloat::getInf(s, /*Negative=*/true); }); })
      .Case<arith::MinimumFOp>([&](auto) { return floatOf(type, [](const Semantics &s) { return APFloat::getInf(s); }); })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>(
          [&](auto) { return floatOf(type, [](const Semantics &s) { return APFloat::getQNaN(s); }); }) // the only value that never wins
      .Default([](Operation *) { return TypedAttr(); });
}

bool compiler::mustNotSeePadding(Region &combine) {
  return llvm::any_of(combine.front(), [](Operation &op) { return op.getNumRegions() != 0 || !isMemoryEffectFree(&op); });
}

void compiler::combineTrueElements(Operation *from, Operation *to, bool paddingFirst) {
  bool jumps = mustNotSeePadding(from->getRegion(0));
  Block *body = new Block();
  Block &old = from->getRegion(0).front();
  to->getRegion(0).push_back(body);
  unsigned count = old.getNumArguments() / 2;
  Type flag = IntegerType::get(from->getContext(), 1);
  SmallVector<Value> left, right;
  for (unsigned i = 0; i < count; ++i)
    left.push_back(body->addArgument(old.getArgument(i).getType(), from->getLoc()));
  Value leftTrue = body->addArgument(flag, from->getLoc());
  for (unsigned i = 0; i < count; ++i)
    right.push_back(body->addArgument(old.getArgument(count + i).getType(), from->getLoc()));
  Value rightTrue = body->addArgument(flag, from->getLoc());
  for (unsigned i = 0; i < count; ++i) {
    old.getArgument(i).replaceAllUsesWith(left[i]);
    old.getArgument(count + i).replaceAllUsesWith(right[i]);
  }
  Value both = paddingFirst ? leftTrue : rightTrue, any = paddingFirst ? rightTrue : leftTrue;
  ArrayRef<Value> alone = paddingFirst ? right : left;

  Operation *end = old.getTerminator();
  SmallVector<Value> combined(end->getOperands()), results;
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  auto moveTo = [&](Block *block, Block::iterator place) { block->getOperations().splice(place, old.getOperations(), old.begin(), end->getIterator()); };
  if (jumps) {
    auto branch = scf::IfOp::create(builder, from->getLoc(), ValueRange(combined).getTypes(), both, /*addThenBlock=*/true, /*addElseBlock=*/true);
    moveTo(branch.thenBlock(), branch.thenBlock()->end());
    OpBuilder inner = OpBuilder::atBlockEnd(branch.thenBlock());
    scf::YieldOp::create(inner, from->getLoc(), combined);
    inner.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(inner, from->getLoc(), alone);
    results.assign(branch.getResults().begin(), branch.getResults().end());
  } else {
    moveTo(body, body->end());
    for (auto [value, other] : llvm::zip(combined, alone))
      results.push_back(arith::SelectOp::create(builder, from->getLoc(), both, value, other));
  }
  results.push_back(any);
  end->remove();
  end->setOperands(results);
  body->push_back(end);
}
