// The ttg dialect: include this for its layouts and operations.
#pragma once
#include "dialects/tt/TT.h"
#include "dialects/ttg/TileLayout.h"

namespace tk::ttg {
/// Shared memory of a block.
struct SharedMemory : public mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "<SharedMemory>"; }
};
} // namespace tk::ttg

#include "dialects/ttg/TTGAttrInterfaces.h.inc"
#include "dialects/ttg/TTGDialect.h.inc"
#include "dialects/ttg/TTGEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/ttg/TTGAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/ttg/TTGTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/ttg/TTGOps.h.inc"

namespace tk::ttg {
/// The map of a tile type with a layout.
TileLayout layoutOf(mlir::Type tile);
/// The type with this layout.
mlir::RankedTensorType withLayout(mlir::Type tile, mlir::Attribute layout);
mlir::RankedTensorType withLayout(mlir::Type tile, const TileLayout &layout);

/// Accumulator and operands of a matrix instruction for a tile [.., M, N], operands [.., M, K] and [.., K, N]. Sources: PTX ISA 8.5, "Warp Level Matrix Multiply-Accumulate
/// Instructions", figures of the fragments of mma.m16n8k16, .m16n8k8, .m16n8k32 and .m8n8k4.
struct MatrixShape {
  unsigned m, n, k; // of one instruction
};
MatrixShape shapeOf(MatrixUnit unit);
enum class MatrixOperand { A, B, C };
/// `elementsPerRegister`: of a 32-bit register, 4 for 8-bit types to 1 for 32-bit types.
TileLayout matrixLayout(MmaAttr mma, MatrixOperand operand, llvm::ArrayRef<int64_t> shape, unsigned elementsPerRegister);

/// How a matrix of two axes lies in shared memory for wgmma: rows of `rowBytes` (32, 64 or 128) along the fast axis, chunks of 16 bytes of which are exchanged
/// by the number of the slow axis, and one panel of such rows behind the other. PTX ISA, "Shared Memory Matrix Layout" of wgmma.
struct SwizzledMatrix {
  unsigned fastAxis = 1, rowBytes = 128;
  uint64_t panelBytes = 0; // of the whole slow axis
};
/// The layout, or null where a row along the fast axis is shorter than 32 bytes.
SharedAttr swizzledLayout(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, unsigned fastAxis, unsigned elementBytes);
/// Whether a descriptor's tile lies like this, and how.
std::optional<SwizzledMatrix> swizzleOf(MemDescType memory);

/// Attributes of a module or function in ttg.
inline constexpr llvm::StringLiteral kNumWarpsName = "ttg.num-warps";
inline constexpr llvm::StringLiteral kSharedName = "ttg.shared";       // bytes, of a function
inline constexpr llvm::StringLiteral kOffsetName = "ttg.offset"; // of an operation's scratch, or of what it allocates, in shared memory, bytes

/// What a region of warps is asked for, never the module: how many warps execute `op`. For a partition or a function, how many execute what is in it.
unsigned warpsOf(mlir::Operation *op);
/// The default region or partition that `op` is in, whose warps run by themselves; null where the function's warps are not divided.
mlir::Region *warpRegionOf(mlir::Operation *op);
} // namespace tk::ttg
