// Where along an axis a mask changes: whether neighbours that one access could move together have one mask but for an edge here and there.
//
// Worked example: with %o = splat(%p * 1024) + make_range(0, 1024) and runs of 8, `cmpi slt %o, splat(%n)` falls: within a run it is true up to some element
// and false behind it, so that the last element's mask is that of "all of them" and the first element's that of "any of them". Over the whole tile at most one
// run is of two minds.
//
// Facts only: what is not proven is Unknown. A comparison has edges only where the run holds no wrap, by the divisibility of its first element or by the
// range of its values (AxisInfo).
#pragma once
#include "compiler/analysis/AxisInfo.h"

namespace tk::compiler {

enum class MaskEdge {
  Unknown,
  Uniform, // the same for all of a run
  Falls,   // true up to an element, false from there on
  Rises,   // false up to an element, true from there on
  Both,    // true between two elements at most
};

/// How `mask` changes within each aligned run of `length` (a power of two) elements along `axis`.
MaskEdge maskEdge(mlir::Value mask, unsigned axis, int64_t length, AxisInfoAnalysis &axes);
/// The masks whose conjunction `mask` is, all of its shape.
llvm::SmallVector<mlir::Value> conjunctsOf(mlir::Value mask);

} // namespace tk::compiler
