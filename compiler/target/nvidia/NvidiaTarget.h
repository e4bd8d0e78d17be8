// ttg -> PTX.
#pragma once
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/KernelAbi.h"

namespace tk::nvidia {

enum class Stage { Llvm, Ptx };

struct Output {
  std::string code; // LLVM IR or PTX; empty after an error
  std::string error;
  mlir::LocationAttr location;
};

/// The kernel of a module in ttg, with its layouts and shared memory assigned. Fills in what the launch needs to know.
Output lower(mlir::ModuleOp module, const Target &target, bool fpFusion, unsigned maxRegisters, Stage stage, runtime::KernelAbi &abi);

} // namespace tk::nvidia
