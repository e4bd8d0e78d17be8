// Conversions between types: the table of NUMERICS 4.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/Elaborator.h"
#include "lang/sema/TypeSpelling.h"
#include <cmath>

namespace tk::lang {

namespace arith = mlir::arith;

/// Zero of the value's type.
static mlir::Value zeroLike(Elaborator &e, const Runtime &value, mlir::Location at) { return e.placeholder(value.ssa.getType(), at); }

Runtime Elaborator::toBool(const Runtime &value, SourceRange range) {
  TypeValue boolean{DType::I1, 0, false};
  if (value.type == boolean)
    return value;
  mlir::Location at = loc(range);
  Runtime source = value;
  if (value.isPointer())
    source = {tt::PtrToIntOp::create(builder, at, mlirType(TypeValue{DType::I64}, value.shape()), value.ssa), TypeValue{DType::I64, 0, false}};
  else if (isFloat8(value.type.dtype))
    source = convert(value, DType::F32, at);
  if (!source.isPointer() && isFloat(source.type.dtype))
    return {arith::CmpFOp::create(builder, at, arith::CmpFPredicate::UNE, source.ssa, zeroLike(*this, source, at)), boolean};
  return {arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ne, source.ssa, zeroLike(*this, source, at)), boolean};
}

// fp8e4b15 has no type of its own in tt: it is kept as its eight bits, which are fp16's with three mantissa bits and without the exponent's highest one.
static Runtime fromE4B15(Elaborator &e, const Runtime &value, mlir::Location at) {
  mlir::OpBuilder &b = e.builder;
  TypeValue word{DType::I16, 0, false}, half{DType::F16, 0, false};
  auto constant = [&](int64_t number) { return e.broadcastTo(Runtime{e.constantInt(number, 16, at), word}, value.shape(), at).ssa; };
  mlir::Value bits = arith::ExtUIOp::create(b, at, e.mlirType(word, value.shape()), value.ssa);
  mlir::Value sign = arith::ShLIOp::create(b, at, arith::AndIOp::create(b, at, bits, constant(0x80)), constant(8));
  mlir::Value magnitude = arith::ShLIOp::create(b, at, arith::AndIOp::create(b, at, bits, constant(0x7F)), constant(7));
  return {tt::BitcastOp::create(b, at, e.mlirType(half, value.shape()), arith::OrIOp::create(b, at, sign, magnitude)), half};
}

/// From fp16: clamped to 1.75, the dropped bits rounded half up.
static Runtime toE4B15(Elaborator &e, const Runtime &value, mlir::Location at) {
  mlir::OpBuilder &b = e.builder;
  TypeValue word{DType::I16, 0, false}, result{DType::F8E4B15, 0, false};
  auto constant = [&](int64_t number) { return e.broadcastTo(Runtime{e.constantInt(number, 16, at), word}, value.shape(), at).ssa; };
  mlir::Value bits = tt::BitcastOp::create(b, at, e.mlirType(word, value.shape()), value.ssa);
  mlir::Value magnitude = arith::MinUIOp::create(b, at, arith::AndIOp::create(b, at, bits, constant(0x7FFF)), constant(0x3F00));
  mlir::Value code = arith::ShRUIOp::create(b, at, arith::AddIOp::create(b, at, magnitude, constant(0x40)), constant(7));
  mlir::Value sign = arith::ShRUIOp::create(b, at, arith::AndIOp::create(b, at, bits, constant(0x8000)), constant(8));
  return {arith::TruncIOp::create(b, at, e.mlirType(result, value.shape()), arith::OrIOp::create(b, at, sign, code)), result};
}

static bool isStandard(DType type) { return type == DType::F16 || type == DType::BF16 || type == DType::F32 || type == DType::F64; }

static Runtime floatToFloat(Elaborator &e, const Runtime &value, DType type, mlir::Location at, std::optional<tt::RoundingMode> rounding) {
  mlir::OpBuilder &b = e.builder;
  DType from = value.type.dtype;
  TypeValue target{type, 0, false};
  mlir::Type result = e.mlirType(target, value.shape());
  bool narrower = bitsOf(type) < bitsOf(from);
  if (bitsOf(type) == bitsOf(from)) // fp16 and bf16, or two 8-bit kinds
    return floatToFloat(e, floatToFloat(e, value, DType::F32, at, std::nullopt), type, at, rounding);
  if (isFloat8(type) || isFloat8(from) || rounding == tt::RoundingMode::RTZ) {
    tt::RoundingModeAttr mode;
    if (narrower)
      mode = tt::RoundingModeAttr::get(&e.context, rounding.value_or(tt::RoundingMode::RTNE));
    return {tt::FpToFpOp::create(b, at, result, value.ssa, mode), target};
  }
  if (narrower)
    return {arith::TruncFOp::create(b, at, result, value.ssa), target};
  return {arith::ExtFOp::create(b, at, result, value.ssa), target};
}

Runtime Elaborator::convert(const Runtime &value, DType type, mlir::Location at, std::optional<tt::RoundingMode> rounding) {
  DType from = value.type.dtype;
  TypeValue target{type, 0, false};
  if (from == type)
    return value;
  if (from == DType::F8E4B15)
    return convert(fromE4B15(*this, value, at), type, at, rounding);
  if (type == DType::F8E4B15) {
    Runtime half = bitsOf(from) <= 32 || isInteger(from) ? (from == DType::F16 ? value : convert(value, DType::F32, at)) : value;
    return toE4B15(*this, convert(half, DType::F16, at, half.type.dtype == DType::F16 ? std::nullopt : std::optional(tt::RoundingMode::RTZ)), at);
  }
  mlir::Type result = mlirType(target, value.shape());
  if (isFloat(from) && isFloat(type))
    return floatToFloat(*this, value, type, at, rounding);
  if (type == DType::I1) {
    Runtime source = isFloat8(from) ? convert(value, DType::F32, at) : value;
    if (isFloat(from))
      return {arith::CmpFOp::create(builder, at, arith::CmpFPredicate::UNE, source.ssa, zeroLike(*this, source, at)), target};
    return {arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ne, source.ssa, zeroLike(*this, source, at)), target};
  }
  if (isFloat(from)) { // to an integer: fp8 and half types go through fp32
    Runtime source = bitsOf(from) < 32 ? convert(value, DType::F32, at) : value;
    if (isSigned(type))
      return {arith::FPToSIOp::create(builder, at, result, source.ssa), target};
    return {arith::FPToUIOp::create(builder, at, result, source.ssa), target};
  }
  if (isFloat(type)) {
    if (!isStandard(type)) // every integer that an 8-bit kind can tell apart is exact in fp32
      return convert(convert(value, DType::F32, at), type, at);
    if (isSigned(from))
      return {arith::SIToFPOp::create(builder, at, result, value.ssa), target};
    return {arith::UIToFPOp::create(builder, at, result, value.ssa), target};
  }
  if (bitsOf(type) == bitsOf(from))
    return {value.ssa, target};
  if (bitsOf(type) < bitsOf(from))
    return {arith::TruncIOp::create(builder, at, result, value.ssa), target};
  if (isSigned(from))
    return {arith::ExtSIOp::create(builder, at, result, value.ssa), target};
  return {arith::ExtUIOp::create(builder, at, result, value.ssa), target};
}

/// A compile-time number as a scalar of `type`: integers wrap, floats saturate when they become integers.
static Runtime constantAs(Elaborator &e, const ConstValue &value, DType type, SourceRange range) {
  auto *d = value.get<double>();
  if (!d || isFloat(type) || type == DType::I1)
    return e.materialize(value, type, range);
  unsigned bits = bitsOf(type) - (isSigned(type) ? 1 : 0);
  BigInt limit = fromAPInt(llvm::APInt::getOneBitSet(bits + 2, bits));
  BigInt lowest = isSigned(type) ? -limit : BigInt(0), highest = limit - BigInt(1);
  BigInt integer = std::isnan(*d) ? BigInt(0) : std::isinf(*d) ? (*d > 0 ? highest : lowest) : truncateToBigInt(*d);
  return e.materialize(ConstValue(integer < lowest ? lowest : integer > highest ? highest : integer), type, range);
}

static std::optional<Runtime> castPointer(Elaborator &e, const Runtime &value, const TypeValue &type, SourceRange range) {
  mlir::Location at = e.loc(range);
  mlir::Type result = e.mlirType(type, value.shape());
  if (value.isPointer() && type.pointerDepth) {
    if (value.ssa.getType() == result)
      return Runtime{value.ssa, type};
    return Runtime{tt::BitcastOp::create(e.builder, at, result, value.ssa), type};
  }
  if (value.isPointer()) {
    if (type.dtype == DType::I1)
      return e.toBool(value, range);
    if (type.dtype == DType::I64 || type.dtype == DType::U64)
      return Runtime{tt::PtrToIntOp::create(e.builder, at, result, value.ssa), type};
  } else if (isInteger(value.type.dtype)) {
    Runtime address = e.convert(value, DType::I64, at);
    return Runtime{tt::IntToPtrOp::create(e.builder, at, result, address.ssa), type};
  }
  e.error(range, Diag::PointerCast, typeText(value), typeText(type));
  return std::nullopt;
}

std::optional<Runtime> Elaborator::cast(const Value &input, const TypeValue &type, SourceRange range, std::optional<tt::RoundingMode> rounding, bool bitcast) {
  if (input.isError() || !checkType(type, range))
    return std::nullopt;
  auto *constant = input.asConst();
  if (constant && !bitcast && !type.pointerDepth && literalType(*constant)) {
    return constantAs(*this, *constant, type.dtype, range);
  }
  std::optional<Runtime> value = toRuntime(input, range);
  if (!value)
    return std::nullopt;
  if (value->type == type && !rounding)
    return value;
  if (bitcast) {
    if (value->isPointer() || type.pointerDepth)
      return castPointer(*this, *value, type, range);
    if (bitsOf(value->type.dtype) != bitsOf(type.dtype))
      return error(range, Diag::BitcastWidth, typeText(*value), typeText(type)), std::nullopt;
    mlir::Type result = mlirType(type, value->shape());
    if (result == value->ssa.getType())
      return Runtime{value->ssa, type};
    return Runtime{tt::BitcastOp::create(builder, loc(range), result, value->ssa), type};
  }
  if (value->isPointer() || type.pointerDepth)
    return castPointer(*this, *value, type, range);
  bool narrows = isFloat(value->type.dtype) && isFloat(type.dtype) && bitsOf(type.dtype) < bitsOf(value->type.dtype);
  if (rounding && !narrows)
    return error(range, Diag::RoundingOnWidening, typeText(*value), typeText(type)), std::nullopt;
  return convert(*value, type.dtype, loc(range), rounding);
}

} // namespace tk::lang
