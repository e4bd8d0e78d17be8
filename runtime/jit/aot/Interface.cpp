// See Interface.h.
#include "runtime/jit/aot/Interface.h"
#include "tk/error.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace tk::jit::aot {

namespace {
using lang::ConstValue;
using lang::ParamSpec;

/// One parameter in all signatures.
class Column {
public:
  Column(const std::string &function, const std::string &name, unsigned index, const std::vector<Signature> &signatures) : function(function) {
    parameter.name = name;
    for (const Signature &signature : signatures)
      specs.push_back({&signature.specs.at(index), &signature});
  }

  Parameter unify() {
    for (const Entry &entry : specs) {
      if (entry.spec->kind == ParamSpec::Tuple)
        throw Error(ErrorKind::User, fmt::format("parameter `{}` of `{}` is a tuple, which objects can't take yet", parameter.name, function));
      if (entry.spec->kind == ParamSpec::Constant)
        constants.push_back(entry);
      else if (!typed)
        typed = &entry;
    }
    if (!typed)
      unifyConstants();
    else if (typed->spec->kind == ParamSpec::Pointer)
      unifyPointers();
    else
      unifyScalars();
    return parameter;
  }

  /// What must hold for the given signature.
  void addConditions(const ParamSpec &spec, unsigned index, std::vector<Condition> &conditions) const {
    if (parameter.kind == TkAotBaked)
      return;
    if (spec.kind == ParamSpec::Constant) {
      conditions.push_back({index, TkAotEquals, parameter.bytes, bitsOf(spec.value)});
      return;
    }
    if (spec.kind == ParamSpec::Scalar && isInteger(spec.type.dtype) && spec.type.dtype != parameter.dtype)
      conditions.push_back({index, isSigned(spec.type.dtype) ? TkAotFitsSigned : TkAotFitsUnsigned, bytesOf(spec.type.dtype), 0});
    if (spec.kind == ParamSpec::Pointer && !constants.empty())
      conditions.push_back({index, TkAotNotNull, 0, 0});
    if (spec.divisibility == 16)
      conditions.push_back({index, TkAotDivisibleBy16, 0, 0});
  }

private:
  struct Entry {
    const ParamSpec *spec;
    const Signature *signature;
  };

  [[noreturn]] void differ(const Entry &first, const Entry &second, const std::string &why) const {
    throw Error(ErrorKind::User,
                fmt::format("parameter `{}` of `{}` is `{}` in the signature `{}` and `{}` in `{}`: {}; give the two C functions with `--name`", parameter.name,
                            function, lang::describe(*first.spec), first.signature->text, lang::describe(*second.spec), second.signature->text, why));
  }

  void number(DType dtype) {
    parameter.dtype = dtype, parameter.bytes = bytesOf(dtype);
    parameter.kind = dtype == DType::I1    ? TkAotBool
                     : isSigned(dtype)     ? TkAotSigned
                     : isInteger(dtype)    ? TkAotUnsigned
                     : dtype == DType::F32 ? TkAotFloat
                     : dtype == DType::F64 ? TkAotDouble
                                           : TkAotBits;
  }

  void unifyConstants() {
    bool same = true, flags = true, integers = true, small = true, numbers = true;
    for (const Entry &entry : constants) {
      const ConstValue &value = entry.spec->value;
      std::optional<int64_t> integer = value.asInt64();
      same &= value.identical(constants[0].spec->value);
      flags &= value.get<bool>() != nullptr;
      integers &= value.get<lang::BigInt>() != nullptr && integer;
      small &= integer && *integer == static_cast<int32_t>(*integer);
      numbers &= value.get<double>() != nullptr;
    }
    if (same)
      return;
    if (flags)
      number(DType::I1);
    else if (integers)
      number(small ? DType::I32 : DType::I64);
    else if (numbers)
      number(DType::F64);
    else
      for (const Entry &entry : constants)
        if (!entry.spec->value.identical(constants[0].spec->value))
          differ(constants[0], entry, "a call can choose between integers, between floats and between booleans alone");
  }

  void unifyPointers() {
    for (const Entry &entry : specs) {
      if (entry.spec->kind == ParamSpec::Constant ? !entry.spec->value.isNone() : entry.spec->kind != ParamSpec::Pointer)
        differ(*typed, entry, "one C parameter can't be both");
      if (entry.spec->kind == ParamSpec::Pointer &&
          (entry.spec->type.dtype != typed->spec->type.dtype || entry.spec->type.pointerDepth != typed->spec->type.pointerDepth))
        differ(*typed, entry, "one C parameter can't point to both");
    }
    parameter.kind = TkAotPointer, parameter.bytes = 8;
    parameter.dtype = typed->spec->type.dtype;
    parameter.pointerDepth = typed->spec->type.pointerDepth + 1;
    parameter.element = parameter.pointerDepth > 1 ? 8 : bytesOf(parameter.dtype);
  }

  void unifyScalars() {
    DType widest = typed->spec->type.dtype;
    for (const Entry &entry : specs) {
      if (entry.spec->kind == ParamSpec::Constant)
        continue;
      DType next = entry.spec->type.dtype;
      if (entry.spec->kind != ParamSpec::Scalar)
        differ(*typed, entry, "one C parameter can't be both");
      if (next == widest)
        continue;
      std::optional<DType> both = wider(widest, next);
      if (!both)
        differ(*typed, entry, "no C type holds both");
      widest = *both;
    }
    number(widest);
    for (const Entry &entry : constants)
      if (!lang::scalarBits(entry.spec->value, widest))
        differ(*typed, entry, fmt::format("a value of {} can't be compared with it", spelling(widest)));
  }

  /// The integer type of the two that holds the values of both.
  static std::optional<DType> wider(DType a, DType b) {
    if (!isInteger(a) || !isInteger(b) || a == DType::I1 || b == DType::I1)
      return std::nullopt;
    if (isSigned(a) == isSigned(b))
      return bytesOf(a) > bytesOf(b) ? a : b;
    DType withSign = isSigned(a) ? a : b, without = isSigned(a) ? b : a;
    return bytesOf(withSign) > bytesOf(without) ? std::optional(withSign) : std::nullopt;
  }

  int64_t bitsOf(const ConstValue &value) const {
    if (parameter.kind == TkAotPointer)
      return 0; // None
    return static_cast<int64_t>(lang::scalarBits(value, parameter.dtype).value());
  }

  const std::string &function;
  Parameter parameter;
  std::vector<Entry> specs, constants;
  const Entry *typed = nullptr;
};

/// A compile-time value as the grid's program sees it.
TkProgramValue programValueOf(const ParamSpec &spec) {
  TkProgramValue result = {TkValueMissing, 0, 0};
  if (spec.kind != ParamSpec::Constant)
    return result;
  if (spec.value.isNone())
    result.kind = TkValueNone;
  else if (auto *flag = spec.value.get<bool>())
    result.kind = TkValueBool, result.integer = *flag;
  else if (auto *number = spec.value.get<double>())
    result.kind = TkValueFloat, result.number = *number;
  else if (auto integer = spec.value.asInt64())
    result.kind = TkValueInt, result.integer = *integer;
  else
    result.kind = spec.value.asString() ? TkValueText : TkValueOther;
  return result;
}

/// How much a variant says of its arguments.
unsigned strengthOf(const Variant &variant) {
  unsigned strength = 0;
  for (const Condition &condition : variant.conditions)
    strength += condition.test == TkAotEquals ? 2 : 1;
  return strength;
}
} // namespace

Interface interfaceOf(const std::string &function, const std::vector<std::string> &parameters, const std::vector<Signature> &signatures) {
  if (parameters.size() > TK_AOT_PARAMETERS)
    throw Error(ErrorKind::User, fmt::format("`{}` has {} parameters: objects take at most {}", function, parameters.size(), int(TK_AOT_PARAMETERS)));
  Interface result;
  std::vector<Column> columns;
  for (unsigned i = 0; i < parameters.size(); ++i) {
    columns.emplace_back(function, parameters[i], i, signatures);
    result.parameters.push_back(columns.back().unify());
  }
  for (const Signature &signature : signatures) {
    Variant variant;
    variant.signature = &signature;
    for (unsigned i = 0; i < parameters.size(); ++i) {
      columns[i].addConditions(signature.specs[i], i, variant.conditions);
      variant.constants.push_back(programValueOf(signature.specs[i]));
    }
    for (const Variant &other : result.variants)
      if (other.conditions == variant.conditions)
        throw Error(ErrorKind::User, fmt::format("the signatures `{}` and `{}` of `{}` are for the same arguments, so that a call can't choose",
                                                 other.signature->text, signature.text, function));
    auto place = std::upper_bound(result.variants.begin(), result.variants.end(), variant,
                                  [](const Variant &a, const Variant &b) { return strengthOf(a) > strengthOf(b); }); // behind its equals
    result.variants.insert(place, std::move(variant));
  }
  return result;
}

} // namespace tk::jit::aot
