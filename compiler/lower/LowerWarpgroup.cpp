// Products of groups of four warps: where each instruction's part of the operands begins, and whose rows and columns they are.
#include "compiler/layout/RemarkMatrix.h"
#include "compiler/lower/GpuEmitter.h"

using namespace llvm;
namespace tk::lower {

/// Bytes from the begin of a matrix to the element `slow`, `fast` along its axes, which begins a chunk.
static uint32_t offsetIn(const ttg::SwizzledMatrix &matrix, uint64_t slow, uint64_t fast, unsigned elementBytes) {
  uint64_t bytes = fast * elementBytes;
  return bytes / matrix.rowBytes * matrix.panelBytes + slow * matrix.rowBytes + bytes % matrix.rowBytes;
}

Value *GpuEmitter::warpgroup() {
  if (!group) {
    // One lane's number for all, so that the assembler sees that it is the same for the whole warp.
    IRBuilder<> top(entry->getTerminator());
    group = target.shuffleIndex(top, top.CreateLShr(warp, 2), top.getInt32(0));
  }
  return group;
}

void GpuEmitter::emitWarpgroupDot(ttg::WarpgroupDotOp op) {
  auto type = mlir::cast<mlir::RankedTensorType>(op.getType());
  auto unit = mlir::cast<ttg::MmaAttr>(type.getEncoding());
  ttg::MemDescType right = op.getB().getType();
  auto left = mlir::dyn_cast<ttg::MemDescType>(op.getA().getType());
  unsigned groupsM = unit.getWarpsM() / 4, groupsN = unit.getWarpsN(), bytes = tt::bytesOf(right.getElementType()), depth = op.depth();
  uint64_t m = type.getDimSize(0), n = type.getDimSize(1), k = right.getShape()[0];

  WarpgroupProduct product;
  product.a = left ? left.getElementType() : tt::elementType(op.getA().getType());
  product.b = right.getElementType(), product.sum = type.getElementType();
  product.columns = std::min<uint64_t>(256, n / groupsN);
  product.rowBlocks = m / 64 / groupsM, product.columnBlocks = n / groupsN / product.columns, product.steps = k / depth;

  // The groups share columns by the lower bits of their number, rows by the upper ones; a group's blocks of rows are `groupsM` apart, its columns side by side.
  Value *groupN = groupsN > 1 ? b.CreateAnd(warpgroup(), word(groupsN - 1)) : nullptr;
  Value *groupM = groupsM > 1 ? b.CreateLShr(warpgroup(), Log2_32(groupsN)) : nullptr;
  auto place = [&](mlir::Value operand, unsigned depthAxis, Value *own, uint64_t ownDistance, unsigned blocks, uint64_t blockDistance) {
    WarpgroupProduct::Memory result;
    result.matrix = *ttg::swizzleOf(mlir::cast<ttg::MemDescType>(operand.getType()));
    result.isTransposed = result.matrix.fastAxis != depthAxis;
    auto at = [&](uint64_t along, uint64_t deep) {
      return result.isTransposed ? offsetIn(result.matrix, deep, along, bytes) : offsetIn(result.matrix, along, deep, bytes);
    };
    result.address = memory(operand);
    if (own)
      result.address = b.CreateGEP(b.getInt8Ty(), result.address, b.CreateMul(own, word(at(ownDistance, 0))));
    for (unsigned block = 0; block < blocks; ++block)
      for (unsigned step = 0; step < product.steps; ++step)
        result.offsets.push_back(at(block * blockDistance, uint64_t(step) * depth));
    return result;
  };
  product.right = place(op.getB(), 0, groupN, n / groupsN, product.columnBlocks, product.columns);
  if (left) {
    product.left = place(op.getA(), 1, groupM, 64, product.rowBlocks, uint64_t(64) * groupsM);
  } else {
    // Registers: those of one instruction lowest, then further steps, then rows.
    const Registers &source = registers(op.getA());
    unsigned each = 16 / bytes;
    for (size_t first = 0; first < source.size(); first += each)
      product.leftWords.append(pack(ArrayRef<Value *>(source).slice(first, each), 32));
  }
  unsigned packed = product.sum.getIntOrFloatBitWidth() == 16 ? 2 : 1;
  bool startsAtZero = tt::isZero(op.getC());
  if (!startsAtZero) {
    const Registers &start = registers(op.getC());
    for (size_t first = 0; first < start.size(); first += packed)
      product.sums.append(pack(ArrayRef<Value *>(start).slice(first, packed), 32));
  }
  target.matrixInstructions.clear();
  SmallVector<Value *> words = target.multiplyWarpgroups(b, product);
  Registers result;
  for (Value *item : words)
    result.append(unpack({item}, packed, product.sum));
  define(op, std::move(result));

  if (compiler::RecordRemark remark(op, compiler::RemarkKind::Matrix); remark) {
    auto [name, times] = *target.matrixInstructions.begin();
    compiler::describeProduct(remark, product.a, product.b, type, k, name);
    remark.fact("instructions", times).fact("warps", std::to_string(unit.getWarpsM()) + " x " + std::to_string(unit.getWarpsN()));
  }
}

void GpuEmitter::emitWarpgroupWait(ttg::WarpgroupWaitOp op) {
  SmallVector<Value *> words;
  SmallVector<size_t> counts;
  for (mlir::Value sum : op.getSums()) {
    const Registers &source = registers(sum);
    unsigned packed = tt::elementType(sum.getType()).getIntOrFloatBitWidth() == 16 ? 2 : 1;
    size_t before = words.size();
    for (size_t first = 0; first < source.size(); first += packed)
      words.append(pack(ArrayRef<Value *>(source).slice(first, packed), 32));
    for (Value *&item : MutableArrayRef<Value *>(words).drop_front(before))
      if (tt::elementType(sum.getType()).isF32())
        item = b.CreateBitCast(item, b.getFloatTy());
    counts.push_back(words.size() - before);
  }
  ArrayRef<Value *> done = words = target.waitForProducts(b, op.getPending(), words);
  for (auto [result, count] : zip(op.getResults(), counts)) {
    mlir::Type element = tt::elementType(result.getType());
    Registers made;
    for (Value *item : done.take_front(count))
      made.append(unpack({b.CreateBitCast(item, b.getInt32Ty())}, element.getIntOrFloatBitWidth() == 16 ? 2 : 1, element));
    done = done.drop_front(count);
    define(result, std::move(made));
  }
}

} // namespace tk::lower
