// Rounds the extents of every tile up to powers of two, since layouts are maps of bits.
//
// The true elements of a tile are a prefix of each axis. Elementwise operations, repetitions, transpositions and what control flow carries need nothing but the
// new type: what they make of padding is padding. What would let padding be seen is guarded:
//
//   loads, stores, atomics     masked off                    dots            K is zero beyond its extent, in both operands
//   histograms                 masked off                    gathers         indices stop at the true extent
//   prints, assertions         `tk.shape` keeps the extents  reshapes, cat   where places move, a gather of computed places
//   reductions, scans          padding is neutral, or a flag goes along with each element (PaddedCombine.h)
//
//   %v = tt.load %p : tensor<5x!tt.ptr<f32>>          %i = tt.make_range {end = 8, start = 0}
//   %s = "tt.reduce"(%v) ({ addf })                   %m = arith.cmpi slt, %i, 5
//                                              ->     %v = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
//                                                     %w = arith.select %m, %v, -0.0
//                                                     %s = "tt.reduce"(%w) ({ addf })
//
// A function without such tiles is left as it is.
#include "compiler/Passes.h"
#include "compiler/tile/PaddedCombine.h"
#include "compiler/tile/PaddedShapes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tk::compiler {
#define GEN_PASS_DEF_PADTILESPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

namespace {
class Padder {
public:
  explicit Padder(tt::FuncOp function) : function(function) {}

  void run() {
    collect();
    if (trueShapes.empty())
      return;
    for (auto &[value, shape] : trueShapes)
      value.setType(paddedType(value.getType()));
    function.setFunctionType(FunctionType::get(function.getContext(), llvm::map_to_vector(function.getFunctionType().getInputs(), paddedType),
                                               llvm::map_to_vector(function.getFunctionType().getResults(), paddedType)));
    // Backwards: a reduction may take what its operand was reshaped from, after which the reshape is dead.
    for (Operation *op : llvm::reverse(sites))
      isOpTriviallyDead(op) ? op->erase() : rewrite(op);
  }

private:
  void collect() {
    auto note = [&](Value value) {
      if (needsPadding(value.getType()))
        trueShapes.try_emplace(value, SmallVector<int64_t>(tt::shapeOf(value.getType())));
    };
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), note);
      llvm::for_each(op->getResults(), note);
      if (llvm::any_of(op->getOperandTypes(), needsPadding) || llvm::any_of(op->getResultTypes(), needsPadding))
        sites.push_back(op);
    });
  }

  SmallVector<int64_t> shapeOf(Value value) const {
    auto found = trueShapes.find(value);
    return found == trueShapes.end() ? SmallVector<int64_t>(tt::shapeOf(value.getType())) : found->second;
  }

  void rewrite(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<arith::ConstantOp, tt::MakeRangeOp, tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::HistogramOp, tt::DotOp, tt::GatherOp,
              tt::ReshapeOp, tt::CatOp, tt::ReduceOp, tt::ScanOp>([&](auto op) { pad(op); })
        .Case<tt::PrintOp, tt::AssertOp>([&](auto op) { keepExtents(op); });
  }

  // ---- creation ----

  void pad(arith::ConstantOp op) {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements)
      return;
    auto type = cast<RankedTensorType>(op.getType());
    if (elements.isSplat()) {
      op.setValueAttr(elements.resizeSplat(type));
      return;
    }
    // Padding repeats the first element.
    SmallVector<int64_t> shape = shapeOf(op.getResult());
    SmallVector<Attribute> from(elements.getValues<Attribute>()), all;
    for (int64_t place = 0; place < type.getNumElements(); ++place) {
      int64_t rest = place, number = 0, stride = 1;
      bool inside = true;
      for (size_t axis = shape.size(); axis-- > 0;) {
        int64_t position = rest % type.getDimSize(axis);
        rest /= type.getDimSize(axis);
        inside &= position < shape[axis];
        number += position * stride;
        stride *= shape[axis];
      }
      all.push_back(from[inside ? number : 0]);
    }
    op.setValueAttr(DenseElementsAttr::get(type, all));
  }

  void pad(tt::MakeRangeOp op) {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t start = int32_t(op.getStart()), end = start + type.getDimSize(0);
    if (end <= INT32_MAX) {
      op.setEnd(uint32_t(end));
      return;
    }
    OpBuilder builder(op);
    Value zero = tt::MakeRangeOp::create(builder, op.getLoc(), type, 0, uint32_t(type.getDimSize(0)));
    Value shifted = arith::AddIOp::create(builder, op.getLoc(), zero, splatOf(builder, op.getLoc(), type.getShape(), builder.getI32Type(), start));
    op.replaceAllUsesWith(shifted);
    op.erase();
  }

  // ---- memory ----

  /// Takes padding out of an operation's mask.
  void maskOff(Operation *op, Value mask, Value shaped, MutableOperandRange place) {
    OpBuilder builder(op);
    Value inside = trueElements(builder, op->getLoc(), shapeOf(shaped));
    if (inside)
      place.assign(mask ? Value(arith::AndIOp::create(builder, op->getLoc(), mask, inside)) : inside);
  }
  void pad(tt::LoadOp op) { maskOff(op, op.getMask(), op.getPtr(), op.getMaskMutable()); }
  void pad(tt::StoreOp op) { maskOff(op, op.getMask(), op.getPtr(), op.getMaskMutable()); }
  void pad(tt::AtomicRMWOp op) { maskOff(op, op.getMask(), op.getPtr(), op.getMaskMutable()); }
  void pad(tt::AtomicCASOp op) { maskOff(op, op.getMask(), op.getPtr(), op.getMaskMutable()); }
  void pad(tt::HistogramOp op) { maskOff(op, op.getMask(), op.getSrc(), op.getMaskMutable()); }

  // ---- products ----

  void pad(tt::DotOp op) {
    unsigned rank = tt::shapeOf(op.getType()).size();
    zeroBeyond(op, op.getAMutable(), rank - 1);
    zeroBeyond(op, op.getBMutable(), rank - 2);
  }

  void zeroBeyond(Operation *op, OpOperand &operand, unsigned axis) {
    Value tile = operand.get();
    OpBuilder builder(op);
    Value inside = isPowerOfTwo(shapeOf(tile)[axis]) || isZeroInPadding(tile) ? Value() : trueElements(builder, op->getLoc(), shapeOf(tile), {axis});
    if (!inside)
      return;
    Value zero = arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(builder.getZeroAttr(tile.getType())));
    operand.set(arith::SelectOp::create(builder, op->getLoc(), inside, tile, zero));
  }

  /// Whether the tile comes from a load, which leaves zeros in what it masks off, by nothing but conversions and transpositions.
  static bool isZeroInPadding(Value tile) {
    Operation *op = tile.getDefiningOp();
    while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, tt::FpToFpOp,
                           tt::TransOp>(op))
      op = op->getOperand(0).getDefiningOp();
    auto load = dyn_cast_or_null<tt::LoadOp>(op);
    return load && (!load.getOther() || matchPattern(load.getOther(), m_AnyZeroFloat()) || matchPattern(load.getOther(), m_Zero()));
  }

  // ---- movement ----

  void pad(tt::GatherOp op) {
    int64_t extent = shapeOf(op.getSrc())[op.getAxis()];
    Type index = tt::elementType(op.getIndices().getType());
    // An index type whose greatest value lies below needs no limit.
    if (isPowerOfTwo(extent) || !APInt(64, extent - 1).isSignedIntN(index.getIntOrFloatBitWidth()))
      return;
    OpBuilder builder(op);
    Value last = splatOf(builder, op.getLoc(), tt::shapeOf(op.getIndices().getType()), index, extent - 1);
    op.getIndicesMutable().assign(arith::MinSIOp::create(builder, op.getLoc(), op.getIndices(), last));
  }

  void pad(tt::ReshapeOp op) {
    SmallVector<int64_t> from = shapeOf(op.getSrc()), to = shapeOf(op.getResult());
    if (reshapesInPlace(from, to))
      return;
    OpBuilder builder(op);
    op.replaceAllUsesWith(reshapeByPlace(builder, op.getLoc(), op.getSrc(), from, to));
    op.erase();
  }

  void pad(tt::CatOp op) {
    // Where the second one begins at a power of two, behind a first one of its size, the halves stay halves.
    SmallVector<int64_t> lhs = shapeOf(op.getLhs());
    if (isPowerOfTwo(lhs[0]) && op.getLhs().getType() == op.getRhs().getType() && tt::shapeOf(op.getType())[0] == 2 * lhs[0])
      return;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    ArrayRef<int64_t> padded = tt::shapeOf(op.getType());
    Type i32 = builder.getI32Type();
    Value position = positions(builder, loc, padded, 0), begin = splatOf(builder, loc, padded, i32, lhs[0]);
    // Either index lies outside where the other part is, and is clamped.
    Value first = tt::GatherOp::create(builder, loc, op.getType(), op.getLhs(), position, 0);
    Value second = tt::GatherOp::create(builder, loc, op.getType(), op.getRhs(), arith::SubIOp::create(builder, loc, position, begin), 0);
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, position, begin);
    op.replaceAllUsesWith(arith::SelectOp::create(builder, loc, isFirst, first, second).getResult());
    op.erase();
  }

  // ---- reductions and scans ----

  /// `tile` with the neutral element where it isn't a true element.
  static Value neutralized(OpBuilder &builder, Location loc, Value tile, Value inside, TypedAttr neutral) {
    Value other = arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(cast<ShapedType>(tile.getType()), neutral));
    return arith::SelectOp::create(builder, loc, inside, tile, other);
  }

  void pad(tt::ReduceOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value source = op.getSrcs()[0];
    SmallVector<int64_t> shape = shapeOf(source);
    unsigned axis = op.getAxis();
    if (TypedAttr neutral = neutralElement(op.getCombineOp())) {
      if (isPowerOfTwo(shape[axis]))
        return;
      if (auto flat = source.getDefiningOp<tt::ReshapeOp>(); flat && shape.size() == 1) {
        // All elements, in order, with padding in between.
        Value inner = flat.getSrc();
        if (Value inside = trueElements(builder, loc, shapeOf(inner)))
          inner = neutralized(builder, loc, inner, inside, neutral);
        auto type = cast<RankedTensorType>(inner.getType());
        op->setOperand(0, tt::ReshapeOp::create(builder, loc, RankedTensorType::get({type.getNumElements()}, type.getElementType()), inner, false, false));
        return;
      }
      op->setOperand(0, neutralized(builder, loc, source, trueElements(builder, loc, shape, {axis}), neutral));
      return;
    }
    if (Value inside = flagsOf(op, shape, axis, /*paddingTakesPart=*/true))
      replaceCombine(op, tt::ReduceOp::create(builder, loc, withFlags(op.getSrcs(), inside), axis), false);
  }

  void pad(tt::ScanOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<int64_t> shape = shapeOf(op.getSrcs()[0]);
    unsigned axis = op.getAxis();
    bool reverse = op.getReverse(); // forwards, padding comes after all that matters
    if (TypedAttr neutral = neutralElement(op.getCombineOp())) {
      if (reverse && !isPowerOfTwo(shape[axis]))
        op->setOperand(0, neutralized(builder, loc, op.getSrcs()[0], trueElements(builder, loc, shape, {axis}), neutral));
      return;
    }
    if (Value inside = flagsOf(op, shape, axis, reverse))
      replaceCombine(op, tt::ScanOp::create(builder, loc, withFlags(op.getSrcs(), inside), axis, reverse), reverse);
  }

  /// The flags that go along with a reduction's or scan's elements; null where padding may be combined like any element.
  static Value flagsOf(Operation *op, ArrayRef<int64_t> shape, unsigned axis, bool paddingTakesPart) {
    OpBuilder builder(op);
    if (mustNotSeePadding(op->getRegion(0)))
      return trueElements(builder, op->getLoc(), shape);
    return paddingTakesPart ? trueElements(builder, op->getLoc(), shape, {axis}) : Value();
  }
  static SmallVector<Value> withFlags(ValueRange sources, Value flags) {
    SmallVector<Value> all(sources);
    all.push_back(flags);
    return all;
  }
  static void replaceCombine(Operation *op, Operation *flagged, bool paddingFirst) {
    combineTrueElements(op, flagged, paddingFirst);
    op->replaceAllUsesWith(flagged->getResults().drop_back());
    op->erase();
  }

  // ---- prints and assertions ----

  void keepExtents(Operation *op) {
    Builder builder(op->getContext());
    SmallVector<Attribute> shapes;
    for (Value operand : op->getOperands())
      shapes.push_back(builder.getDenseI64ArrayAttr(trueShapes.contains(operand) ? ArrayRef<int64_t>(shapeOf(operand)) : ArrayRef<int64_t>()));
    op->setAttr(tt::kTrueShapeName, builder.getArrayAttr(shapes));
  }

  tt::FuncOp function;
  llvm::MapVector<Value, SmallVector<int64_t>> trueShapes; // of every padded value
  SmallVector<Operation *> sites;                          // operations with padded operands or results
};

class PadTilesPass : public compiler::impl::PadTilesPassBase<PadTilesPass> {
public:
  void runOnOperation() override { Padder(getOperation()).run(); }
};
} // namespace
