// Python's math module on compile-time values.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numeric>

namespace tk::lang {

using Result = std::optional<ConstValue>;
using Unary = double (*)(double);

static Result fail(std::string &error, std::string text) {
  error = std::move(text);
  return std::nullopt;
}

static Unary unaryFunction(const std::string &name) {
  return llvm::StringSwitch<Unary>(name)
      .Case("sqrt", std::sqrt).Case("exp", std::exp).Case("exp2", std::exp2).Case("expm1", std::expm1).Case("log2", std::log2).Case("log10", std::log10).Case("log1p", std::log1p)
      .Case("sin", std::sin).Case("cos", std::cos).Case("tan", std::tan).Case("asin", std::asin).Case("acos", std::acos).Case("atan", std::atan)
      .Case("sinh", std::sinh).Case("cosh", std::cosh).Case("tanh", std::tanh).Case("asinh", std::asinh).Case("acosh", std::acosh).Case("atanh", std::atanh)
      .Case("fabs", std::fabs).Case("erf", std::erf).Case("erfc", std::erfc).Case("gamma", std::tgamma).Case("lgamma", std::lgamma).Case("cbrt", std::cbrt)
      .Default(nullptr);
}

static Result integerFunction(const std::string &name, const ConstCall &call, std::string &error) {
  std::vector<BigInt> values;
  for (const ConstValue &arg : call.args) {
    if (!arg.get<BigInt>() && !arg.get<bool>())
      return fail(error, fmt::format("`math.{}` needs integers, found {}", name, arg.repr()));
    values.push_back(arg.get<bool>() ? BigInt(static_cast<int64_t>(*arg.get<bool>())) : *arg.get<BigInt>());
  }
  if (name == "isqrt") {
    if (values.size() != 1 || values[0] < BigInt(0))
      return fail(error, "`math.isqrt` needs one non-negative integer");
    return ConstValue(fromAPInt(toAPInt(values[0], bitLength(values[0]) + 2).sqrt()));
  }
  BigInt result(name == "lcm" ? 1 : 0);
  for (const BigInt &value : values) {
    BigInt a = result, b = value < BigInt(0) ? -value : value;
    while (b != BigInt(0)) {
      BigInt rest = a % b;
      a = b;
      b = rest;
    }
    BigInt magnitude = value < BigInt(0) ? -value : value;
    result = name == "gcd" ? a : a == BigInt(0) ? BigInt(0) : result / a * magnitude;
    if (bitLength(result) > 4096)
      return fail(error, "integer result is longer than 4096 bits");
  }
  return ConstValue(result);
}

Result callMath(const std::string &name, const ConstCall &call, std::string &error) {
  if (name == "gcd" || name == "lcm" || name == "isqrt")
    return integerFunction(name, call, error);
  if (name == "prod") {
    auto elements = call.args.size() == 1 ? constElements(call.args[0], error) : std::nullopt;
    Result product = ConstValue::integer(1);
    for (size_t i = 0; elements && product && i < elements->size(); ++i)
      product = evalBinary(ast::BinaryOp::Mul, *product, (*elements)[i], error);
    return elements ? product : fail(error, "`math.prod` needs a tuple");
  }
  std::vector<double> values;
  for (const ConstValue &arg : call.args) {
    std::optional<double> number = arg.asDouble();
    if (!number)
      return fail(error, fmt::format("`math.{}` needs numbers, found {}", name, arg.kindName()));
    values.push_back(*number);
  }
  auto domain = [&](double value, double result) -> Result {
    if (std::isnan(result) && !std::isnan(value))
      return fail(error, fmt::format("`math.{}` of {} is not defined", name, floatText(value)));
    return ConstValue(result);
  };
  if (values.empty() || values.size() > 2)
    return fail(error, fmt::format("`math.{}` takes one or two arguments", name));
  double x = values[0];
  if (values.size() == 1) {
    if (name == "floor" || name == "ceil" || name == "trunc") {
      if (!call.args[0].get<double>())
        return callHostBuiltin("python.int", call, error);
      if (!std::isfinite(x))
        return fail(error, fmt::format("`math.{}` of {}", name, floatText(x)));
      return ConstValue(truncateToBigInt(name == "floor" ? std::floor(x) : name == "ceil" ? std::ceil(x) : x));
    }
    if (name == "isnan" || name == "isinf" || name == "isfinite")
      return ConstValue(name == "isnan" ? std::isnan(x) : name == "isinf" ? std::isinf(x) : std::isfinite(x));
    if ((name == "log" || name == "log2" || name == "log10") && x == 0)
      return fail(error, fmt::format("`math.{}` of 0", name));
    if (name == "log2") // exact for powers of two of any length
      if (auto *i = call.args[0].get<BigInt>(); i && *i > BigInt(0) && evalBinary(ast::BinaryOp::LShift, ConstValue::integer(1), ConstValue::integer(bitLength(*i) - 1), error)->identical(call.args[0]))
        return ConstValue(static_cast<double>(bitLength(*i) - 1));
    if (name == "log")
      return domain(x, std::log(x));
    if (name == "degrees" || name == "radians")
      return ConstValue(name == "degrees" ? x * (180.0 / 3.14159265358979323846) : x * (3.14159265358979323846 / 180.0));
    if (Unary function = unaryFunction(name))
      return domain(x, function(x));
    return fail(error, fmt::format("`math.{}` takes two arguments", name));
  }
  double y = values[1];
  if (name == "log")
    return x > 0 && y > 0 && y != 1 ? Result(ConstValue(std::log(x) / std::log(y))) : fail(error, "`math.log` is not defined there");
  if (name == "ldexp")
    return ConstValue(std::ldexp(x, static_cast<int>(std::max(-5000.0, std::min(5000.0, y)))));
  using Binary = double (*)(double, double);
  Binary function = llvm::StringSwitch<Binary>(name).Case("pow", std::pow).Case("atan2", std::atan2).Case("fmod", std::fmod).Case("hypot", std::hypot).Case("copysign", std::copysign).Case("remainder", std::remainder).Default(nullptr);
  if (!function)
    return fail(error, fmt::format("`math.{}` takes one argument", name));
  return domain(std::isnan(y) ? y : x, function(x, y));
}

} // namespace tk::lang
