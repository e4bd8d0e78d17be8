// See SourcePlace.h.
#include "compiler/lower/SourcePlace.h"
#include "lang/sema/Library.h"

mlir::FileLineColLoc tk::lower::placeOf(mlir::Location location) {
  mlir::FileLineColLoc place, library;
  location->walk([&](mlir::Location inner) { // a callee before its caller
    auto at = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!at)
      return mlir::WalkResult::advance();
    bool isLibrary = at.getFilename().getValue().starts_with(lang::kLibraryFolder);
    (isLibrary ? library : place) = at;
    return isLibrary ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return place ? place : library;
}
