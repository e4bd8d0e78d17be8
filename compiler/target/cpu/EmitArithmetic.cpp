// The CPU's side of arithmetic: elementary functions that the math library does not cover go to libm.
#include "compiler/target/cpu/Emitter.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
namespace tk::cpu {

Value *Emitter::arithmetic(mlir::Operation *op, ArrayRef<Value *> operands) {
  struct CpuArithmetic : lower::Arithmetic {
    Emitter &emitter;
    explicit CpuArithmetic(Emitter &emitter) : Arithmetic(emitter.b), emitter(emitter) {}
    Value *libraryCall(mlir::Operation *op, ArrayRef<Value *> operands) override { return emitter.mathCall(op, operands); }
  };
  return CpuArithmetic(*this).emit(op, operands);
}

/// Functions that the library doesn't cover (compiler/tile/ExpandMath.cpp expands those it does): libm's, element by element.
Value *Emitter::mathCall(mlir::Operation *op, ArrayRef<Value *> v) {
  const char *name = StringSwitch<const char *>(op->getName().getStringRef())
                         .Case("math.exp", "exp").Case("math.exp2", "exp2").Case("math.expm1", "expm1").Case("math.log", "log").Case("math.log2", "log2").Case("math.log10", "log10")
                         .Case("math.log1p", "log1p").Case("math.sin", "sin").Case("math.cos", "cos").Case("math.tan", "tan").Case("math.asin", "asin").Case("math.acos", "acos")
                         .Case("math.atan", "atan").Case("math.atan2", "atan2").Case("math.sinh", "sinh").Case("math.cosh", "cosh").Case("math.tanh", "tanh").Case("math.asinh", "asinh")
                         .Case("math.acosh", "acosh").Case("math.atanh", "atanh").Case("math.erf", "erf").Case("math.erfc", "erfc").Case("math.cbrt", "cbrt").Case("math.powf", "pow")
                         .Case("arith.remf", "fmod").Default(nullptr);
  if (!name) {
    fail(op, "`" + op->getName().getStringRef() + "` is not supported on the CPU yet");
    return PoisonValue::get(v[0]->getType());
  }
  Type *type = v[0]->getType(), *element = type->getScalarType();
  SmallVector<Type *> parameters(v.size(), element);
  FunctionCallee callee = module.getOrInsertFunction(std::string(name) + (element->isFloatTy() ? "f" : ""), llvm::FunctionType::get(element, parameters, false));
  auto *vector = dyn_cast<FixedVectorType>(type);
  if (!vector)
    return b.CreateCall(callee, v);
  Value *result = PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    SmallVector<Value *> items;
    for (Value *operand : v)
      items.push_back(b.CreateExtractElement(operand, lane));
    result = b.CreateInsertElement(result, b.CreateCall(callee, items), lane);
  }
  return result;
}

} // namespace tk::cpu
