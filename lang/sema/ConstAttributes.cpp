// Attributes, methods, subscripts and iteration of compile-time values.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/LanguageNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace tk::lang {

using Result = std::optional<ConstValue>;

static Result fail(std::string &error, std::string text) {
  error = std::move(text);
  return std::nullopt;
}

// ---- dtypes ----
static int mantissaBits(DType type) {
  switch (type) {
  case DType::F64: return 52;
  case DType::F32: return 23;
  case DType::BF16: return 7;
  case DType::F16: return 10;
  case DType::F8E5M2: case DType::F8E5M2FNUZ: return 2;
  default: return 3;
  }
}

static int exponentBias(DType type) {
  switch (type) {
  case DType::F64: return 1023;
  case DType::F32: case DType::BF16: return 127;
  case DType::F16: case DType::F8E4B15: case DType::F8E5M2: return 15;
  case DType::F8E4M3FNUZ: return 8;
  case DType::F8E5M2FNUZ: return 16;
  default: return 7;
  }
}


static std::optional<bool> typePredicate(const TypeValue &type, const std::string &name) {
  if (name.rfind("is_", 0) != 0)
    return std::nullopt;
  std::string rest = name.substr(3);
  bool isPointer = type.pointerDepth != 0;
  DType d = type.dtype;
  if (rest == "ptr")
    return isPointer;
  if (rest == "const")
    return type.isConst;
  if (rest == "void" || rest == "block")
    return false;
  if (rest == "floating")
    return !isPointer && isFloat(d);
  if (rest == "standard_floating")
    return !isPointer && isFloat(d) && !isFloat8(d);
  if (rest == "fp8")
    return !isPointer && isFloat8(d);
  if (rest == "int")
    return !isPointer && isInteger(d);
  if (rest == "int_signed")
    return !isPointer && isSigned(d);
  if (rest == "int_unsigned")
    return !isPointer && isUnsigned(d);
  if (rest == "bool")
    return !isPointer && d == DType::I1;
  DType named;
  if (parseDType(rest, named))
    return !isPointer && named == d;
  return std::nullopt;
}

static Result typeAttribute(const TypeValue &type, const std::string &name) {
  unsigned bits = type.pointerDepth ? 64 : bitsOf(type.dtype);
  if (name == "primitive_bitwidth")
    return ConstValue::integer(bits);
  if (name == "itemsize")
    return ConstValue::integer(type.pointerDepth ? 8 : bytesOf(type.dtype));
  if (name == "name")
    return ConstValue::string(typeText(type));
  if (name == "scalar" || name == "dtype")
    return ConstValue(type);
  if (name == "shape")
    return ConstValue::tuple({});
  if (name == "numel")
    return ConstValue::integer(1);
  if (name == "element_ty")
    return ConstValue(type.pointerDepth ? TypeValue{type.dtype, type.pointerDepth - 1, false} : type);
  if (type.pointerDepth)
    return std::nullopt;
  if (name == "int_bitwidth" && isInteger(type.dtype))
    return ConstValue::integer(bits);
  if (name == "int_signedness" && isInteger(type.dtype))
    return ConstValue::string(isSigned(type.dtype) ? "SIGNED" : "UNSIGNED");
  if (name == "fp_mantissa_width" && isFloat(type.dtype))
    return ConstValue::integer(mantissaBits(type.dtype));
  if (name == "exponent_bias" && isFloat(type.dtype))
    return ConstValue::integer(exponentBias(type.dtype));
  return std::nullopt;
}

static Result typeMethod(const TypeValue &type, const std::string &name) {
  if (std::optional<bool> answer = typePredicate(type, name))
    return ConstValue(*answer);
  if (name == "kind")
    return ConstValue::integer(type.pointerDepth ? 3 : isFloat(type.dtype) ? 2 : type.dtype == DType::I1 ? 0 : 1);
  if ((name == "get_int_max_value" || name == "get_int_min_value") && !type.pointerDepth && isInteger(type.dtype)) {
    unsigned bits = bitsOf(type.dtype) - (isSigned(type.dtype) ? 1 : 0);
    BigInt limit = fromAPInt(llvm::APInt::getOneBitSet(bits + 2, bits));
    return ConstValue(name == "get_int_max_value" ? limit - BigInt(1) : isSigned(type.dtype) ? -limit : BigInt(0));
  }
  return std::nullopt;
}

// ---- arrays ----
namespace {
struct Shaped {
  DType dtype;
  const std::vector<int64_t> *shape;
  std::vector<int64_t> strides;
};
} // namespace

static std::optional<Shaped> shaped(const ConstValue &object) {
  if (auto *a = object.asArray())
    return Shaped{a->dtype, &a->shape, a->strides};
  auto *init = object.asInit();
  if (!init || !init->hasShape)
    return std::nullopt;
  Shaped result{init->dtype, &init->shape, std::vector<int64_t>(init->shape.size())};
  uint64_t stride = 1;
  for (size_t i = init->shape.size(); i-- > 0;) {
    result.strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(init->shape[i]);
  }
  return result;
}

static ConstValue integers(const std::vector<int64_t> &values) {
  std::vector<ConstValue> elements;
  for (int64_t value : values)
    elements.push_back(ConstValue::integer(value));
  return ConstValue::tuple(std::move(elements));
}

static Result extent(const std::vector<int64_t> &values, const ConstCall &call, const std::string &name, std::string &error) {
  if (call.args.empty() && call.keywords.empty())
    return integers(values);
  const ConstValue &axis = call.args.empty() ? call.keywords[0].value : call.args[0];
  std::optional<int64_t> at = axis.asInt64();
  int64_t rank = static_cast<int64_t>(values.size());
  if (!at || *at < -rank || *at >= rank)
    return fail(error, fmt::format("`{}` of axis {} of an array of rank {}", name, axis.repr(), rank));
  return ConstValue::integer(values[static_cast<size_t>(*at < 0 ? *at + rank : *at)]);
}

static Result arrayMethod(const Shaped &array, const std::string &name, const ConstCall &call, std::string &error) {
  if (name == "stride" || name == "strides")
    return extent(array.strides, call, name, error);
  if (name == "size")
    return extent(*array.shape, call, name, error);
  if (name == "dim" || name == "ndimension")
    return ConstValue::integer(static_cast<int64_t>(array.shape->size()));
  if (name == "element_size")
    return ConstValue::integer(bytesOf(array.dtype));
  uint64_t count = 1;
  for (int64_t n : *array.shape)
    count *= static_cast<uint64_t>(n);
  if (name == "numel" || name == "nelement")
    return ConstValue::integer(static_cast<int64_t>(count));
  if (name == "is_contiguous") {
    int64_t expected = 1;
    for (size_t i = array.shape->size(); i-- > 0; expected *= (*array.shape)[i])
      if ((*array.shape)[i] != 1 && array.strides[i] != expected)
        return ConstValue(false);
    return ConstValue(true);
  }
  return std::nullopt;
}

static bool isArrayMethod(const std::string &name) {
  return llvm::StringSwitch<bool>(name).Cases({"stride", "strides", "size", "dim", "ndimension", "element_size", "numel", "nelement", "is_contiguous"}, true).Default(false);
}

/// Whether an array's attribute or method asks for what is not known of a bare pointer.
static bool asksForShape(const ConstValue &object, const std::string &name, std::string &error) {
  auto *array = object.asArray();
  if (!array || array->hasShape || (!isArrayMethod(name) && name != "shape" && name != "ndim") || name == "element_size")
    return false;
  error = fmt::format("the shape of `{}` is not known at a launch; pass what is needed of it as a parameter", array->name);
  return true;
}

// ---- the interface ----
Result constAttribute(const ConstValue &object, const std::string &name, std::string &error) {
  if (asksForShape(object, name, error))
    return std::nullopt;
  auto missing = [&]() { return fail(error, fmt::format("{} has no attribute `{}`", object.kindName(), name)); };
  if (auto *type = object.get<TypeValue>()) {
    Result value = typeAttribute(*type, name);
    return value ? value : missing();
  }
  if (auto array = shaped(object)) {
    if (name == "shape")
      return integers(*array->shape);
    if (name == "dtype")
      return ConstValue(TypeValue{array->dtype, 0, false});
    if (name == "ndim")
      return ConstValue::integer(static_cast<int64_t>(array->shape->size()));
    return missing();
  }
  if (auto *builtin = object.get<BuiltinValue>(); builtin && builtin->isModule) {
    Result member = languageMember(builtin->name, name);
    return member ? member : fail(error, fmt::format("module `{}` has no member `{}`", displayName(*builtin), name));
  }
  if (auto *tuple = object.asTuple())
    for (size_t i = 0; i < tuple->fields.size(); ++i)
      if (tuple->fields[i] == name)
        return tuple->elements[i];
  if (auto *function = object.get<FunctionValue>(); function && name == "__name__" && function->function)
    return ConstValue::string(function->function->name);
  if (name == "value")
    return object;
  if (auto type = literalType(object)) {
    if (name == "dtype" || name == "type")
      return ConstValue(TypeValue{*type, 0, false});
    if (name == "shape")
      return ConstValue::tuple({});
    if (name == "numel")
      return ConstValue::integer(1);
  }
  return missing();
}

static bool isStringMethod(const std::string &name) {
  return llvm::StringSwitch<bool>(name).Cases({"upper", "lower", "strip", "startswith", "endswith", "split", "join", "replace"}, true).Default(false);
}

static bool isDictMethod(const std::string &name) { return name == "copy" || name == "get" || name == "keys" || name == "values" || name == "items"; }

bool isConfig(const ConstValue &value) {
  auto *tuple = value.asTuple();
  return tuple && !tuple->fields.empty() && tuple->fields[0] == "kwargs";
}

bool hasConstMethod(const ConstValue &object, const std::string &name) {
  if (auto *type = object.get<TypeValue>())
    return typePredicate(*type, name) || name == "kind" || name == "get_int_max_value" || name == "get_int_min_value" || name == "with_element_ty" || name == "is_dtype";
  if (object.asString())
    return isStringMethod(name);
  if (object.asDict())
    return isDictMethod(name);
  if (object.asTuple())
    return name == "index" || name == "count" || name == "copy" || (name == "all_kwargs" && isConfig(object));
  if (object.get<BigInt>() || object.get<bool>())
    return name == "bit_length";
  return shaped(object) && isArrayMethod(name);
}

static Result stringMethod(const std::string &text, const std::string &name, const ConstCall &call, std::string &error) {
  llvm::StringRef ref = text;
  if (name == "upper" || name == "lower")
    return ConstValue::string(name == "upper" ? ref.upper() : ref.lower());
  if (name == "strip")
    return ConstValue::string(ref.trim().str());
  std::vector<std::string> args;
  for (const ConstValue &arg : call.args) {
    if (name == "join" && arg.asTuple()) {
      std::string joined;
      for (const ConstValue &element : arg.asTuple()->elements)
        joined += (joined.empty() && &element == &arg.asTuple()->elements[0] ? "" : text) + strOf(element);
      return ConstValue::string(std::move(joined));
    }
    if (!arg.asString())
      return fail(error, fmt::format("`{}` needs a string, found {}", name, arg.kindName()));
    args.push_back(*arg.asString());
  }
  if (name == "split") {
    llvm::SmallVector<llvm::StringRef> parts;
    if (args.empty())
      llvm::SplitString(ref, parts);
    else if (args[0].empty())
      return fail(error, "`split` by an empty string");
    else
      ref.split(parts, args[0]);
    std::vector<ConstValue> elements;
    for (llvm::StringRef part : parts)
      elements.push_back(ConstValue::string(part.str()));
    return ConstValue::tuple(std::move(elements), true);
  }
  if (args.empty())
    return fail(error, fmt::format("`{}` needs an argument", name));
  if (name == "startswith" || name == "endswith")
    return ConstValue(name == "startswith" ? ref.starts_with(args[0]) : ref.ends_with(args[0]));
  if (args.size() != 2 || args[0].empty())
    return fail(error, fmt::format("`{}` needs two strings", name));
  std::string result;
  while (true) {
    size_t at = ref.find(args[0]);
    result += ref.substr(0, at).str();
    if (at == llvm::StringRef::npos)
      return ConstValue::string(std::move(result));
    result += args[1];
    ref = ref.substr(at + args[0].size());
  }
}

static Result dictMethod(const ConstValue::Dict &dict, const std::string &name, const ConstCall &call, std::string &error) {
  if (name == "get") {
    if (call.args.empty())
      return fail(error, "`get` needs a key");
    for (const auto &[key, value] : dict)
      if (evalCompare(ast::CompareOp::Eq, key, call.args[0], error)->truth())
        return value;
    return call.args.size() > 1 ? call.args[1] : ConstValue();
  }
  std::vector<ConstValue> elements;
  for (const auto &[key, value] : dict)
    elements.push_back(name == "keys" ? key : name == "values" ? value : ConstValue::tuple({key, value}));
  return ConstValue::tuple(std::move(elements), true);
}

Result constMethod(const ConstValue &object, const std::string &name, const ConstCall &call, std::string &error) {
  if (asksForShape(object, name, error))
    return std::nullopt;
  Result result;
  if (auto *type = object.get<TypeValue>()) {
    if (name == "with_element_ty" && call.args.size() == 1)
      return call.args[0];
    result = typeMethod(*type, name);
  } else if (auto *text = object.asString()) {
    return stringMethod(*text, name, call, error);
  } else if (name == "copy" && call.args.empty()) {
    return object; // values never change
  } else if (name == "all_kwargs" && isConfig(object)) {
    ConstValue::Dict all = *object.asTuple()->elements[0].asDict();
    for (size_t i = 1; i < 5; ++i) // num_warps, num_stages, num_ctas, maxnreg
      if (!object.asTuple()->elements[i].isNone())
        all.emplace_back(ConstValue::string(object.asTuple()->fields[i]), object.asTuple()->elements[i]);
    return ConstValue(std::make_shared<const ConstValue::Dict>(std::move(all)));
  } else if (auto *dict = object.asDict()) {
    return dictMethod(*dict, name, call, error);
  } else if (auto array = shaped(object)) {
    result = arrayMethod(*array, name, call, error);
  } else if (auto *tuple = object.asTuple(); tuple && call.args.size() == 1) {
    int64_t count = 0;
    for (size_t i = 0; i < tuple->elements.size(); ++i)
      if (evalCompare(ast::CompareOp::Eq, tuple->elements[i], call.args[0], error)->truth()) {
        if (name == "index")
          return ConstValue::integer(static_cast<int64_t>(i));
        ++count;
      }
    if (name == "index")
      return fail(error, fmt::format("{} is not in the {}", call.args[0].repr(), object.kindName()));
    result = ConstValue::integer(count);
  } else if (name == "bit_length") {
    result = ConstValue::integer(bitLength(object.get<BigInt>() ? *object.get<BigInt>() : BigInt(static_cast<int64_t>(object.truth()))));
  }
  if (!result && error.empty())
    return fail(error, fmt::format("{} has no method `{}`", object.kindName(), name));
  return result;
}

Result constSubscript(const ConstValue &object, const ConstValue &index, std::string &error) {
  if (auto *dict = object.asDict()) {
    for (const auto &[key, value] : *dict)
      if (evalCompare(ast::CompareOp::Eq, key, index, error)->truth())
        return value;
    return fail(error, fmt::format("no key {} in the dict", index.repr()));
  }
  if (auto *builtin = object.get<BuiltinValue>(); builtin && builtin->name == "type.ptr")
    return callHostBuiltin("type.ptr", {{index}, {}}, error);
  auto *tuple = object.asTuple();
  auto *text = object.asString();
  if (!tuple && !text)
    return fail(error, fmt::format("{} cannot be indexed", object.kindName()));
  int64_t size = static_cast<int64_t>(tuple ? tuple->elements.size() : text->size());
  std::optional<int64_t> at = index.get<BigInt>() || index.get<bool>() ? index.asInt64() : std::nullopt;
  if (!at)
    return fail(error, fmt::format("an index must be an integer, found {}", index.repr()));
  if (*at < -size || *at >= size)
    return fail(error, fmt::format("index {} is out of range for {} elements", *at, size));
  size_t place = static_cast<size_t>(*at < 0 ? *at + size : *at);
  return tuple ? tuple->elements[place] : ConstValue::string(text->substr(place, 1));
}

Result constSlice(const ConstValue &object, const ConstValue &lower, const ConstValue &upper, const ConstValue &step, std::string &error) {
  auto *tuple = object.asTuple();
  auto *text = object.asString();
  if (!tuple && !text)
    return fail(error, fmt::format("{} cannot be sliced", object.kindName()));
  int64_t size = static_cast<int64_t>(tuple ? tuple->elements.size() : text->size());
  for (const ConstValue *bound : {&lower, &upper, &step})
    if (!bound->isNone() && !(bound->get<BigInt>() || bound->get<bool>()))
      return fail(error, fmt::format("a slice needs integers, found {}", bound->repr()));
  int64_t by = step.isNone() ? 1 : step.asInt64().value_or(size + 1);
  if (by == 0)
    return fail(error, "a slice with step 0");
  auto clampTo = [&](const ConstValue &bound, int64_t none) {
    if (bound.isNone())
      return none;
    bool negative = *bound.get<BigInt>() < BigInt(0);
    int64_t at = bound.asInt64().value_or(negative ? -size - 1 : size);
    at = at < 0 ? std::max<int64_t>(at + size, by > 0 ? 0 : -1) : at;
    return std::min(at, by > 0 ? size : size - 1);
  };
  auto asIndex = [](const ConstValue &bound) { return bound.get<bool>() ? ConstValue::integer(*bound.get<bool>()) : bound; };
  int64_t from = clampTo(asIndex(lower), by > 0 ? 0 : size - 1), to = clampTo(asIndex(upper), by > 0 ? size : -1);
  std::vector<ConstValue> elements;
  std::string characters;
  for (int64_t i = from; by > 0 ? i < to : i > to;) {
    if (tuple)
      elements.push_back(tuple->elements[static_cast<size_t>(i)]);
    else
      characters += (*text)[static_cast<size_t>(i)];
    if (by > size || by < -size)
      break;
    i += by;
  }
  return tuple ? ConstValue::tuple(std::move(elements), tuple->isList) : ConstValue::string(std::move(characters));
}

std::optional<std::vector<ConstValue>> constElements(const ConstValue &object, std::string &error) {
  if (auto *tuple = object.asTuple())
    return tuple->elements;
  std::vector<ConstValue> elements;
  if (auto *dict = object.asDict()) {
    for (const auto &[key, value] : *dict)
      elements.push_back(key);
    return elements;
  }
  if (auto *text = object.asString()) {
    for (char c : *text)
      elements.push_back(ConstValue::string(std::string(1, c)));
    return elements;
  }
  error = fmt::format("{} cannot be iterated", object.kindName());
  return std::nullopt;
}

} // namespace tk::lang
