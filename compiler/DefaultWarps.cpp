// See DefaultWarps.h.
#include "compiler/DefaultWarps.h"
#include "dialects/tt/TT.h"
#include <algorithm>

namespace tk::compiler {

static int64_t elements(mlir::Type type) {
  int64_t count = 1;
  for (int64_t extent : tt::shapeOf(type))
    count *= extent;
  return count;
}

unsigned defaultWarps(mlir::ModuleOp module) {
  int64_t widest = 0, product = 0;
  module.walk([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      widest = std::max(widest, elements(type));
    if (auto dot = mlir::dyn_cast<tt::DotOp>(op))
      product = std::max(product, elements(dot.getD().getType()));
  });
  if (product)
    return product >= 16384 ? 8 : 4;
  return widest <= 4096 ? 4 : widest <= 16384 ? 8 : widest <= 32768 ? 16 : 32;
}

} // namespace tk::compiler
