// Edges of carried values.
#include "compiler/analysis/CarriedEdges.h"
#include "dialects/ttg/TTG.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

void tk::compiler::forEachCarried(Operation *op, function_ref<void(Value, ArrayRef<Value>)> visit) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [argument, result, initial, yielded] : llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs(), loop.getYieldedValues())) {
      visit(argument, {initial, yielded});
      visit(result, {initial, yielded});
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [argument, initial, yielded] : llvm::zip(loop.getBeforeArguments(), loop.getInits(), loop.getYieldOp().getOperands()))
      visit(argument, {initial, yielded});
    for (auto [argument, result, passed] : llvm::zip(loop.getAfterArguments(), loop.getResults(), loop.getConditionOp().getArgs())) {
      visit(argument, {passed});
      visit(result, {passed});
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() != 0) {
    for (auto [result, left, right] : llvm::zip(branch.getResults(), branch.thenYield().getOperands(), branch.elseYield().getOperands()))
      visit(result, {left, right});
  } else if (auto division = dyn_cast<ttg::WarpSpecializeOp>(op)) {
    for (auto [result, yielded] : llvm::zip(division.getResults(), division.yield().getOperands()))
      visit(result, {yielded});
  } else if (auto partition = dyn_cast<ttg::WarpPartitionOp>(op)) {
    for (auto [argument, capture] : llvm::zip(partition.getBody().getArguments(), partition.getCaptures()))
      visit(argument, {capture});
  }
}
