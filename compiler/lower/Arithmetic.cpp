// See Arithmetic.h.
#include "compiler/lower/Arithmetic.h"
#include "compiler/lower/FloatBits.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace arith = mlir::arith;
namespace math = mlir::math;
namespace tk::lower {

Type *registerType(IRBuilder<> &b, mlir::Type element) {
  if (isNarrowFloat(element) || element.isF32())
    return b.getFloatTy();
  if (element.isF64())
    return b.getDoubleTy();
  if (mlir::isa<tt::PointerType>(element))
    return b.getPtrTy();
  if (mlir::isa<mlir::IndexType>(element))
    return b.getInt64Ty();
  return b.getIntNTy(element.getIntOrFloatBitWidth());
}

Value *Arithmetic::round(Value *value, mlir::Type narrow, bool towardZero) { return roundFloat(b, value, narrow, towardZero); }
Value *Arithmetic::decode(Value *bits, mlir::Type narrow) { return decodeFloat(b, bits, narrow); }
Value *Arithmetic::encode(Value *value, mlir::Type narrow) { return encodeFloat(b, value, narrow); }

/// The address `offset` elements on. Of a sum, what was computed before this block goes to the pointer first: in a loop that is done once, and the rest is one
/// multiply-add a round.
static Value *advance(IRBuilder<> &b, Value *pointer, Value *offset, unsigned bytes) {
  auto by = [&](Value *from, Value *count) { return b.CreateGEP(b.getInt8Ty(), from, b.CreateMul(count, ConstantInt::get(count->getType(), bytes))); };
  auto isEarlier = [&](Value *value) {
    auto *instruction = dyn_cast<Instruction>(value);
    return !instruction || instruction->getParent() != b.GetInsertBlock();
  };
  if (auto *sum = dyn_cast<BinaryOperator>(offset); sum && sum->getOpcode() == Instruction::Add && !isEarlier(sum)) {
    Value *first = sum->getOperand(0), *second = sum->getOperand(1);
    if (isEarlier(second))
      std::swap(first, second);
    if (isEarlier(first) && !isEarlier(second))
      return by(by(pointer, first), second);
  }
  return by(pointer, offset);
}

static bool roundsAfter(mlir::Operation *op) {
  return !mlir::isa<arith::NegFOp, arith::SelectOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp, arith::ExtFOp, tt::FpToFpOp, arith::TruncFOp, tt::BitcastOp, arith::BitcastOp,
                     math::AbsFOp, math::CopySignOp, tt::ClampFOp>(op);
}

Value *Arithmetic::emit(mlir::Operation *op, ArrayRef<Value *> v) {
  mlir::Type element = tt::elementType(op->getResult(0).getType());
  Value *result = nullptr;
  auto binary = [&](Intrinsic::ID id) { return b.CreateBinaryIntrinsic(id, v[0], v[1]); };
  auto unary = [&](Intrinsic::ID id) { return b.CreateUnaryIntrinsic(id, v[0]); };
  if (mlir::isa<arith::AddIOp>(op))
    result = b.CreateAdd(v[0], v[1]);
  else if (mlir::isa<arith::SubIOp>(op))
    result = b.CreateSub(v[0], v[1]);
  else if (mlir::isa<arith::MulIOp>(op))
    result = b.CreateMul(v[0], v[1]);
  else if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    result = divide(op, v[0], v[1]);
  else if (mlir::isa<arith::AndIOp>(op))
    result = b.CreateAnd(v[0], v[1]);
  else if (mlir::isa<arith::OrIOp>(op))
    result = b.CreateOr(v[0], v[1]);
  else if (mlir::isa<arith::XOrIOp>(op))
    result = b.CreateXor(v[0], v[1]);
  else if (mlir::isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    result = shift(op, v[0], v[1]);
  else if (mlir::isa<arith::MaxSIOp>(op))
    result = binary(Intrinsic::smax);
  else if (mlir::isa<arith::MinSIOp>(op))
    result = binary(Intrinsic::smin);
  else if (mlir::isa<arith::MaxUIOp>(op))
    result = binary(Intrinsic::umax);
  else if (mlir::isa<arith::MinUIOp>(op))
    result = binary(Intrinsic::umin);
  else if (mlir::isa<arith::AddFOp>(op))
    result = b.CreateFAdd(v[0], v[1]);
  else if (mlir::isa<arith::SubFOp>(op))
    result = b.CreateFSub(v[0], v[1]);
  else if (mlir::isa<arith::MulFOp>(op))
    result = b.CreateFMul(v[0], v[1]);
  else if (mlir::isa<arith::DivFOp, tt::PreciseDivFOp>(op))
    result = b.CreateFDiv(v[0], v[1]);
  else if (mlir::isa<arith::NegFOp>(op))
    result = b.CreateFNeg(v[0]);
  else if (mlir::isa<arith::MaxNumFOp>(op))
    result = binary(Intrinsic::maxnum);
  else if (mlir::isa<arith::MinNumFOp>(op))
    result = binary(Intrinsic::minnum);
  else if (mlir::isa<arith::MaximumFOp>(op))
    result = binary(Intrinsic::maximum);
  else if (mlir::isa<arith::MinimumFOp>(op))
    result = binary(Intrinsic::minimum);
  else if (mlir::isa<arith::CmpIOp, arith::CmpFOp>(op))
    result = compare(op, v);
  else if (mlir::isa<arith::SelectOp>(op))
    result = b.CreateSelect(v[0], v[1], v[2]);
  else if (auto add = mlir::dyn_cast<tt::AddPtrOp>(op)) {
    auto pointee = mlir::cast<tt::PointerType>(tt::elementType(add.getType())).getPointeeType();
    result = advance(b, v[0], b.CreateSExtOrTrunc(v[1], likeType(v[1]->getType(), b.getInt64Ty())), tt::bytesOf(pointee));
  } else if (mlir::isa<tt::PtrToIntOp>(op))
    result = b.CreatePtrToInt(v[0], likeType(v[0]->getType(), b.getInt64Ty()));
  else if (mlir::isa<tt::IntToPtrOp>(op))
    result = b.CreateIntToPtr(v[0], likeType(v[0]->getType(), b.getPtrTy()));
  else if (mlir::isa<tt::MulhiUIOp>(op)) {
    unsigned bits = element.getIntOrFloatBitWidth();
    Type *wide = likeType(v[0]->getType(), b.getIntNTy(2 * bits));
    result = b.CreateTrunc(b.CreateLShr(b.CreateMul(b.CreateZExt(v[0], wide), b.CreateZExt(v[1], wide)), bits), v[0]->getType());
  } else if (auto clamp = mlir::dyn_cast<tt::ClampFOp>(op)) {
    bool all = clamp.getPropagateNan() == tt::PropagateNan::ALL;
    Value *low = b.CreateBinaryIntrinsic(all ? Intrinsic::maximum : Intrinsic::maxnum, v[0], v[1]);
    result = b.CreateBinaryIntrinsic(all ? Intrinsic::minimum : Intrinsic::minnum, low, v[2]);
  } else if (mlir::isa<tt::PreciseSqrtOp, math::SqrtOp>(op))
    result = unary(Intrinsic::sqrt);
  else if (mlir::isa<math::AbsFOp>(op))
    result = unary(Intrinsic::fabs);
  else if (mlir::isa<math::AbsIOp>(op))
    result = b.CreateBinaryIntrinsic(Intrinsic::abs, v[0], b.getFalse());
  else if (mlir::isa<math::FloorOp>(op))
    result = unary(Intrinsic::floor);
  else if (mlir::isa<math::CeilOp>(op))
    result = unary(Intrinsic::ceil);
  else if (mlir::isa<math::RoundEvenOp>(op))
    result = unary(Intrinsic::roundeven);
  else if (mlir::isa<math::RoundOp>(op))
    result = unary(Intrinsic::round);
  else if (mlir::isa<math::TruncOp>(op))
    result = unary(Intrinsic::trunc);
  else if (mlir::isa<math::CopySignOp>(op))
    result = binary(Intrinsic::copysign);
  else if (mlir::isa<math::FmaOp>(op))
    result = b.CreateIntrinsic(Intrinsic::fma, {v[0]->getType()}, {v[0], v[1], v[2]});
  else if (mlir::isa<math::CtPopOp>(op))
    result = unary(Intrinsic::ctpop);
  else if (mlir::isa<math::CountLeadingZerosOp>(op))
    result = b.CreateBinaryIntrinsic(Intrinsic::ctlz, v[0], b.getFalse());
  else if (mlir::isa<math::CountTrailingZerosOp>(op))
    result = b.CreateBinaryIntrinsic(Intrinsic::cttz, v[0], b.getFalse());
  else if (mlir::isa<math::IsNaNOp>(op))
    result = b.CreateFCmpUNO(v[0], v[0]);
  else if (mlir::isa<math::IsInfOp>(op))
    result = b.CreateFCmpOEQ(unary(Intrinsic::fabs), ConstantFP::getInfinity(v[0]->getType()));
  else if (mlir::isa<math::IsFiniteOp>(op))
    result = b.CreateFCmpONE(unary(Intrinsic::fabs), ConstantFP::getInfinity(v[0]->getType()));
  else if (mlir::isa<math::RsqrtOp>(op))
    result = b.CreateFDiv(ConstantFP::get(v[0]->getType(), 1.0), unary(Intrinsic::sqrt));
  else if (mlir::isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::IndexCastOp, arith::IndexCastUIOp,
                     arith::BitcastOp, tt::BitcastOp, tt::FpToFpOp>(op))
    return convert(op, v[0]);
  else
    result = libraryCall(op, v);
  if (isNarrowFloat(element) && roundsAfter(op))
    result = round(result, element);
  return result;
}

Value *Arithmetic::compare(mlir::Operation *op, ArrayRef<Value *> v) {
  if (auto compare = mlir::dyn_cast<arith::CmpIOp>(op)) {
    static const CmpInst::Predicate table[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_SLT, CmpInst::ICMP_SLE, CmpInst::ICMP_SGT,
                                               CmpInst::ICMP_SGE, CmpInst::ICMP_ULT, CmpInst::ICMP_ULE, CmpInst::ICMP_UGT, CmpInst::ICMP_UGE};
    return b.CreateICmp(table[unsigned(compare.getPredicate())], v[0], v[1]);
  }
  static const CmpInst::Predicate table[] = {CmpInst::FCMP_FALSE, CmpInst::FCMP_OEQ, CmpInst::FCMP_OGT, CmpInst::FCMP_OGE, CmpInst::FCMP_OLT, CmpInst::FCMP_OLE, CmpInst::FCMP_ONE, CmpInst::FCMP_ORD,
                                             CmpInst::FCMP_UEQ,   CmpInst::FCMP_UGT, CmpInst::FCMP_UGE, CmpInst::FCMP_ULT, CmpInst::FCMP_ULE, CmpInst::FCMP_UNE, CmpInst::FCMP_UNO, CmpInst::FCMP_TRUE};
  return b.CreateFCmp(table[unsigned(mlir::cast<arith::CmpFOp>(op).getPredicate())], v[0], v[1]);
}

/// Division that never traps: a divisor of 0, and -1 under the least value, is replaced by 1 (the result is unspecified there).
Value *Arithmetic::divide(mlir::Operation *op, Value *lhs, Value *rhs) {
  Type *type = lhs->getType();
  bool isSigned = mlir::isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
  Constant *one = ConstantInt::get(type, 1);
  auto *known = dyn_cast<Constant>(rhs);
  if (known)
    known = known->getType()->isVectorTy() ? known->getSplatValue() : known;
  auto *number = dyn_cast_or_null<ConstantInt>(known);
  if (!number || number->isZero() || (isSigned && number->isMinusOne())) {
    Value *bad = b.CreateICmpEQ(rhs, Constant::getNullValue(type));
    if (isSigned) {
      Constant *least = ConstantInt::get(type, APInt::getSignedMinValue(type->getScalarSizeInBits()));
      bad = b.CreateOr(bad, b.CreateAnd(b.CreateICmpEQ(lhs, least), b.CreateICmpEQ(rhs, Constant::getAllOnesValue(type))));
    }
    rhs = b.CreateSelect(bad, one, rhs);
  }
  // A lane of a poisonous or undefined divisor must not become a trap either.
  if (!number)
    rhs = b.CreateFreeze(rhs);
  if (mlir::isa<arith::DivSIOp>(op))
    return b.CreateSDiv(lhs, rhs);
  if (mlir::isa<arith::DivUIOp>(op))
    return b.CreateUDiv(lhs, rhs);
  if (mlir::isa<arith::RemSIOp>(op))
    return b.CreateSRem(lhs, rhs);
  if (mlir::isa<arith::RemUIOp>(op))
    return b.CreateURem(lhs, rhs);
  Constant *zero = Constant::getNullValue(type);
  if (mlir::isa<arith::CeilDivUIOp>(op))
    return b.CreateAdd(b.CreateUDiv(lhs, rhs), b.CreateZExt(b.CreateICmpNE(b.CreateURem(lhs, rhs), zero), type));
  Value *quotient = b.CreateSDiv(lhs, rhs), *remainder = b.CreateSRem(lhs, rhs);
  Value *inexact = b.CreateICmpNE(remainder, zero), *signsDiffer = b.CreateICmpSLT(b.CreateXor(lhs, rhs), zero);
  if (mlir::isa<arith::FloorDivSIOp>(op))
    return b.CreateSub(quotient, b.CreateZExt(b.CreateAnd(inexact, signsDiffer), type));
  return b.CreateAdd(quotient, b.CreateZExt(b.CreateAnd(inexact, b.CreateNot(signsDiffer)), type));
}

/// Shifts by at least the width give 0, or the sign.
Value *Arithmetic::shift(mlir::Operation *op, Value *lhs, Value *rhs) {
  Type *type = lhs->getType();
  unsigned bits = type->getScalarSizeInBits();
  Value *inRange = b.CreateICmpULT(rhs, ConstantInt::get(type, bits));
  if (bits == 1) // i1: only a shift by 0 keeps the bit
    return mlir::isa<arith::ShRSIOp>(op) ? lhs : b.CreateSelect(b.CreateICmpEQ(rhs, Constant::getNullValue(type)), lhs, Constant::getNullValue(type));
  Value *amount = b.CreateSelect(inRange, rhs, ConstantInt::get(type, mlir::isa<arith::ShRSIOp>(op) ? bits - 1 : 0));
  if (mlir::isa<arith::ShRSIOp>(op))
    return b.CreateAShr(lhs, amount);
  Value *shifted = mlir::isa<arith::ShLIOp>(op) ? b.CreateShl(lhs, amount) : b.CreateLShr(lhs, amount);
  return b.CreateSelect(inRange, shifted, Constant::getNullValue(type));
}

Value *Arithmetic::convert(mlir::Operation *op, Value *value) {
  mlir::Type from = tt::elementType(op->getOperand(0).getType()), to = tt::elementType(op->getResult(0).getType());
  Type *result = likeType(value->getType(), registerType(b, to));
  if (mlir::isa<arith::BitcastOp, tt::BitcastOp>(op)) {
    if (mlir::isa<tt::PointerType>(to))
      return value;
    Value *bits = isNarrowFloat(from) ? encode(value, from) : value;
    return isNarrowFloat(to) ? decode(bits, to) : b.CreateBitCast(bits, likeType(bits->getType(), registerType(b, to)));
  }
  if (mlir::isa<arith::ExtFOp, arith::TruncFOp, tt::FpToFpOp>(op)) {
    bool towardZero = false;
    if (auto cast = mlir::dyn_cast<tt::FpToFpOp>(op))
      towardZero = cast.getRounding() && *cast.getRounding() == tt::RoundingMode::RTZ;
    if (from.isF64()) {
      if (to.isF64())
        return value;
      if (to.isF32() && !towardZero)
        return b.CreateFPTrunc(value, result);
      Value *odd = roundToOdd(b, value);
      if (to.isF32()) { // toward zero from the odd-rounded value: step back when it grew
        Value *back = b.CreateFPExt(odd, value->getType());
        Value *grew = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(Intrinsic::fabs, back), b.CreateUnaryIntrinsic(Intrinsic::fabs, value));
        Type *ints = likeType(value->getType(), b.getInt32Ty());
        Value *bits = b.CreateBitCast(odd, ints);
        return b.CreateBitCast(b.CreateSelect(grew, b.CreateSub(bits, ConstantInt::get(ints, 1)), bits), result);
      }
      return round(odd, to, towardZero);
    }
    if (to.isF64())
      return b.CreateFPExt(value, result);
    return isNarrowFloat(to) ? round(value, to, towardZero) : value;
  }
  if (mlir::isa<arith::ExtSIOp>(op))
    return b.CreateSExt(value, result);
  if (mlir::isa<arith::ExtUIOp>(op))
    return b.CreateZExt(value, result);
  if (mlir::isa<arith::TruncIOp>(op))
    return b.CreateTrunc(value, result);
  if (mlir::isa<arith::IndexCastOp>(op))
    return b.CreateSExtOrTrunc(value, result);
  if (mlir::isa<arith::IndexCastUIOp>(op))
    return b.CreateZExtOrTrunc(value, result);
  if (mlir::isa<arith::FPToSIOp>(op))
    return b.CreateIntrinsic(Intrinsic::fptosi_sat, {result, value->getType()}, {value});
  if (mlir::isa<arith::FPToUIOp>(op))
    return b.CreateIntrinsic(Intrinsic::fptoui_sat, {result, value->getType()}, {value});
  // Integer to float, rounded once. Narrow results go through fp64 or an odd-rounded value, in which no information about the rounding is lost.
  bool isSigned = mlir::isa<arith::SIToFPOp>(op);
  auto toFloat = [&](Value *integer, Type *type) { return isSigned ? b.CreateSIToFP(integer, type) : b.CreateUIToFP(integer, type); };
  if (!isNarrowFloat(to))
    return toFloat(value, result);
  unsigned bits = from.getIntOrFloatBitWidth();
  if (bits <= 16)
    return round(toFloat(value, result), to);
  if (bits == 64) {
    Type *ints = value->getType();
    Value *dropped = b.CreateAnd(value, ConstantInt::get(ints, 0x7ff));
    Value *sticky = b.CreateSelect(b.CreateICmpNE(dropped, Constant::getNullValue(ints)), ConstantInt::get(ints, 0x800), Constant::getNullValue(ints));
    Value *kept = b.CreateOr(b.CreateAnd(value, ConstantInt::get(ints, ~uint64_t(0x7ff), true)), sticky);
    Value *magnitude = isSigned ? b.CreateBinaryIntrinsic(Intrinsic::abs, value, b.getFalse()) : value;
    value = b.CreateSelect(b.CreateICmpULT(magnitude, ConstantInt::get(ints, uint64_t(1) << 53)), value, kept);
  }
  return round(roundToOdd(b, toFloat(value, likeType(value->getType(), b.getDoubleTy()))), to);
}

} // namespace tk::lower
