// See SourcePlace.h.
#include "compiler/lower/SourcePlace.h"

mlir::FileLineColLoc tk::lower::placeOf(mlir::Location location) {
  mlir::FileLineColLoc place;
  location->walk([&](mlir::Location inner) {
    place = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    return place ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return place;
}
