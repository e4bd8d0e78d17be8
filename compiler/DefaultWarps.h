// How many warps a program gets on a GPU when the launch doesn't say.
//
// A thread should hold enough of a tile for wide accesses and some work in flight, and little enough that its registers suffice. So the widest tile decides: 4
// warps up to 4096 elements, 8 up to 16384, 16 up to 32768, 32 above, which leaves at most 64 elements a thread up to 65536. Matrix products keep their
// accumulators in registers and share operands between warps: 8 warps for results of 16384 elements and more, else 4.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tk::compiler {

/// Of the one kernel in a module of `tt`.
unsigned defaultWarps(mlir::ModuleOp module);

} // namespace tk::compiler
