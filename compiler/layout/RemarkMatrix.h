// The sizes and types of a product, for remarks about it.
#pragma once
#include "compiler/RecordRemark.h"
#include "dialects/tt/TT.h"

namespace tk::compiler {

/// The facts `unit`, sizes and types of a product, with which every remark about one begins.
inline void describeProduct(RecordRemark &remark, mlir::Type a, mlir::Type b, mlir::Type sumTile, int64_t depth, const llvm::Twine &unit) {
  auto name = [](mlir::Type element) {
    std::string text;
    llvm::raw_string_ostream(text) << element;
    return text;
  };
  auto sum = tt::shapeOf(sumTile);
  remark.fact("unit", unit).fact("m", sum[sum.size() - 2]).fact("n", sum.back()).fact("k", depth);
  remark.fact("a", name(a)).fact("b", name(b)).fact("sum", name(tt::elementType(sumTile)));
  if (int64_t batch = mlir::ShapedType::getNumElements(sum.drop_back(2)); batch > 1)
    remark.fact("batch", batch);
}
inline void describeProduct(RecordRemark &remark, tt::DotOp dot, const llvm::Twine &unit) {
  describeProduct(remark, tt::elementType(dot.getA().getType()), tt::elementType(dot.getB().getType()), dot.getType(), tt::shapeOf(dot.getA().getType()).back(),
                  unit);
}

} // namespace tk::compiler
