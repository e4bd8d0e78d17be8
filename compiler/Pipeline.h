// The phases of the compiler as pass lists.
#pragma once
#include "mlir/Pass/PassManager.h"

namespace tk::compiler {

/// tt as elaborated -> optimised tt, the form that every target starts from (`--emit tt-opt`).
void buildTilePipeline(mlir::OpPassManager &passes);
/// Optimised tt -> what the CPU's emission takes (compiler/target/cpu).
void buildCpuPipeline(mlir::OpPassManager &passes);

/// Optimised tt -> ttg with layouts, shared memory and barriers: what the GPUs' emission takes (compiler/lower). `target` is a row of target/nvidia/Targets.def.
void buildGpuPipeline(mlir::OpPassManager &passes, const std::string &target, unsigned numWarps, unsigned numStages);

} // namespace tk::compiler
