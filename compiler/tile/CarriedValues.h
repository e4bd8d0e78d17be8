// What passes share that take apart the values which scf.for, scf.while and scf.if carry.
//
// A carried value is an argument of a loop's region or a result of scf.for, scf.while or scf.if. Each has incoming values: a loop argument the initial
// and the yielded one, a result what the regions yield: analysis/CarriedEdges.h lists them. `CarriedRewriter` replaces carried values by parts of other
// types, while the pass says what the parts are.
#pragma once
#include "compiler/analysis/CarriedEdges.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace tk::compiler {

/// Erases the operations of `region` that have no effect and no use left.
void eraseDeadOperations(mlir::Region &region);

/// Walks a region in order. Operations are moved, never copied, so values that are not carried keep their identity.
class CarriedRewriter {
public:
  virtual ~CarriedRewriter() = default;
  void run(mlir::Region &region);

protected:
  /// The types of the parts that take the place of `carried`; nullopt leaves it as it is. None at all means that it is computed from values outside.
  virtual std::optional<llvm::SmallVector<mlir::Type>> partTypes(mlir::Value carried) = 0;
  /// The parts, as `carried` wants them, of one of its incoming values.
  virtual llvm::SmallVector<mlir::Value> takeApart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value incoming, mlir::Value carried) = 0;
  /// The value that replaces `carried`, made of its parts. `incoming` is its first incoming value, already rewritten; only those of its parts that are
  /// defined outside of the operation may be used.
  virtual mlir::Value putTogether(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value carried, mlir::Value incoming, mlir::ValueRange parts) = 0;
  /// Any other operation, after everything before it.
  virtual void visit(mlir::Operation *op) = 0;

private:
  struct Slot;
  struct Plan;
  Plan planFor(mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> apart(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange incoming, const Plan &plan);
  void replace(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange incoming, const Plan &plan, mlir::ValueRange parts);
  void rewriteFor(mlir::scf::ForOp loop);
  void rewriteWhile(mlir::scf::WhileOp loop);
  void rewriteIf(mlir::scf::IfOp branch);
};

} // namespace tk::compiler
