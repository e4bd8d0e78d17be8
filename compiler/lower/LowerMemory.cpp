// Loads and stores of global memory: each thread moves its registers in the widest aligned vectors that the layout and the facts about addresses and masks
// allow. Where a mask ends within vectors, LowerEdges.cpp does it.
#include "compiler/layout/AccessLayout.h"
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/GpuRemarks.h"
#include "compiler/lower/Scratch.h"

using namespace llvm;
namespace tk::lower {

SmallVector<Value *> GpuEmitter::pack(ArrayRef<Value *> elements, unsigned wordBits) {
  SmallVector<Value *> bits, words;
  for (Value *element : elements)
    bits.push_back(toBits(element));
  unsigned width = bits.front()->getType()->getIntegerBitWidth(), each = wordBits / width;
  if (each <= 1)
    return bits;
  for (size_t i = 0; i < bits.size(); i += each) {
    Value *vector = PoisonValue::get(FixedVectorType::get(bits.front()->getType(), each));
    for (unsigned k = 0; k < each; ++k)
      vector = b.CreateInsertElement(vector, bits[i + k], k);
    words.push_back(b.CreateBitCast(vector, b.getIntNTy(wordBits)));
  }
  return words;
}

Registers GpuEmitter::unpack(ArrayRef<Value *> words, unsigned elements, mlir::Type element) {
  Type *type = valueType(element);
  unsigned width = tt::bytesOf(element) * 8, each = elements / words.size();
  Registers result;
  for (Value *item : words) {
    Value *vector = each > 1 ? b.CreateBitCast(item, FixedVectorType::get(b.getIntNTy(width), each)) : item;
    for (unsigned k = 0; k < each; ++k)
      result.push_back(fromBits(each > 1 ? b.CreateExtractElement(vector, k) : vector, type));
  }
  return result;
}

void GlobalAccess::chooseWords(unsigned elements, unsigned elementBytes) {
  unsigned bytes = elements * elementBytes;
  wordBits = elementBytes == 8 ? 64 : bytes >= 4 ? 32 : bytes * 8;
  words = bytes * 8 / wordBits;
}

void GpuEmitter::emitLoad(tt::LoadOp op) {
  mlir::Type element = tt::elementType(op.getType());
  bool isTile = tt::isTile(op.getType());
  ttg::TileLayout layout = isTile ? ttg::layoutOf(op.getType()) : ttg::TileLayout();
  unsigned count = isTile ? layout.registers() : 1;
  unsigned vector = isTile ? std::min(count, compiler::accessVector(op, layout, *axes)) : 1;
  if (unsigned whole = isTile ? compiler::edgedWidth(op, layout, *axes).elements() : 1; whole > vector)
    return emitEdgedLoad(op, whole);
  remarkAccess(op, isTile ? &layout : nullptr, vector, count / vector, *axes);
  Registers pointers = registers(op.getPtr()), result;
  auto read = [&](unsigned first) {
    GlobalAccess access;
    access.address = pointers[first];
    access.predicate = op.getMask() ? registers(op.getMask())[first] : nullptr;
    access.cache = op.getCache(), access.evict = op.getEvict(), access.isVolatile = op.getIsVolatile();
    access.chooseWords(vector, tt::bytesOf(element));
    SmallVector<Value *> others;
    if (op.getMask()) {
      Registers other = op.getOther() ? Registers(ArrayRef<Value *>(registers(op.getOther())).slice(first, vector))
                                      : Registers(vector, Constant::getNullValue(valueType(element)));
      others = pack(other, access.wordBits);
    }
    return unpack(target.loadGlobal(b, access, others), vector, element);
  };
  if (executesOnce(op))
    return define(op.getResult(), {once(op, valueType(element), [&] { return read(0).front(); })});
  for (unsigned first = 0; first < count; first += vector)
    result.append(read(first));
  define(op.getResult(), std::move(result));
}

void GpuEmitter::emitStore(tt::StoreOp op) {
  mlir::Type element = tt::elementType(op.getValue().getType());
  bool isTile = tt::isTile(op.getPtr().getType());
  ttg::TileLayout layout = isTile ? ttg::layoutOf(op.getPtr().getType()) : ttg::TileLayout();
  unsigned count = isTile ? layout.registers() : 1;
  unsigned vector = isTile ? std::min(count, compiler::accessVector(op, layout, *axes)) : 1;
  if (unsigned whole = isTile ? compiler::edgedWidth(op, layout, *axes).elements() : 1; whole > vector)
    return emitEdgedStore(op, whole);
  Registers pointers = registers(op.getPtr()), items = registers(op.getValue());
  Value *owner = isTile ? isOwner(layout) : b.CreateICmpEQ(thread, word(0));
  unsigned accesses = 0;
  for (unsigned first = 0; first < count; first += vector) {
    if (layout.isDuplicateRegister(first))
      continue;
    ++accesses;
    GlobalAccess access;
    access.address = pointers[first];
    access.predicate = bothOf(owner, op.getMask() ? registers(op.getMask())[first] : nullptr);
    access.cache = op.getCache(), access.evict = op.getEvict();
    access.chooseWords(vector, tt::bytesOf(element));
    target.storeGlobal(b, access, pack(ArrayRef<Value *>(items).slice(first, vector), access.wordBits));
  }
  remarkAccess(op, isTile ? &layout : nullptr, vector, accesses, *axes);
}

} // namespace tk::lower
