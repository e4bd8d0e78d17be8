// Prints and assertions: records in the print buffer (runtime/device/PrintBuffer.h), one for each distinct element.
//
// A record takes its place by an atomic addition to the header's count and is dropped where the buffer is full. Of the threads that hold an element one writes
// it; a scalar's thread is the first one. In the combine function of a reduction or scan a print is one record for each combination that is made, and an
// assertion is about the elements at hand, so that every thread checks its own.
#include "compiler/lower/GpuEmitter.h"
#include "runtime/device/PrintBuffer.h"

using namespace llvm;
namespace tk::lower {

/// The true extents of an operand whose tile was padded: the attribute has a list of them an operand, empty for what is not padded.
static SmallVector<int64_t> trueShape(mlir::Operation *op, unsigned operand) {
  ArrayRef<int64_t> padded = tt::shapeOf(op->getOperand(operand).getType());
  if (auto shapes = op->getAttrOfType<mlir::ArrayAttr>(tt::kTrueShapeName); shapes && operand < shapes.size())
    if (auto shape = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(shapes[operand]); shape && size_t(shape.size()) == padded.size())
      return SmallVector<int64_t>(shape.asArrayRef());
  return SmallVector<int64_t>(padded);
}

static DType dtypeOf(mlir::Type element) {
  if (mlir::isa<mlir::Float8E4M3FNType>(element))
    return DType::F8E4M3FN;
  if (mlir::isa<mlir::Float8E5M2Type>(element))
    return DType::F8E5M2;
  if (mlir::isa<mlir::Float8E4M3FNUZType>(element))
    return DType::F8E4M3FNUZ;
  if (mlir::isa<mlir::Float8E5M2FNUZType>(element))
    return DType::F8E5M2FNUZ;
  if (element.isF16() || element.isBF16())
    return element.isF16() ? DType::F16 : DType::BF16;
  if (element.isF32() || element.isF64())
    return element.isF32() ? DType::F32 : DType::F64;
  if (mlir::isa<tt::PointerType>(element))
    return DType::I64;
  switch (element.getIntOrFloatBitWidth()) {
  case 1: return DType::I1;
  case 8: return DType::I8;
  case 16: return DType::I16;
  case 32: return DType::I32;
  default: return DType::I64;
  }
}

static runtime::PrintSite siteOf(mlir::Operation *op) {
  runtime::PrintSite site;
  if (mlir::FileLineColLoc place = placeOf(op->getLoc())) {
    site.file = place.getFilename().str();
    site.line = place.getLine();
  }
  if (auto check = mlir::dyn_cast<tt::AssertOp>(op)) {
    site.isAssert = true;
    site.text = check.getMessage().str();
    return site;
  }
  auto print = mlir::cast<tt::PrintOp>(op);
  site.hex = print.getHex();
  site.text = print.getPrefix().str();
  for (auto [number, value] : enumerate(print.getArgs())) {
    mlir::Type element = tt::elementType(value.getType());
    runtime::PrintOperand operand;
    operand.dtype = dtypeOf(element);
    operand.isSigned = print.getIsSigned()[number] != 0;
    operand.isPointer = mlir::isa<tt::PointerType>(element);
    SmallVector<int64_t> shape = trueShape(op, number);
    operand.shape.assign(shape.begin(), shape.end());
    site.operands.push_back(std::move(operand));
  }
  return site;
}

/// A combine region is emitted several times and stays one place.
unsigned GpuEmitter::printSite(mlir::Operation *op) {
  auto [slot, fresh] = printSites.try_emplace(op, abi.printSites.size());
  if (fresh)
    abi.printSites.push_back(siteOf(op));
  return slot->second;
}

void GpuEmitter::writeRecord(mlir::Operation *op, unsigned operand, Value *element, Value *bits) {
  auto at = [&](Value *base, uint64_t offset) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset); };
  AtomicAccess access;
  access.address = at(printBuffer, offsetof(runtime::PrintHeader, count));
  access.element = mlir::IntegerType::get(op->getContext(), 32);
  access.sem = tt::MemSemantic::RELAXED, access.scope = tt::MemSyncScope::SYSTEM;
  std::string problem;
  Value *place = target.atomicUpdate(b, access, tt::RMWOp::ADD, word(1), problem);
  Value *capacity = b.CreateLoad(b.getInt32Ty(), at(printBuffer, offsetof(runtime::PrintHeader, capacity)));
  ifThen(b.CreateICmpULT(place, capacity), [&] {
    Value *offset = b.CreateMul(b.CreateZExt(place, b.getInt64Ty()), b.getInt64(sizeof(runtime::PrintRecord)));
    Value *record = b.CreateGEP(b.getInt8Ty(), at(printBuffer, sizeof(runtime::PrintHeader)), offset);
    b.CreateStore(word(printSite(op)), at(record, offsetof(runtime::PrintRecord, site)));
    for (unsigned axis = 0; axis < 3; ++axis)
      b.CreateStore(target.programId(b, axis), at(record, offsetof(runtime::PrintRecord, program) + 4 * axis));
    b.CreateStore(element, at(record, offsetof(runtime::PrintRecord, element)));
    b.CreateStore(word(operand), at(record, offsetof(runtime::PrintRecord, operand)));
    b.CreateStore(bits, at(record, offsetof(runtime::PrintRecord, bits)));
  });
}

/// The row-major number of a register's element in the true extents, and whether it lies within them (null: always).
std::pair<Value *, Value *> GpuEmitter::trueElement(const ttg::TileLayout &layout, unsigned number, ArrayRef<int64_t> padded, ArrayRef<int64_t> extents) {
  Value *index = elementIndex(layout, number);
  if (padded == extents)
    return {index, nullptr};
  Value *linear = word(0), *inside = nullptr;
  for (auto [axis, extent, bits] : zip(padded, extents, ttg::axisBitsOf(padded))) {
    Value *along = b.CreateAnd(b.CreateLShr(index, bits.begin), word((1u << bits.count) - 1));
    if (extent != axis)
      inside = bothOf(inside, b.CreateICmpULT(along, word(extent)));
    linear = b.CreateAdd(b.CreateMul(linear, word(extent)), along);
  }
  return {linear, inside};
}

static bool isInCombine(mlir::Operation *op) { return op->getParentOfType<tt::ReduceOp>() || op->getParentOfType<tt::ScanOp>(); }

void GpuEmitter::emitPrint(tt::PrintOp op) {
  printSite(op);
  Value *isFirst = isInCombine(op) ? combineOwner : b.CreateICmpEQ(thread, word(0));
  auto first = [&](function_ref<void()> write) { isFirst ? ifThen(isFirst, write) : write(); };
  if (op.getArgs().empty())
    return first([&] { writeRecord(op, 0, word(0), b.getInt64(0)); });
  for (auto [operand, value] : enumerate(op.getArgs())) {
    Registers items = registers(value);
    auto write = [&](unsigned number, Value *element) { writeRecord(op, operand, element, b.CreateZExt(toBits(items[number]), b.getInt64Ty())); };
    if (!tt::isTile(value.getType())) {
      first([&] { write(0, word(0)); });
      continue;
    }
    ttg::TileLayout layout = ttg::layoutOf(value.getType());
    auto writeAll = [&] {
      for (unsigned number = 0; number < layout.registers(); ++number) {
        if (layout.isDuplicateRegister(number))
          continue;
        auto [element, inside] = trueElement(layout, number, tt::shapeOf(value.getType()), trueShape(op, operand));
        inside ? ifThen(inside, [&] { write(number, element); }) : write(number, element);
      }
    };
    Value *owner = isOwner(layout);
    owner ? ifThen(owner, writeAll) : writeAll();
  }
}

void GpuEmitter::emitAssert(tt::AssertOp op) {
  unsigned site = printSite(op);
  mlir::Value condition = op.getCondition();
  Registers holds = registers(condition);
  auto stop = [&](Value *element) {
    writeRecord(op, 0, element, b.getInt64(0));
    AtomicAccess access;
    access.address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), printBuffer, offsetof(runtime::PrintHeader, failed));
    access.element = mlir::IntegerType::get(op.getContext(), 32);
    access.sem = tt::MemSemantic::RELAXED, access.scope = tt::MemSyncScope::SYSTEM;
    access.usesResult = false;
    std::string problem;
    target.atomicSwap(b, access, word(0), word(site + 1), problem);
    b.CreateFence(AtomicOrdering::SequentiallyConsistent); // for the host, which reads after the trap
    target.trap(b);
  };
  if (!tt::isTile(condition.getType())) {
    Value *fails = b.CreateNot(holds.front());
    if (!isInCombine(op))
      fails = b.CreateAnd(fails, b.CreateICmpEQ(thread, word(0)));
    return ifThen(fails, [&] { stop(word(0)); });
  }
  ttg::TileLayout layout = ttg::layoutOf(condition.getType());
  SmallVector<unsigned> numbers;
  Value *all = isOwner(layout);
  all = all ? b.CreateNot(all) : nullptr;
  Value *each = b.getTrue();
  for (unsigned number = 0; number < layout.registers(); ++number)
    if (!layout.isDuplicateRegister(number)) {
      numbers.push_back(number);
      each = b.CreateAnd(each, holds[number]);
    }
  // One branch where nothing fails.
  ifThen(b.CreateNot(all ? b.CreateOr(all, each) : each), [&] {
    for (unsigned number : numbers) {
      auto [element, inside] = trueElement(layout, number, tt::shapeOf(condition.getType()), trueShape(op, 0));
      ifThen(bothOf(inside, b.CreateNot(holds[number])), [&] { stop(element); });
    }
  });
}

} // namespace tk::lower
