// Compile-time values as text, and unbounded integers as numbers and text.
#pragma once
#include "lang/sema/ConstValue.h"
#include "llvm/ADT/APSInt.h"

namespace tk::lang {

std::string toString(const BigInt &value);
/// From decimal digits with an optional sign.
BigInt parseBigInt(const std::string &digits);
/// Rounded to nearest even; infinite beyond the range.
double toDouble(const BigInt &value);
/// The number of bits of |value|.
unsigned bitLength(const BigInt &value);
/// Two's complement in `bits` bits (low bits kept).
llvm::APInt toAPInt(const BigInt &value, unsigned bits);
/// From two's complement, signed.
BigInt fromAPInt(const llvm::APInt &value);
/// The integer part of a finite double, exactly.
BigInt truncateToBigInt(double value);

/// Python's repr of a float.
std::string floatText(double value);
std::string typeText(const TypeValue &type);
std::string reprOf(const ConstValue &value, unsigned depth);
/// Python's str().
std::string strOf(const ConstValue &value);
/// Python's format(value, spec) for the specifications of integers, floats and strings; empty and `error` filled for a bad one.
std::optional<std::string> formatValue(const ConstValue &value, const std::string &spec, std::string &error);

} // namespace tk::lang
