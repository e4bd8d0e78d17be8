// What is known of a load, store or atomic after RewritePointers: where it reads or writes as a function of the tile's index, and under which bounds.
//
// Worked example: with %p = tt.get_program_id x, the access of
//     %o = splat(%p * 1024) + make_range(0, 1024)                  : tensor<1024xi32>
//     tt.load addptr(splat(%x), %o), cmpi slt %o, splat(%n)
// has the base %x, the offset sext(1024 * %p) + 1 * i0 in 64 bits provided that 1024 * %p + i0 does not wrap in 32, and the mask 1024 * %p + i0 < %n.
//
// Facts only: nothing is changed, and what is not proven is not claimed. Division and remainder are opaque (an element of a quotient says nothing of its
// neighbours), as are loaded and carried tiles; an opaque tile stays in the form as a residue, with the axes along which it varies.
#pragma once
#include "compiler/analysis/ScalarExpr.h"
#include "dialects/tt/TT.h"

namespace tk::compiler {

struct AffineForm;

/// A tile that has no form of its own, times a factor.
struct Residue {
  mlir::Value tile;
  llvm::SmallVector<int> axes; // for each axis of the form, the tile's axis that runs along it; -1 where the tile is the same all along
  ScalarExpr factor;
  enum Extension { None, Signed, Unsigned } extension = None; // from the tile's width to the form's
};

/// A condition on which a form depends: that `form`, taken over the integers with its constant, strides and residues read as signed (unsigned) numbers,
/// stays within its width for every index of the tile.
struct NoWrap {
  std::shared_ptr<const AffineForm> form;
  bool isSigned = true;
};

/// An integer tile: constant + sum of strides[k] * i[k] + sum of residues, in `width` bits with wrapping arithmetic, provided `conditions`.
struct AffineForm {
  unsigned width = 0;
  llvm::SmallVector<int64_t> shape;
  ScalarExpr constant{0};
  std::vector<ScalarExpr> strides; // one for each axis; zero where the extent is 1
  std::vector<Residue> residues;
  std::vector<NoWrap> conditions;

  /// The same for every index.
  bool isUniform() const;
  /// A known step from each index to the next along `axis`.
  bool isAffineAlong(unsigned axis) const;
  bool isAffine() const { return residues.empty(); }
  bool variesAlong(unsigned axis) const;
  /// The one axis along which it varies; -1 when there are none or several.
  int onlyAxis() const;
  void addConditions(const AffineForm &other);
  void print(llvm::raw_ostream &os, mlir::AsmState &names) const;
};
using FormRef = std::shared_ptr<const AffineForm>;

/// `form predicate limit`; the predicate is one of <, <=, >, >=, signed or unsigned. A uniform form is a condition on the whole tile.
struct Bound {
  mlir::arith::CmpIPredicate predicate;
  FormRef form;
  ScalarExpr limit;
};

/// A mask as a conjunction.
struct MaskForm {
  bool never = false;                            // false for every index
  std::vector<Bound> bounds;
  llvm::SmallVector<mlir::Value> scalars;        // i1 scalars
  struct Opaque {
    mlir::Value tile;
    llvm::SmallVector<int> axes;                 // as in Residue
  };
  llvm::SmallVector<Opaque> residues;            // what is no bound
  bool isAlways() const { return !never && bounds.empty() && scalars.empty() && residues.empty(); }
};

struct Access {
  mlir::Value base;          // a scalar pointer
  FormRef offset;            // in elements, 64 bits
  MaskForm mask;
  int64_t elementBytes = 0;
};

/// Computes forms and remembers them while the IR stays as it is.
class AccessAnalysis {
public:
  /// The form of an integer tile (or scalar, with no axes).
  FormRef formOf(mlir::Value value);
  /// The form of an i1 tile or scalar; null is the mask that is always true.
  MaskForm maskOf(mlir::Value mask);
  /// nullopt when the pointer is not in the form that RewritePointers makes, or the operation is no load, store or atomic.
  std::optional<Access> accessOf(mlir::Operation *op);

private:
  void addMask(mlir::Value mask, llvm::ArrayRef<int> from, llvm::ArrayRef<int64_t> shape, MaskForm &form);
  bool addBound(mlir::arith::CmpIOp compare, llvm::ArrayRef<int> from, llvm::ArrayRef<int64_t> shape, MaskForm &form);
  AffineForm compute(mlir::Value value);
  AffineForm opaque(mlir::Value value);
  std::optional<AffineForm> arithmetic(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, FormRef> forms;
  unsigned depth = 0;
};

/// For each axis of a view's result the axis of its source that runs along it, -1 for one along which nothing changes; nullopt when elements change
/// places in any other way.
std::optional<llvm::SmallVector<int>> axesOfView(mlir::Operation *view);
/// The form seen through a view: axis i of the result is axis from[i] of the form, or a new one along which nothing changes (-1).
AffineForm remapForm(const AffineForm &form, llvm::ArrayRef<int> from, llvm::ArrayRef<int64_t> shape);
/// `form` in `width` bits; adds the condition under which that is exact.
AffineForm extendForm(const FormRef &form, unsigned width, bool isSigned);

} // namespace tk::compiler
