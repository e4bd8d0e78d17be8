// Elementwise arithmetic and mathematics (NUMERICS 6), libdevice.
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/Library.h"
#include "llvm/ADT/StringSwitch.h"

namespace tk::lang {

namespace arith = mlir::arith;
namespace math = mlir::math;

Value addSubMul(Elaborator &e, ast::BinaryOp op, const BoundCall &call) {
  std::optional<bool> check = constantBool(e, call, 2);
  return check ? e.binary(op, call[0], call[1], call.range, *check) : Value();
}

Value BuiltinHandlers::add(Elaborator &e, const BoundCall &call) { return addSubMul(e, ast::BinaryOp::Add, call); }
Value BuiltinHandlers::sub(Elaborator &e, const BoundCall &call) { return addSubMul(e, ast::BinaryOp::Sub, call); }
Value BuiltinHandlers::mul(Elaborator &e, const BoundCall &call) { return addSubMul(e, ast::BinaryOp::Mul, call); }

Value BuiltinHandlers::abs(Elaborator &e, const BoundCall &call) {
  if (auto *c = call[0].asConst()) {
    std::string message;
    std::optional<ConstValue> value = callHostBuiltin("python.abs", {{*c}, {}}, message);
    return value ? Value(*value) : e.error(call.range, Diag::ConstEvaluation, message);
  }
  std::optional<Runtime> x = runtimeOperand(e, call, 0);
  if (!x)
    return Value();
  if (x->isPointer())
    return e.error(call.range, Diag::NeedsNumber, call.info->display, typeText(*x));
  DType type = x->type.dtype;
  mlir::Location at = e.loc(call.range);
  if (isUnsigned(type))
    return *x;
  if (isSigned(type))
    return Runtime{math::AbsIOp::create(e.builder, at, x->ssa), x->type};
  if (isFloat8(type)) { // clears the sign bit
    Runtime wide = e.convert(*x, DType::F32, at);
    return e.convert(Runtime{math::AbsFOp::create(e.builder, at, wide.ssa), wide.type}, type, at);
  }
  return Runtime{math::AbsFOp::create(e.builder, at, x->ssa), x->type};
}

static std::optional<bool> propagatesNan(Elaborator &e, const BoundCall &call, size_t index) {
  auto *c = call[index].asConst();
  if (c && c->isNone())
    return false;
  if (c && c->asString() && (*c->asString() == "PropagateNan.ALL" || *c->asString() == "PropagateNan.NONE"))
    return *c->asString() == "PropagateNan.ALL";
  e.error(call.values[index].range, Diag::BadChoice, c && c->asString() ? *c->asString() : call[index].describe(), std::string("propagate_nan"), std::string("`tl.PropagateNan.ALL` or `tl.PropagateNan.NONE`"));
  return std::nullopt;
}

/// minimum or maximum of two promoted operands.
static Runtime extreme(Elaborator &e, Runtime a, Runtime b, bool isMax, bool propagate, mlir::Location at) {
  DType type = a.type.dtype;
  if (isFloat8(type)) {
    Runtime wide = extreme(e, e.convert(a, DType::F32, at), e.convert(b, DType::F32, at), isMax, propagate, at);
    return e.convert(wide, type, at);
  }
  mlir::Value result;
  if (isFloat(type) && propagate)
    result = isMax ? arith::MaximumFOp::create(e.builder, at, a.ssa, b.ssa).getResult() : arith::MinimumFOp::create(e.builder, at, a.ssa, b.ssa).getResult();
  else if (isFloat(type))
    result = isMax ? arith::MaxNumFOp::create(e.builder, at, a.ssa, b.ssa).getResult() : arith::MinNumFOp::create(e.builder, at, a.ssa, b.ssa).getResult();
  else if (isSigned(type))
    result = isMax ? arith::MaxSIOp::create(e.builder, at, a.ssa, b.ssa).getResult() : arith::MinSIOp::create(e.builder, at, a.ssa, b.ssa).getResult();
  else
    result = isMax ? arith::MaxUIOp::create(e.builder, at, a.ssa, b.ssa).getResult() : arith::MinUIOp::create(e.builder, at, a.ssa, b.ssa).getResult();
  return {result, a.type};
}

static Value minMax(Elaborator &e, const BoundCall &call, bool isMax) {
  std::optional<bool> propagate = propagatesNan(e, call, 2);
  if (!propagate)
    return Value();
  auto operands = e.promote(call[0], call[1], Arithmetic::Ordinary, "`" + call.info->display + "`", call.range);
  return operands ? Value(extreme(e, operands->first, operands->second, isMax, *propagate, e.loc(call.range))) : Value();
}

Value BuiltinHandlers::maximum(Elaborator &e, const BoundCall &call) { return minMax(e, call, true); }
Value BuiltinHandlers::minimum(Elaborator &e, const BoundCall &call) { return minMax(e, call, false); }

/// All operands as run-time values of one type and shape.
static bool promoteAll(Elaborator &e, const std::vector<Value> &values, llvm::SmallVectorImpl<Runtime> &out, const std::string &what, SourceRange range) {
  // Weak constants take the type that the run-time operands agree on.
  std::optional<Value> joint;
  for (int pass = 0; pass < 2; ++pass)
    for (const Value &value : values) {
      if ((value.asRuntime() != nullptr) != (pass == 0))
        continue;
      if (!joint) {
        joint = value;
        continue;
      }
      std::optional<DType> type = e.commonType(*joint, value, Arithmetic::Ordinary, what, range);
      if (!type)
        return false;
      joint = e.pattern(TypeValue{*type, 0, false}, {});
    }
  if (!joint->asRuntime()) {
    std::optional<Runtime> first = e.toRuntime(*joint, range);
    if (!first)
      return false;
    joint = Value(*first);
  }
  if (joint->asRuntime()->isPointer()) {
    e.error(range, Diag::NeedsNumber, what, joint->describe());
    return false;
  }
  DType type = joint->asRuntime()->type.dtype;
  for (const Value &value : values)
    out.push_back(value.asRuntime() ? e.convert(*value.asRuntime(), type, e.loc(range)) : e.materialize(*value.asConst(), type, range));
  return e.broadcastAll(out, what, range);
}

Value BuiltinHandlers::clamp(Elaborator &e, const BoundCall &call) {
  std::optional<bool> propagate = propagatesNan(e, call, 3);
  llvm::SmallVector<Runtime> operands;
  if (!propagate || !promoteAll(e, {call[0], call[1], call[2]}, operands, "`tl.clamp`", call.range))
    return Value();
  DType type = operands[0].type.dtype;
  mlir::Location at = e.loc(call.range);
  if (!isFloat(type))
    return e.error(call.range, Diag::NeedsFloat, call.info->display, typeText(operands[0]));
  bool narrow = isFloat8(type);
  if (narrow)
    for (Runtime &operand : operands)
      operand = e.convert(operand, DType::F32, at);
  Runtime result{tt::ClampFOp::create(e.builder, at, operands[0].ssa.getType(), operands[0].ssa, operands[1].ssa, operands[2].ssa, *propagate ? tt::PropagateNan::ALL : tt::PropagateNan::NONE), operands[0].type};
  return narrow ? e.convert(result, type, at) : result;
}

Value BuiltinHandlers::fma(Elaborator &e, const BoundCall &call) {
  llvm::SmallVector<Runtime> operands;
  if (!promoteAll(e, {call[0], call[1], call[2]}, operands, "`tl.fma`", call.range))
    return Value();
  if (!isFloat(operands[0].type.dtype) || isFloat8(operands[0].type.dtype))
    return e.error(call.range, Diag::NeedsFloat, call.info->display, typeText(operands[0]));
  return Runtime{math::FmaOp::create(e.builder, e.loc(call.range), operands[0].ssa, operands[1].ssa, operands[2].ssa), operands[0].type};
}

Value BuiltinHandlers::fdiv(Elaborator &e, const BoundCall &call) {
  std::optional<bool> ieee = constantBool(e, call, 2);
  if (!ieee)
    return Value();
  auto operands = e.promote(call[0], call[1], Arithmetic::Divide, "`tl.fdiv`", call.range);
  if (!operands)
    return Value();
  auto [a, b] = *operands;
  if (!isFloat(a.type.dtype))
    return e.error(call.range, Diag::NeedsFloat, call.info->display, typeText(a));
  mlir::Location at = e.loc(call.range);
  if (*ieee && a.type.dtype == DType::F32)
    return Runtime{tt::PreciseDivFOp::create(e.builder, at, a.ssa.getType(), a.ssa, b.ssa), a.type};
  return Runtime{e.approximable(arith::DivFOp::create(e.builder, at, a.ssa, b.ssa)), a.type};
}

Value BuiltinHandlers::divRn(Elaborator &e, const BoundCall &call) {
  auto operands = e.promote(call[0], call[1], Arithmetic::Ordinary, "`tl.div_rn`", call.range);
  if (!operands)
    return Value();
  auto [a, b] = *operands;
  if (a.type.dtype != DType::F32)
    return e.error(call.range, Diag::NeedsType, call.info->display, std::string("fp32"), typeText(a));
  return Runtime{tt::PreciseDivFOp::create(e.builder, e.loc(call.range), a.ssa.getType(), a.ssa, b.ssa), a.type};
}

Value BuiltinHandlers::sqrtRn(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> x = runtimeOperand(e, call, 0);
  if (!x)
    return Value();
  if (x->isPointer() || x->type.dtype != DType::F32)
    return e.error(call.range, Diag::NeedsType, call.info->display, std::string("fp32"), typeText(*x));
  return Runtime{tt::PreciseSqrtOp::create(e.builder, e.loc(call.range), x->ssa.getType(), x->ssa), x->type};
}

Value BuiltinHandlers::umulhi(Elaborator &e, const BoundCall &call) {
  auto operands = e.promote(call[0], call[1], Arithmetic::Ordinary, "`tl.umulhi`", call.range);
  if (!operands)
    return Value();
  auto [a, b] = *operands;
  if (isFloat(a.type.dtype) || bitsOf(a.type.dtype) < 32)
    return e.error(call.range, Diag::NeedsType, call.info->display, std::string("a 32- or 64-bit integer"), typeText(a));
  return Runtime{tt::MulhiUIOp::create(e.builder, e.loc(call.range), a.ssa.getType(), a.ssa, b.ssa), a.type};
}

mlir::Value unaryMathOp(Elaborator &e, const std::string &name, mlir::Value x, mlir::Location at) {
  mlir::OpBuilder &b = e.builder;
#define TK_UNARY(spelling, op) \
  if (name == spelling) \
    return math::op::create(b, at, x);
  TK_UNARY("exp", ExpOp) TK_UNARY("exp2", Exp2Op) TK_UNARY("expm1", ExpM1Op) TK_UNARY("log", LogOp) TK_UNARY("log2", Log2Op) TK_UNARY("log10", Log10Op) TK_UNARY("log1p", Log1pOp)
  TK_UNARY("sin", SinOp) TK_UNARY("cos", CosOp) TK_UNARY("tan", TanOp) TK_UNARY("asin", AsinOp) TK_UNARY("acos", AcosOp) TK_UNARY("atan", AtanOp)
  TK_UNARY("sinh", SinhOp) TK_UNARY("cosh", CoshOp) TK_UNARY("tanh", TanhOp) TK_UNARY("asinh", AsinhOp) TK_UNARY("acosh", AcoshOp) TK_UNARY("atanh", AtanhOp)
  TK_UNARY("sqrt", SqrtOp) TK_UNARY("rsqrt", RsqrtOp) TK_UNARY("cbrt", CbrtOp) TK_UNARY("erf", ErfOp) TK_UNARY("erfc", ErfcOp)
  TK_UNARY("floor", FloorOp) TK_UNARY("ceil", CeilOp) TK_UNARY("trunc", TruncOp) TK_UNARY("round", RoundOp) TK_UNARY("rint", RoundEvenOp) TK_UNARY("nearbyint", RoundEvenOp)
#undef TK_UNARY
  if (name == "abs" || name == "fabs")
    return math::AbsFOp::create(b, at, x);
  return nullptr;
}

static bool isSingleOrDouble(const Runtime &value) { return !value.isPointer() && (value.type.dtype == DType::F32 || value.type.dtype == DType::F64); }

Value BuiltinHandlers::unaryMath(Elaborator &e, const BoundCall &call) {
  std::optional<Runtime> x = runtimeOperand(e, call, 0);
  if (!x)
    return Value();
  if (call[0].asConst() && !isFloat(x->type.dtype))
    x = e.convert(*x, DType::F32, e.loc(call.range));
  if (!isSingleOrDouble(*x))
    return e.error(call.range, Diag::NeedsSingleOrDouble, call.info->display, typeText(*x));
  mlir::Value result = unaryMathOp(e, call.info->name, x->ssa, e.loc(call.range));
  // NUMERICS 6: these may be the GPU's own, with a wider bound; libdevice's functions of the same names are exact.
  if (mlir::Operation *op = result ? result.getDefiningOp() : nullptr; op && mlir::isa<math::ExpOp, math::Exp2Op, math::RsqrtOp>(op))
    op->setAttr("fastmath", arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::afn));
  else if (op && mlir::isa<math::SqrtOp>(op))
    e.approximable(result);
  return Runtime{result, x->type};
}

// ---- libdevice ----
static mlir::Value binaryMathOp(Elaborator &e, const std::string &name, mlir::Value x, mlir::Value y, mlir::Location at) {
  mlir::OpBuilder &b = e.builder;
  if (name == "pow")
    return math::PowFOp::create(b, at, x, y);
  if (name == "atan2")
    return math::Atan2Op::create(b, at, x, y);
  if (name == "copysign")
    return math::CopySignOp::create(b, at, x, y);
  if (name == "fmod")
    return arith::RemFOp::create(b, at, x, y);
  if (name == "fmax" || name == "max")
    return arith::MaxNumFOp::create(b, at, x, y);
  if (name == "fmin" || name == "min")
    return arith::MinNumFOp::create(b, at, x, y);
  return nullptr;
}

/// isnan and its relatives, which answer int1.
static std::optional<Runtime> classify(Elaborator &e, const std::string &name, const Runtime &x, mlir::Location at) {
  using P = arith::CmpFPredicate;
  TypeValue boolean{DType::I1, 0, false};
  if (name == "isnan")
    return Runtime{arith::CmpFOp::create(e.builder, at, P::UNO, x.ssa, x.ssa), boolean};
  bool infinite = name == "isinf", finite = name == "isfinited" || name == "finitef" || name == "isfinite";
  if (!infinite && !finite)
    return std::nullopt;
  Runtime limit = e.broadcastTo(e.materialize(ConstValue(static_cast<double>(INFINITY)), x.type.dtype, {}), x.shape(), at);
  mlir::Value magnitude = math::AbsFOp::create(e.builder, at, x.ssa);
  return Runtime{arith::CmpFOp::create(e.builder, at, infinite ? P::OEQ : P::OLT, magnitude, limit.ssa), boolean};
}

static Value libraryCall(Elaborator &e, const std::string &name, const std::vector<Argument> &args, SourceRange range) {
  const ModuleScope *scope = nullptr;
  const ast::Function *function = findLibraryFunction("libdevice", name, scope);
  if (!function && !args.empty() && args[0].value.asRuntime()) {
    DType type = args[0].value.asRuntime()->type.dtype;
    if (type == DType::F32 || type == DType::F64)
      function = findLibraryFunction("libdevice", name + (type == DType::F32 ? "_f32" : "_f64"), scope);
  }
  if (function)
    return e.callFunction(FunctionValue{scope, function, nullptr}, args, range);
  return e.error(range, Diag::NotSupportedYet, "libdevice." + name);
}

Value callLibdevice(Elaborator &e, const std::string &name, const std::vector<Argument> &args, SourceRange range) {
  std::vector<Value> values;
  bool numbers = !args.empty();
  for (const Argument &arg : args) {
    values.push_back(arg.value);
    numbers = numbers && arg.name.empty() && (arg.value.asRuntime() ? !arg.value.asRuntime()->isPointer() : arg.value.asConst() && arg.value.asConst()->asDouble());
  }
  if (!numbers || args.size() > 3)
    return libraryCall(e, name, args, range);
  mlir::Location at = e.loc(range);
  // pow with an integer exponent keeps it; so does everything that takes integers.
  auto *exponent = args.size() == 2 ? values[1].asRuntime() : nullptr;
  if (name == "pow" && exponent && isInteger(exponent->type.dtype)) {
    std::optional<Runtime> base = e.toRuntime(values[0], range);
    if (!base)
      return Value();
    values[1] = e.convert(*exponent, isFloat(base->type.dtype) ? base->type.dtype : DType::F32, at);
  }
  bool integers = values[0].asRuntime() && isInteger(values[0].asRuntime()->type.dtype);
  if (integers) {
    if (name == "abs" && args.size() == 1)
      return e.callBuiltin(BuiltinValue{"abs", false}, args, range);
    return libraryCall(e, name, args, range);
  }
  llvm::SmallVector<Runtime> operands;
  std::string what = "`libdevice." + name + "`";
  if (!promoteAll(e, values, operands, what, range))
    return Value();
  if (isInteger(operands[0].type.dtype)) // compile-time integers
    for (Runtime &operand : operands)
      operand = e.convert(operand, DType::F32, at);
  if (!isSingleOrDouble(operands[0]))
    return e.error(range, Diag::NeedsSingleOrDouble, "libdevice." + name, typeText(operands[0]));
  TypeValue type = operands[0].type;
  mlir::Value result;
  if (operands.size() == 1) {
    if (std::optional<Runtime> answer = classify(e, name, operands[0], at))
      return *answer;
    result = unaryMathOp(e, name, operands[0].ssa, at);
  } else if (operands.size() == 2) {
    result = binaryMathOp(e, name, operands[0].ssa, operands[1].ssa, at);
  } else if (name == "fma") {
    result = math::FmaOp::create(e.builder, at, operands[0].ssa, operands[1].ssa, operands[2].ssa);
  }
  if (result)
    return Runtime{result, type};
  std::vector<Argument> promoted;
  for (size_t i = 0; i < operands.size(); ++i)
    promoted.push_back({operands[i], args[i].range, ""});
  return libraryCall(e, name, promoted, range);
}

} // namespace tk::lang
