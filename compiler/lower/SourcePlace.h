// Where in the kernel's file an operation comes from.
#pragma once
#include "mlir/IR/Location.h"

namespace tk::lower {

/// The first place in a file that the location names; null when it names none.
mlir::FileLineColLoc placeOf(mlir::Location location);

} // namespace tk::lower
