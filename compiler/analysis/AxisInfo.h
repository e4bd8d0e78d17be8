// What is known of the elements of a tile along each of its axes: runs of consecutive numbers, runs of equal ones, and powers of two that divide them.
// From this come the width of a memory access and whether a mask is uniform over it.
//
// Worked example: with %p = tt.get_program_id x and BLOCK = 128,
//     %o = splat(%p * 128) + make_range(0, 128)                    contiguity 128, divisibility 128 (the first of 128), constancy 1
//     %q = %o / splat(32) as unsigned numbers                      contiguity 1, divisibility 1, constancy 32
//     %a = addptr(splat(%x), %o), %x: !tt.ptr<f32> {16 bytes}      contiguity 128, divisibility 16 (bytes), constancy 1: four elements an access
//     %m = cmpi slt %o, splat(%n), %n: i32 {16}                    constancy 16
//
// Facts only, and each holds for every execution:
// - Arithmetic wraps. A run of consecutive numbers is one modulo 2^width, so that `%p * 128` may overflow and %o still is a run. A run whose first element is
//   divisible by its length holds no wrap inside, since 2^width (and the sign's 2^(width-1)) is a multiple of the length: an extension keeps it, and so do
//   comparisons and divisions. Other runs keep only their aligned parts there, unless the range of the values rules the wrap out.
// - A signed quotient rounds towards zero: -32 / 32 is -1 and -31 / 32 is 0, and -32 % 32 is 0 and -31 % 32 is -31. Facts about `/` and `%` of a run therefore
//   need that the dividend is proven not to be negative (A37).
// - A quotient or remainder by zero is unspecified; facts about one hold for a value that it might have had.
// - Attributes `tt.divisibility`, `tt.contiguity` and `tt.constancy` on arguments and operations are the user's word (a wrong one is undefined behaviour), of
//   which the power-of-two part is used. A divisibility is that of the first element of each run; of a pointer it is in bytes.
#pragma once
#include "dialects/tt/TT.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace tk::compiler {

/// One entry for each axis; a scalar has one entry, like a tile of one element. All numbers are powers of two. A run begins at each multiple of its length
/// along its axis, whatever the indices along the others; the last one is cut short where the length does not divide the extent.
struct AxisInfo {
  /// The largest divisibility that is claimed; zero is divisible by all.
  static constexpr int64_t kMost = int64_t(1) << 62;

  llvm::SmallVector<int64_t, 2> contiguity;   // each run of so many elements counts up by one (pointers: by one element of the pointee)
  llvm::SmallVector<int64_t, 2> divisibility; // what divides the first element of each run of `contiguity` elements (pointers: of the address in bytes)
  llvm::SmallVector<int64_t, 2> constancy;    // each run of so many elements is equal
  std::optional<int64_t> constant;            // every element; i1 is 0 or 1, other widths are signed
  int64_t low = INT64_MIN, high = INT64_MAX;  // every element, read as a signed number of its width (i1: 0 or 1); nothing for pointers
  int64_t unit = 1;                           // bytes of a pointee; 1 for integers

  bool operator==(const AxisInfo &) const = default;

  /// What divides the first element of each run of `length` elements (a power of two).
  int64_t divisibilityAt(unsigned axis, int64_t length) const {
    return length >= contiguity[axis] ? divisibility[axis] : std::min(divisibility[axis], length * unit);
  }
  /// What divides every element.
  int64_t divisibilityOfAll() const;

  /// Nothing but the range of the type.
  static AxisInfo unknown(mlir::Type type);
  /// What both sides say, where either may be the value.
  static AxisInfo join(const AxisInfo &left, const AxisInfo &right);
  /// Draws the conclusions that are the same for all operations, and caps runs at the extents.
  void normalise(mlir::Type type);
};

/// The power-of-two part of a number; kMost for zero.
int64_t powerOfTwoPart(int64_t number);

/// The mask of a load, store or atomic; null when it has none.
mlir::Value maskOf(mlir::Operation *access);

class AxisInfoAnalysis {
public:
  /// `Presumed` takes the dividends of signed divisions and remainders for non-negative where that is not proven, and lists these operations: for a consumer
  /// that makes a second version of its code and checks the dividends at run time (`offset % M`, whose offset can't be proven not to overflow).
  enum class Dividends { AsProven, Presumed };
  explicit AxisInfoAnalysis(tt::FuncOp function, Dividends dividends = Dividends::AsProven);

  const AxisInfo &of(mlir::Value value);

  /// Elements that one access may touch at once along `axis`: they are consecutive in memory, the first is aligned to all of them, and the mask is the same for
  /// them. A power of two that divides the extent; 1 for scalars.
  int64_t vectorWidth(mlir::Operation *access, unsigned axis);
  /// The same by the pointers alone.
  int64_t pointerContiguity(mlir::Value pointer, unsigned axis);
  /// The same by the mask alone.
  int64_t maskAlignment(mlir::Value mask, unsigned axis);

  /// The divisions whose dividends were presumed not to be negative.
  llvm::ArrayRef<mlir::Operation *> presumed() const { return presumedDivisions.getArrayRef(); }

private:
  struct Bounds {
    int64_t low = INT64_MIN, high = INT64_MAX, divisibility = 1;
  };

  const AxisInfo *find(mlir::Value value) const;
  void set(mlir::Value value, AxisInfo info);
  void readArguments(tt::FuncOp function);
  void readAssumption(tt::AssumeOp assume, mlir::Value condition);
  bool updateCarried(mlir::Value carried, llvm::ArrayRef<mlir::Value> incoming);
  void visit(mlir::Operation *op);

  bool presume;
  llvm::DenseMap<mlir::Value, AxisInfo> infos; // none: not reached yet
  llvm::DenseMap<mlir::Value, Bounds> assumed;
  llvm::DenseMap<mlir::Value, unsigned> growths; // how often the range of a carried value has grown
  llvm::SetVector<mlir::Operation *> presumedDivisions;
};

} // namespace tk::compiler
