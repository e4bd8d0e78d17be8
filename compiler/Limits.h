// What a kernel may take of a GPU, and the messages when it takes too much.
#pragma once
#include "compiler/Compiler.h"
#include "compiler/Remarks.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "lang/sema/Elaborate.h"
#include "lang/syntax/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"

namespace tk::compiler {

/// The kernel that the messages are about.
struct LimitedKernel {
  const lang::ModuleScope &scope;
  const lang::ast::Function &function;
  const std::vector<lang::ParamSpec> &params;
};

/// Reports a number of warps that no block can have. False then.
bool checkWarps(unsigned numWarps, const LimitedKernel &kernel, lang::Diagnostics &diagnostics);

/// For a module in ttg whose shared memory is placed: reports a kernel that needs more than a block can have, with what needs it (the remarks of kind `shared`)
/// and the constants that set the sizes of its tiles. False then.
bool checkSharedMemory(mlir::ModuleOp module, const Remarks &remarks, const nvidia::Target &target, const LimitedKernel &kernel,
                       lang::Diagnostics &diagnostics);

} // namespace tk::compiler
