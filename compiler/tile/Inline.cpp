// Inlines calls of private helpers and drops the functions that nothing calls any more.
//
// Why: every later pass and code generator sees one function per kernel, so that pointers, masks and loops of a helper join those of its caller.
// A helper stays a call when it has the attribute `noinline = true` (unless the option `noinline-too` says otherwise, for targets without calls), calls itself
// in a circle, or has more than one block. Chains of calls and the size of the result are limited, so that no input makes this pass run away.
//
//   tt.func public @k(%x: i32) { %0 = tt.call @twice(%x) : (i32) -> i32  ... }       tt.func public @k(%x: i32) { %0 = arith.addi %x, %x : i32  ... }
//   tt.func private @twice(%a: i32) -> i32 { %0 = arith.addi %a, %a : i32            ->
//                                            tt.return %0 : i32 }
#include "compiler/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace tk::compiler {
#define GEN_PASS_DEF_INLINEPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;

static bool isNoinline(tt::FuncOp function) {
  auto attribute = function->getAttrOfType<BoolAttr>("noinline");
  return (attribute && attribute.getValue()) || function->getAttrOfType<UnitAttr>("noinline");
}

static bool mayBeInlined(tt::FuncOp function, bool noinlineToo) {
  return !function.isKernel() && (noinlineToo || !isNoinline(function)) && function.getBody().hasOneBlock() &&
         isa<tt::ReturnOp>(function.getBody().front().back());
}

/// Every operation that came from the callee tells both places.
static void setCallSite(Operation *inlined, Location caller) {
  inlined->walk([&](Operation *op) { op->setLoc(CallSiteLoc::get(op->getLoc(), caller)); });
}

static void inlineCall(tt::CallOp call, tt::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping map;
  map.map(callee.getBody().getArguments(), call.getOperands());
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator())
    setCallSite(builder.clone(op, map), call.getLoc());
  for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(map.lookupOrDefault(value));
  call.erase();
}

static uint64_t countOperations(tt::FuncOp function) {
  uint64_t count = 0;
  function.walk([&](Operation *) { ++count; });
  return count;
}

namespace {
/// Callees first, so that each body is final when it is copied.
struct Inliner {
  SymbolTableCollection symbols;
  unsigned maxOperations = 0, maxDepth = 0;
  bool noinlineToo = false;
  enum State { Open, Done };
  DenseMap<Operation *, State> states;

  LogicalResult visit(tt::FuncOp function, unsigned depth) {
    if (depth > maxDepth)
      return function.emitError() << "calls nest deeper than " << maxDepth;
    states[function] = Open;
    SmallVector<tt::CallOp> calls;
    function.walk([&](tt::CallOp call) { calls.push_back(call); });
    uint64_t size = countOperations(function);
    for (tt::CallOp call : calls) {
      auto callee = symbols.lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal())
        continue;
      auto state = states.find(callee);
      if (state == states.end()) {
        if (failed(visit(callee, depth + 1)))
          return failure();
      } else if (state->second == Open) {
        continue; // a circle
      }
      if (!mayBeInlined(callee, noinlineToo))
        continue;
      size += countOperations(callee);
      if (size > maxOperations)
        return call.emitError() << "inlining makes `" << function.getSymName() << "` larger than " << maxOperations << " operations";
      inlineCall(call, callee);
    }
    states[function] = Done;
    return success();
  }
};

class InlinePass : public compiler::impl::InlinePassBase<InlinePass> {
public:
  using InlinePassBase::InlinePassBase;

  void runOnOperation() override {
    Inliner inliner;
    inliner.maxOperations = maxOperations;
    inliner.maxDepth = maxDepth;
    inliner.noinlineToo = noinlineToo;
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (!inliner.states.count(function) && failed(inliner.visit(function, 1)))
        return signalPassFailure();
    dropUnused();
  }

private:
  /// Keeps what the public functions reach.
  void dropUnused() {
    SymbolTable symbols(getOperation());
    SmallVector<tt::FuncOp> reached;
    DenseSet<Operation *> kept;
    auto keep = [&](tt::FuncOp function) {
      if (function && kept.insert(function).second)
        reached.push_back(function);
    };
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (function.isKernel())
        keep(function);
    while (!reached.empty())
      reached.pop_back_val().walk([&](tt::CallOp call) { keep(symbols.lookup<tt::FuncOp>(call.getCallee())); });
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<tt::FuncOp>()))
      if (!kept.count(function))
        symbols.erase(function);
  }
};
} // namespace
