// Products of fp32 operands in several parts (`tf32x3`, `bf16x3`, `bf16x6`) become products that a matrix unit takes.
//
// Each operand is cut into parts, the leading one first, and the product into the products of parts that matter (the same as the interpreter's, InterpretMatrix.cpp). What the
// leading parts leave is summed on its own, smallest products first, and is the start of the leading product's sum. An infinite operand has no further parts, yet infinity
// times a further part of the other operand is infinity too, of whichever sign, so that a correction that is not finite counts as 0: the leading product has it all.
//
//   %d = tt.dot %a, %b, %c, inputPrecision = bf16x3
//     ->
//   %a1 = arith.truncf %a : to bf16        %a2 = arith.truncf (%a - %a1), 0 where %a1 is infinite or NaN        likewise %b1, %b2
//   %s = tt.dot %a2, %b1, 0.0              %t = tt.dot %a1, %b2, %s
//   %p = tt.dot %a1, %b1, (%t, 0 where it is not finite)
//   %d = arith.addf %p, %c
//
// tf32 operands keep their type: a product at the precision `tf32` itself drops the bits that it does not take.
#include "compiler/Passes.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DEF_SPLITPRECISIONPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;

namespace {
class Splitter {
public:
  explicit Splitter(tt::DotOp dot) : dot(dot), builder(dot), loc(dot.getLoc()) {}

  void run() {
    bool isTf32 = dot.getInputPrecision() == tt::InputPrecision::TF32x3;
    unsigned count = dot.getInputPrecision() == tt::InputPrecision::BF16x6 ? 3 : 2;
    SmallVector<Value> a = partsOf(dot.getA(), count, isTf32), b = partsOf(dot.getB(), count, isTf32);
    Value sum = zeros(dot.getType());
    // Parts i and j are 2^-8 (2^-11 for tf32) smaller a step; products of equal i + j are of one size.
    for (unsigned size = count - 1; size > 0; --size)
      for (unsigned i = 0; i <= size; ++i)
        sum = multiply(a[size - i], b[i], sum, isTf32);
    sum = whereFinite(sum, sum);
    Value product = multiply(a[0], b[0], sum, isTf32);
    dot.replaceAllUsesWith(arith::AddFOp::create(builder, loc, product, dot.getC()).getResult());
    dot.erase();
  }

private:
  SmallVector<Value> partsOf(Value operand, unsigned count, bool isTf32) {
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<Value> parts;
    for (Value rest = operand; parts.size() < count;) {
      Value taken; // the part as fp32
      if (isTf32) {
        parts.push_back(rest);
        RankedTensorType integers = type.clone(builder.getI32Type());
        Value bits = tt::BitcastOp::create(builder, loc, integers, rest), mask = splat(integers, builder.getI32IntegerAttr(int32_t(0xffffe000)));
        taken = tt::BitcastOp::create(builder, loc, type, arith::AndIOp::create(builder, loc, bits, mask));
      } else {
        parts.push_back(arith::TruncFOp::create(builder, loc, type.clone(builder.getBF16Type()), rest));
        taken = arith::ExtFOp::create(builder, loc, type, parts.back());
      }
      if (parts.size() < count) // NaN is not below infinity either
        rest = whereFinite(taken, arith::SubFOp::create(builder, loc, rest, taken));
    }
    return parts;
  }

  Value multiply(Value a, Value b, Value c, bool isTf32) { return tt::DotOp::create(builder, loc, c.getType(), a, b, c, isTf32 ? tt::InputPrecision::TF32 : tt::InputPrecision::IEEE, 0); }

  /// `value` where `tested` is finite, else 0.
  Value whereFinite(Value tested, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    Value infinity = splat(type, builder.getFloatAttr(type.getElementType(), APFloat::getInf(APFloat::IEEEsingle())));
    Value isFinite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, math::AbsFOp::create(builder, loc, tested), infinity);
    return arith::SelectOp::create(builder, loc, isFinite, value, zeros(type));
  }

  Value splat(RankedTensorType type, Attribute value) { return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, value)); }
  Value zeros(Type type) { return splat(cast<RankedTensorType>(type), builder.getF32FloatAttr(0)); }

  tt::DotOp dot;
  OpBuilder builder;
  Location loc;
};

class SplitPrecisionPass : public compiler::impl::SplitPrecisionPassBase<SplitPrecisionPass> {
public:
  using SplitPrecisionPassBase::SplitPrecisionPassBase;

  void runOnOperation() override {
    SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) {
      using P = tt::InputPrecision;
      if (tt::elementType(dot.getA().getType()).isF32() && llvm::is_contained({P::TF32x3, P::BF16x3, P::BF16x6}, dot.getInputPrecision()))
        dots.push_back(dot);
    });
    for (tt::DotOp dot : dots)
      Splitter(dot).run();
  }
};
} // namespace
