// The matrix product: both operands as tiles in memory, the accumulator updated in place by a register-blocked kernel.
//
// The kernel holds MR x NR accumulators (NR whole vectors) over the full depth K and reads one vector of b and one element of a per step: with the
// sixteen registers of AVX2 that is 6 x 2 vectors. Narrow floats are already fp32 in the arena; i8 operands are widened to i32 as they are read.
#include "compiler/target/cpu/Emitter.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace tk::cpu {

namespace {
/// An operand of the product at one index of the batch.
struct Matrix {
  Value *base, *row, *column; // strides
  Type *type;
};
} // namespace

void Emitter::emitDot(tt::DotOp op) {
  mlir::Type cType = op.getD().getType();
  auto aShape = tt::shapeOf(op.getA().getType()), cShape = tt::shapeOf(cType);
  int64_t rank = cShape.size(), M = cShape[rank - 2], N = cShape[rank - 1], K = aShape[rank - 1];
  mlir::Type operand = tt::elementType(op.getA().getType()), result = tt::elementType(cType);
  uint64_t mark = arenaTop;

  auto target = targets.find(op.getD());
  Buffer d = target != targets.end() ? target->second : allocate(cType);
  auto accumulator = buffers.find(op.getC());
  if (accumulator == buffers.end())
    materializeInto(op.getC(), d);
  else if (accumulator->second.base != d.base)
    copyBuffer(accumulator->second, d, cType);
  uint64_t keep = target != targets.end() ? mark : arenaTop;

  Operand a = operandOf(op.getA()), right = operandOf(op.getB()), sum = operandOf(d);
  DotUnit unit = chooseUnit(op);
  Operand sums = sum;
  if (unit.kind != DotUnit::Plain) {
    a = packLeft(a, unit, aShape);
    right = packRight(right, unit, tt::shapeOf(op.getB().getType()));
    if (unit.kind == DotUnit::Bytes)
      sums = leftSums(a, unit, aShape);
  } else if (right.strides[rank - 1] != i64(1)) {
    // Rows of b are read as vectors.
    Buffer packed = allocate(op.getB().getType());
    packOperand(right, packed, tt::shapeOf(op.getB().getType()));
    right = operandOf(packed);
  }
  if (d.strides[rank - 1] != 1) {
    fail(op, "a dot whose accumulator isn't row-major is not supported on the CPU yet");
    return;
  }
  bool truncates = operand.isF32() && op.getInputPrecision() == tt::InputPrecision::TF32;

  Type *element = registerType(result);
  unsigned vector = std::max(1u, facts.vectorBytes / unsigned(element->getPrimitiveSizeInBits() / 8));
  auto widen = [&](Value *value) -> Value * {
    Type *type = likeType(value->getType(), element);
    if (value->getType() == type) {
      if (!truncates)
        return value;
      Type *bits = likeType(type, b.getInt32Ty());
      return b.CreateBitCast(b.CreateAnd(b.CreateBitCast(value, bits), ConstantInt::get(bits, 0xffffe000)), type);
    }
    return element->isIntegerTy() ? b.CreateSExt(value, type) : b.CreateFPExt(value, type);
  };
  auto multiplyAdd = [&](Value *x, Value *y, Value *sum) -> Value * {
    if (unit.kind != DotUnit::Plain)
      return addProducts(unit, sum, x, y);
    if (element->isIntegerTy())
      return b.CreateAdd(b.CreateMul(x, y), sum);
    return b.CreateIntrinsic(Intrinsic::fma, {sum->getType()}, {x, y, sum});
  };
  auto at = [&](const Matrix &m, Value *row, Value *column) {
    return b.CreateInBoundsGEP(m.type, m.base, b.CreateAdd(b.CreateMul(row, m.row), b.CreateMul(column, m.column)));
  };
  auto align = [](Type *type) { return Align(type->getPrimitiveSizeInBits() / 8); };

  // rows x (widths of column vectors) accumulators at (m, n).
  auto kernel = [&](const Matrix &ma, const Matrix &mb, const Matrix &md, const Matrix &offsets, unsigned rows, ArrayRef<unsigned> widths, Value *m, Value *n) {
    SmallVector<Value *> places;
    SmallVector<Type *> types;
    for (unsigned r = 0; r < rows; ++r) {
      int64_t column = 0;
      for (unsigned width : widths) {
        types.push_back(width == 1 ? element : FixedVectorType::get(element, width));
        places.push_back(at(md, b.CreateAdd(m, i64(r)), b.CreateAdd(n, i64(column))));
        column += width;
      }
    }
    SmallVector<Value *> start;
    for (auto [number, place] : llvm::enumerate(places)) {
      start.push_back(b.CreateAlignedLoad(types[number], place, align(element)));
      if (unit.kind == DotUnit::Bytes) {
        Value *offset = b.CreateAlignedLoad(element, at(offsets, b.CreateAdd(m, i64(number / widths.size())), i64(0)), align(element));
        start.back() =
            b.CreateAdd(start.back(), types[number] == element ? offset : b.CreateVectorSplat(cast<FixedVectorType>(types[number])->getElementCount(), offset));
      }
    }
    BasicBlock *before = b.GetInsertBlock(), *loop = BasicBlock::Create(context, "depth", function),
               *after = BasicBlock::Create(context, "depth.end", function);
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    PHINode *k = b.CreatePHI(b.getInt64Ty(), 2, "k");
    k->addIncoming(i64(0), before);
    SmallVector<PHINode *> sums;
    SmallVector<Value *> now;
    for (auto [value, type] : llvm::zip(start, types)) {
      sums.push_back(b.CreatePHI(type, 2));
      sums.back()->addIncoming(value, before);
      now.push_back(sums.back());
    }
    int64_t depths = K / unit.group;
    unsigned unroll = depths % 4 == 0 ? 4 : depths % 2 == 0 ? 2 : 1;
    for (unsigned step = 0; step < unroll; ++step) {
      Value *depth = b.CreateAdd(k, i64(step), "", true, true);
      SmallVector<Value *> columns;
      int64_t column = 0;
      for (unsigned width : widths) {
        Type *type = width == 1 ? mb.type : FixedVectorType::get(mb.type, width);
        Value *items = b.CreateAlignedLoad(type, at(mb, depth, b.CreateAdd(n, i64(column))), align(mb.type));
        columns.push_back(unit.kind == DotUnit::Plain ? widen(items) : items);
        column += width;
      }
      for (unsigned r = 0; r < rows; ++r) {
        Value *place = at(ma, b.CreateAdd(m, i64(r), "", true, true), b.CreateMul(depth, i64(unit.group)));
        Value *item = unit.kind == DotUnit::Plain ? widen(b.CreateAlignedLoad(ma.type, place, align(ma.type)))
                                                  : b.CreateAlignedLoad(b.getInt32Ty(), place, align(ma.type));
        for (unsigned c = 0; c < widths.size(); ++c) {
          Value *&sum = now[r * widths.size() + c];
          sum = multiplyAdd(widths[c] == 1 ? item : b.CreateVectorSplat(widths[c], item), columns[c], sum);
        }
      }
    }
    Value *next = b.CreateAdd(k, i64(unroll), "", true, true);
    k->addIncoming(next, b.GetInsertBlock());
    for (auto [sum, value] : llvm::zip(sums, now))
      sum->addIncoming(value, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpSLT(next, i64(depths)), loop, after);
    b.SetInsertPoint(after);
    for (auto [place, value] : llvm::zip(places, now))
      b.CreateAlignedStore(isNarrowFloat(result) ? roundFloat(b, value, result) : value, place, align(element));
  };

  // Columns in panels of two vectors, then what is left in halving widths; rows in blocks of six (or four where that leaves nothing over).
  bool isShort = (M % 6 != 0 && M % 4 == 0 && M <= 16) || (unit.kind == DotUnit::Pairs && facts.vectorBytes < 64); // pairs need one more register
  int64_t blockRows = isShort ? 4 : 6;
  auto rowsOf = [&](const Matrix &ma, const Matrix &mb, const Matrix &md, const Matrix &offsets, ArrayRef<unsigned> widths, Value *n) {
    int64_t whole = M - M % blockRows;
    forLoop(i64(0), i64(whole), blockRows, "m", [&](Value *m) { kernel(ma, mb, md, offsets, blockRows, widths, m, n); });
    if (M > whole)
      kernel(ma, mb, md, offsets, M - whole, widths, i64(whole), n);
  };
  auto matrix = [&](const Operand &operand, ArrayRef<Value *> batch) {
    return Matrix{addressIn(operand, batch), operand.strides[rank - 2], operand.strides.back(), operand.type};
  };
  forEach(cShape.drop_back(2), [&](ArrayRef<Value *> batch) {
    Matrix ma = matrix(a, batch), mb = matrix(right, batch), md = matrix(sum, batch), offsets = matrix(sums, batch);
    int64_t panel = 2 * vector, whole = N - N % panel;
    forLoop(i64(0), i64(whole), panel, "n", [&](Value *n) { rowsOf(ma, mb, md, offsets, {vector, vector}, n); });
    for (int64_t n = whole; n < N;) {
      unsigned width = vector;
      while (width > N - n)
        width /= 2;
      rowsOf(ma, mb, md, offsets, {width}, i64(n));
      n += width;
    }
  });
  buffers[op.getD()] = d;
  arenaTop = std::max(keep, mark);
}

} // namespace tk::cpu
