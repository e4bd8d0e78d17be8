// C's fmod as an LLVM function of the module, for machines that have neither the instruction nor a library.
#pragma once
#include "llvm/IR/IRBuilder.h"

namespace tk::lower {

/// `x - n * y` with n the quotient rounded toward zero: exact, with the sign of x; NaN for a divisor of 0 or an infinite dividend. fp32 or fp64 scalars.
llvm::Value *createRemainder(llvm::IRBuilder<> &b, llvm::Value *x, llvm::Value *y);

} // namespace tk::lower
