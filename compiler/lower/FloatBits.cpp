// See FloatBits.h. The 8-bit kinds are described by their exponent and mantissa widths and bias, so one routine serves them all.
#include "compiler/lower/FloatBits.h"
#include "llvm/IR/Intrinsics.h"
#include <cmath>
#include <limits>

using namespace llvm;
namespace tk::lower {

namespace {
struct Format {
  int mantissa, bias;
  float maxFinite;
  bool hasInfinity; // e5m2: 0x7c
  bool negativeZeroIsNan;
};
} // namespace

static Format formatOf(mlir::Type type) {
  if (mlir::isa<mlir::Float8E4M3FNType>(type))
    return {3, 7, 448.f, false, false};
  if (mlir::isa<mlir::Float8E5M2Type>(type))
    return {2, 15, 57344.f, true, false};
  if (mlir::isa<mlir::Float8E4M3FNUZType>(type))
    return {3, 8, 240.f, false, true};
  return {2, 16, 57344.f, false, true}; // e5m2fnuz
}

bool isNarrowFloat(mlir::Type type) { return mlir::isa<mlir::FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }

Type *likeType(Type *shape, Type *element) {
  if (auto *vector = dyn_cast<FixedVectorType>(shape))
    return FixedVectorType::get(element, vector->getNumElements());
  return element;
}

static Value *fp(IRBuilder<> &b, Type *like, double value) { return ConstantFP::get(likeType(like, b.getFloatTy()), value); }
static Value *in(IRBuilder<> &b, Type *like, uint32_t value) { return ConstantInt::get(likeType(like, b.getInt32Ty()), value); }
static Value *toBits(IRBuilder<> &b, Value *value) { return b.CreateBitCast(value, likeType(value->getType(), b.getInt32Ty())); }
static Value *toFloat(IRBuilder<> &b, Value *bits) { return b.CreateBitCast(bits, likeType(bits->getType(), b.getFloatTy())); }

Value *decodeFloat(IRBuilder<> &b, Value *bits, mlir::Type type) {
  Type *shape = bits->getType();
  Value *wide = b.CreateZExt(bits, likeType(shape, b.getInt32Ty()));
  if (type.isF16()) {
    // The conversion would make a signaling NaN quiet; what is only moved keeps its bits.
    Value *number = b.CreateFPExt(b.CreateBitCast(bits, likeType(shape, b.getHalfTy())), likeType(shape, b.getFloatTy()));
    Value *nan = b.CreateOr(b.CreateOr(b.CreateShl(b.CreateAnd(wide, 0x8000), 16), in(b, shape, 0x7f800000)), b.CreateShl(b.CreateAnd(wide, 0x3ff), 13));
    return b.CreateSelect(b.CreateICmpUGT(b.CreateAnd(wide, 0x7fff), in(b, shape, 0x7c00)), toFloat(b, nan), number);
  }
  if (type.isBF16())
    return toFloat(b, b.CreateShl(wide, 16));
  // Magnitude bits moved to fp32's place, then scaled by a power of two: exact for subnormals too.
  Format format = formatOf(type);
  Value *sign = b.CreateShl(b.CreateAnd(wide, 0x80), 24);
  Value *magnitude = b.CreateAnd(wide, 0x7f);
  Value *moved = toFloat(b, b.CreateShl(magnitude, 23 - format.mantissa));
  Value *scaled = b.CreateFMul(moved, fp(b, shape, std::ldexp(1.0, 127 - format.bias)));
  Value *result = toFloat(b, b.CreateOr(toBits(b, scaled), sign));
  Value *nan = fp(b, shape, std::numeric_limits<double>::quiet_NaN());
  if (format.negativeZeroIsNan)
    return b.CreateSelect(b.CreateICmpEQ(wide, in(b, shape, 0x80)), nan, result);
  // NaNs keep their sign and payload.
  Value *payload = toFloat(b, b.CreateOr(b.CreateOr(sign, in(b, shape, 0x7f800000)), b.CreateShl(b.CreateAnd(magnitude, (1u << format.mantissa) - 1), 23 - format.mantissa)));
  if (!format.hasInfinity)
    return b.CreateSelect(b.CreateICmpEQ(magnitude, in(b, shape, 0x7f)), payload, result);
  Value *infinity = toFloat(b, b.CreateOr(sign, in(b, shape, 0x7f800000)));
  result = b.CreateSelect(b.CreateICmpEQ(magnitude, in(b, shape, 0x7c)), infinity, result);
  return b.CreateSelect(b.CreateICmpUGT(magnitude, in(b, shape, 0x7c)), payload, result);
}

Value *encodeFloat(IRBuilder<> &b, Value *value, mlir::Type type) {
  Type *shape = value->getType();
  Value *bits = toBits(b, value);
  if (type.isF16()) {
    Value *number = b.CreateZExt(b.CreateBitCast(b.CreateFPTrunc(value, likeType(shape, b.getHalfTy())), likeType(shape, b.getInt16Ty())), bits->getType());
    Value *payload = b.CreateAnd(b.CreateLShr(bits, 13), 0x3ff);
    payload = b.CreateSelect(b.CreateICmpEQ(payload, in(b, shape, 0)), in(b, shape, 0x200), payload);
    Value *nan = b.CreateOr(b.CreateOr(b.CreateAnd(b.CreateLShr(bits, 16), 0x8000), in(b, shape, 0x7c00)), payload);
    return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(value, value), nan, number), likeType(shape, b.getInt16Ty()));
  }
  if (type.isBF16())
    return b.CreateTrunc(b.CreateLShr(bits, 16), likeType(shape, b.getInt16Ty()));
  Format format = formatOf(type);
  Value *sign = b.CreateAnd(b.CreateLShr(bits, 24), 0x80);
  Value *magnitude = b.CreateAnd(bits, 0x7fffffff);
  Value *scaled = b.CreateFMul(toFloat(b, magnitude), fp(b, shape, std::ldexp(1.0, format.bias - 127)));
  Value *code = b.CreateLShr(toBits(b, scaled), 23 - format.mantissa);
  code = b.CreateOr(code, sign);
  Value *isNan = b.CreateFCmpUNO(value, value);
  if (format.negativeZeroIsNan) {
    code = b.CreateSelect(b.CreateICmpEQ(magnitude, in(b, shape, 0)), in(b, shape, 0), code);
    code = b.CreateSelect(isNan, in(b, shape, 0x80), code);
  } else {
    if (format.hasInfinity)
      code = b.CreateSelect(b.CreateICmpEQ(magnitude, in(b, shape, 0x7f800000)), b.CreateOr(sign, in(b, shape, 0x7c)), code);
    Value *payload = in(b, shape, 0x7f);
    if (format.hasInfinity) { // 0x7d to 0x7f
      payload = b.CreateAnd(b.CreateLShr(bits, 21), 3);
      payload = b.CreateOr(b.CreateSelect(b.CreateICmpEQ(payload, in(b, shape, 0)), in(b, shape, 2), payload), in(b, shape, 0x7c));
    }
    code = b.CreateSelect(isNan, b.CreateOr(sign, payload), code);
  }
  return b.CreateTrunc(code, likeType(shape, b.getInt8Ty()));
}

Value *roundFloat(IRBuilder<> &b, Value *value, mlir::Type type, bool towardZero) {
  Type *shape = value->getType();
  if (type.isF16() && !towardZero)
    return b.CreateFPExt(b.CreateFPTrunc(value, likeType(shape, b.getHalfTy())), shape);
  Value *bits = toBits(b, value);
  Value *isNan = b.CreateFCmpUNO(value, value);
  if (type.isBF16()) {
    Value *rounded = bits;
    if (!towardZero)
      rounded = b.CreateAdd(bits, b.CreateAdd(in(b, shape, 0x7fff), b.CreateAnd(b.CreateLShr(bits, 16), 1)));
    else // the largest finite value, not infinity, is kept by truncation itself
      rounded = bits;
    Value *cut = b.CreateAnd(rounded, in(b, shape, 0xffff0000));
    Value *quiet = b.CreateOr(b.CreateAnd(bits, in(b, shape, 0xffff0000)), in(b, shape, 0x00400000));
    return toFloat(b, b.CreateSelect(isNan, quiet, cut));
  }
  // A grid of spacing 2^(e - mantissa), with e the value's exponent but at least the smallest normal one: adding and subtracting
  // 1.5 * 2^(23 + e - mantissa) rounds to it. Toward zero: the bits below the grid are cut.
  int mantissa = 10, minExponent = -14;
  float maxFinite = 65504.f;
  Format format{};
  if (!type.isF16()) {
    format = formatOf(type);
    mantissa = format.mantissa, minExponent = 1 - format.bias, maxFinite = format.maxFinite;
  }
  Value *sign = b.CreateAnd(bits, in(b, shape, 0x80000000));
  Value *magnitude = toFloat(b, b.CreateAnd(bits, in(b, shape, 0x7fffffff)));
  Value *exponent = b.CreateAnd(bits, in(b, shape, 0x7f800000));
  exponent = b.CreateBinaryIntrinsic(Intrinsic::umax, exponent, in(b, shape, uint32_t(minExponent + 127) << 23));
  exponent = b.CreateBinaryIntrinsic(Intrinsic::umin, exponent, in(b, shape, uint32_t(200) << 23));
  Value *magic = toFloat(b, b.CreateAdd(exponent, in(b, shape, uint32_t(23 - mantissa) << 23)));
  Value *rounded;
  if (towardZero) {
    // Subtracting half a unit keeps the nearest sum below; simpler: round to nearest, then step back when it grew.
    Value *nearest = b.CreateFSub(b.CreateFAdd(magnitude, magic), magic);
    Value *unit = toFloat(b, b.CreateSub(exponent, in(b, shape, uint32_t(mantissa) << 23)));
    rounded = b.CreateSelect(b.CreateFCmpOGT(nearest, magnitude), b.CreateFSub(nearest, unit), nearest);
  } else {
    rounded = b.CreateFSub(b.CreateFAdd(magnitude, magic), magic);
  }
  Value *big = b.CreateFCmpOGT(magnitude, fp(b, shape, maxFinite));
  Value *limit = type.isF16() ? b.CreateSelect(b.CreateFCmpOEQ(magnitude, fp(b, shape, std::numeric_limits<double>::infinity())), magnitude, fp(b, shape, maxFinite)) : fp(b, shape, maxFinite);
  rounded = b.CreateSelect(big, limit, rounded);
  if (!type.isF16() && format.negativeZeroIsNan)
    sign = b.CreateSelect(b.CreateFCmpOEQ(rounded, fp(b, shape, 0)), in(b, shape, 0), sign);
  Value *result = toFloat(b, b.CreateOr(toBits(b, rounded), sign));
  return b.CreateSelect(isNan, fp(b, shape, std::numeric_limits<double>::quiet_NaN()), result);
}

Value *roundToOdd(IRBuilder<> &b, Value *value) {
  Type *shape = value->getType(), *floats = likeType(shape, b.getFloatTy());
  Value *nearest = b.CreateFPTrunc(value, floats);
  Value *back = b.CreateFPExt(nearest, shape);
  Value *inexact = b.CreateFCmpONE(back, value);
  Value *grew = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(Intrinsic::fabs, back), b.CreateUnaryIntrinsic(Intrinsic::fabs, value));
  Value *bits = toBits(b, nearest);
  Value *toward = b.CreateSelect(grew, b.CreateSub(bits, in(b, shape, 1)), bits);
  Value *odd = b.CreateOr(toward, in(b, shape, 1));
  return toFloat(b, b.CreateSelect(inexact, odd, bits));
}

} // namespace tk::lower
