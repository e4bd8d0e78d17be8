// A scalar integer as a polynomial over SSA scalars, in a fixed width with wrapping arithmetic.
//
// Worked example: with %p = tt.get_program_id, %n = arith.muli %p, %c64 and %m = arith.addi %n, %x, the expression of %m is 64 * %p + %x. Two scalars with
// one expression are equal; that is what makes two addresses comparable. An extension of a whole expression, sext(64 * %p), is one more kind of variable,
// as extending does not distribute over sums that may wrap.
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>
#include <vector>

namespace mlir {
class AsmState;
}

namespace tk::compiler {

class ScalarExpr {
public:
  /// A variable: an SSA scalar, or the extension of a narrower expression.
  struct Atom {
    mlir::Value value;                       // null for an extension
    std::shared_ptr<const ScalarExpr> inner; // what is extended
    bool isSigned = false;                   // sign or zero extension
    bool operator==(const Atom &other) const;
  };
  /// coefficient * product of factors
  struct Term {
    llvm::APInt coefficient;
    llvm::SmallVector<Atom, 2> factors;
  };

  explicit ScalarExpr(unsigned width) : bits(width) {}
  static ScalarExpr constant(llvm::APInt value);
  static ScalarExpr constant(unsigned width, int64_t value) { return constant(llvm::APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true)); }
  /// Looks through constants, sums, products, shifts by constants and extensions, up to a limit.
  static ScalarExpr of(mlir::Value scalar);

  unsigned width() const { return bits; }
  llvm::ArrayRef<Term> terms() const { return sum; }
  bool isZero() const { return sum.empty(); }
  std::optional<llvm::APInt> asConstant() const;
  bool isConstant(int64_t value) const;
  bool operator==(const ScalarExpr &other) const;

  ScalarExpr operator+(const ScalarExpr &other) const;
  ScalarExpr operator-(const ScalarExpr &other) const;
  /// nullopt when the product has more terms or factors than is useful.
  std::optional<ScalarExpr> times(const ScalarExpr &other) const;
  ScalarExpr extend(unsigned width, bool isSigned) const;

  void print(llvm::raw_ostream &os, mlir::AsmState &names) const;

private:
  static ScalarExpr atom(unsigned width, Atom atom);
  static ScalarExpr of(mlir::Value scalar, unsigned depth);
  void add(Term term);

  unsigned bits;
  std::vector<Term> sum; // no zero coefficients, no two terms with the same factors
};

} // namespace tk::compiler
