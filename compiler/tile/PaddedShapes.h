// Tiles whose extents are rounded up to powers of two: where their true elements are.
//
// The true elements of a padded tile are a prefix of each axis; what lies behind is padding and has any value.
#pragma once
#include "dialects/tt/TT.h"
#include "mlir/IR/Builders.h"

namespace tk::compiler {

inline bool isPowerOfTwo(int64_t extent) { return (extent & (extent - 1)) == 0; }
bool needsPadding(mlir::Type type);
llvm::SmallVector<int64_t> paddedShape(llvm::ArrayRef<int64_t> shape);
/// A tile's type with every extent rounded up to a power of two; any other type as it is.
mlir::Type paddedType(mlir::Type type);

/// i1 in the padded shape: whether an element is a true one along each of `axes`. Null where none of these is padded.
mlir::Value trueElements(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> axes);
/// The same along every axis.
mlir::Value trueElements(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape);
/// i32 in the padded shape: an element's position along `axis`.
mlir::Value positions(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape, unsigned axis);
/// `value` in every element of an integer tile of this (padded) shape.
mlir::Value splatOf(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape, mlir::Type element, int64_t value);

/// Whether the true elements stand at the same row-major places of both padded shapes, so that a reshape stays one.
bool reshapesInPlace(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
/// The elements of `source`, which is padded and has the true shape `from`, in the padded form of `to`: a gather of computed places.
mlir::Value reshapeByPlace(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace tk::compiler
