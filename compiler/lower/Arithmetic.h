// Elementwise operations of arith, math and tt on LLVM scalars or vectors, as tt defines them: integers wrap, divisions and shifts never trap, conversions saturate.
// Floats of 16 and 8 bits arrive and leave as fp32 that holds their value; each operation rounds once. Targets differ in the hooks.
#pragma once
#include "dialects/tt/TT.h"
#include "llvm/IR/IRBuilder.h"

namespace tk::lower {

/// The type of an element where it is computed with: fp32 for narrow floats, 64 bits for an index.
llvm::Type *registerType(llvm::IRBuilder<> &b, mlir::Type element);

class Arithmetic {
public:
  explicit Arithmetic(llvm::IRBuilder<> &b) : b(b) {}
  virtual ~Arithmetic() = default;
  llvm::Value *emit(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

  /// fp32 -> the nearest value of the narrow type (or toward zero), as fp32.
  virtual llvm::Value *round(llvm::Value *value, mlir::Type narrow, bool towardZero = false);
  /// Integer bits of a narrow float <-> fp32 that holds its value.
  virtual llvm::Value *decode(llvm::Value *bits, mlir::Type narrow);
  virtual llvm::Value *encode(llvm::Value *value, mlir::Type narrow);

protected:
  /// Operations that have no LLVM form: elementary functions, remainders.
  virtual llvm::Value *libraryCall(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands) = 0;
  llvm::IRBuilder<> &b;

private:
  llvm::Value *compare(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> v);
  llvm::Value *divide(mlir::Operation *op, llvm::Value *lhs, llvm::Value *rhs);
  llvm::Value *shift(mlir::Operation *op, llvm::Value *lhs, llvm::Value *rhs);
  llvm::Value *convert(mlir::Operation *op, llvm::Value *value);
};

} // namespace tk::lower
