// The compiler's passes: `createXPass()` for each record of Passes.td, and their registration for tk-opt.
#pragma once
#include "dialects/tt/TT.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tk::compiler {
#define GEN_PASS_DECL
#include "compiler/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Passes.h.inc"
} // namespace tk::compiler
