// Which matrix instruction a tt.dot goes to, and how the warps share the tile.
#pragma once
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "dialects/ttg/TTG.h"

namespace tk::compiler {

/// What the choice has to know of the operands' places.
struct OperandPlaces {
  unsigned aFast = 1, bFast = 1; // the axis along which an operand has its neighbours
};

/// The accumulator's layout, or nothing when the shape or the types have no instruction: then multiply-adds do it. `reason` says why, and where mma.sync does
/// it what keeps wgmma from it.
ttg::MmaAttr chooseMatrixUnit(tt::DotOp dot, const nvidia::Target &target, unsigned warps, OperandPlaces places, std::string &reason);

} // namespace tk::compiler
