// The matrix unit: mma.sync of each operand type, and what older or less precise units take several instructions for.
//
// Fragments are those of the unit's shape (#ttg.mma). Where the machine has only a smaller instruction, the words of the fragments are cut along rows or K: c0
// c1 and c2 c3 of an m16n8 sum are two m8n8 sums, and the words of an operand come in pairs (row, row + 8) for each part of K. The order of products along K is
// free, as long as both operands agree. 8-bit floats without an instruction of their own, or whose instruction adds with less than fp32's precision, are
// multiplied as fp16, which holds all of them exactly: of each word the lower two bytes are one m16n8k16 product, the upper two another. Source: PTX ISA,
// "Multiply-and-accumulate instruction: mma".
#include "compiler/lower/FloatBits.h"
#include "compiler/target/nvidia/NvidiaInstructions.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;
namespace tk::nvidia {
using Words = SmallVector<Value *>;

namespace {
/// One mma.sync: `d` and `c` have registers of type `sum` (float, i32 for packed fp16 and for integers, double).
class Multiplier {
public:
  Multiplier(IRBuilder<> &b, const Target &target, std::map<std::string, unsigned> &issued) : b(b), target(target), issued(issued) {}

  Words sync(const std::string &name, Type *sum, ArrayRef<Value *> a, ArrayRef<Value *> bWords, ArrayRef<Value *> c) {
    char sumConstraint = sum->isFloatTy() ? 'f' : sum->isDoubleTy() ? 'd' : 'r';
    ++issued["mma.sync." + name];
    std::string text = "mma.sync.aligned." + name + " ", constraints;
    SmallVector<Value *> operands;
    unsigned next = 0;
    auto group = [&](size_t count) {
      text += next ? ", {" : "{";
      for (size_t i = 0; i < count; ++i)
        text += (i ? ", $" : "$") + std::to_string(next++);
      text += "}";
    };
    auto inputs = [&](ArrayRef<Value *> words, char constraint, Type *type) {
      group(words.size());
      for (Value *item : words) {
        operands.push_back(b.CreateBitCast(item, type));
        constraints += std::string(",") + constraint;
      }
    };
    group(c.size());
    for (size_t i = 0; i < c.size(); ++i)
      constraints += std::string(i ? ",=" : "=") + sumConstraint;
    Type *operandType = sum->isDoubleTy() ? sum : b.getInt32Ty();
    inputs(a, sum->isDoubleTy() ? 'd' : 'r', operandType);
    inputs(bWords, sum->isDoubleTy() ? 'd' : 'r', operandType);
    inputs(c, sumConstraint, sum);
    SmallVector<Type *> types;
    for (Value *operand : operands)
      types.push_back(operand->getType());
    Type *result = c.size() == 1 ? sum : StructType::get(b.getContext(), SmallVector<Type *>(c.size(), sum));
    CallInst *call = b.CreateCall(InlineAsm::get(FunctionType::get(result, types, false), text + ";", constraints, /*hasSideEffects=*/false), operands);
    // All lanes take part: the statement may not move under a condition, but it may go when nobody needs it.
    call->addFnAttr(Attribute::Convergent);
    call->addFnAttr(Attribute::NoUnwind);
    call->setDoesNotAccessMemory();
    Words words;
    for (size_t i = 0; i < c.size(); ++i)
      words.push_back(b.CreateBitCast(c.size() == 1 ? call : b.CreateExtractValue(call, i), c[i]->getType()));
    return words;
  }

  /// m16n8k16 of fp16 or bf16.
  Words halves(const std::string &operand, bool wideSum, ArrayRef<Value *> a, ArrayRef<Value *> bWords, ArrayRef<Value *> c) {
    std::string sum = wideSum ? "f32" : "f16", types = sum + "." + operand + "." + operand + "." + sum;
    Type *type = wideSum ? b.getFloatTy() : static_cast<Type *>(b.getInt32Ty());
    if (a.size() == 2)
      return sync("m16n8k8.row.col." + types, type, a, bWords, c);
    if (target.sm >= 80)
      return sync("m16n8k16.row.col." + types, type, a, bWords, c);
    Words first = sync("m16n8k8.row.col." + types, type, a.take_front(2), bWords.take_front(1), c);
    return sync("m16n8k8.row.col." + types, type, a.drop_front(2), bWords.drop_front(1), first);
  }

  /// m16n8k32 of bytes.
  Words bytes(ArrayRef<Value *> a, ArrayRef<Value *> bWords, ArrayRef<Value *> c) {
    if (target.sm >= 80)
      return sync("m16n8k32.row.col.s32.s8.s8.s32", b.getInt32Ty(), a, bWords, c);
    Words result(c);
    for (unsigned half = 0; half < 2; ++half)  // of K
      for (unsigned row = 0; row < 2; ++row) { // and row + 8
        Words sums = sync("m8n8k16.row.col.s32.s8.s8.s32", b.getInt32Ty(), a[2 * half + row], bWords[half], ArrayRef<Value *>(result).slice(2 * row, 2));
        result[2 * row] = sums[0], result[2 * row + 1] = sums[1];
      }
    return result;
  }

  /// Two bytes (the lower or the upper ones of a word) as two fp16 numbers.
  Value *toHalves(Value *item, bool upper, mlir::Type kind) {
    if (target.has(Fp8Mma) && mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(kind)) {
      Value *pair = b.CreateTrunc(upper ? b.CreateLShr(item, 16) : item, b.getInt16Ty());
      std::string name = mlir::isa<mlir::Float8E5M2Type>(kind) ? "e5m2x2" : "e4m3x2";
      InlineAsm *statement = InlineAsm::get(FunctionType::get(b.getInt32Ty(), {b.getInt16Ty()}, false), "cvt.rn.f16x2." + name + " $0, $1;", "=r,h", false);
      CallInst *call = b.CreateCall(statement, {pair});
      call->addFnAttr(Attribute::NoUnwind);
      call->setDoesNotAccessMemory();
      return call;
    }
    // Each byte becomes the upper half of 16 bits.
    Value *lower = upper ? b.CreateAnd(b.CreateLShr(item, 8), word(0xff00)) : b.CreateAnd(b.CreateShl(item, 8), word(0xff00));
    Value *higher = upper ? b.CreateAnd(item, word(0xff000000)) : b.CreateAnd(b.CreateShl(item, 16), word(0xff000000));
    Value *spread = b.CreateOr(lower, higher);
    if (mlir::isa<mlir::Float8E5M2Type>(kind)) // fp16 without its lower mantissa bits
      return spread;
    Value *sign = b.CreateAnd(spread, word(0x80008000)), *magnitude = b.CreateAnd(spread, word(0x7f007f00));
    Value *isNan; // bit 15 of each half
    if (mlir::isa<mlir::Float8E4M3FNType>(kind))
      isNan = b.CreateAnd(b.CreateAdd(magnitude, word(0x01000100)), word(0x80008000)); // all ones carry
    else
      isNan = b.CreateAnd(sign, b.CreateNot(b.CreateAdd(magnitude, word(0x7f007f00)))); // -0: nothing carries
    Value *number;
    Type *pairType = FixedVectorType::get(b.getHalfTy(), 2);
    auto scaled = [&](Value *bits, double factor) {
      return b.CreateBitCast(b.CreateFMul(b.CreateBitCast(bits, pairType), ConstantFP::get(pairType, factor)), b.getInt32Ty());
    };
    if (mlir::isa<mlir::Float8E5M2FNUZType>(kind)) {
      // Bias 16 instead of 15. The largest exponent means infinity in fp16, so the first half is taken from the exponent, where there is one, and subnormals
      // are halved.
      Type *shorts = FixedVectorType::get(b.getInt16Ty(), 2);
      Value *parts = b.CreateBitCast(magnitude, shorts);
      Value *isSmall = b.CreateICmpULT(parts, ConstantInt::get(shorts, 0x800));
      number = b.CreateBitCast(b.CreateSelect(isSmall, b.CreateLShr(parts, 1), b.CreateSub(parts, ConstantInt::get(shorts, 0x400))), b.getInt32Ty());
    } else {
      // The exponent has one bit less than fp16's: moved into place, then scaled by the difference of the biases.
      number = scaled(b.CreateLShr(magnitude, 1), mlir::isa<mlir::Float8E4M3FNType>(kind) ? 0x1p8 : 0x1p7);
    }
    return b.CreateOr(b.CreateOr(number, sign), b.CreateMul(b.CreateLShr(isNan, 15), word(0x7e00)));
  }

  /// m16n8k32 of 8-bit floats as fp16.
  Words eightsAsHalves(const lower::MatrixInstruction &instruction, ArrayRef<Value *> a, ArrayRef<Value *> bWords, ArrayRef<Value *> c) {
    Words sums(c);
    for (bool upper : {false, true}) {
      Words left, right;
      for (Value *item : a)
        left.push_back(toHalves(item, upper, instruction.a));
      for (Value *item : bWords)
        right.push_back(toHalves(item, upper, instruction.b));
      sums = halves("f16", instruction.sum.isF32(), left, right, sums);
    }
    return sums;
  }

private:
  Value *word(uint32_t value) { return b.getInt32(value); }
  IRBuilder<> &b;
  const Target &target;
  std::map<std::string, unsigned> &issued;
};
} // namespace

/// Units that add products of 8-bit floats with fewer bits than fp32 has.
static bool roundsEightBitSums(const Target &target) { return target.sm != 90; }

Words Instructions::multiply(IRBuilder<> &b, const lower::MatrixInstruction &instruction, ArrayRef<Value *> a, ArrayRef<Value *> bWords, ArrayRef<Value *> c) {
  Multiplier multiplier(b, target, matrixInstructions);
  mlir::Type operand = instruction.a, other = instruction.b;
  if (operand.isF64())
    return multiplier.sync("m8n8k4.row.col.f64.f64.f64.f64", b.getDoubleTy(), a, bWords, c);
  if (operand.isF32())
    return multiplier.sync("m16n8k8.row.col.f32.tf32.tf32.f32", b.getFloatTy(), a, bWords, c);
  if (operand.isF16() || operand.isBF16())
    return multiplier.halves(operand.isF16() ? "f16" : "bf16", instruction.sum.isF32(), a, bWords, c);
  if (operand.isInteger(8))
    return multiplier.bytes(a, bWords, c);
  auto isOwn = [](mlir::Type kind) { return mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(kind); };
  if (!target.has(Fp8Mma) || !isOwn(operand) || !isOwn(other) || !instruction.sum.isF32() || (instruction.exactSums && roundsEightBitSums(target)))
    return multiplier.eightsAsHalves(instruction, a, bWords, c);
  auto nameOf = [](mlir::Type kind) { return mlir::isa<mlir::Float8E5M2Type>(kind) ? "e5m2" : "e4m3"; };
  return multiplier.sync(std::string("m16n8k32.row.col.f32.") + nameOf(operand) + "." + nameOf(other) + ".f32", b.getFloatTy(), a, bWords, c);
}

} // namespace tk::nvidia
