// What a user says of values: `multiple_of`, `max_contiguous`, `max_constancy`.
//
// A fact is an attribute (one number an axis) of the operation that computes the value. What no single operation computes (an argument of a function or a loop,
// a result of a branch) is passed through a `tt.bitcast` from its type to the same type, which does nothing but hold the fact.
#pragma once
#include "mlir/IR/Operation.h"

namespace tk::tt {

/// Runs of so many elements start at a multiple of so much; for pointers in bytes.
inline constexpr llvm::StringLiteral kDivisibility = "tt.divisibility";
/// Runs of so many elements count up by one.
inline constexpr llvm::StringLiteral kContiguity = "tt.contiguity";
/// Runs of so many elements are equal.
inline constexpr llvm::StringLiteral kConstancy = "tt.constancy";
inline constexpr llvm::StringLiteral kFactNames[] = {kDivisibility, kContiguity, kConstancy};

bool hasFacts(mlir::Operation *op);
/// Whether `op` is a `tt.bitcast` from a type to itself.
bool isFactCarrier(mlir::Operation *op);

} // namespace tk::tt
