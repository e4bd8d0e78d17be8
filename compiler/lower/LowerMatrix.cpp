// Matrix products on a matrix unit: the registers of each instruction's fragments are found by the layouts' maps, packed into words, and multiplied; K goes
// outermost, so that neighbouring instructions don't wait for each other's sums.
#include "compiler/layout/RemarkMatrix.h"
#include "compiler/lower/GpuEmitter.h"

using namespace llvm;
namespace tk::lower {

void GpuEmitter::emitDot(tt::DotOp op) {
  mlir::Type element = tt::elementType(op.getA().getType());
  if (element.isF32() && op.getInputPrecision() != tt::InputPrecision::IEEE && op.getInputPrecision() != tt::InputPrecision::TF32)
    return fail(op, "internal error: a product in several parts must have been split before layouts are chosen");
  if (auto unit = mlir::dyn_cast<ttg::MmaAttr>(mlir::cast<mlir::RankedTensorType>(op.getType()).getEncoding()))
    return emitMatrixUnit(op, unit);
  emitMultiplyAdd(op);
}

/// fp32 without the lowest 13 bits of its mantissa. A NaN whose payload is all there would become an infinity.
Value *GpuEmitter::truncateToTf32(Value *value) {
  Value *cut = b.CreateBitCast(b.CreateAnd(b.CreateBitCast(value, b.getInt32Ty()), word(0xffffe000)), b.getFloatTy());
  return b.CreateSelect(b.CreateFCmpUNO(value, value), ConstantFP::getNaN(b.getFloatTy()), cut);
}

namespace {
/// One operand or sum: its tile's layout and where its axes are in the index.
struct Fragments {
  ttg::TileLayout layout;
  ttg::AxisBits rows, columns;
  unsigned count; // registers of one instruction's fragment: the lowest ones
  DenseMap<uint32_t, unsigned> registerOf;

  Fragments(mlir::Type tile, unsigned count) : layout(ttg::layoutOf(tile)), count(count) {
    SmallVector<ttg::AxisBits> axes = ttg::axisBitsOf(tt::shapeOf(tile));
    rows = axes[axes.size() - 2], columns = axes.back();
    for (unsigned i = 0; i < layout.registers(); ++i)
      registerOf.try_emplace(layout.indexOfRegister(i), i);
  }
  unsigned batchBegin() const { return rows.begin + rows.count; }
  uint32_t indexOf(uint32_t batch, uint32_t row, uint32_t column) const { return batch << batchBegin() | row << rows.begin | column; }
};
} // namespace

void GpuEmitter::emitMatrixUnit(tt::DotOp op, ttg::MmaAttr unit) {
  ttg::MatrixShape shape = ttg::shapeOf(unit.getUnit());
  MatrixInstruction instruction{unit.getUnit(), tt::elementType(op.getA().getType()), tt::elementType(op.getB().getType()), tt::elementType(op.getType())};
  unsigned operandBits = instruction.a.getIntOrFloatBitWidth(), sumBits = instruction.sum.getIntOrFloatBitWidth(), lanes = target.lanes();
  for (auto [value, operand] : {std::make_pair(op.getA(), ttg::MatrixOperand::A), std::make_pair(op.getB(), ttg::MatrixOperand::B)})
    if (ttg::layoutOf(value.getType()) != ttg::matrixLayout(unit, operand, tt::shapeOf(value.getType()), std::max(1u, 32 / operandBits)))
      return fail(op, "internal error: an operand is not in the fragments of its instruction");
  Fragments a(op.getA().getType(), shape.m * shape.k / lanes), bb(op.getB().getType(), shape.k * shape.n / lanes), sum(op.getType(), shape.m * shape.n / lanes);
  const Registers aSource = registers(op.getA()), bSource = registers(op.getB()), start = registers(op.getC());

  /// The words of the fragment whose first register has this image. Fragments serve several instructions.
  auto fragment = [&](const Fragments &operand, const Registers &source, uint32_t index) {
    SmallVector<Value *> elements;
    for (unsigned i = 0; i < operand.count; ++i) {
      Value *element = source[operand.registerOf.at(index ^ operand.layout.indexOfRegister(i))];
      elements.push_back(element->getType()->isFloatTy() ? truncateToTf32(element) : element);
    }
    return pack(elements, std::max(32u, operandBits));
  };
  struct Tile {
    uint32_t batch, row, column;
    SmallVector<Value *> words;
  };
  std::vector<Tile> tiles;
  for (unsigned first = 0; first < sum.layout.registers(); first += sum.count) {
    uint32_t index = sum.layout.indexOfRegister(first);
    Registers elements(ArrayRef<Value *>(start).slice(first, sum.count));
    tiles.push_back(
        {index >> sum.batchBegin(), (index & sum.rows.mask()) >> sum.rows.begin, index & sum.columns.mask(), pack(elements, std::max(32u, sumBits))});
  }

  // 8-bit floats: the unit may sum up to so many products with less than fp32's precision.
  unsigned imprecise = op.getMaxNumImpreciseAcc() / shape.k * shape.k;
  bool isEight = mlir::isa<mlir::FloatType>(instruction.a) && operandBits == 8, inParts = false;
  if (isEight && imprecise && sumBits == 32) {
    instruction.exactSums = false;
    inParts = true;
  }
  unsigned depth = 1u << a.columns.count;
  target.matrixInstructions.clear();
  std::vector<SmallVector<Value *>> parts(tiles.size());
  for (unsigned k = 0; k < depth; k += shape.k) {
    std::map<uint32_t, SmallVector<Value *>> aWords, bWords;
    for (auto [tile, part] : zip(tiles, parts)) {
      uint32_t aIndex = a.indexOf(tile.batch, tile.row, k), bIndex = bb.indexOf(tile.batch, k, tile.column);
      auto [aSlot, aFresh] = aWords.try_emplace(aIndex);
      if (aFresh)
        aSlot->second = fragment(a, aSource, aIndex);
      auto [bSlot, bFresh] = bWords.try_emplace(bIndex);
      if (bFresh)
        bSlot->second = fragment(bb, bSource, bIndex);
      if (!inParts) {
        tile.words = target.multiply(b, instruction, aSlot->second, bSlot->second, tile.words);
        continue;
      }
      if (part.empty())
        part.assign(tile.words.size(), word(0));
      part = target.multiply(b, instruction, aSlot->second, bSlot->second, part);
      if ((k + shape.k) % imprecise && k + shape.k < depth)
        continue;
      for (auto [total, more] : zip(tile.words, part))
        total = b.CreateBitCast(b.CreateFAdd(b.CreateBitCast(total, b.getFloatTy()), b.CreateBitCast(more, b.getFloatTy())), b.getInt32Ty());
      part.clear();
    }
  }

  if (compiler::RecordRemark remark(op, compiler::RemarkKind::Matrix); remark) {
    std::string names;
    unsigned instructions = 0;
    for (auto &[name, times] : target.matrixInstructions)
      names += (names.empty() ? "" : ", ") + name, instructions += times;
    compiler::describeProduct(remark, op, names);
    remark.fact("instructions", instructions).fact("warps", std::to_string(unit.getWarpsM()) + " x " + std::to_string(unit.getWarpsN()));
  }

  Registers result;
  for (Tile &tile : tiles)
    result.append(unpack(tile.words, sum.count, instruction.sum));
  define(op, std::move(result));
}

} // namespace tk::lower
