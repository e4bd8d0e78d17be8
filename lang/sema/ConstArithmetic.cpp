// Python's arithmetic and comparisons on compile-time values.
//
// Integers are unbounded up to kMaxBits; floor division and modulo round towards minus infinity; `/` of integers is correctly rounded.
#include "lang/sema/ConstText.h"
#include "lang/sema/HostRun.h"
#include <cmath>

namespace tk::lang {

static constexpr unsigned kMaxBits = 4096;
static constexpr size_t kMaxSequence = 1u << 20;

using Result = std::optional<ConstValue>;

static Result fail(std::string &error, std::string text) {
  error = std::move(text);
  return std::nullopt;
}

static Result sized(BigInt value, std::string &error) {
  if (bitLength(value) > kMaxBits)
    return fail(error, fmt::format("integer result is longer than {} bits", kMaxBits));
  return ConstValue(std::move(value));
}

static bool isInteger(const ConstValue &value) { return value.get<bool>() || value.get<BigInt>(); }
static bool isNumber(const ConstValue &value) { return isInteger(value) || value.get<double>(); }
static BigInt integerOf(const ConstValue &value) { return value.get<bool>() ? BigInt(static_cast<int64_t>(*value.get<bool>())) : *value.get<BigInt>(); }

static BigInt floorDivide(const BigInt &a, const BigInt &b) {
  BigInt quotient = a / b;
  if (a % b != BigInt(0) && (a < BigInt(0)) != (b < BigInt(0)))
    quotient -= BigInt(1);
  return quotient;
}

/// a / b rounded once to a double: the quotient's leading bits and a sticky bit are rounded together.
static double trueDivide(const BigInt &a, const BigInt &b) {
  if (bitLength(a) <= 53 && bitLength(b) <= 53)
    return toDouble(a) / toDouble(b);
  int shift = std::max(0, 66 + static_cast<int>(bitLength(b)) - static_cast<int>(bitLength(a)));
  llvm::APInt numerator = toAPInt(a, bitLength(a) + 2).abs(), denominator = toAPInt(b, bitLength(b) + 2).abs();
  unsigned width = std::max(numerator.getBitWidth() + static_cast<unsigned>(shift), denominator.getBitWidth()) + 2;
  llvm::APInt quotient, remainder;
  llvm::APInt::udivrem(numerator.zext(width).shl(static_cast<unsigned>(shift)), denominator.zext(width), quotient, remainder);
  if (!remainder.isZero())
    quotient.setBit(0);
  double magnitude = std::ldexp(toDouble(fromAPInt(quotient)), -shift);
  return (a < BigInt(0)) != (b < BigInt(0)) ? -magnitude : magnitude;
}

static Result power(const BigInt &base, const BigInt &exponent, std::string &error) {
  if (exponent < BigInt(0)) {
    if (base == BigInt(0))
      return fail(error, "0 cannot be raised to a negative power");
    return ConstValue(std::pow(toDouble(base), toDouble(exponent)));
  }
  BigInt magnitude = base < BigInt(0) ? -base : base;
  if (magnitude > BigInt(1) && (exponent > BigInt(kMaxBits) || (bitLength(base) - 1) * static_cast<uint64_t>(static_cast<int64_t>(exponent)) > kMaxBits))
    return fail(error, fmt::format("integer result is longer than {} bits", kMaxBits));
  if (magnitude <= BigInt(1)) // 0, 1, -1: any exponent
    return ConstValue(exponent == BigInt(0) ? BigInt(1) : base < BigInt(0) && exponent % BigInt(2) == BigInt(0) ? BigInt(1) : base);
  BigInt result(1), square = base;
  for (int64_t n = static_cast<int64_t>(exponent); n; n >>= 1) {
    if (n & 1)
      result = result * square;
    if (n > 1)
      square = square * square;
  }
  return sized(std::move(result), error);
}

static Result shift(bool left, const BigInt &value, const BigInt &count, std::string &error) {
  if (count < BigInt(0))
    return fail(error, "negative shift count");
  if (left) {
    if (value == BigInt(0))
      return ConstValue(value);
    if (count > BigInt(kMaxBits) || bitLength(value) + static_cast<uint64_t>(static_cast<int64_t>(count)) > kMaxBits)
      return fail(error, fmt::format("integer result is longer than {} bits", kMaxBits));
    unsigned amount = static_cast<unsigned>(static_cast<int64_t>(count));
    return ConstValue(fromAPInt(toAPInt(value, bitLength(value) + amount + 2).shl(amount)));
  }
  unsigned bits = bitLength(value) + 2;
  if (count > BigInt(bits))
    return ConstValue(value < BigInt(0) ? BigInt(-1) : BigInt(0));
  return ConstValue(fromAPInt(toAPInt(value, bits).ashr(static_cast<unsigned>(static_cast<int64_t>(count)))));
}

static BigInt bitwise(ast::BinaryOp op, const BigInt &a, const BigInt &b) {
  unsigned bits = std::max(bitLength(a), bitLength(b)) + 2;
  llvm::APInt x = toAPInt(a, bits), y = toAPInt(b, bits);
  return fromAPInt(op == ast::BinaryOp::BitAnd ? x & y : op == ast::BinaryOp::BitOr ? x | y : x ^ y);
}

static Result integerBinary(ast::BinaryOp op, const BigInt &a, const BigInt &b, std::string &error) {
  using Op = ast::BinaryOp;
  bool divides = op == Op::Div || op == Op::FloorDiv || op == Op::Mod;
  if (divides && b == BigInt(0))
    return fail(error, "division by zero");
  switch (op) {
  case Op::Add: return sized(a + b, error);
  case Op::Sub: return sized(a - b, error);
  case Op::Mul: return sized(a * b, error);
  case Op::Div: return ConstValue(trueDivide(a, b));
  case Op::FloorDiv: return ConstValue(floorDivide(a, b));
  case Op::Mod: return ConstValue(a - floorDivide(a, b) * b);
  case Op::Pow: return power(a, b, error);
  case Op::LShift: return shift(true, a, b, error);
  case Op::RShift: return shift(false, a, b, error);
  case Op::BitAnd: case Op::BitOr: case Op::BitXor: return ConstValue(bitwise(op, a, b));
  case Op::MatMul: break;
  }
  return std::nullopt;
}

static Result floatBinary(ast::BinaryOp op, double a, double b, std::string &error) {
  using Op = ast::BinaryOp;
  switch (op) {
  case Op::Add: return ConstValue(a + b);
  case Op::Sub: return ConstValue(a - b);
  case Op::Mul: return ConstValue(a * b);
  case Op::Div:
    if (b == 0)
      return fail(error, "division by zero");
    return ConstValue(a / b);
  case Op::FloorDiv: case Op::Mod: {
    if (b == 0)
      return fail(error, "division by zero");
    double remainder = std::fmod(a, b);
    double quotient = (a - remainder) / b;
    if (remainder != 0 && (remainder < 0) != (b < 0))
      remainder += b, quotient -= 1;
    else if (remainder == 0)
      remainder = std::copysign(0.0, b);
    double whole = std::floor(quotient); // `quotient` is nearly whole already
    if (quotient - whole > 0.5)
      whole += 1;
    return ConstValue(op == Op::Mod ? remainder : quotient == 0 ? std::copysign(0.0, a / b) : whole);
  }
  case Op::Pow:
    if (a == 0 && b < 0)
      return fail(error, "0 cannot be raised to a negative power");
    if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
      return fail(error, "a negative number to a fractional power is complex");
    return ConstValue(std::pow(a, b));
  default: return std::nullopt;
  }
}

static Result repeated(const ConstValue &sequence, const ConstValue &count, std::string &error) {
  int64_t n = std::max<int64_t>(0, count.asInt64().value_or(INT64_MAX));
  size_t length = sequence.asString() ? sequence.asString()->size() : sequence.asTuple()->elements.size();
  if (length && static_cast<uint64_t>(n) > kMaxSequence / length)
    return fail(error, fmt::format("the result has more than {} elements", kMaxSequence));
  if (auto *text = sequence.asString()) {
    std::string result;
    for (int64_t i = 0; i < (length ? n : 0); ++i)
      result += *text;
    return ConstValue::string(std::move(result));
  }
  std::vector<ConstValue> elements;
  for (int64_t i = 0; i < (length ? n : 0); ++i)
    elements.insert(elements.end(), sequence.asTuple()->elements.begin(), sequence.asTuple()->elements.end());
  return ConstValue::tuple(std::move(elements), sequence.asTuple()->isList);
}

std::optional<ConstValue> evalBinary(ast::BinaryOp op, const ConstValue &lhs, const ConstValue &rhs, std::string &error) {
  using Op = ast::BinaryOp;
  error.clear();
  Result result;
  if (isInteger(lhs) && isInteger(rhs)) {
    result = integerBinary(op, integerOf(lhs), integerOf(rhs), error);
    bool logical = op == Op::BitAnd || op == Op::BitOr || op == Op::BitXor;
    if (result && logical && lhs.get<bool>() && rhs.get<bool>())
      result = ConstValue(result->truth());
  } else if (isNumber(lhs) && isNumber(rhs)) {
    result = floatBinary(op, *lhs.asDouble(), *rhs.asDouble(), error);
  } else if (op == Op::Add && lhs.asString() && rhs.asString()) {
    if (lhs.asString()->size() + rhs.asString()->size() > kMaxSequence)
      return fail(error, fmt::format("the result has more than {} elements", kMaxSequence));
    result = ConstValue::string(*lhs.asString() + *rhs.asString());
  } else if (op == Op::Add && lhs.asTuple() && rhs.asTuple() && lhs.asTuple()->isList == rhs.asTuple()->isList) {
    std::vector<ConstValue> elements = lhs.asTuple()->elements;
    if (elements.size() + rhs.asTuple()->elements.size() > kMaxSequence)
      return fail(error, fmt::format("the result has more than {} elements", kMaxSequence));
    elements.insert(elements.end(), rhs.asTuple()->elements.begin(), rhs.asTuple()->elements.end());
    result = ConstValue::tuple(std::move(elements), lhs.asTuple()->isList);
  } else if (op == Op::BitOr && lhs.asDict() && rhs.asDict()) {
    ConstValue::Dict merged = *lhs.asDict();
    for (const auto &[key, value] : *rhs.asDict())
      setItem(merged, key, value);
    result = ConstValue(std::make_shared<const ConstValue::Dict>(std::move(merged)));
  } else if (op == Op::Mul && (lhs.asString() || lhs.asTuple()) && isInteger(rhs)) {
    return repeated(lhs, rhs, error);
  } else if (op == Op::Mul && (rhs.asString() || rhs.asTuple()) && isInteger(lhs)) {
    return repeated(rhs, lhs, error);
  }
  if (!result && error.empty())
    error = fmt::format("unsupported operands for `{}`: {} and {}", ast::spelling(op), lhs.kindName(), rhs.kindName());
  return result;
}

std::optional<ConstValue> evalUnary(ast::UnaryOp op, const ConstValue &operand, std::string &error) {
  error.clear();
  if (op == ast::UnaryOp::Not)
    return ConstValue(!operand.truth());
  if (isInteger(operand)) {
    BigInt value = integerOf(operand);
    if (op == ast::UnaryOp::Plus)
      return ConstValue(value);
    return ConstValue(op == ast::UnaryOp::Minus ? -value : -value - BigInt(1));
  }
  if (auto *d = operand.get<double>(); d && op != ast::UnaryOp::Invert)
    return ConstValue(op == ast::UnaryOp::Minus ? -*d : *d);
  return fail(error, fmt::format("unsupported operand for unary `{}`: {}", ast::spelling(op), operand.kindName()));
}

/// -1, 0, 1, or 2 for unordered.
static int compareNumbers(const ConstValue &lhs, const ConstValue &rhs) {
  auto order = [](const auto &a, const auto &b) { return a < b ? -1 : b < a ? 1 : 0; };
  if (isInteger(lhs) && isInteger(rhs))
    return order(integerOf(lhs), integerOf(rhs));
  double a = *lhs.asDouble(), b = *rhs.asDouble();
  if (std::isnan(a) || std::isnan(b))
    return 2;
  // An integer beyond 2^53 is compared exactly with a float.
  if (isInteger(lhs) && std::isfinite(b) && bitLength(integerOf(lhs)) > 53) {
    BigInt whole = truncateToBigInt(b);
    int result = order(integerOf(lhs), whole);
    return result ? result : order(0.0, b - std::trunc(b));
  }
  if (isInteger(rhs) && std::isfinite(a) && bitLength(integerOf(rhs)) > 53)
    return -compareNumbers(rhs, lhs);
  return order(a, b);
}

static bool equal(const ConstValue &lhs, const ConstValue &rhs) {
  if (isNumber(lhs) && isNumber(rhs))
    return compareNumbers(lhs, rhs) == 0;
  if (auto *t = lhs.asTuple()) {
    auto *u = rhs.asTuple();
    if (!u || t->isList != u->isList || t->elements.size() != u->elements.size())
      return false;
    for (size_t i = 0; i < t->elements.size(); ++i)
      if (!equal(t->elements[i], u->elements[i]))
        return false;
    return true;
  }
  return lhs.identical(rhs);
}

static std::optional<bool> contains(const ConstValue &container, const ConstValue &item) {
  if (auto *t = container.asTuple()) {
    for (const ConstValue &element : t->elements)
      if (equal(element, item))
        return true;
    return false;
  }
  if (auto *d = container.asDict()) {
    for (const auto &[key, value] : *d)
      if (equal(key, item))
        return true;
    return false;
  }
  if (auto *text = container.asString(); text && item.asString())
    return text->find(*item.asString()) != std::string::npos;
  return std::nullopt;
}

/// Lexicographic order of tuples, order of numbers and strings; empty when there is none, 2 for unordered.
static std::optional<int> ordering(const ConstValue &lhs, const ConstValue &rhs) {
  if (isNumber(lhs) && isNumber(rhs))
    return compareNumbers(lhs, rhs);
  if (lhs.asString() && rhs.asString())
    return lhs.asString()->compare(*rhs.asString()) < 0 ? -1 : *lhs.asString() == *rhs.asString() ? 0 : 1;
  auto *t = lhs.asTuple(), *u = rhs.asTuple();
  if (!t || !u || t->isList != u->isList)
    return std::nullopt;
  for (size_t i = 0; i < std::min(t->elements.size(), u->elements.size()); ++i)
    if (!equal(t->elements[i], u->elements[i]))
      return ordering(t->elements[i], u->elements[i]);
  return t->elements.size() < u->elements.size() ? -1 : t->elements.size() == u->elements.size() ? 0 : 1;
}

std::optional<ConstValue> evalCompare(ast::CompareOp op, const ConstValue &lhs, const ConstValue &rhs, std::string &error) {
  using Op = ast::CompareOp;
  error.clear();
  switch (op) {
  case Op::Eq: return ConstValue(equal(lhs, rhs));
  case Op::NotEq: return ConstValue(!equal(lhs, rhs));
  case Op::Is: return ConstValue(lhs.identical(rhs));
  case Op::IsNot: return ConstValue(!lhs.identical(rhs));
  case Op::In: case Op::NotIn:
    if (std::optional<bool> found = contains(rhs, lhs))
      return ConstValue(*found == (op == Op::In));
    return fail(error, fmt::format("{} is not a container", rhs.kindName()));
  case Op::Lt: case Op::LtE: case Op::Gt: case Op::GtE: break;
  }
  std::optional<int> order = ordering(lhs, rhs);
  if (!order)
    return fail(error, fmt::format("unsupported operands for `{}`: {} and {}", ast::spelling(op), lhs.kindName(), rhs.kindName()));
  if (*order == 2)
    return ConstValue(false);
  return ConstValue(op == Op::Lt ? *order < 0 : op == Op::LtE ? *order <= 0 : op == Op::Gt ? *order > 0 : *order >= 0);
}

} // namespace tk::lang
