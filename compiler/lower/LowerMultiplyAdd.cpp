// Matrix products without a matrix unit, for every type and shape: both operands go to shared memory in the type that is computed with, then every thread walks along K,
// reading its rows of a and its columns of b. K is a loop of few unrolled steps, so that the code's size is that of the accumulator.
//
//   for each block of K that fits shared memory:    store a[.., block], b[block, ..]; barrier
//     for k = 0; k < depth; k += step:              columns of b for `step` values of k; then row after row of a: sums += a * b
#include "compiler/lower/FloatBits.h"
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/MatrixPlan.h"
#include "llvm/ADT/MapVector.h"

using namespace llvm;
namespace tk::lower {

namespace {
/// An operand in shared memory: rows of `stride` elements; a tile's index splits into row and column at bit `columnBits`.
struct StoredMatrix {
  uint64_t base, stride;
  unsigned columnBits;
};
} // namespace

Value *GpuEmitter::toComputeType(Value *value, mlir::Type element, bool truncatesToTf32) {
  if (element.isInteger())
    return b.CreateSExt(value, b.getInt32Ty());
  if (isNarrowFloat(element))
    return value->getType()->isFloatingPointTy() ? b.CreateFPExt(value, b.getFloatTy()) : decodeFloat(b, value, element);
  return truncatesToTf32 && element.isF32() ? truncateToTf32(value) : value;
}

void GpuEmitter::emitMultiplyAdd(tt::DotOp op) {
  MultiplyAddPlan plan = planMultiplyAdd(op);
  mlir::Type sumElement = tt::elementType(op.getType());
  Type *compute = sumElement.isInteger() ? static_cast<Type *>(b.getInt32Ty()) : sumElement.isF64() ? b.getDoubleTy() : b.getFloatTy();
  bool truncates = op.getInputPrecision() == tt::InputPrecision::TF32;
  uint64_t scratch = scratchOffset(op);
  StoredMatrix aStored{scratch, plan.aStride, ttg::log2Of(plan.depth)}, bStored{scratch + plan.bOffset, plan.bStride, ttg::log2Of(plan.n)};
  unsigned kBits = ttg::log2Of(plan.k), nBits = ttg::log2Of(plan.n), mBits = ttg::log2Of(plan.m), depthBits = ttg::log2Of(plan.depth);

  // Indices of an operand's tile -> of the part that is stored: K's bits above the depth are dropped.
  auto dropUpper = [&](auto index, unsigned kBegin) { // numbers and values alike
    uint32_t low = (1u << (kBegin + depthBits)) - 1;
    if constexpr (std::is_same_v<decltype(index), uint32_t>)
      return (index & low) | (index >> (kBegin + kBits)) << (kBegin + depthBits);
    else
      return depthBits == kBits ? index : b.CreateOr(b.CreateAnd(index, word(low)), b.CreateShl(b.CreateLShr(index, kBegin + kBits), kBegin + depthBits));
  };
  auto offsetOfNumber = [&](const StoredMatrix &matrix, uint32_t index) { return ((index >> matrix.columnBits) * matrix.stride + (index & ((1u << matrix.columnBits) - 1))) * plan.elementBytes; };
  auto addressOf = [&](const StoredMatrix &matrix, Value *index) { // of any index
    Value *row = b.CreateLShr(index, matrix.columnBits), *column = b.CreateAnd(index, word((1u << matrix.columnBits) - 1));
    return sharedAddress(matrix.base, b.CreateMul(b.CreateAdd(b.CreateMul(row, word(matrix.stride)), column), word(plan.elementBytes)));
  };
  /// Of a thread's index and a number whose bits it has not: a base and a constant.
  auto placeOf = [&](const StoredMatrix &matrix, Value *threadAddress, uint32_t number) { return b.CreateConstGEP1_32(b.getInt8Ty(), threadAddress, offsetOfNumber(matrix, number)); };
  auto basesOf = [](const ttg::TileLayout &layout) {
    uint32_t bits = 0;
    for (auto *group : {&layout.lane, &layout.warp})
      for (uint32_t base : *group)
        bits |= base;
    return bits;
  };
  auto vectorType = [&](unsigned length) { return length == 1 ? compute : FixedVectorType::get(compute, length); };
  auto align = [&](unsigned length) { return Align(length * plan.elementBytes); };
  unsigned mostVector = plan.elementBytes == 8 ? 1 : 2; // log2: 16 bytes

  // ---- operands to shared memory ----
  auto storeOperand = [&](mlir::Value operand, const StoredMatrix &matrix, unsigned kBegin, Value *block) {
    ttg::TileLayout layout = ttg::layoutOf(operand.getType());
    mlir::Type element = tt::elementType(operand.getType());
    const Registers source = registers(operand);
    unsigned vectorBits = std::min({layout.vectorBits(), mostVector, matrix.columnBits});
    uint32_t threadBits = basesOf(layout);
    Value *threadPlace = addressOf(matrix, dropUpper(threadIndex(layout), kBegin));
    auto move = [&](unsigned first) {
      uint32_t own = layout.indexOfRegister(first);
      bool joins = threadBits & own; // bits meet: the sum of places is not the place of the sum
      Value *place = joins ? addressOf(matrix, dropUpper(elementIndex(layout, first), kBegin)) : placeOf(matrix, threadPlace, dropUpper(own, kBegin));
      Value *item = nullptr;
      for (unsigned i = 0; i < 1u << vectorBits; ++i) {
        Value *value = toComputeType(source[first + i], element, truncates);
        item = vectorBits ? b.CreateInsertElement(item ? item : PoisonValue::get(vectorType(1u << vectorBits)), value, i) : value;
      }
      b.CreateAlignedStore(item, place, align(1u << vectorBits));
    };
    auto write = [&] {
      // Registers that add the same to the block's number are in a block together: one branch.
      uint32_t mask = (1u << (kBits - depthBits)) - 1;
      MapVector<uint32_t, SmallVector<unsigned>> groups;
      for (unsigned first = 0; first < layout.registers(); first += 1u << vectorBits)
        if (!layout.isDuplicateRegister(first))
          groups[block ? layout.indexOfRegister(first) >> (kBegin + depthBits) & mask : 0].push_back(first);
      for (auto &[added, group] : groups) {
        auto moveGroup = [&, &firsts = group] { for_each(firsts, move); };
        if (!block) {
          moveGroup();
          continue;
        }
        Value *inBlock = b.CreateAnd(b.CreateLShr(elementIndex(layout, group.front()), kBegin + depthBits), word(mask));
        ifThen(b.CreateICmpEQ(inBlock, block), moveGroup);
      }
    };
    if (Value *owner = isOwner(layout))
      ifThen(owner, write);
    else
      write();
  };

  // ---- this thread's sums ----
  ttg::TileLayout layout = ttg::layoutOf(op.getType());
  Registers start = registers(op.getC());
  SmallVector<unsigned> numbers; // registers without repetition
  DenseMap<uint32_t, unsigned> sumOf;
  SmallVector<Value *> sums;
  for (unsigned i = 0; i < layout.registers(); ++i)
    if (sumOf.try_emplace(layout.indexOfRegister(i), numbers.size()).second) {
      numbers.push_back(i);
      sums.push_back(isNarrowFloat(sumElement) ? b.CreateFPExt(start[i], compute) : start[i]);
    }
  // Sums by row of a, and within a row by column of b. The thread's own bits stay out of both when no register has them.
  uint32_t threadBits = basesOf(layout), registerBits = 0;
  for (uint32_t base : layout.reg)
    registerBits |= base;
  if (threadBits & registerBits)
    return fail(op, "internal error: the sum's layout mixes registers and threads");
  uint32_t nMask = (1u << nBits) - 1, mMask = ((1u << mBits) - 1) << nBits;
  std::map<uint32_t, SmallVector<unsigned>> rows; // batch and row -> sums
  for (auto [sum, number] : enumerate(numbers))
    rows[layout.indexOfRegister(number) & ~nMask].push_back(sum);
  Value *index = threadIndex(layout);
  // a: [batch * m, depth]; b: [batch * depth, n].
  Value *aPlace = addressOf(aStored, b.CreateShl(b.CreateLShr(index, nBits), depthBits));
  Value *bPlace = addressOf(bStored, b.CreateOr(b.CreateShl(b.CreateLShr(index, nBits + mBits), nBits + depthBits), b.CreateAnd(index, word(nMask))));
  unsigned columnBits = std::min({layout.vectorBits(), mostVector, nBits});

  /// `step` values of k from `k` on.
  auto multiplyStep = [&](Value *k, unsigned stepBits) {
    unsigned step = 1u << stepBits, vector = std::min(stepBits, mostVector);
    Value *aAt = b.CreateGEP(b.getInt8Ty(), aPlace, b.CreateMul(k, word(plan.elementBytes)));
    Value *bAt = b.CreateGEP(b.getInt8Ty(), bPlace, b.CreateMul(k, word(plan.bStride * plan.elementBytes)));
    std::map<std::pair<uint32_t, unsigned>, Value *> columns; // batch and column, k
    auto column = [&](uint32_t key, unsigned i) {
      auto [slot, fresh] = columns.try_emplace({key, i}, nullptr);
      if (!fresh)
        return slot->second;
      uint32_t first = key & ~((1u << columnBits) - 1);
      uint32_t place = (first >> (nBits + mBits)) << (nBits + depthBits) | i << nBits | (first & nMask);
      Value *item = b.CreateAlignedLoad(vectorType(1u << columnBits), placeOf(bStored, bAt, place), align(1u << columnBits));
      for (unsigned c = 0; c < 1u << columnBits; ++c)
        columns[{first | c, i}] = columnBits ? b.CreateExtractElement(item, c) : item;
      return columns[{key, i}];
    };
    for (auto &[row, members] : rows) {
      SmallVector<Value *> items;
      for (unsigned first = 0; first < step; first += 1u << vector) {
        Value *item = b.CreateAlignedLoad(vectorType(1u << vector), placeOf(aStored, aAt, (row >> nBits) << depthBits | first), align(1u << vector));
        for (unsigned i = 0; i < 1u << vector; ++i)
          items.push_back(vector ? b.CreateExtractElement(item, i) : item);
      }
      for (unsigned i = 0; i < step; ++i)
        for (unsigned sum : members) {
          Value *other = column(layout.indexOfRegister(numbers[sum]) & ~mMask, i);
          sums[sum] = compute->isIntegerTy() ? b.CreateAdd(sums[sum], b.CreateMul(items[i], other)) : b.CreateIntrinsic(Intrinsic::fma, {compute}, {items[i], other, sums[sum]});
        }
    }
  };
  /// for number = 0; number < end; number += step: the sums are carried.
  auto loop = [&](uint64_t end, uint64_t step, function_ref<void(Value *)> body) {
    if (end == step)
      return body(word(0));
    BasicBlock *before = b.GetInsertBlock(), *head = BasicBlock::Create(context, "depth", function), *after = BasicBlock::Create(context, "depth.end", function);
    b.CreateBr(head);
    b.SetInsertPoint(head);
    PHINode *number = b.CreatePHI(b.getInt32Ty(), 2);
    number->addIncoming(word(0), before);
    SmallVector<PHINode *> carried;
    for (Value *&sum : sums) {
      carried.push_back(b.CreatePHI(compute, 2));
      carried.back()->addIncoming(sum, before);
      sum = carried.back();
    }
    body(number);
    Value *next = b.CreateAdd(number, word(step));
    number->addIncoming(next, b.GetInsertBlock());
    for (auto [phi, sum] : zip(carried, sums))
      phi->addIncoming(sum, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpULT(next, word(end)), head, after);
    b.SetInsertPoint(after);
  };

  // Few sums leave room for more steps at once.
  unsigned stepBits = std::min(depthBits, sums.size() <= 8 ? 3u : 2u);
  int64_t blocks = plan.k / plan.depth;
  loop(blocks, 1, [&](Value *block) {
    if (blocks > 1)
      barrier(); // the block before is read
    storeOperand(op.getA(), aStored, 0, blocks > 1 ? block : nullptr);
    storeOperand(op.getB(), bStored, nBits, blocks > 1 ? block : nullptr);
    barrier();
    loop(plan.depth, 1u << stepBits, [&](Value *k) { multiplyStep(k, stepBits); });
  });

  Registers result;
  for (unsigned i = 0; i < layout.registers(); ++i) {
    Value *sum = sums[sumOf.lookup(layout.indexOfRegister(i))];
    result.push_back(isNarrowFloat(sumElement) ? b.CreateFPTrunc(sum, valueType(sumElement)) : sum);
  }
  define(op, std::move(result));
}

} // namespace tk::lower
