// Every pass, in the order the pipelines use them. The banner of each source file shows the IR before and after.
#ifndef TK_COMPILER_PASSES_TD
#define TK_COMPILER_PASSES_TD

include "mlir/Pass/PassBase.td"

class TK_Pass<string argument, string operation> : Pass<argument, operation> {
  let dependentDialects = ["::tk::tt::TTDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

// ---- tile: tt -> tt ----

def InlinePass : TK_Pass<"tk-inline", "::mlir::ModuleOp"> {
  let summary = "inlines calls of private helpers and drops functions that nothing calls";
  let options = [Option<"maxOperations", "max-operations", "unsigned", "1000000", "most operations a function may have after inlining">,
                 Option<"maxDepth", "max-depth", "unsigned", "200", "deepest chain of calls">,
                 Option<"noinlineToo", "noinline-too", "bool", "false", "functions that ask not to be inlined are inlined as well">];
}

def SimplifyPass : TK_Pass<"tk-simplify", "::tk::tt::FuncOp"> {
  let summary = "canonicalization without scf.while's patterns, common subexpressions, and loop-invariant pure code";
}

def SplitCarriedTilesPass : TK_Pass<"tk-split-carried-tiles", "::tk::tt::FuncOp"> {
  let summary = "an integer tile that control flow only shifts by a scalar is carried as that scalar";
}

def RewritePointersPass : TK_Pass<"tk-rewrite-pointers", "::tk::tt::FuncOp"> {
  let summary = "tiles of pointers become a scalar base and a tile of offsets";
}

def PadTilesPass : TK_Pass<"tk-pad-tiles", "::tk::tt::FuncOp"> {
  let summary = "the extents of tiles become powers of two, with guards where padding would be seen";
}

def ExpandMathPass : TK_Pass<"tk-expand-math", "::mlir::ModuleOp"> {
  let summary = "elementary functions become the inlined arithmetic of the math library";
  let options = [Option<"keepNative", "keep-native", "bool", "false", "keep the functions of fp32 that GPUs compute themselves (exp, exp2, rsqrt) where their error is allowed (afn)">];
  let dependentDialects = ["::tk::tt::TTDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def SplitPrecisionPass : TK_Pass<"tk-split-precision", "::tk::tt::FuncOp"> {
  let summary = "products of fp32 operands in several parts become products that a matrix unit takes";
  let dependentDialects = ["::tk::tt::TTDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def AlignRowsPass : TK_Pass<"tk-align-rows", "::tk::tt::FuncOp"> {
  let summary = "rows at odd addresses are worked on from the aligned address before their beginning";
  let options = [Option<"numWarps", "num-warps", "unsigned", "4", "warps of a block, a power of two">];
  let dependentDialects = ["::tk::tt::TTDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

// ---- layout and schedule: tt -> ttg ----

class TK_GpuPass<string argument, string operation> : Pass<argument, operation> {
  let dependentDialects = ["::tk::tt::TTDialect", "::tk::ttg::TTGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def AssignLayoutsPass : TK_GpuPass<"tk-assign-layouts", "::tk::tt::FuncOp"> {
  let summary = "every tile gets a layout, with conversions where two of them meet";
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "row of target/nvidia/Targets.def">,
                 Option<"numWarps", "num-warps", "unsigned", "4", "warps of a block, a power of two">];
}

def PipelineLoopsPass : TK_GpuPass<"tk-pipeline-loops", "::tk::tt::FuncOp"> {
  let summary = "loads that feed products run ahead of their loop, through slots of shared memory";
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "row of target/nvidia/Targets.def">,
                 Option<"numStages", "num-stages", "unsigned", "0", "rounds of a loop that are under way; 0: as suits the target">];
}

def AdvanceProductsPass : TK_GpuPass<"tk-advance-products", "::tk::tt::FuncOp"> {
  let summary = "products of warp groups for the next round of their loop begin before the work of this one";
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def OverlapProductsPass : TK_GpuPass<"tk-overlap-products", "::tk::tt::FuncOp"> {
  let summary = "products of warp groups go on while the next round of their loop begins";
}

def HoistLoadsPass : TK_GpuPass<"tk-hoist-loads", "::tk::tt::FuncOp"> {
  let summary = "loads go before reductions and conversions that they don't need";
}

def AllocateSharedPass : TK_GpuPass<"tk-allocate-shared", "::tk::tt::FuncOp"> {
  let summary = "places scratch in shared memory and orders it with barriers";
}

def OrderMemoryPass : TK_GpuPass<"tk-order-memory", "::tk::tt::FuncOp"> {
  let summary = "puts barriers between loads and the stores of other threads that may overwrite what they read";
}

#endif
