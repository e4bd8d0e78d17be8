// The sizes and types of a product, for remarks about it.
#pragma once
#include "compiler/RecordRemark.h"
#include "dialects/tt/TT.h"

namespace tk::compiler {

/// The facts `unit`, sizes and types of a product, with which every remark about one begins.
inline void describeProduct(RecordRemark &remark, tt::DotOp dot, const llvm::Twine &unit) {
  auto a = tt::shapeOf(dot.getA().getType()), sum = tt::shapeOf(dot.getType());
  auto name = [](mlir::Value operand) {
    std::string text;
    llvm::raw_string_ostream(text) << tt::elementType(operand.getType());
    return text;
  };
  remark.fact("unit", unit).fact("m", sum[sum.size() - 2]).fact("n", sum.back()).fact("k", a.back());
  remark.fact("a", name(dot.getA())).fact("b", name(dot.getB())).fact("sum", name(dot.getD()));
  if (int64_t batch = mlir::ShapedType::getNumElements(sum.drop_back(2)); batch > 1)
    remark.fact("batch", batch);
}

} // namespace tk::compiler
