// Calls of the services table: assertions and prints, one element at a time, and the yield of a loop that spins.
#include "compiler/target/cpu/Emitter.h"
#include "runtime/device/cpu/CpuServices.h"

using namespace llvm;
namespace tk::cpu {

/// services->function(services->context, arguments...)
void Emitter::callService(size_t offset, ArrayRef<Value *> arguments) {
  SmallVector<Value *> all{b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getInt8Ty(), services, offsetof(TkCpuServices, context)))};
  all.append(arguments.begin(), arguments.end());
  SmallVector<Type *> types;
  for (Value *argument : all)
    types.push_back(argument->getType());
  Value *callback = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getInt8Ty(), services, offset));
  b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), types, false), callback, all);
}

/// Every 1024th time round, other programs of the launch get to run.
void Emitter::emitYield() {
  callsYield = true;
  Value *count = local(b.getInt32Ty(), "spins");
  IRBuilder<>(entry, std::next(cast<Instruction>(count)->getIterator())).CreateStore(b.getInt32(0), count);
  Value *next = b.CreateAdd(b.CreateLoad(b.getInt32Ty(), count), b.getInt32(1));
  b.CreateStore(next, count);
  ifThen(b.CreateICmpEQ(b.CreateAnd(next, 1023), b.getInt32(0)), [&] { callService(offsetof(TkCpuServices, yield), {}); });
}

/// services->assertFailed(context, message, program) for each element that is false.
void Emitter::emitAssert(tt::AssertOp op, Value *holds) {
  ifThen(b.CreateNot(holds), [&] {
    Value *program = local(ArrayType::get(b.getInt32Ty(), 3), "program");
    for (int axis = 0; axis < 3; ++axis)
      b.CreateStore(programIds[axis], b.CreateConstInBoundsGEP2_64(ArrayType::get(b.getInt32Ty(), 3), program, 0, axis));
    std::string where = op.getMessage().str();
    if (mlir::FileLineColLoc place = lower::placeOf(op.getLoc()))
      where = place.getFilename().str() + ":" + std::to_string(place.getLine()) + ": " + where;
    callService(offsetof(TkCpuServices, assertFailed), {b.CreateGlobalString(where), program});
  });
}

/// One line for each element of operand `number` (or for the prefix alone, when there is no operand), in row-major order.
void Emitter::emitPrint(tt::PrintOp op) {
  Value *prefix = b.CreateGlobalString(op.getPrefix());
  Value *item = local(ArrayType::get(b.getInt8Ty(), sizeof(TkCpuPrinted)), "printed");
  cast<AllocaInst>(item)->setAlignment(Align(8));
  auto set = [&](size_t offset, Value *value) { b.CreateStore(value, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), item, offset)); };
  set(offsetof(TkCpuPrinted, prefix), prefix);
  for (int axis = 0; axis < 3; ++axis)
    set(offsetof(TkCpuPrinted, program) + 4 * axis, programIds[axis]);
  set(offsetof(TkCpuPrinted, hex), b.getInt8(op.getHex()));
  auto print = [&](uint8_t kind, uint8_t width, Value *bits, int operand, ArrayRef<Value *> index) {
    set(offsetof(TkCpuPrinted, kind), b.getInt8(kind));
    set(offsetof(TkCpuPrinted, width), b.getInt8(width));
    set(offsetof(TkCpuPrinted, bits), bits);
    set(offsetof(TkCpuPrinted, operand), b.getInt32(operand));
    set(offsetof(TkCpuPrinted, rank), b.getInt8(index.size()));
    for (auto [dim, value] : llvm::enumerate(index))
      set(offsetof(TkCpuPrinted, index) + 8 * dim, value);
    callService(offsetof(TkCpuServices, printElement), {item});
  };
  if (op.getArgs().empty())
    print(5, 0, i64(0), -1, {});
  for (auto [number, value] : llvm::enumerate(op.getArgs())) {
    mlir::Type element = tt::elementType(value.getType());
    bool isFloat = mlir::isa<mlir::FloatType>(element);
    uint8_t width = mlir::isa<tt::PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
    uint8_t kind = mlir::isa<tt::PointerType>(element) ? 4 : element.isF64() ? 3 : isFloat ? 2 : op.getIsSigned()[number] ? 1 : 0;
    int operand = op.getArgs().size() > 1 ? int(number) : -1;
    forEach(tt::shapeOf(value.getType()), [&](ArrayRef<Value *> index) {
      Point point;
      point.index.assign(index.begin(), index.end());
      Value *item = tt::isTile(value.getType()) ? evalScalar(value, point) : scalar(value);
      if (isFloat)
        item = op.getHex() && isNarrowFloat(element) ? encodeFloat(b, item, element) : b.CreateBitCast(item, b.getIntNTy(item->getType()->getPrimitiveSizeInBits()));
      if (item->getType()->isPointerTy())
        item = b.CreatePtrToInt(item, b.getInt64Ty());
      print(kind, op.getHex() && element.isInteger(1) ? 8 : width, b.CreateZExtOrTrunc(item, b.getInt64Ty()), operand, index);
    });
  }
}

} // namespace tk::cpu
