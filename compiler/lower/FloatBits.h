// 16- and 8-bit floats on registers of fp32. A register holds a value of the narrow type exactly; these functions decode memory, encode it, and round.
// All work on scalars and vectors alike.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/IR/IRBuilder.h"

namespace tk::lower {

/// f16, bf16 or an 8-bit kind: held as fp32.
bool isNarrowFloat(mlir::Type type);
/// Integer bits of the narrow type (i8 or i16, or a vector) -> fp32.
llvm::Value *decodeFloat(llvm::IRBuilder<> &b, llvm::Value *bits, mlir::Type type);
/// fp32 that has a value of the narrow type -> its bits.
llvm::Value *encodeFloat(llvm::IRBuilder<> &b, llvm::Value *value, mlir::Type type);
/// fp32 -> the nearest value of the narrow type, ties to even (8-bit kinds saturate), or toward zero.
llvm::Value *roundFloat(llvm::IRBuilder<> &b, llvm::Value *value, mlir::Type type, bool towardZero = false);
/// fp64 -> fp32 rounded to odd, so that a second rounding to a narrow type is right.
llvm::Value *roundToOdd(llvm::IRBuilder<> &b, llvm::Value *value);
/// The type with another element: scalar stays scalar, a vector keeps its length.
llvm::Type *likeType(llvm::Type *shape, llvm::Type *element);

} // namespace tk::lower
