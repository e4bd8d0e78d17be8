// Which bytes an access of global memory may touch, and a test at run time whether two accesses can meet across threads.
//
// Worked example: a load at %x + 1024 * %p + i and a store at %y + 1024 * %p + i, i < 1024, in one layout without copies. Each thread stores where it has
// loaded when %x = %y, so that threads can meet only if 0 < |%y - %x| < 4096: two subtractions and comparisons of scalars, once a program.
#pragma once
#include "compiler/analysis/AccessForm.h"
#include "dialects/ttg/TTG.h"

namespace tk::compiler {

struct AccessRange {
  mlir::Value root;      // a scalar pointer
  ScalarExpr offset{64}; // from there, in bytes
  FormRef form;          // of the elements, without its constant (which is in `offset`)
  ttg::TileLayout layout;
  bool isTile = false;
  int64_t elementBytes = 0;
};
/// nullopt: any address.
std::optional<AccessRange> rangeOf(mlir::Operation *access, AccessAnalysis &analysis);

enum class Meeting { Never, Always, Sometimes };
/// Whether a thread may write what another one reads. `Always` where nothing better is known without a test.
Meeting meetingOf(const AccessRange &read, const AccessRange &write);
/// The i1 that is true when they may. Both accesses' values must be there at the builder's place.
mlir::Value testMeeting(mlir::OpBuilder &builder, mlir::Location loc, const AccessRange &read, const AccessRange &write);
/// Whether a thread may access, in element i of `after`, what another one has written as element i of `before`, as threads that hold copies load what one of
/// them stores. Elements of different indexes don't count. `Sometimes`: where the elements lie at the same place, which the test asks. `scalarsChange`: the
/// ranges are of different iterations of a loop that changes their scalars.
Meeting elementsMeet(const AccessRange &before, const AccessRange &after, bool scalarsChange);
mlir::Value testElements(mlir::OpBuilder &builder, mlir::Location loc, const AccessRange &before, const AccessRange &after);
/// All scalars that the tests are made of.
void collectScalars(const AccessRange &range, llvm::SmallVectorImpl<mlir::Value> &scalars);

} // namespace tk::compiler
