// The facts of AxisInfo from those of the operands, one operation at a time.
#pragma once
#include "compiler/analysis/AxisInfo.h"

namespace tk::compiler {

/// The operands' facts, and what may be taken for granted.
struct AxisTransfer {
  mlir::Operation *op;
  llvm::ArrayRef<const AxisInfo *> operands;
  bool presumeNonNegative = false;
  bool presumed = false; // set when it was

  /// The facts of each result, normalised.
  llvm::SmallVector<AxisInfo> run();

private:
  /// Of the first result; nullopt when nothing is known.
  std::optional<AxisInfo> arithmetic();
  std::optional<AxisInfo> pointer();
  std::optional<AxisInfo> shape();
  AxisInfo division(bool isSigned, bool remainder);
  AxisInfo elementwise() const;
};

/// Integer ranges, read as signed numbers of `width` bits (AxisRange.cpp).
struct SignedRange {
  int64_t low, high;
  bool nonNegative() const { return low >= 0; }
};
SignedRange fullRange(unsigned width);
/// The range of an integer operation's result from those of its operands; the full one when it may wrap or is not known.
SignedRange rangeOf(mlir::Operation *op, llvm::ArrayRef<SignedRange> operands, unsigned width);
/// What a comparison gives, as far as ranges tell.
std::optional<bool> compareRanges(mlir::arith::CmpIPredicate predicate, SignedRange left, SignedRange right);

} // namespace tk::compiler
