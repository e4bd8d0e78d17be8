// The part of a loop's body that its loads' addresses and masks come from, as a program of its own that can run some rounds earlier.
#pragma once
#include "dialects/ttg/TTG.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace tk::compiler {

/// A load that becomes a copy to shared memory.
struct AsyncTile {
  tt::LoadOp load;
  unsigned contiguity = 1; // elements that move at once
  ttg::MemDescType type;   // of one slot
  mlir::Value memory;      // all slots
};

class Fetch {
public:
  explicit Fetch(mlir::scf::ForOp loop) : loop(loop) {}
  /// Adds a load and all that it needs in the body. False (and the fetch is of no use) when that can't run earlier: it depends on products, on other control
  /// flow or on effects.
  bool include(tt::LoadOp load);
  bool contains(mlir::Operation *op) const { return slice.contains(op); }
  size_t size() const { return slice.size(); }

  /// The carried values that the fetch needs, at the start of the loop.
  llvm::SmallVector<mlir::Value> initial() const;
  /// The induction variable `rounds` later than `index`; may wrap around past the end of the loop.
  mlir::Value inductionAt(mlir::OpBuilder &builder, mlir::Value index, unsigned rounds) const;
  /// Whether there is a round `rounds` later than the one of `index`; exact whatever the bounds. `mayBeEmpty`: `index` itself may be past the end.
  mlir::Value isWithin(mlir::OpBuilder &builder, mlir::Value index, unsigned rounds, bool mayBeEmpty) const;

  /// Fetches the tiles of one round, when `condition` holds, into the slot (slot + ahead); the group's token. `state` goes on to the next round.
  mlir::Value copy(mlir::OpBuilder &builder, llvm::ArrayRef<AsyncTile> tiles, llvm::SmallVector<mlir::Value> &state, mlir::Value index, mlir::Value condition,
                   mlir::Value slot, unsigned ahead) const;
  /// The same into registers.
  llvm::SmallVector<mlir::Value> load(mlir::OpBuilder &builder, llvm::ArrayRef<tt::LoadOp> loads, llvm::SmallVector<mlir::Value> &state, mlir::Value index,
                                      mlir::Value condition) const;

private:
  bool include(mlir::Value value);
  bool includeOperation(mlir::Operation *op);
  /// One round; `replace` may make something else of an operation, else it is cloned.
  mlir::IRMapping run(mlir::OpBuilder &builder, llvm::SmallVector<mlir::Value> &state, mlir::Value index, mlir::Value condition,
                      llvm::function_ref<bool(mlir::Operation *, mlir::IRMapping &)> replace) const;
  mutable mlir::scf::ForOp loop; // a handle, whose accessors are not const
  llvm::SetVector<mlir::Operation *> slice;
  llvm::SetVector<unsigned> carried; // numbers of the loop's carried values
};

} // namespace tk::compiler
