// What every target does with LLVM: its list of function passes over a module, and the machine's code as text or object file. No MLIR here.
#pragma once
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

namespace tk::compiler {

/// Runs the passes on every function, with the machine's cost model.
void runFunctionPasses(llvm::Module &module, llvm::TargetMachine &machine, llvm::FunctionPassManager passes);
/// Empty when the machine can't write this kind of file.
std::string machineCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType kind);

} // namespace tk::compiler
