// Executes tt directly: the oracle.
//
// Plain and obviously right: one value per element, one program after another, one operation after another, no vectors and no code of the CPU target or the standard
// library. Math functions are libm's in a wider type. Floating-point values are kept as the double that holds the rounded value of their type, beside a bound on the absolute
// error that another correct execution may have (see ErrorBound in Tile.h).
#pragma once
#include "compiler/interpret/Launch.h"
#include "dialects/tt/TT.h"

namespace tk::interpret {

/// Runs the public function of `module` named `kernel` (unlowered or optimised tt; tt.call is followed). Thread-safe for distinct memory.
Result run(mlir::ModuleOp module, llvm::StringRef kernel, const Launch &launch);

} // namespace tk::interpret
