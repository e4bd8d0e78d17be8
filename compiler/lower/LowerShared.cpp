// Tiles in shared memory: where they are, loads by ldmatrix or in the widest vectors, stores, and copies from global memory that don't pass through registers.
#include "compiler/RecordRemark.h"
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/Scratch.h"
#include "compiler/lower/SharedPlan.h"

using namespace llvm;
namespace tk::lower {

Value *GpuEmitter::sharedPlace(Value *base, ArrayRef<uint32_t> offsetOfIndexBit, ArrayRef<uint32_t> lanes, ArrayRef<uint32_t> warps, uint32_t index,
                               unsigned bytes) {
  uint32_t threadBits = 0;
  auto inBytes = [&](ArrayRef<uint32_t> bases) {
    SmallVector<uint32_t> result;
    for (uint32_t basis : bases) {
      result.push_back(ttg::TileLayout::apply(offsetOfIndexBit, basis) * bytes);
      threadBits |= result.back();
    }
    return result;
  };
  SmallVector<uint32_t> laneBytes = inBytes(lanes), warpBytes = inBytes(warps);
  uint32_t own = ttg::TileLayout::apply(offsetOfIndexBit, index) * bytes;
  // Bits that the thread's part may have are joined by exclusive or, which few registers need and loops keep; the others are the instruction's immediate
  // offset.
  Value *offset = threadIndex(laneBytes, warpBytes);
  if (own & threadBits)
    offset = b.CreateXor(offset, word(own & threadBits));
  Value *address = b.CreateGEP(b.getInt8Ty(), base, offset);
  return own & ~threadBits ? b.CreateConstGEP1_32(b.getInt8Ty(), address, own & ~threadBits) : address;
}

Value *GpuEmitter::memory(mlir::Value descriptor) { return registers(descriptor).front(); }

void GpuEmitter::emitLocalAlloc(ttg::LocalAllocOp op) {
  define(op, {sharedAddress(scratchOffset(op))});
  if (op.getSrc())
    storeTile(op.getSrc(), op);
}

void GpuEmitter::emitMemDescIndex(ttg::MemDescIndexOp op) {
  unsigned slots = op.getSrc().getType().getSlots();
  Value *base = memory(op.getSrc());
  if (slots == 1)
    return define(op, {base});
  Value *slot = scalar(op.getSlot());
  if (op.getAhead()) {
    Value *sum = b.CreateAdd(slot, word(op.getAhead()), "", true, true);
    slot = b.CreateSelect(b.CreateICmpUGE(sum, word(slots)), b.CreateSub(sum, word(slots)), sum);
  }
  define(op, {b.CreateGEP(b.getInt8Ty(), base, b.CreateMul(slot, word(op.getType().slotBytes())))});
}

namespace {
/// Registers of a thread that lie side by side in shared memory: bits of the register number for the offset's lowest bits.
SmallVector<unsigned> sideBySide(const ttg::TileLayout &layout, ArrayRef<uint32_t> offsets, unsigned elementBytes) {
  SmallVector<unsigned> bits;
  auto offsetOf = [&](uint32_t index) { return ttg::TileLayout::apply(offsets, index); };
  while ((elementBytes << bits.size()) < 16) {
    uint32_t wanted = 1u << bits.size();
    const uint32_t *found = find_if(layout.reg, [&](uint32_t basis) { return offsetOf(basis) == wanted; });
    bool isOwn = found != layout.reg.end();
    for (auto *group : {&layout.reg, &layout.lane, &layout.warp})
      for (const uint32_t &basis : *group)
        isOwn &= &basis == found || !(offsetOf(basis) & wanted);
    if (!isOwn)
      break;
    bits.push_back(found - layout.reg.begin());
  }
  return bits;
}

/// The number whose set bits are those of `number`, moved to the places `bits`.
unsigned spread(unsigned number, ArrayRef<unsigned> bits) {
  unsigned result = 0;
  for (auto [i, bit] : enumerate(bits))
    result |= (number >> i & 1) << bit;
  return result;
}
} // namespace

/// Calls `access` for each vector of registers: their numbers in the order of the memory.
static void forEachVector(const ttg::TileLayout &layout, ArrayRef<unsigned> bits, function_ref<void(ArrayRef<unsigned>)> access) {
  unsigned mask = spread(~0u, bits);
  for (unsigned first = 0; first < layout.registers(); ++first) {
    if (first & mask || layout.isDuplicateRegister(first))
      continue;
    SmallVector<unsigned> numbers;
    for (unsigned k = 0; k < 1u << bits.size(); ++k)
      numbers.push_back(first | spread(k, bits));
    access(numbers);
  }
}

void GpuEmitter::storeTile(mlir::Value tile, mlir::Value descriptor) {
  auto type = mlir::cast<ttg::MemDescType>(descriptor.getType());
  ttg::TileLayout layout = ttg::layoutOf(tile.getType());
  unsigned bytes = sharedBytesOf(type.getElementType());
  SmallVector<uint32_t> offsets = type.getLayout().offsetOfIndexBit();
  SmallVector<unsigned> vector = sideBySide(layout, offsets, bytes);
  unsigned each = 1u << vector.size(), wordBits = bytes == 8 ? 64 : std::min(32u, each * bytes * 8);
  Registers source = registers(tile);
  auto write = [&] {
    forEachVector(layout, vector, [&](ArrayRef<unsigned> numbers) {
      SmallVector<Value *> elements;
      for (unsigned number : numbers)
        elements.push_back(source[number]);
      SmallVector<Value *> words = pack(elements, wordBits);
      Value *item = words.front();
      if (words.size() > 1) {
        item = PoisonValue::get(FixedVectorType::get(b.getIntNTy(wordBits), words.size()));
        for (auto [k, part] : enumerate(words))
          item = b.CreateInsertElement(item, part, k);
      }
      b.CreateAlignedStore(item, sharedPlace(memory(descriptor), offsets, layout.lane, layout.warp, layout.indexOfRegister(numbers.front()), bytes),
                           Align(each * bytes));
    });
  };
  if (Value *owner = isOwner(layout))
    ifThen(owner, write);
  else
    write();
}

void GpuEmitter::emitLocalLoad(ttg::LocalLoadOp op) {
  ttg::MemDescType type = op.getSrc().getType();
  mlir::Type element = type.getElementType();
  ttg::TileLayout layout = ttg::layoutOf(op.getType());
  unsigned bytes = sharedBytesOf(element);
  SmallVector<uint32_t> offsets = type.getLayout().offsetOfIndexBit();
  if (planMatrixRead(offsets, layout, bytes) && !element.isInteger(1))
    return emitMatrixLoad(op, offsets);
  SmallVector<unsigned> vector = sideBySide(layout, offsets, bytes);
  unsigned each = 1u << vector.size(), wordBits = bytes == 8 ? 64 : std::min(32u, each * bytes * 8), words = each * bytes * 8 / wordBits;
  Type *access = words > 1 ? static_cast<Type *>(FixedVectorType::get(b.getIntNTy(wordBits), words)) : b.getIntNTy(wordBits);
  Registers result(layout.registers());
  DenseMap<uint32_t, unsigned> registerOf;
  forEachVector(layout, vector, [&](ArrayRef<unsigned> numbers) {
    Value *item = b.CreateAlignedLoad(
        access, sharedPlace(memory(op.getSrc()), offsets, layout.lane, layout.warp, layout.indexOfRegister(numbers.front()), bytes), Align(each * bytes));
    SmallVector<Value *> parts;
    for (unsigned k = 0; k < words; ++k)
      parts.push_back(words > 1 ? b.CreateExtractElement(item, k) : item);
    for (auto [number, value] : zip(numbers, unpack(parts, each, element))) {
      result[number] = value;
      registerOf.try_emplace(layout.indexOfRegister(number), number);
    }
  });
  for (unsigned i = 0; i < layout.registers(); ++i)
    if (!result[i])
      result[i] = result[registerOf.at(layout.indexOfRegister(i))];
  define(op, std::move(result));
}

void GpuEmitter::emitMatrixLoad(ttg::LocalLoadOp op, ArrayRef<uint32_t> offsets) {
  mlir::Type element = op.getSrc().getType().getElementType();
  ttg::TileLayout layout = ttg::layoutOf(op.getType());
  unsigned bytes = sharedBytesOf(element);
  MatrixRead read = *planMatrixRead(offsets, layout, bytes);
  // Lanes 0..2 (bits) name a row, lanes 3 and 4 a matrix; those of matrices that are not there repeat others.
  SmallVector<uint32_t> lanes(read.rows);
  for (unsigned bit : read.matrixBits)
    lanes.push_back(layout.reg[bit]);
  lanes.resize(5, 0);
  unsigned count = 1u << read.matrixBits.size(), packed = 1u << read.packedBits, inside = (packed - 1) | spread(~0u, read.matrixBits);
  Registers result(layout.registers());
  for (unsigned first = 0; first < layout.registers(); ++first) {
    if (first & inside)
      continue;
    SmallVector<Value *> words =
        target.loadMatrix(b, sharedPlace(memory(op.getSrc()), offsets, lanes, layout.warp, layout.indexOfRegister(first), bytes), count, read.transposed);
    Registers elements = unpack(words, count * packed, element);
    for (unsigned matrix = 0; matrix < count; ++matrix)
      for (unsigned k = 0; k < packed; ++k)
        result[first | spread(matrix, read.matrixBits) | k] = elements[matrix * packed + k];
  }
  define(op, std::move(result));
}

void GpuEmitter::emitAsyncCopy(ttg::AsyncCopyOp op) {
  ttg::MemDescType type = op.getDst().getType();
  ttg::TileLayout layout = ttg::layoutOf(op.getPtr().getType());
  unsigned bytes = sharedBytesOf(type.getElementType()), each = op.getContiguity();
  SmallVector<uint32_t> offsets = type.getLayout().offsetOfIndexBit();
  Registers pointers = registers(op.getPtr());
  // Of threads with the same elements one copies.
  Value *predicate = bothOf(isOwner(layout), op.getPred() ? scalar(op.getPred()) : nullptr);
  unsigned copies = 0;
  for (unsigned first = 0; first < layout.registers(); first += each)
    if (!layout.isDuplicateRegister(first) && ++copies)
      target.asyncCopy(b, sharedPlace(memory(op.getDst()), offsets, layout.lane, layout.warp, layout.indexOfRegister(first), bytes), pointers[first],
                       each * bytes, op.getMask() ? registers(op.getMask())[first] : nullptr, predicate);
  if (compiler::RecordRemark remark(op, compiler::RemarkKind::Access); remark)
    remark.fact("operation", "copy").fact("elements", each).fact("bits", 8 * bytes).fact("accesses", copies);
  define(op, {});
}

} // namespace tk::lower
