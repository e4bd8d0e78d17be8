// See Remainder.h. The significands are integers m * 2^e, so that the remainder is (mx << (ex - ey)) mod my: a long division that shifts as many bits at a time
// as the word has above a significand, and is exact throughout.
#include "compiler/lower/Remainder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
namespace tk::lower {

namespace {
/// The body of the function for one format.
class Writer {
public:
  Writer(Function *function, Type *type) : function(function), b(function->getContext()) {
    bits = type->getPrimitiveSizeInBits();
    mantissaBits = bits == 32 ? 23 : 52;
    integer = b.getIntNTy(bits);
  }

  void write() {
    Argument *x = function->getArg(0), *y = function->getArg(1);
    x->setName("x"), y->setName("y");
    BasicBlock *entry = block("entry"), *easy = block("easy"), *start = block("start"), *loop = block("loop"), *done = block("done");
    b.SetInsertPoint(entry);
    APInt signMask = APInt::getSignMask(bits);
    Value *ux = b.CreateBitCast(x, integer), *sign = b.CreateAnd(ux, signMask), *uy = b.CreateAnd(b.CreateBitCast(y, integer), ~signMask);
    ux = b.CreateAnd(ux, ~signMask);
    Value *infinity = b.CreateBitCast(ConstantFP::getInfinity(x->getType()), integer);
    Value *isBad = b.CreateOr(b.CreateOr(b.CreateICmpEQ(uy, number(0)), b.CreateICmpUGE(ux, infinity)), b.CreateICmpUGT(uy, infinity));
    b.CreateCondBr(b.CreateOr(isBad, b.CreateICmpULT(ux, uy)), easy, start);
    b.SetInsertPoint(easy);
    b.CreateRet(b.CreateSelect(isBad, ConstantFP::getNaN(x->getType()), x));

    b.SetInsertPoint(start);
    auto [mx, ex] = split(ux);
    auto [my, ey] = split(uy);
    Value *first = b.CreateURem(mx, my), *distance = b.CreateSub(ex, ey);
    b.CreateCondBr(b.CreateICmpEQ(distance, number(0)), done, loop);

    b.SetInsertPoint(loop);
    PHINode *rest = b.CreatePHI(integer, 2, "rest"), *left = b.CreatePHI(integer, 2, "left");
    Value *step = b.CreateBinaryIntrinsic(Intrinsic::umin, left, number(spare()));
    Value *next = b.CreateURem(b.CreateShl(rest, step), my), *after = b.CreateSub(left, step);
    rest->addIncoming(first, start), rest->addIncoming(next, loop);
    left->addIncoming(distance, start), left->addIncoming(after, loop);
    b.CreateCondBr(b.CreateICmpEQ(after, number(0)), done, loop);

    b.SetInsertPoint(done);
    PHINode *remainder = b.CreatePHI(integer, 2, "remainder");
    remainder->addIncoming(first, start), remainder->addIncoming(next, loop);
    b.CreateRet(b.CreateBitCast(b.CreateOr(join(remainder, ey), sign), x->getType()));
  }

private:
  BasicBlock *block(const char *name) { return BasicBlock::Create(function->getContext(), name, function); }
  Constant *number(uint64_t value) { return ConstantInt::get(integer, value); }
  /// Bits of a word above a significand.
  unsigned spare() const { return bits - 1 - mantissaBits; }
  Value *shiftToFront(Value *significand) { return b.CreateSub(b.CreateBinaryIntrinsic(Intrinsic::ctlz, significand, b.getFalse()), number(spare())); }

  /// The significand with its leading bit in place, and the exponent that belongs to it (below 1 for subnormals).
  std::pair<Value *, Value *> split(Value *magnitude) {
    Value *exponent = b.CreateLShr(magnitude, mantissaBits), *mantissa = b.CreateAnd(magnitude, APInt::getLowBitsSet(bits, mantissaBits));
    Value *isSubnormal = b.CreateICmpEQ(exponent, number(0)), *shift = shiftToFront(mantissa);
    Value *leading = b.CreateOr(mantissa, APInt::getOneBitSet(bits, mantissaBits));
    return {b.CreateSelect(isSubnormal, b.CreateShl(mantissa, shift), leading), b.CreateSelect(isSubnormal, b.CreateSub(number(1), shift), exponent)};
  }
  /// The bits of significand * 2^exponent, which is a number of the format.
  Value *join(Value *significand, Value *exponent) {
    Value *isZero = b.CreateICmpEQ(significand, number(0)), *shift = b.CreateSelect(isZero, number(0), shiftToFront(significand));
    Value *front = b.CreateShl(significand, shift), *own = b.CreateSub(exponent, shift);
    Value *isNormal = b.CreateICmpSGT(own, number(0));
    Value *down = b.CreateSelect(b.CreateOr(isNormal, isZero), number(0), b.CreateSub(number(1), own));
    Value *normal = b.CreateOr(b.CreateAnd(front, APInt::getLowBitsSet(bits, mantissaBits)), b.CreateShl(own, mantissaBits));
    return b.CreateSelect(isZero, number(0), b.CreateSelect(isNormal, normal, b.CreateLShr(front, down)));
  }

  Function *function;
  IRBuilder<> b;
  unsigned bits, mantissaBits;
  IntegerType *integer;
};
} // namespace

Value *createRemainder(IRBuilder<> &b, Value *x, Value *y) {
  Module &module = *b.GetInsertBlock()->getModule();
  Type *type = x->getType();
  std::string name = type->isFloatTy() ? "tk_fmod_f32" : "tk_fmod_f64";
  Function *function = module.getFunction(name);
  if (!function) {
    function = Function::Create(FunctionType::get(type, {type, type}, false), Function::InternalLinkage, name, module);
    function->addFnAttr(Attribute::NoUnwind);
    function->addFnAttr(Attribute::NoInline); // the divisions are long
    function->setDoesNotAccessMemory();
    Writer(function, type).write();
  }
  return b.CreateCall(function, {x, y});
}

} // namespace tk::lower
