// Elementwise operations, a register at a time. 16-bit floats are widened, computed and rounded; LLVM joins the pairs where the machine has the operation
// itself.
#include "compiler/lower/Arithmetic.h"
#include "compiler/lower/FloatBits.h"
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/Remainder.h"

using namespace llvm;
namespace tk::lower {

/// Arithmetic with the GPU's conversions and functions.
class GpuArithmetic : public Arithmetic {
public:
  explicit GpuArithmetic(GpuEmitter &emitter) : Arithmetic(emitter.b), emitter(emitter) {}

  Value *round(Value *value, mlir::Type narrow, bool towardZero) override { return widen(encodeNative(value, narrow, towardZero), narrow); }
  Value *decode(Value *bits, mlir::Type narrow) override { return widen(emitter.fromBits(bits, emitter.valueType(narrow)), narrow); }
  Value *encode(Value *value, mlir::Type narrow) override { return emitter.toBits(encodeNative(value, narrow, false)); }

  /// A register of a narrow float -> fp32.
  Value *widen(Value *value, mlir::Type narrow) {
    return value->getType()->isFloatingPointTy() ? b.CreateFPExt(value, b.getFloatTy()) : decodeFloat(b, value, narrow);
  }
  /// fp32 -> a register of the narrow float.
  Value *encodeNative(Value *value, mlir::Type narrow, bool towardZero) {
    Type *type = emitter.valueType(narrow);
    if (type->isFloatingPointTy() && !towardZero)
      return b.CreateFPTrunc(value, type);
    if (Value *made = emitter.target.encodeFloat(b, value, narrow, towardZero))
      return made;
    return emitter.fromBits(encodeFloat(b, roundFloat(b, value, narrow, towardZero), narrow), type);
  }

protected:
  Value *libraryCall(mlir::Operation *op, ArrayRef<Value *> operands) override {
    if (mlir::isa<mlir::arith::RemFOp>(op))
      return createRemainder(b, operands[0], operands[1]);
    emitter.fail(op, "`" + op->getName().getStringRef() + "` is not supported on this target yet");
    return PoisonValue::get(registerType(b, tt::elementType(op->getResult(0).getType())));
  }

private:
  GpuEmitter &emitter;
};

Value *GpuEmitter::elementwise(mlir::Operation *op, ArrayRef<Value *> operands) {
  mlir::Type result = tt::elementType(op->getResult(0).getType());
  // Movement of bits, which widening would only disturb (and NaN payloads with it).
  if (mlir::isa<mlir::arith::SelectOp>(op))
    return b.CreateSelect(operands[0], operands[1], operands[2]);
  if (mlir::isa<tt::BitcastOp, mlir::arith::BitcastOp>(op))
    return mlir::isa<tt::PointerType>(result) && operands[0]->getType()->isPointerTy() ? operands[0] : fromBits(toBits(operands[0]), valueType(result));
  if (auto negation = mlir::dyn_cast<mlir::arith::NegFOp>(op); negation && isNarrowFloat(result)) {
    Value *bits = toBits(operands[0]);
    return fromBits(b.CreateXor(bits, ConstantInt::get(bits->getType(), APInt::getSignMask(bits->getType()->getIntegerBitWidth()))), valueType(result));
  }
  GpuArithmetic arithmetic(*this);
  SmallVector<Value *> wide;
  for (auto [operand, value] : zip(op->getOperands(), operands)) {
    mlir::Type element = tt::elementType(operand.getType());
    wide.push_back(isNarrowFloat(element) ? arithmetic.widen(value, element) : value);
  }
  if (Value *own = target.math(b, op, wide))
    return isNarrowFloat(result) ? arithmetic.encodeNative(own, result, false) : own;
  Value *made = arithmetic.emit(op, wide);
  return isNarrowFloat(result) ? arithmetic.encodeNative(made, result, false) : made;
}

/// The bits of an index that make no difference to the value, by what is known of its axes: a mask `i < n` with n divisible by 16 is one for 16 elements.
static uint32_t equalBits(mlir::Type tile, const compiler::AxisInfo &info) {
  uint32_t bits = 0;
  for (auto [axis, constancy] : zip(ttg::axisBitsOf(tt::shapeOf(tile)), info.constancy))
    bits |= (uint32_t(std::min<int64_t>(constancy, int64_t(1) << axis.count)) - 1) << axis.begin;
  return bits;
}

void GpuEmitter::emitElementwise(mlir::Operation *op) {
  mlir::Type type = op->getResult(0).getType();
  if (!tt::isTile(type)) {
    SmallVector<Value *> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    Value *made = elementwise(op, operands);
    if (error.empty())
      define(op->getResult(0), {made});
    return;
  }
  // Registers that hold equal elements are computed once. A thread's index differs from a register's image by an XOR, which keeps aligned runs together.
  ttg::TileLayout layout = ttg::layoutOf(type);
  const uint32_t distinct = ~equalBits(type, axes->of(op->getResult(0)));
  DenseMap<uint32_t, Value *> made;
  Registers results;
  for (unsigned i = 0; i < layout.registers() && error.empty(); ++i) {
    Value *&value = made[layout.indexOfRegister(i) & distinct];
    if (!value) {
      SmallVector<Value *> operands;
      for (mlir::Value operand : op->getOperands()) {
        const Registers &source = registers(operand);
        operands.push_back(tt::isTile(operand.getType()) ? source[i] : source.front());
      }
      value = elementwise(op, operands);
    }
    results.push_back(value);
  }
  if (error.empty())
    define(op->getResult(0), std::move(results));
}

/// A combine region of a reduction or scan, on scalars.
SmallVector<Value *> GpuEmitter::combine(mlir::Region &region, ArrayRef<Value *> operands, Value *owner) {
  combineOwner = owner;
  mlir::Block &body = region.front();
  for (auto [argument, value] : zip(body.getArguments(), operands))
    values[argument] = {value};
  for (mlir::Operation &op : body.without_terminator()) {
    if (!error.empty())
      break;
    emitOperation(&op);
  }
  SmallVector<Value *> results;
  for (mlir::Value value : body.getTerminator()->getOperands())
    results.push_back(scalar(value));
  return results;
}

} // namespace tk::lower
