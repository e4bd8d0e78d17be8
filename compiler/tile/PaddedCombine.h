// Combine regions of reductions and scans over padded tiles: padding never takes part.
#pragma once
#include "dialects/tt/TT.h"
#include "mlir/IR/Builders.h"

namespace tk::compiler {

/// The value e with f(x, e) = f(e, x) = x for every x, where the region is one operation f that is known to have it; null where not.
mlir::TypedAttr neutralElement(mlir::Region &combine);

/// Whether running the region on padding could be noticed: it has an effect or might not end.
bool mustNotSeePadding(mlir::Region &combine);

/// Gives the region of `from` to `to`, whose operands are those of `from` and an i1 at the end: whether an element is a true one. The region then combines only
/// true elements and returns the conjunction's place holder: of a left and a right part, whether the one that is never wholly padding has true elements.
/// `paddingFirst`: the left part may be padding when the right one isn't (scans in reverse); else it is the other way round.
void combineTrueElements(mlir::Operation *from, mlir::Operation *to, bool paddingFirst);

} // namespace tk::compiler
