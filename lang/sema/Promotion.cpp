// The type of binary operators' operands: the table of NUMERICS 2, exactly.
//
// A compile-time number is weak: when its kind (bool < int < float) is not above the other operand's, it takes that operand's dtype and must fit it. A run-time scalar is not weak.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/Elaborator.h"
#include "lang/sema/TypeSpelling.h"

namespace tk::lang {

static int kindOf(DType type) { return isFloat(type) ? 2 : type == DType::I1 ? 0 : 1; }

static DType integerType(unsigned bits, bool isSigned) {
  switch (bits) {
  case 1: return DType::I1;
  case 8: return isSigned ? DType::I8 : DType::U8;
  case 16: return isSigned ? DType::I16 : DType::U16;
  case 32: return isSigned ? DType::I32 : DType::U32;
  default: return isSigned ? DType::I64 : DType::U64;
  }
}

/// Rules 1 to 7 for two typed operands; empty when there is no common type.
static std::optional<DType> tableType(DType a, DType b, Arithmetic kind) {
  auto either = [&](DType type) { return a == type || b == type; };
  bool divides = kind == Arithmetic::Divide || kind == Arithmetic::Modulo;
  if (either(DType::F64))
    return DType::F64;
  bool floating = isFloat(a) || isFloat(b);
  if (floating && (isFloat8(a) || isFloat8(b)) && (isInteger(a) || isInteger(b)))
    return std::nullopt;
  if ((floating && divides) || either(DType::F32))
    return DType::F32;
  if (either(DType::F16))
    return DType::F16;
  if (either(DType::BF16))
    return a == b ? DType::BF16 : DType::F32;
  if (floating)
    return a == b ? a : DType::F16;
  if (isSigned(a) == isSigned(b))
    return integerType(std::max(bitsOf(a), bitsOf(b)), isSigned(a));
  unsigned unsignedBits = bitsOf(isSigned(a) ? b : a), signedBits = bitsOf(isSigned(a) ? a : b);
  return unsignedBits >= signedBits ? integerType(unsignedBits, false) : integerType(signedBits, true);
}

std::optional<DType> Elaborator::commonType(const Value &lhs, const Value &rhs, Arithmetic kind, const std::string &what, SourceRange range) {
  auto typed = [&](const Value &value) -> std::optional<DType> {
    if (auto *runtime = value.asRuntime())
      return runtime->isPointer() ? std::nullopt : std::optional<DType>(runtime->type.dtype);
    return value.asConst() ? literalType(*value.asConst()) : std::nullopt;
  };
  std::optional<DType> a = typed(lhs), b = typed(rhs);
  if (!a || !b) {
    const Value &bad = a ? rhs : lhs;
    if (bad.asConst() && bad.asConst()->get<BigInt>())
      error(range, Diag::IntegerTooLarge, bad.asConst()->repr());
    else
      error(range, Diag::BadOperands, what, lhs.describe(), rhs.describe());
    return std::nullopt;
  }
  bool divides = kind == Arithmetic::Divide || kind == Arithmetic::Modulo;
  if ((lhs.asConst() != nullptr) != (rhs.asConst() != nullptr)) {
    const ConstValue &weak = lhs.asConst() ? *lhs.asConst() : *rhs.asConst();
    DType literal = lhs.asConst() ? *a : *b, strong = lhs.asConst() ? *b : *a;
    if (kindOf(literal) <= kindOf(strong)) {
      auto *integer = weak.get<BigInt>();
      if (integer && isInteger(strong) && !fitsInteger(*integer, strong)) {
        bool negative = *integer < BigInt(0) && !isSigned(strong);
        error(range, negative ? Diag::NegativeWithUnsigned : Diag::LiteralOutOfRange, weak.repr(), std::string(spelling(strong)));
        return std::nullopt;
      }
      return divides && isFloat(strong) && bitsOf(strong) < 32 ? DType::F32 : strong;
    }
  }
  std::optional<DType> result = tableType(*a, *b, kind);
  if (!result) {
    error(range, Diag::NoCommonType, std::string(spelling(*a)), std::string(spelling(*b)), what);
    return std::nullopt;
  }
  if (kind != Arithmetic::Ordinary && isInteger(*a) && isInteger(*b) && isSigned(*a) != isSigned(*b)) {
    error(range, Diag::MixedSignedness, what, std::string(spelling(*a)), std::string(spelling(*b)));
    return std::nullopt;
  }
  return result;
}

std::optional<std::pair<Runtime, Runtime>> Elaborator::promote(const Value &lhs, const Value &rhs, Arithmetic kind, const std::string &what, SourceRange range) {
  if (lhs.isError() || rhs.isError())
    return std::nullopt;
  std::optional<DType> type = commonType(lhs, rhs, kind, what, range);
  if (!type)
    return std::nullopt;
  mlir::Location at = loc(range);
  auto typed = [&](const Value &value) {
    if (auto *runtime = value.asRuntime())
      return convert(*runtime, *type, at);
    return materialize(*value.asConst(), *type, range);
  };
  Runtime both[2] = {typed(lhs), typed(rhs)};
  if (!broadcastAll(both, what, range))
    return std::nullopt;
  return std::make_pair(both[0], both[1]);
}

} // namespace tk::lang
