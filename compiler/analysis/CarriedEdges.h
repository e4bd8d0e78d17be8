// The values that structured control flow carries, and where they come from.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tk::compiler {

/// Calls `visit` for every carried value of `op` with its incoming values; does nothing unless `op` is scf.for, scf.while, scf.if, or divides warps. A carried
/// value is an argument of a loop's region or a result; a loop argument comes from the initial and the yielded value, a result from what the regions yield. A
/// partition's argument is what it captures.
void forEachCarried(mlir::Operation *op, llvm::function_ref<void(mlir::Value carried, llvm::ArrayRef<mlir::Value> incoming)> visit);

} // namespace tk::compiler
