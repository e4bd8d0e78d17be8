// LLVM for the CPU: target machines, the pass list, and output. No MLIR here.
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace tk::cpu {

/// A target machine for a target of TargetName.h; null with `error` filled for another name.
std::unique_ptr<llvm::TargetMachine> createMachine(const std::string &target, bool fpFusion, std::string &error);
/// Width of the vector registers that code for the machine should use, in bytes.
unsigned vectorBytes(const llvm::TargetMachine &machine);
/// The pass list (see Machine.cpp), with the machine's triple and cost model.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tk::cpu
