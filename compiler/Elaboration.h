// What Compiler::elaborate returns, for those who may see MLIR.
#pragma once
#include "compiler/Compiler.h"
#include "lang/sema/Elaborate.h"

namespace tk::compiler {
struct Compiler::Elaboration {
  lang::Elaborated elaborated;
  std::string kernel;
  std::vector<ArgumentSlot> slots;
};
} // namespace tk::compiler
