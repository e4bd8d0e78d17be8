// Where in the kernel's file an operation comes from.
#pragma once
#include "mlir/IR/Location.h"

namespace tk::lower {

/// The innermost place that the location names in the user's file: of what the library does, the call into it. One in the library where there is no other; null
/// when it names none.
mlir::FileLineColLoc placeOf(mlir::Location location);

} // namespace tk::lower
