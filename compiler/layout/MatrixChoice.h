// Which matrix instruction a tt.dot goes to, and how the warps share the tile.
#pragma once
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "dialects/ttg/TTG.h"

namespace tk::compiler {

/// The accumulator's layout, or nothing when the shape or the types have no instruction: then multiply-adds do it. `reason` says why.
ttg::MmaAttr chooseMatrixUnit(tt::DotOp dot, const nvidia::Target &target, unsigned warps, std::string &reason);

} // namespace tk::compiler
