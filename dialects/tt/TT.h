// The tt dialect: include this for its types, enumerations and operations.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tk::tt {
/// Global memory, the one resource that loads, stores, atomics, prints and assertions touch.
struct GlobalMemory : public mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "<GlobalMemory>"; }
};
} // namespace tk::tt

#include "dialects/tt/TTDialect.h.inc"
#include "dialects/tt/TTEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/tt/TTTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/tt/TTOps.h.inc"

namespace tk::tt {
/// The type of an element: of a tile its element type, else the type itself.
inline mlir::Type elementType(mlir::Type type) {
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type))
    return tile.getElementType();
  return type;
}
/// A constant whose bits are zero, or a tile of them.
bool isZero(mlir::Value value);
/// The extents of a tile; none for a scalar.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Type type) {
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type))
    return tile.getShape();
  return {};
}
inline bool isTile(mlir::Type type) { return mlir::isa<mlir::RankedTensorType>(type); }
/// `element` as a scalar or as a tile of the shape (and layout, where there is one) that `like` has.
inline mlir::Type withShapeOf(mlir::Type element, mlir::Type like) {
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(like))
    return mlir::RankedTensorType::get(tile.getShape(), element, tile.getEncoding());
  return element;
}
/// One of the element types of tt: a pointer, a signless integer of 1, 8, 16, 32 or 64 bits, or a floating-point type that tt knows.
bool isScalarType(mlir::Type type);
/// The most elements a tile may have.
inline constexpr int64_t kMaxTileElements = int64_t(1) << 20;
/// On prints and assertions whose operands were padded to powers of two: the true extents, a list an operand, empty for one that is not padded.
inline constexpr llvm::StringLiteral kTrueShapeName = "tk.shape";
/// At least one axis, every extent at least 1, at most kMaxTileElements elements.
bool isTileShape(llvm::ArrayRef<int64_t> shape);
/// The type of what a pointer, or each pointer of a tile, points to, in that shape. Null when `type` is neither.
mlir::Type pointeesOf(mlir::Type type);
/// i1 in the shape of `type`.
mlir::Type maskTypeFor(mlir::Type type);
/// For operand types that a verifier states better than a trait can.
inline bool leaveToVerifier(mlir::Type, mlir::Type) { return true; }
/// Bytes of one element in memory: pointers take 8, i1 takes 1.
int64_t bytesOf(mlir::Type element);
} // namespace tk::tt
