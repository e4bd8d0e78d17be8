// Products of 8-bit integers and bf16 with the instructions that add several products to each 32-bit lane.
//
// They take operands as words: four bytes, or two 16-bit elements, that are neighbours along the depth.
//
//   left operand:  a word is read as it lies in a row, and copied to every lane
//   right operand: packed so that the words of one depth lie side by side:  word[k / group][n] = (b[k][n], b[k + 1][n], ...)
//
// Bytes:  vpdpbusd multiplies unsigned by signed. The right operand is packed with 128 added; what that adds to a row's sums, 128 times the sum of its left elements, is taken off
//         before. All is exact modulo 2^32.
// Pairs:  without that instruction, bytes are widened to 16 bits, and pmaddwd adds two products: at most 2 * 2^14, exact.
// Bf16:   vdpbf16ps adds two products to an fp32 lane, each rounded to nearest, subnormals taken as zero.
#include "compiler/target/cpu/Emitter.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;
namespace tk::cpu {

static bool has(const MachineFacts &facts, StringRef feature) {
  SmallVector<StringRef> all;
  StringRef(facts.features).split(all, ',');
  return llvm::any_of(all, [&](StringRef item) { return item.consume_front("+") && item == feature; });
}

Emitter::DotUnit Emitter::chooseUnit(tt::DotOp op) {
  mlir::Type element = tt::elementType(op.getA().getType());
  auto shape = tt::shapeOf(op.getA().getType());
  int64_t depth = shape.back();
  bool wide = facts.vectorBytes == 64;
  if (element.isInteger(8)) {
    if (depth % 4 == 0 && (has(facts, "avx512vnni") || (!wide && has(facts, "avxvnni"))))
      return {DotUnit::Bytes, 4};
    if (depth % 2 == 0 && (facts.vectorBytes == 32 || wide))
      return {DotUnit::Pairs, 2};
  }
  // On the processors of others it is half as fast as two fused multiply-adds.
  if (element.isBF16() && depth % 2 == 0 && has(facts, "avx512bf16") && (StringRef(facts.cpu).starts_with("znver") || StringRef(facts.cpu).starts_with("x86-64")))
    return {DotUnit::Bf16, 2};
  return {DotUnit::Plain, 1};
}

/// A tile of the left operand as rows of parts: where it lies, if it is like that.
Emitter::Operand Emitter::packLeft(const Operand &from, DotUnit unit, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  if (unit.kind == DotUnit::Bytes && from.strides[rank - 1] == i64(1))
    return from;
  Type *part = unit.kind == DotUnit::Bytes ? b.getInt8Ty() : b.getInt16Ty();
  Operand to = operandOf(allocateArray(part, shape));
  unsigned lanes = from.strides[rank - 1] == i64(1) ? dividingLanes(shape[rank - 1]) : 1;
  forEach(shape.drop_back(), [&](ArrayRef<Value *> index) {
    forLoop(i64(0), i64(shape[rank - 1]), lanes, "pack", [&](Value *column) {
      SmallVector<Value *> place(index);
      place.push_back(column);
      Value *value = loadLanes(from, place, lanes);
      if (unit.kind == DotUnit::Pairs)
        value = b.CreateSExt(value, likeType(value->getType(), part));
      else if (unit.kind == DotUnit::Bf16)
        value = b.CreateTrunc(b.CreateLShr(b.CreateBitCast(value, likeType(value->getType(), b.getInt32Ty())), 16), likeType(value->getType(), part));
      b.CreateAlignedStore(value, addressIn(to, place), Align(part->getPrimitiveSizeInBits() / 8));
    });
  });
  return to;
}

/// The right operand as words, depth / group by columns.
Emitter::Operand Emitter::packRight(Operand from, DotUnit unit, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  if (from.strides[rank - 1] != i64(1)) {
    Buffer rows = allocateArray(from.type, shape);
    packOperand(from, rows, shape);
    from = operandOf(rows);
  }
  SmallVector<int64_t> words(shape);
  words[rank - 2] /= unit.group;
  Type *word = b.getInt32Ty();
  Operand to = operandOf(allocateArray(word, words));
  unsigned lanes = dividingLanes(shape[rank - 1]);
  forEach(ArrayRef(words).drop_back(), [&](ArrayRef<Value *> index) {
    forLoop(i64(0), i64(words[rank - 1]), lanes, "pack", [&](Value *column) {
      SmallVector<Value *> place(index);
      place.push_back(column);
      Value *all = nullptr;
      for (unsigned i = 0; i < unit.group; ++i) {
        SmallVector<Value *> source(place);
        source[rank - 2] = b.CreateAdd(b.CreateMul(index.back(), i64(unit.group)), i64(i));
        Value *part = loadLanes(from, source, lanes);
        Type *type = likeType(part->getType(), word);
        if (unit.kind == DotUnit::Bytes)
          part = b.CreateShl(b.CreateZExt(part, type), 8 * i);
        else if (unit.kind == DotUnit::Pairs)
          part = i == 0 ? b.CreateAnd(b.CreateSExt(part, type), 0xffff) : b.CreateShl(b.CreateZExt(b.CreateSExt(part, likeType(type, b.getInt16Ty())), type), 16);
        else
          part = i == 0 ? b.CreateLShr(b.CreateBitCast(part, type), 16) : b.CreateAnd(b.CreateBitCast(part, type), 0xffff0000);
        all = all ? b.CreateOr(all, part) : part;
      }
      if (unit.kind == DotUnit::Bytes)
        all = b.CreateXor(all, ConstantInt::get(all->getType(), 0x80808080));
      b.CreateAlignedStore(all, addressIn(to, place), Align(4));
    });
  });
  return to;
}

/// Minus 128 times the sum of each row of the left operand's bytes.
Emitter::Operand Emitter::leftSums(const Operand &left, DotUnit unit, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size(), lanes = dividingLanes(shape[rank - 1] / unit.group);
  Operand sums = operandOf(allocateArray(b.getInt32Ty(), shape.drop_back()));
  Type *type = lanes == 1 ? (Type *)b.getInt32Ty() : FixedVectorType::get(b.getInt32Ty(), lanes);
  forEach(shape.drop_back(), [&](ArrayRef<Value *> index) {
    Value *slot = local(type, "sums");
    b.CreateStore(Constant::getNullValue(type), slot);
    forLoop(i64(0), i64(shape[rank - 1]), int64_t(lanes) * unit.group, "sum", [&](Value *column) {
      SmallVector<Value *> place(index);
      place.push_back(column);
      Value *words = b.CreateAlignedLoad(type, addressIn(left, place), Align(1));
      b.CreateStore(addProducts(unit, b.CreateLoad(type, slot), words, ConstantInt::get(type, 0x01010101)), slot);
    });
    Value *sum = b.CreateLoad(type, slot);
    if (lanes > 1)
      sum = b.CreateAddReduce(sum);
    b.CreateAlignedStore(b.CreateMul(sum, b.getInt32(-128)), addressIn(sums, index), Align(4));
  });
  return sums;
}

/// sum + the products of the words' parts, in every lane.
Value *Emitter::addProducts(DotUnit unit, Value *sum, Value *left, Value *right) {
  auto *type = dyn_cast<FixedVectorType>(sum->getType());
  unsigned lanes = type ? type->getNumElements() : 1;
  if (lanes < 4) { // the instructions' least width
    SmallVector<int> pick;
    for (unsigned i = 0; i < lanes; ++i)
      pick.push_back(i);
    auto widen = [&](Value *value) -> Value * {
      auto *whole = FixedVectorType::get(value->getType()->getScalarType(), 4);
      if (!type)
        return b.CreateInsertElement(Constant::getNullValue(whole), value, uint64_t(0));
      SmallVector<int> mask(pick);
      mask.resize(4, int(lanes)); // zeros
      return b.CreateShuffleVector(value, Constant::getNullValue(value->getType()), mask);
    };
    Value *result = addProducts(unit, widen(sum), widen(left), widen(right));
    return type ? b.CreateShuffleVector(result, pick) : b.CreateExtractElement(result, uint64_t(0));
  }
  int width = lanes == 4 ? 0 : lanes == 8 ? 1 : 2;
  constexpr Intrinsic::ID bytes[] = {Intrinsic::x86_avx512_vpdpbusd_128, Intrinsic::x86_avx512_vpdpbusd_256, Intrinsic::x86_avx512_vpdpbusd_512},
                          pairs[] = {Intrinsic::x86_sse2_pmadd_wd, Intrinsic::x86_avx2_pmadd_wd, Intrinsic::x86_avx512_pmaddw_d_512},
                          halves[] = {Intrinsic::x86_avx512bf16_dpbf16ps_128, Intrinsic::x86_avx512bf16_dpbf16ps_256, Intrinsic::x86_avx512bf16_dpbf16ps_512};
  Function *callee = Intrinsic::getOrInsertDeclaration(&module, unit.kind == DotUnit::Bytes ? bytes[width] : unit.kind == DotUnit::Pairs ? pairs[width] : halves[width]);
  auto as = [&](unsigned parameter, Value *value) { return b.CreateBitCast(value, callee->getFunctionType()->getParamType(parameter)); };
  if (unit.kind == DotUnit::Pairs)
    return b.CreateAdd(sum, b.CreateCall(callee, {as(0, left), as(1, right)}));
  if (unit.kind == DotUnit::Bytes)
    return b.CreateCall(callee, {sum, as(1, right), as(2, left)});
  return b.CreateCall(callee, {sum, as(1, left), as(2, right)});
}

// ---- places in operands ----

Value *Emitter::addressIn(const Operand &operand, ArrayRef<Value *> index) {
  Value *offset = i64(0);
  for (auto [place, stride] : llvm::zip(index, operand.strides))
    offset = b.CreateAdd(offset, b.CreateMul(place, stride));
  return b.CreateInBoundsGEP(operand.type, operand.base, offset);
}

/// `lanes` elements from `index` on, side by side.
Value *Emitter::loadLanes(const Operand &operand, ArrayRef<Value *> index, unsigned lanes) {
  Type *type = lanes == 1 ? operand.type : FixedVectorType::get(operand.type, lanes);
  return b.CreateAlignedLoad(type, addressIn(operand, index), Align(operand.type->getPrimitiveSizeInBits() / 8));
}

/// As many 32-bit lanes as a register has, or the most below that which divide `extent`.
unsigned Emitter::dividingLanes(int64_t extent) const {
  unsigned lanes = facts.vectorBytes / 4;
  while (extent % lanes != 0)
    lanes /= 2;
  return lanes;
}

} // namespace tk::cpu
