// Operands of a dot that are read where they lie.
//
// A dot reads its operands as matrices in memory. A tile that is loaded for one dot alone already is one, if its addresses are affine in the tile's indices with neighbours side by
// side in a row, if nothing is masked off, and if nothing is written in between. The first is known while compiling, the rest is tested at run time; only when the test fails is the
// tile copied to the arena first. So full tiles of a matrix product cost no copy, and those at its edges work as ever.
#include "compiler/target/cpu/Emitter.h"
#include "mlir/IR/Matchers.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
namespace tk::cpu {

namespace {
/// Rows that lie this far apart, or a multiple of it, fall into few sets of the first-level cache.
constexpr int64_t kCrowdingStride = 512;
/// So few rows of the left operand use each row of the right one that a copy doesn't pay.
constexpr int64_t kFewRows = 12;
} // namespace

bool isOperandLoad(mlir::Operation *op) {
  auto load = mlir::dyn_cast<tt::LoadOp>(op);
  if (!load || !tt::isTile(load.getType()) || !load->hasOneUse() || load.getIsVolatile())
    return false;
  auto dot = mlir::dyn_cast<tt::DotOp>(*load->user_begin());
  mlir::Type element = tt::elementType(load.getType());
  if (!dot || dot->getBlock() != load->getBlock() || dot.getC() == load.getResult() || !(element.isF32() || element.isF64() || element.isInteger(8)))
    return false;
  // Nothing on the way to the dot writes memory.
  for (mlir::Operation *between = load->getNextNode(); between != dot; between = between->getNextNode()) {
    bool writes = between->walk([](mlir::Operation *inner) {
                           if (mlir::isMemoryEffectFree(inner) || inner->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>())
                             return mlir::WalkResult::advance();
                           auto other = mlir::dyn_cast<tt::LoadOp>(inner);
                           return other && !other.getIsVolatile() ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
                         }).wasInterrupted();
    if (writes)
      return false;
  }
  return true;
}

/// Adds to `conditions` what makes `mask` true for every index of its tile; false when that can't be said.
bool Emitter::wholeMask(mlir::Value mask, SmallVectorImpl<Value *> &conditions) {
  mlir::Attribute attribute;
  if (matchPattern(mask, mlir::m_Constant(&attribute))) {
    auto dense = mlir::dyn_cast<mlir::SplatElementsAttr>(attribute);
    return dense && dense.getSplatValue<bool>();
  }
  mlir::Operation *op = mask.getDefiningOp();
  if (!op || buffers.count(mask))
    return false;
  if (auto splat = mlir::dyn_cast<tt::SplatOp>(op)) {
    conditions.push_back(scalar(splat.getSrc()));
    return true;
  }
  if (isView(op))
    return wholeMask(op->getOperand(0), conditions);
  if (mlir::isa<mlir::arith::AndIOp>(op))
    return wholeMask(op->getOperand(0), conditions) && wholeMask(op->getOperand(1), conditions);
  auto compare = mlir::dyn_cast<mlir::arith::CmpIOp>(op);
  if (!compare || tt::elementType(compare.getLhs().getType()).getIntOrFloatBitWidth() > 32)
    return false;
  using Predicate = mlir::arith::CmpIPredicate;
  bool less = compare.getPredicate() == Predicate::slt || compare.getPredicate() == Predicate::sle;
  bool greater = compare.getPredicate() == Predicate::sgt || compare.getPredicate() == Predicate::sge;
  if (!less && !greater)
    return false;
  auto small = affineForm(less ? compare.getLhs() : compare.getRhs()), large = affineForm(less ? compare.getRhs() : compare.getLhs());
  if (!small || !large)
    return false;
  // The least difference over the tile's corners; numbers of 32 bits don't overflow 64.
  Value *least = b.CreateSub(large->constant, small->constant);
  for (auto [mine, theirs, extent] : llvm::zip(small->strides, large->strides, tt::shapeOf(mask.getType())))
    least = b.CreateAdd(least, b.CreateBinaryIntrinsic(Intrinsic::smin, b.CreateMul(b.CreateSub(theirs, mine), i64(extent - 1)), i64(0)));
  bool orEqual = compare.getPredicate() == Predicate::sle || compare.getPredicate() == Predicate::sge;
  conditions.push_back(b.CreateICmpSGE(least, i64(orEqual ? 0 : 1)));
  for (Value *exact : {small->exact, large->exact})
    if (exact)
      conditions.push_back(exact);
  return true;
}

/// The places of a load's tile in memory, with conditions under which it is all there; nothing when the addresses are not affine or no row is contiguous.
std::optional<Emitter::Operand> Emitter::operandInPlace(tt::LoadOp load, SmallVectorImpl<Value *> &conditions) {
  auto shape = tt::shapeOf(load.getType());
  unsigned rank = shape.size();
  auto dot = mlir::cast<tt::DotOp>(*load->user_begin());
  bool isRight = dot.getB() == load.getResult();
  if (isRight && dot.getA() == load.getResult())
    return std::nullopt;
  mlir::Value base, offset;
  if (!tileAddress(load.getPtr(), base, offset) || !offset)
    return std::nullopt;
  // Rows of the right operand may be columns in memory: they are packed from there.
  bool byRows = laneStride(offset, rank - 1) == 1, byColumns = isRight && laneStride(offset, rank - 2) == 1;
  if (!byRows && !byColumns)
    return std::nullopt;
  auto form = affineForm(offset);
  if (!form || (load.getMask() && !wholeMask(load.getMask(), conditions)))
    return std::nullopt;
  if (form->exact)
    conditions.push_back(form->exact);
  mlir::Type element = tt::elementType(load.getType());
  Operand operand;
  operand.type = bufferType(element);
  operand.base = b.CreateGEP(operand.type, scalar(base), form->constant, "operand");
  operand.strides.assign(form->strides.begin(), form->strides.end());
  operand.strides[byRows ? rank - 1 : rank - 2] = i64(1);
  int64_t rows = tt::shapeOf(dot.getA().getType())[rank - 2];
  if (byRows && isRight && rows > kFewRows) {
    Value *bytes = b.CreateMul(operand.strides[rank - 2], i64(tt::bytesOf(element)));
    Value *crowded = b.CreateAnd(b.CreateICmpEQ(b.CreateAnd(bytes, i64(kCrowdingStride - 1)), i64(0)), b.CreateICmpSGT(bytes, i64(kCrowdingStride)));
    conditions.push_back(b.CreateNot(crowded));
  }
  return operand;
}

void Emitter::emitOperandLoad(tt::LoadOp load) {
  SmallVector<Value *> conditions;
  std::optional<Operand> there = operandInPlace(load, conditions);
  if (there && conditions.empty()) {
    operands[load] = *there;
    return;
  }
  // A copy has the order of memory, so that it is made by vectors.
  unsigned rank = tt::shapeOf(load.getType()).size();
  int inner = there && there->strides[rank - 1] != i64(1) ? int(rank) - 2 : -1;
  Buffer buffer = buffers[load] = allocate(load.getType(), inner);
  auto copy = [&] {
    buffers.erase(load);
    Step step;
    step.kind = Step::Group;
    step.ops.push_back(load);
    step.shape.assign(tt::shapeOf(load.getType()).begin(), tt::shapeOf(load.getType()).end());
    emitGroup(step, {GroupOut{load.getResult(), buffer}});
    buffers[load] = buffer;
  };
  if (!there)
    return copy();
  // Where it is, as stack slots that SROA turns into registers.
  Value *base = local(b.getPtrTy(), "operand");
  Operand copied = operandOf(buffer), operand = *there;
  SmallVector<std::pair<unsigned, Value *>> slots;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (there->strides[dim] != copied.strides[dim])
      slots.push_back({dim, local(b.getInt64Ty(), "stride")});
  auto choose = [&](const Operand &chosen) {
    b.CreateStore(chosen.base, base);
    for (auto [dim, slot] : slots)
      b.CreateStore(chosen.strides[dim], slot);
  };
  Value *all = conditions[0];
  for (Value *condition : ArrayRef(conditions).drop_front())
    all = b.CreateAnd(all, condition);
  ifThen(all, [&] { choose(*there); }, [&] {
    copy();
    choose(copied);
  });
  operand.base = b.CreateLoad(b.getPtrTy(), base);
  for (auto [dim, slot] : slots)
    operand.strides[dim] = b.CreateLoad(b.getInt64Ty(), slot);
  operands[load] = operand;
}

/// The memory of an operand: where it was loaded from, its buffer, or one made now; a transposed tile is read through its strides.
Emitter::Operand Emitter::operandOf(mlir::Value value) {
  if (auto known = operands.find(value); known != operands.end())
    return known->second;
  Buffer buffer;
  if (auto trans = value.getDefiningOp<tt::TransOp>(); trans && !buffers.count(value)) {
    Buffer source = bufferOf(trans.getSrc());
    buffer = source;
    for (auto [dim, from] : llvm::enumerate(trans.getOrder()))
      buffer.strides[dim] = source.strides[from];
  } else {
    buffer = bufferOf(value);
  }
  return operandOf(buffer);
}

Emitter::Operand Emitter::operandOf(const Buffer &buffer) {
  Operand operand{buffer.base, {}, buffer.type};
  for (int64_t stride : buffer.strides)
    operand.strides.push_back(i64(stride));
  return operand;
}

/// Transposes a square of registers: blocks off the diagonal change places, of one element, then of two by two, and so on.
static void transpose(IRBuilder<> &b, SmallVectorImpl<Value *> &rows) {
  int size = int(rows.size());
  for (int step = 1; step < size; step *= 2) {
    SmallVector<int> low, high;
    for (int i = 0; i < size; ++i) {
      low.push_back(i & step ? i - step + size : i);
      high.push_back(i & step ? i + size : i + step);
    }
    for (int i = 0; i < size; ++i) {
      if (i & step)
        continue;
      Value *upper = b.CreateShuffleVector(rows[i], rows[i + step], low), *lower = b.CreateShuffleVector(rows[i], rows[i + step], high);
      rows[i] = upper, rows[i + step] = lower;
    }
  }
}

/// Copies a matrix whose columns are contiguous (or whose neighbours are anywhere) to one whose rows are.
void Emitter::packOperand(const Operand &from, const Buffer &to, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  int64_t size = to.type->getPrimitiveSizeInBits() / 8, square = std::min<int64_t>(facts.vectorBytes / size, 16); // more would be much code
  while (square > 1 && (shape[rank - 2] % square != 0 || shape[rank - 1] % square != 0))
    square /= 2;
  if (from.strides[rank - 2] != i64(1))
    square = 1;
  Operand target = operandOf(to);
  auto at = [&](const Operand &operand, ArrayRef<Value *> index, Value *row, Value *column) {
    SmallVector<Value *> place(index);
    place.append({row, column});
    return addressIn(operand, place);
  };
  Type *type = square == 1 ? to.type : FixedVectorType::get(to.type, square);
  forEach(shape.drop_back(2), [&](ArrayRef<Value *> index) {
    forLoop(i64(0), i64(shape[rank - 2]), square, "pack", [&](Value *row) {
      forLoop(i64(0), i64(shape[rank - 1]), square, "pack", [&](Value *column) {
        SmallVector<Value *> items;
        for (int64_t i = 0; i < square; ++i)
          items.push_back(b.CreateAlignedLoad(type, at(from, index, row, b.CreateAdd(column, i64(i))), Align(size)));
        transpose(b, items);
        for (int64_t i = 0; i < square; ++i)
          b.CreateAlignedStore(items[i], at(target, index, b.CreateAdd(row, i64(i)), column), Align(size));
      });
    });
  });
}

} // namespace tk::cpu
