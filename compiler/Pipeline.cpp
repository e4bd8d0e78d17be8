// The compiler's phases, each with the reason why it stands where it stands.
#include "compiler/Pipeline.h"
#include "compiler/Passes.h"

namespace tk::compiler {

void buildTilePipeline(mlir::OpPassManager &passes) {
  // Helpers first: everything after sees one function, and facts about its arguments cross no calls.
  passes.addPass(createInlinePass());
  // Constants and dead code go before structure is looked at; a loop that turns out to run once disappears.
  passes.addNestedPass<tt::FuncOp>(createSimplifyPass());
  // `offsets += BLOCK` becomes a carried scalar, so that the offset tile is invariant when the pointers are rewritten.
  passes.addNestedPass<tt::FuncOp>(createSplitCarriedTilesPass());
  // Pointer tiles become (scalar base, offset tile): alignment, contiguity and bounds are read from that form by every target.
  passes.addNestedPass<tt::FuncOp>(createRewritePointersPass());
  // The rewrite leaves dead pointer arithmetic and invariant offsets inside loops.
  passes.addNestedPass<tt::FuncOp>(createSimplifyPass());
}

/// The emitters make one function of a kernel, so the calls that are left, of noinline functions, end here.
static void inlineEverything(mlir::OpPassManager &passes) {
  InlinePassOptions everything;
  everything.noinlineToo = true;
  passes.addPass(createInlinePass(everything));
}

void buildCpuPipeline(mlir::OpPassManager &passes) {
  inlineEverything(passes);
  // Math functions become the library's arithmetic before tiles are grouped into loops, so that they run on vectors there.
  passes.addPass(createExpandMathPass());
  passes.addNestedPass<tt::FuncOp>(createSimplifyPass());
}

void buildGpuPipeline(mlir::OpPassManager &passes, const std::string &target, unsigned numWarps, unsigned numStages) {
  inlineEverything(passes);
  // Layouts are maps of bits. As early as that, while there are few operations: what makes masks and indices is simplified and hoisted with the rest.
  passes.addNestedPass<tt::FuncOp>(createPadTilesPass());
  // The library's functions before layouts, so that their steps are ordinary elementwise operations; what the machine computes itself stays.
  ExpandMathPassOptions math;
  math.keepNative = true;
  passes.addPass(createExpandMathPass(math));
  passes.addNestedPass<tt::FuncOp>(createSimplifyPass());
  // Parts of operands and their products before layouts, which choose an instruction for each product.
  passes.addNestedPass<tt::FuncOp>(createSplitPrecisionPass());
  // Right before layouts, which then find aligned vectors: everything that computes with a row's index is there in its last form.
  AlignRowsPassOptions rows;
  rows.numWarps = numWarps;
  passes.addNestedPass<tt::FuncOp>(createAlignRowsPass(rows));
  // Every tile gets its place, with a conversion where two places meet.
  AssignLayoutsPassOptions layouts;
  layouts.target = target, layouts.numWarps = numWarps;
  passes.addNestedPass<tt::FuncOp>(createAssignLayoutsPass(layouts));
  // Where the layouts say what becomes of a load, and the slots are still to be placed.
  PipelineLoopsPassOptions stages;
  stages.target = target, stages.numStages = numStages;
  passes.addNestedPass<tt::FuncOp>(createPipelineLoopsPass(stages));
  // Tiles are in slots now: a round's first product may begin in the round before, and those that nobody asks for before the next round need not be waited for
  // in theirs.
  passes.addNestedPass<tt::FuncOp>(createAdvanceProductsPass());
  passes.addNestedPass<tt::FuncOp>(createOverlapProductsPass());
  // After the pipeliner, whose loads are copies by now; before barriers are placed, which order what is moved.
  passes.addNestedPass<tt::FuncOp>(createHoistLoadsPass());
  // Last, when every conversion that will exist is there.
  passes.addNestedPass<tt::FuncOp>(createAllocateSharedPass());
  // The barriers for shared memory order loads and stores too, so only what is left needs one of its own.
  passes.addNestedPass<tt::FuncOp>(createOrderMemoryPass());
}

} // namespace tk::compiler
