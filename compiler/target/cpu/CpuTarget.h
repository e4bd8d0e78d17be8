// tt to LLVM IR and on to code for the CPU.
#pragma once
#include "dialects/tt/TT.h"
#include "llvm/IR/LLVMContext.h"
#include <string>

namespace tk::cpu {

struct CpuOutput {
  std::string code; // what was asked for: LLVM text, assembly or an object file
  uint64_t arenaBytes = 0;
  bool spins = false; // the code calls the yield service
  std::string error;  // not empty: what the target can't do, at `location`
  mlir::LocationAttr location;
};

enum class CpuStage { Llvm, Assembly, Object };

/// Lowers the public function of an optimised module (compiler/Pipeline.cpp) for `target` (see TargetName.h).
CpuOutput lower(mlir::ModuleOp module, const std::string &target, bool fpFusion, CpuStage stage);

} // namespace tk::cpu
