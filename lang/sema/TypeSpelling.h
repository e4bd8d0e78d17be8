// Type spellings of signatures and annotations, and compile-time numbers as numbers of a dtype.
#pragma once
#include "lang/sema/ConstValue.h"
#include "llvm/ADT/APFloat.h"

namespace tk::lang {

struct SpelledType {
  TypeValue type;
  unsigned divisibility = 1;
};
/// "*fp32:16", "i32", "*kfp16", "**i64", "B". Empty when the text is something else.
std::optional<SpelledType> parseTypeSpelling(std::string_view text);

const llvm::fltSemantics &semanticsOf(DType type);
/// A number rounded to nearest even to a floating-point dtype (8-bit kinds saturate); empty for what is no number.
std::optional<llvm::APFloat> floatConstant(const ConstValue &value, DType type);
bool fitsInteger(const BigInt &value, DType type);

} // namespace tk::lang
