// Binary, unary and comparison operators. On compile-time values they are Python's; else NUMERICS 2, 3 and 6.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/Elaborator.h"

namespace tk::lang {

namespace arith = mlir::arith;
using Op = ast::BinaryOp;

static Arithmetic arithmeticOf(Op op) {
  switch (op) {
  case Op::Div: return Arithmetic::Divide;
  case Op::Mod: return Arithmetic::Modulo;
  case Op::FloorDiv: return Arithmetic::FloorDivide;
  default: return Arithmetic::Ordinary;
  }
}

static mlir::Value floatOp(Elaborator &e, Op op, mlir::Value a, mlir::Value b, mlir::Location at) {
  switch (op) {
  case Op::Add: return arith::AddFOp::create(e.builder, at, a, b);
  case Op::Sub: return arith::SubFOp::create(e.builder, at, a, b);
  case Op::Mul: return arith::MulFOp::create(e.builder, at, a, b);
  case Op::Div: return e.approximable(arith::DivFOp::create(e.builder, at, a, b));
  default: return arith::RemFOp::create(e.builder, at, a, b);
  }
}

static mlir::Value integerOp(Elaborator &e, Op op, mlir::Value a, mlir::Value b, bool isSigned, mlir::Location at) {
  mlir::OpBuilder &build = e.builder;
  switch (op) {
  case Op::Add: return arith::AddIOp::create(build, at, a, b);
  case Op::Sub: return arith::SubIOp::create(build, at, a, b);
  case Op::Mul: return arith::MulIOp::create(build, at, a, b);
  case Op::FloorDiv: return isSigned ? arith::DivSIOp::create(build, at, a, b).getResult() : arith::DivUIOp::create(build, at, a, b).getResult();
  case Op::Mod: return isSigned ? arith::RemSIOp::create(build, at, a, b).getResult() : arith::RemUIOp::create(build, at, a, b).getResult();
  case Op::LShift: return arith::ShLIOp::create(build, at, a, b);
  case Op::RShift: return isSigned ? arith::ShRSIOp::create(build, at, a, b).getResult() : arith::ShRUIOp::create(build, at, a, b).getResult();
  case Op::BitAnd: return arith::AndIOp::create(build, at, a, b);
  case Op::BitOr: return arith::OrIOp::create(build, at, a, b);
  default: return arith::XOrIOp::create(build, at, a, b);
  }
}

/// With debug on, + - * on integers below 64 bits are computed again in 64 bits and asserted to fit.
static void assertNoOverflow(Elaborator &e, Op op, const Runtime &a, const Runtime &b, const Runtime &result, mlir::Location at) {
  DType wide = isSigned(a.type.dtype) ? DType::I64 : DType::U64;
  Runtime x = e.convert(a, DType::I64, at), y = e.convert(b, DType::I64, at), r = e.convert(result, wide, at);
  mlir::Value exact = integerOp(e, op, x.ssa, y.ssa, true, at);
  mlir::Value fits = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::eq, exact, r.ssa);
  tt::AssertOp::create(e.builder, at, fits, std::string(spelling(a.type.dtype)) + " overflow in `" + ast::spelling(op) + "`");
}

static Value sequenceOperator(Elaborator &e, Op op, const Value &lhs, const Value &rhs, bool &handled) {
  std::optional<std::vector<Value>> a = lhs.elements(), b = rhs.elements();
  handled = true;
  if (op == Op::Add && a && b) {
    a->insert(a->end(), b->begin(), b->end());
    return Value::tuple(std::move(*a));
  }
  const Value &count = a ? rhs : lhs;
  if (op == Op::Mul && (a || b) && count.asConst() && count.asConst()->get<BigInt>()) {
    std::vector<Value> unit = a ? *a : *b, result;
    for (int64_t n = count.asConst()->asInt64().value_or(0); n > 0 && result.size() < 65536; --n)
      result.insert(result.end(), unit.begin(), unit.end());
    return Value::tuple(std::move(result));
  }
  handled = false;
  return Value();
}

static Value pointerOperator(Elaborator &e, Op op, const Value &lhs, const Value &rhs, SourceRange range) {
  auto isPointer = [](const Value &value) { return value.asRuntime() && value.asRuntime()->isPointer(); };
  bool left = isPointer(lhs), right = isPointer(rhs);
  if (op == Op::Add && left != right)
    return e.addPointer(left ? lhs : rhs, left ? rhs : lhs, false, range);
  if (op == Op::Sub && left && !right)
    return e.addPointer(lhs, rhs, true, range);
  return e.error(range, Diag::PointerOperands, std::string(ast::spelling(op)), lhs.describe(), rhs.describe());
}

Value Elaborator::addPointer(const Value &pointer, const Value &offset, bool negate, SourceRange range) {
  auto *runtime = offset.asRuntime();
  auto *constant = offset.asConst();
  bool integer = runtime ? isInteger(runtime->type.dtype) && !runtime->isPointer() : constant && (constant->get<BigInt>() || constant->get<bool>());
  if (!integer)
    return error(range, Diag::PointerOffset, offset.describe());
  mlir::Location at = loc(range);
  Runtime amount{};
  if (constant) {
    std::optional<int64_t> value = constant->asInt64();
    if (!value || (negate && *value == INT64_MIN))
      return error(range, Diag::IntegerTooLarge, constant->repr());
    int64_t signedOffset = negate ? -*value : *value;
    unsigned bits = signedOffset >= INT32_MIN && signedOffset <= INT32_MAX ? 32 : 64;
    amount = {constantInt(signedOffset, bits, at), TypeValue{bits == 32 ? DType::I32 : DType::I64, 0, false}};
  } else {
    amount = *runtime;
    if (isUnsigned(amount.type.dtype)) // zero-extended before it counts as signed
      amount = convert(amount, DType::I64, at);
    else if (bitsOf(amount.type.dtype) < 32)
      amount = convert(amount, DType::I32, at);
    if (negate)
      amount.ssa = arith::SubIOp::create(builder, at, placeholder(amount.ssa.getType(), at), amount.ssa);
  }
  return addPointer(*pointer.asRuntime(), amount, range);
}

Value Elaborator::addPointer(const Runtime &pointer, const Runtime &offset, SourceRange range) {
  Runtime both[2] = {pointer, offset};
  if (!broadcastAll(both, "pointer arithmetic", range))
    return Value();
  return Runtime{tt::AddPtrOp::create(builder, loc(range), both[0].ssa.getType(), both[0].ssa, both[1].ssa), pointer.type};
}

Value Elaborator::binary(Op op, const Value &lhs, const Value &rhs, SourceRange range, bool checkOverflow) {
  if (lhs.isError() || rhs.isError())
    return Value();
  std::string symbol = ast::spelling(op);
  if (lhs.asConst() && rhs.asConst()) {
    std::string message;
    std::optional<ConstValue> result = evalBinary(op, *lhs.asConst(), *rhs.asConst(), message);
    return result ? Value(*result) : error(range, Diag::ConstEvaluation, message);
  }
  bool handled = false;
  if (Value result = sequenceOperator(*this, op, lhs, rhs, handled); handled)
    return result.isError() ? error(range, Diag::TupleTooDeep, kMaxConstNesting) : result;
  if ((lhs.asRuntime() && lhs.asRuntime()->isPointer()) || (rhs.asRuntime() && rhs.asRuntime()->isPointer()))
    return pointerOperator(*this, op, lhs, rhs, range);
  if (op == Op::Pow || op == Op::MatMul)
    return error(range, op == Op::Pow ? Diag::PowerAtRunTime : Diag::MatMulOperator);
  std::optional<std::pair<Runtime, Runtime>> operands = promote(lhs, rhs, arithmeticOf(op), "`" + symbol + "`", range);
  if (!operands)
    return Value();
  auto [a, b] = *operands;
  mlir::Location at = loc(range);
  DType type = a.type.dtype;
  bool bitwise = op == Op::BitAnd || op == Op::BitOr || op == Op::BitXor || op == Op::LShift || op == Op::RShift;
  if (isFloat(type)) {
    if (bitwise || op == Op::FloorDiv)
      return error(range, bitwise ? Diag::BitwiseOnFloat : Diag::FloorDivideOnFloat, symbol, lhs.describe(), rhs.describe());
    if (isFloat8(type)) {
      mlir::Value result = floatOp(*this, op, convert(a, DType::F32, at).ssa, convert(b, DType::F32, at).ssa, at);
      return convert(Runtime{result, TypeValue{DType::F32, 0, false}}, type, at);
    }
    return Runtime{floatOp(*this, op, a.ssa, b.ssa, at), a.type};
  }
  if (op == Op::Div)
    return Runtime{approximable(arith::DivFOp::create(builder, at, convert(a, DType::F32, at).ssa, convert(b, DType::F32, at).ssa)),
                   TypeValue{DType::F32, 0, false}};
  bool isSignedOp = isSigned(type);
  if (op == Op::RShift && lhs.asRuntime()) // the left operand's own signedness decides
    isSignedOp = isSigned(lhs.asRuntime()->type.dtype);
  if ((op == Op::LShift || op == Op::RShift) && rhs.asConst() && rhs.asConst()->asInt64().value_or(0) >= bitsOf(type))
    report(Diag::ShiftTooFar, place(range), rhs.asConst()->repr(), std::string(spelling(type)));
  Runtime result{integerOp(*this, op, a.ssa, b.ssa, isSignedOp, at), a.type};
  bool canOverflow = (op == Op::Add || op == Op::Sub || op == Op::Mul) && bitsOf(type) < 64 && type != DType::I1;
  if (options.debug && checkOverflow && canOverflow)
    assertNoOverflow(*this, op, a, b, result, at);
  return result;
}

Value Elaborator::unary(ast::UnaryOp op, const Value &operand, SourceRange range) {
  if (operand.isError())
    return operand;
  if (auto *c = operand.asConst()) {
    std::string message;
    std::optional<ConstValue> result = evalUnary(op, *c, message);
    return result ? Value(*result) : error(range, Diag::ConstEvaluation, message);
  }
  auto *value = operand.asRuntime();
  if (!value && op == ast::UnaryOp::Not && operand.elements())
    return Value(ConstValue(operand.elements()->empty()));
  if (!value || (value->isPointer() && op != ast::UnaryOp::Not))
    return error(range, Diag::BadOperand, std::string(ast::spelling(op)), operand.describe());
  mlir::Location at = loc(range);
  DType type = value->type.dtype;
  switch (op) {
  case ast::UnaryOp::Plus: return operand;
  case ast::UnaryOp::Minus: {
    if (isFloat8(type)) {
      Runtime wide = convert(*value, DType::F32, at);
      return convert(Runtime{arith::NegFOp::create(builder, at, wide.ssa), wide.type}, type, at);
    }
    if (isFloat(type))
      return Runtime{arith::NegFOp::create(builder, at, value->ssa), value->type};
    return Runtime{arith::SubIOp::create(builder, at, placeholder(value->ssa.getType(), at), value->ssa), value->type};
  }
  case ast::UnaryOp::Invert: {
    if (isFloat(type))
      return error(range, Diag::BadOperand, std::string("~"), operand.describe());
    Runtime ones = broadcastTo(Runtime{constantInt(-1, bitsOf(type), at), value->type}, value->shape(), at);
    return Runtime{arith::XOrIOp::create(builder, at, value->ssa, ones.ssa), value->type};
  }
  case ast::UnaryOp::Not: {
    if (!value->isPointer() && type != DType::I1)
      return error(range, Diag::LogicalOperand, std::string("not"), operand.describe());
    Runtime boolean = toBool(*value, range);
    Runtime one = broadcastTo(Runtime{constantInt(1, 1, at), boolean.type}, value->shape(), at);
    return Runtime{arith::XOrIOp::create(builder, at, boolean.ssa, one.ssa), boolean.type};
  }
  }
  return Value();
}

static arith::CmpFPredicate floatPredicate(ast::CompareOp op) {
  switch (op) {
  case ast::CompareOp::Eq: return arith::CmpFPredicate::OEQ;
  case ast::CompareOp::NotEq: return arith::CmpFPredicate::UNE;
  case ast::CompareOp::Lt: return arith::CmpFPredicate::OLT;
  case ast::CompareOp::LtE: return arith::CmpFPredicate::OLE;
  case ast::CompareOp::Gt: return arith::CmpFPredicate::OGT;
  default: return arith::CmpFPredicate::OGE;
  }
}

static arith::CmpIPredicate integerPredicate(ast::CompareOp op, bool isSigned) {
  switch (op) {
  case ast::CompareOp::Eq: return arith::CmpIPredicate::eq;
  case ast::CompareOp::NotEq: return arith::CmpIPredicate::ne;
  case ast::CompareOp::Lt: return isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult;
  case ast::CompareOp::LtE: return isSigned ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule;
  case ast::CompareOp::Gt: return isSigned ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt;
  default: return isSigned ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge;
  }
}

Value Elaborator::compare(ast::CompareOp op, const Value &lhs, const Value &rhs, SourceRange range) {
  using C = ast::CompareOp;
  if (lhs.isError() || rhs.isError())
    return Value();
  if (lhs.asConst() && rhs.asConst()) {
    std::string message;
    std::optional<ConstValue> result = evalCompare(op, *lhs.asConst(), *rhs.asConst(), message);
    return result ? Value(*result) : error(range, Diag::ConstEvaluation, message);
  }
  if (op == C::Is || op == C::IsNot) // something known against something that is not: never the same object
    return Value(ConstValue(sameValue(lhs, rhs) == (op == C::Is)));
  if (op == C::In || op == C::NotIn)
    return error(range, Diag::MembershipAtRunTime);
  auto notNumber = [](const Value &value) { return !value.asRuntime() && !(value.asConst() && literalType(*value.asConst())); };
  bool equality = op == C::Eq || op == C::NotEq;
  if (equality && (notNumber(lhs) || notNumber(rhs)) && (!lhs.asRuntime() || !lhs.asRuntime()->isPointer() || rhs.isNone()))
    return Value(ConstValue(sameValue(lhs, rhs) == (op == C::Eq)));
  std::optional<std::pair<Runtime, Runtime>> operands = promote(lhs, rhs, Arithmetic::Ordinary, "`" + std::string(ast::spelling(op)) + "`", range);
  if (!operands)
    return Value();
  auto [a, b] = *operands;
  mlir::Location at = loc(range);
  TypeValue boolean{DType::I1, 0, false};
  if (isFloat8(a.type.dtype))
    a = convert(a, DType::F32, at), b = convert(b, DType::F32, at);
  if (isFloat(a.type.dtype))
    return Runtime{arith::CmpFOp::create(builder, at, floatPredicate(op), a.ssa, b.ssa), boolean};
  return Runtime{arith::CmpIOp::create(builder, at, integerPredicate(op, isSigned(a.type.dtype)), a.ssa, b.ssa), boolean};
}

Value Elaborator::logical(bool isAnd, const Value &lhs, const Value &rhs, SourceRange range) {
  for (const Value *operand : {&lhs, &rhs}) {
    auto *runtime = operand->asRuntime();
    if (runtime && runtime->type == TypeValue{DType::I1, 0, false})
      continue;
    if (!runtime && operand->asConst() && (operand->asConst()->get<bool>()))
      continue;
    return operand->isError() ? Value() : error(range, Diag::LogicalOperand, std::string(isAnd ? "and" : "or"), operand->describe());
  }
  return binary(isAnd ? Op::BitAnd : Op::BitOr, lhs, rhs, range);
}

mlir::Value Elaborator::condition(const Value &value, SourceRange range) {
  std::optional<Runtime> runtime = toRuntime(value, range);
  if (!runtime)
    return nullptr;
  if (runtime->isTile()) {
    if (mlir::cast<mlir::RankedTensorType>(runtime->ssa.getType()).getNumElements() != 1) {
      error(range, Diag::TileCondition, typeText(*runtime));
      return nullptr;
    }
    runtime->ssa = tt::UnsplatOp::create(builder, loc(range), runtime->ssa);
  }
  return toBool(*runtime, range).ssa;
}

} // namespace tk::lang
