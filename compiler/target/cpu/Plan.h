// Cuts a block of tt into steps for the CPU: scalar operations, groups, and operations that stand alone.
//
// A tile is *virtual* when it is never stored: index arithmetic (ranges, splats, constants and cheap integer operations on them) and views
// (expand_dims, broadcast, trans). It is recomputed wherever it is used. Every other tile is *work*: it is a member of exactly one step.
#pragma once
#include "dialects/tt/TT.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <vector>

namespace tk::cpu {

/// A carried or yielded tile that a group writes at its end: `value` at every point into the buffer of `slot`.
struct Copy {
  mlir::Value value;
  unsigned slot;
};

struct Step {
  enum Kind {
    Scalar, // one operation on scalars
    Group,  // one loop nest over `shape` for all of `ops`
    Alone   // one operation with its own code: dot, scan, reshape, gather, scf.for ...
  } kind = Scalar;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Copy> copies;
};

class Plan {
public:
  explicit Plan(mlir::Block &block);
  std::vector<Step> steps;
  /// The tiles of this block that must be in memory.
  llvm::DenseSet<mlir::Value> inMemory;
  /// The step that defines a value of this block, or steps.size() for values from outside.
  unsigned stepOf(mlir::Value value) const;
  /// True when any operation of `step` reads the tile `value`; `identity` says whether only at its own point.
  bool reads(unsigned step, mlir::Value value, bool &identity) const;

private:
  void place(mlir::Operation &op);
  void close();
  void placeOperandLoad(mlir::Operation &op);
  bool joins(mlir::Operation &op);
  bool joins(mlir::Value operand);
  void planYield(mlir::Operation &terminator);
  void findMemory(mlir::Block &block);
  Step open;
  bool isOpen = false;
  llvm::DenseSet<mlir::Operation *> inOpen;
  llvm::DenseMap<mlir::Operation *, unsigned> stepOfOp;
};

/// See above; works for any tile value.
bool isVirtual(mlir::Value value);
/// Operations that only change how a tile is indexed.
bool isView(mlir::Operation *op);
/// Elementwise on scalars or tiles, without side effects.
bool isElementwise(mlir::Operation *op);

/// A load whose tile one dot may read where it lies, because nothing is written in between (EmitOperand.cpp). It stands alone.
bool isOperandLoad(mlir::Operation *op);

/// Calls `visit(leaf, identity)` for each work tile, block argument tile or scalar that the operand `value` is computed from through virtual tiles.
void visitLeaves(mlir::Value value, bool identity, llvm::function_ref<void(mlir::Value leaf, bool identity)> visit);

} // namespace tk::cpu
