// Host functions on compile-time values: cdiv, min, int, math.*, the initialisers of @tk.example.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numeric>

namespace tk::lang {

using Result = std::optional<ConstValue>;

static Result fail(std::string &error, std::string text) {
  error = std::move(text);
  return std::nullopt;
}

static bool isInteger(const ConstValue &value) { return value.get<bool>() || value.get<BigInt>(); }
static bool isNumber(const ConstValue &value) { return isInteger(value) || value.get<double>(); }

std::optional<DType> literalType(const ConstValue &value) {
  if (value.get<bool>())
    return DType::I1;
  if (auto *d = value.get<double>()) {
    double magnitude = std::fabs(*d);
    bool single = *d == 0 || std::isinf(*d) || std::isnan(*d) || (magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127);
    return single ? DType::F32 : DType::F64;
  }
  auto *i = value.get<BigInt>();
  if (!i)
    return std::nullopt;
  BigInt one(1);
  auto power = [&](int64_t n) { return n < 63 ? BigInt(int64_t(1) << n) : parseBigInt(n == 63 ? "9223372036854775808" : "18446744073709551616"); };
  if (*i >= -power(31) && *i < power(31))
    return DType::I32;
  if (*i >= power(31) && *i < power(32))
    return DType::U32;
  if (*i >= -power(63) && *i < power(63))
    return DType::I64;
  if (*i >= power(63) && *i < power(64))
    return DType::U64;
  return std::nullopt;
}

unsigned nestingOf(const ConstValue &value) {
  if (auto *t = value.asTuple())
    return t->depth;
  if (auto *d = value.asDict()) {
    unsigned depth = 0;
    for (const auto &[key, element] : *d)
      depth = std::max({depth, nestingOf(key), nestingOf(element)});
    return depth + 1;
  }
  return 0;
}

static Result minMax(bool isMax, const ConstCall &call, std::string &error) {
  std::vector<ConstValue> values = call.args;
  if (values.size() == 1) {
    auto elements = constElements(values[0], error);
    if (!elements)
      return std::nullopt;
    values = *elements;
  }
  if (values.empty())
    return fail(error, fmt::format("`{}` of nothing", isMax ? "max" : "min"));
  ConstValue best = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    Result better = evalCompare(isMax ? ast::CompareOp::Gt : ast::CompareOp::Lt, values[i], best, error);
    if (!better)
      return std::nullopt;
    if (better->truth())
      best = values[i];
  }
  return best;
}

static Result toInt(const ConstValue &value, std::string &error) {
  if (isInteger(value))
    return ConstValue(value.get<bool>() ? BigInt(static_cast<int64_t>(*value.get<bool>())) : *value.get<BigInt>());
  if (auto *d = value.get<double>()) {
    if (!std::isfinite(*d))
      return fail(error, fmt::format("`int` of {}", floatText(*d)));
    return ConstValue(truncateToBigInt(*d));
  }
  if (auto *s = value.asString()) {
    llvm::StringRef text = llvm::StringRef(*s).trim();
    llvm::StringRef digits = text;
    digits.consume_front("-") || digits.consume_front("+");
    if (!digits.empty() && digits.size() < 1000 && llvm::all_of(digits, llvm::isDigit))
      return ConstValue(parseBigInt(text.starts_with("+") ? digits.str() : text.str()));
  }
  return fail(error, fmt::format("`int` of {}", value.repr()));
}

static Result toFloat(const ConstValue &value, std::string &error) {
  if (isNumber(value))
    return ConstValue(*value.asDouble());
  if (auto *s = value.asString()) {
    std::string text = llvm::StringRef(*s).trim().lower();
    llvm::StringRef body = text;
    bool negative = body.consume_front("-");
    if (!negative)
      body.consume_front("+");
    if (body == "inf" || body == "infinity")
      return ConstValue(negative ? -INFINITY : INFINITY);
    if (body == "nan")
      return ConstValue(static_cast<double>(NAN));
    double number = 0;
    if (!body.empty() && (llvm::isDigit(body[0]) || body[0] == '.') && !body.starts_with("0x") && !body.getAsDouble(number))
      return ConstValue(negative ? -number : number);
  }
  return fail(error, fmt::format("`float` of {}", value.repr()));
}

static Result initialiser(const std::string &kind, const ConstCall &call, std::string &error) {
  auto init = std::make_shared<InitValue>();
  init->kind = kind;
  size_t next = 0;
  bool shaped = false;
  auto setShape = [&](const ConstValue &value) {
    std::vector<ConstValue> extents = value.asTuple() ? value.asTuple()->elements : std::vector<ConstValue>{value};
    for (const ConstValue &extent : extents) {
      std::optional<int64_t> n = isInteger(extent) ? extent.asInt64() : std::nullopt;
      if (!n || *n < 0)
        return false;
      init->shape.push_back(*n);
    }
    return shaped = true;
  };
  bool typed = !call.args.empty() && call.args[0].get<TypeValue>();
  if (typed) {
    init->dtype = call.args[next++].get<TypeValue>()->dtype;
    bool grouped = next < call.args.size() && call.args[next].asTuple();
    for (size_t end = grouped ? next + 1 : call.args.size(); next < end; ++next)
      if (!setShape(call.args[next]))
        return fail(error, fmt::format("`{}` needs extents, found {}", kind, call.args[next].repr()));
    shaped = true;
  }
  for (; next < call.args.size(); ++next) {
    std::optional<double> number = call.args[next].asDouble();
    if (!number)
      return fail(error, fmt::format("`{}` needs a number, found {}", kind, call.args[next].repr()));
    init->parameters.push_back(*number);
  }
  for (const ConstKeyword &keyword : call.keywords) {
    std::optional<double> number = keyword.value.asDouble();
    if (keyword.name == "seed" && number)
      init->seed = static_cast<int64_t>(*number);
    else if (keyword.name == "dtype" && keyword.value.get<TypeValue>())
      init->dtype = keyword.value.get<TypeValue>()->dtype, typed = true;
    else if ((keyword.name == "shape" || keyword.name == "size") && setShape(keyword.value))
      continue;
    else if ((keyword.name == "value" || keyword.name == "lo" || keyword.name == "low" || keyword.name == "start") && number)
      init->parameters.insert(init->parameters.begin(), *number);
    else if ((keyword.name == "hi" || keyword.name == "high" || keyword.name == "end" || keyword.name == "step") && number)
      init->parameters.push_back(*number);
    else
      return fail(error, fmt::format("`{}` has no parameter `{}` that takes {}", kind, keyword.name, keyword.value.repr()));
  }
  init->hasShape = typed && shaped;
  return ConstValue(std::shared_ptr<const InitValue>(std::move(init)));
}

bool isInitialiser(const std::string &name) {
  return llvm::StringSwitch<bool>(name).Cases({"zeros", "ones", "rand", "randn", "arange", "randint", "full"}, true).Default(false);
}

bool isHostBuiltin(const std::string &name) {
  if (name.rfind("math.", 0) == 0 || name.rfind("init.", 0) == 0)
    return true;
  return llvm::StringSwitch<bool>(name)
      .Cases({"triton.cdiv", "cdiv", "triton.next_power_of_2", "constexpr", "python.min", "python.max", "python.abs"}, true)
      .Cases({"python.len", "python.int", "python.float", "python.bool", "python.str", "python.range", "python.tuple", "python.list", "python.isinstance"}, true)
      .Cases({"python.zip", "python.enumerate", "python.reversed", "sum", "python.sum", "abs", "type.ptr", "pointer_type"}, true)
      .Default(false);
}

static Result integerPair(const ConstCall &call, const char *name, std::string &error) {
  if (call.args.size() == 2 && isNumber(call.args[0]) && isNumber(call.args[1]))
    return ConstValue(true);
  return fail(error, fmt::format("`{}` needs two integers", name));
}

static Result sequence(const std::string &name, const ConstCall &call, std::string &error) {
  if (name == "zip") {
    std::vector<ConstValue> rows;
    for (size_t i = 0;; ++i) {
      std::vector<ConstValue> row;
      for (const ConstValue &arg : call.args) {
        auto elements = constElements(arg, error);
        if (!elements)
          return std::nullopt;
        if (i >= elements->size())
          return ConstValue::tuple(std::move(rows), true);
        row.push_back((*elements)[i]);
      }
      if (row.empty())
        return ConstValue::tuple({}, true);
      rows.push_back(ConstValue::tuple(std::move(row)));
    }
  }
  auto elements = constElements(call.args[0], error);
  if (!elements)
    return std::nullopt;
  if (name == "reversed") {
    std::reverse(elements->begin(), elements->end());
  } else if (name == "enumerate") {
    int64_t start = call.args.size() > 1 ? call.args[1].asInt64().value_or(0) : call.keyword("start") ? call.keyword("start")->asInt64().value_or(0) : 0;
    for (size_t i = 0; i < elements->size(); ++i)
      (*elements)[i] = ConstValue::tuple({ConstValue::integer(start + static_cast<int64_t>(i)), (*elements)[i]});
  }
  return ConstValue::tuple(std::move(*elements), name != "tuple");
}

static Result rangeList(const ConstCall &call, std::string &error) {
  int64_t bounds[3] = {0, 0, 1};
  size_t n = call.args.size();
  if (n < 1 || n > 3)
    return fail(error, "`range` takes one to three integers");
  for (size_t i = 0; i < n; ++i) {
    std::optional<int64_t> value = isInteger(call.args[i]) ? call.args[i].asInt64() : std::nullopt;
    if (!value)
      return fail(error, fmt::format("`range` needs integers, found {}", call.args[i].repr()));
    bounds[n == 1 ? 1 : i] = *value;
  }
  if (bounds[2] == 0)
    return fail(error, "`range` with step 0");
  std::vector<ConstValue> values;
  __int128 at = bounds[0];
  while (bounds[2] > 0 ? at < bounds[1] : at > bounds[1]) {
    if (values.size() >= (1u << 20))
      return fail(error, "`range` has more than 1048576 elements");
    values.push_back(ConstValue::integer(static_cast<int64_t>(at)));
    at += bounds[2];
  }
  return ConstValue::tuple(std::move(values), true);
}

static Result isInstance(const ConstCall &call, std::string &error) {
  if (call.args.size() != 2)
    return fail(error, "`isinstance` takes two arguments");
  if (auto *types = call.args[1].asTuple()) {
    for (const ConstValue &type : types->elements) {
      Result one = isInstance({{call.args[0], type}, {}}, error);
      if (!one || one->truth())
        return one;
    }
    return ConstValue(false);
  }
  auto *type = call.args[1].get<BuiltinValue>();
  if (!type)
    return fail(error, fmt::format("`isinstance` needs a type, found {}", call.args[1].repr()));
  const ConstValue &value = call.args[0];
  bool isFunction = value.get<FunctionValue>() || value.get<BuiltinValue>();
  return ConstValue(llvm::StringSwitch<bool>(type->name)
                        .Case("python.int", isInteger(value))
                        .Case("python.bool", value.get<bool>() != nullptr)
                        .Case("python.float", value.get<double>() != nullptr)
                        .Case("python.str", value.asString() != nullptr)
                        .Cases({"python.tuple", "type.tuple"}, value.asTuple() && !value.asTuple()->isList)
                        .Case("python.list", value.asTuple() && value.asTuple()->isList)
                        .Case("type.dtype", value.get<TypeValue>() != nullptr)
                        .Case("constexpr", !isFunction && !value.asTuple())
                        .Default(false));
}

Result callHostBuiltin(const std::string &name, const ConstCall &call, std::string &error) {
  if (name.rfind("init.", 0) == 0)
    return initialiser(name.substr(5), call, error);
  if (name.rfind("math.", 0) == 0)
    return callMath(name.substr(5), call, error);
  llvm::StringRef base = llvm::StringRef(name).substr(name.rfind('.') + 1);
  if (base == "cdiv") {
    if (!integerPair(call, "cdiv", error))
      return std::nullopt;
    Result sum = evalBinary(ast::BinaryOp::Add, call.args[0], call.args[1], error);
    if (sum)
      sum = evalBinary(ast::BinaryOp::Sub, *sum, ConstValue::integer(1), error);
    return sum ? evalBinary(ast::BinaryOp::FloorDiv, *sum, call.args[1], error) : sum;
  }
  if (base == "min" || base == "max")
    return minMax(base == "max", call, error);
  if (base == "range")
    return rangeList(call, error);
  if (base == "isinstance")
    return isInstance(call, error);
  if (base == "zip")
    return sequence("zip", call, error);
  if (call.args.empty()) {
    if (base == "tuple" || base == "list")
      return ConstValue::tuple({}, base == "list");
    return fail(error, fmt::format("`{}` needs an argument", base.str()));
  }
  const ConstValue &x = call.args[0];
  if (base == "next_power_of_2") {
    auto *n = x.get<BigInt>();
    if (x.get<bool>() || !n || bitLength(*n) > 2000)
      return fail(error, fmt::format("`next_power_of_2` needs an integer, found {}", x.repr()));
    if (*n <= BigInt(1))
      return ConstValue::integer(1);
    return evalBinary(ast::BinaryOp::LShift, ConstValue::integer(1), ConstValue::integer(bitLength(*n - BigInt(1))), error);
  }
  if (base == "constexpr")
    return x;
  if (base == "ptr" || base == "pointer_type") {
    auto *type = x.get<TypeValue>();
    if (!type)
      return fail(error, fmt::format("a pointer needs an element type, found {}", x.repr()));
    return ConstValue(TypeValue{type->dtype, type->pointerDepth + 1, false});
  }
  if (base == "abs") {
    if (x.get<double>())
      return ConstValue(std::fabs(*x.get<double>()));
    if (isInteger(x))
      return x.asDouble() < 0 ? evalUnary(ast::UnaryOp::Minus, x, error) : toInt(x, error);
    return fail(error, fmt::format("`abs` of {}", x.kindName()));
  }
  if (base == "len") {
    if (auto *s = x.asString())
      return ConstValue::integer(static_cast<int64_t>(s->size()));
    auto elements = constElements(x, error);
    return elements ? Result(ConstValue::integer(static_cast<int64_t>(elements->size()))) : std::nullopt;
  }
  if (base == "int")
    return toInt(x, error);
  if (base == "float")
    return toFloat(x, error);
  if (base == "bool")
    return ConstValue(x.truth());
  if (base == "str")
    return ConstValue::string(strOf(x));
  if (base == "sum") {
    auto elements = constElements(x, error);
    Result total = ConstValue::integer(0);
    for (size_t i = 0; elements && total && i < elements->size(); ++i)
      total = evalBinary(ast::BinaryOp::Add, *total, (*elements)[i], error);
    return elements ? total : std::nullopt;
  }
  return sequence(base.str(), call, error);
}

} // namespace tk::lang
