// Tiles whose elements are all one scalar.
#pragma once
#include "dialects/tt/TT.h"
#include "mlir/IR/Builders.h"

namespace tk::compiler {

/// Whether every element of `tile` is visibly one scalar: a splat, a constant of one value, or a view of those.
bool isUniform(mlir::Value tile);

/// That scalar, created at `builder` where it is a constant. Call only when isUniform(tile).
mlir::Value uniformScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile);

} // namespace tk::compiler
