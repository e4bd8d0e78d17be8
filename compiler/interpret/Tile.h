// The interpreter's values: a scalar or a tile is a row of elements, and each element may carry an error bound.
//
// ErrorBound. An element without a bound is exact: every correct execution of the program has this very value. With a bound e, another correct execution lies within e of
// it. e = infinity means "uncertain": nothing may be concluded, because a comparison of inexact values decided it, because it is the unspecified result of an operation, or
// because an overflow or a NaN depends on inexact values. Integers, booleans and pointers are either exact (0) or uncertain (infinity). How bounds arise:
//   - moves, integer operations, comparisons of exact values: 0
//   - an operation with one rounding and exact operands: 0, every execution rounds alike
//   - with operands within e of theirs: everything that rounding can make of [v - e, v + e]
//   - elementary functions: as above with 2 ulp more
//   - sums in any order (tt.reduce with an addition, tt.dot, atomics): unit roundoff times the magnitudes summed times the number of roundings
// A NaN or an infinity with bound 0 is certain.
#pragma once
#include "compiler/interpret/FloatFormats.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"

namespace tk::interpret {

struct ElementType {
  enum Kind : uint8_t { Int, Float, Pointer } kind = Int;
  Format format = Format::F32; // Float
  uint8_t bits = 32;           // of the value; index and pointers have 64

  bool isFloat() const { return kind == Float; }
  unsigned bytes() const { return bits <= 8 ? 1 : bits / 8; } // in memory
  uint64_t mask() const { return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }
};

/// An integer or address as its bits, zero-extended; a float as the double equal to it.
union Element {
  uint64_t i;
  double f;
};

/// The elements of a value in row-major order. The shape is known from the type in the program (Slot in Code.h), so that a reshape is no work.
struct Tile : public llvm::RefCountedBase<Tile> {
  ElementType type;
  llvm::SmallVector<Element, 1> elements;
  llvm::SmallVector<double, 1> errors; // empty: all exact

  size_t size() const { return elements.size(); }
  Element operator[](size_t i) const { return elements[i]; }
  Element &operator[](size_t i) { return elements[i]; }
  bool inexact() const { return !errors.empty(); }
  double error(size_t i) const { return errors.empty() ? 0 : errors[i]; }
  void addErrors() {
    if (errors.empty())
      errors.assign(elements.size(), 0);
  }
  /// Forgets the bounds when all are zero, so that exact data stays on the fast paths.
  void dropZeroErrors() {
    for (double e : errors)
      if (e != 0)
        return;
    errors.clear();
  }
};
using TileRef = llvm::IntrusiveRefCntPtr<Tile>;

inline int64_t signExtend(uint64_t value, unsigned bits) { return int64_t(value << (64 - bits)) >> (64 - bits); }

} // namespace tk::interpret
