// See Specialization.h.
#include "runtime/Specialization.h"
#include "runtime/FloatBits.h"
#include "tk/error.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tk::runtime {

using Kind = Argument::Kind;

/// The parameter of this name, sought from `hint` on: names mostly come in the order of the parameters. The number of rules when there is none.
static size_t parameterNamed(const std::vector<ParameterRule> &rules, std::string_view name, size_t hint) {
  for (size_t step = 0; step < rules.size(); ++step) {
    size_t index = hint + step < rules.size() ? hint + step : hint + step - rules.size();
    if (rules[index].name == name)
      return index;
  }
  return rules.size();
}

/// An argument that is no parameter: a launch option, or a mistake.
static void setOption(const std::string &kernel, const std::vector<ParameterRule> &rules, const Argument &argument, LaunchOptions &options) {
  if (LaunchOptions::has(argument.name)) {
    bool whole = argument.kind == Kind::Int || argument.kind == Kind::UInt || argument.kind == Kind::Bool;
    std::string wrong =
        whole ? options.set(argument.name, static_cast<int64_t>(argument.bits)) : fmt::format("must be an integer, found {}", describe(argument));
    if (!wrong.empty())
      throw Error(ErrorKind::User, fmt::format("`{}`: launch option `{}` {}", kernel, argument.name, wrong));
    return;
  }
  std::vector<std::string_view> names;
  for (const ParameterRule &rule : rules)
    names.push_back(rule.name);
  throw Error(ErrorKind::User, fmt::format("`{}` has no parameter `{}`; it has {}", kernel, argument.name, fmt::join(names, ", ")));
}

void bindArguments(const std::string &kernel, const std::vector<ParameterRule> &rules, const Argument *arguments, size_t count, const Argument **bound,
                   LaunchOptions &options) {
  // Those by position, which most are.
  size_t next = 0, most = std::min(count, rules.size());
  for (; next < most && !arguments[next].name; ++next)
    bound[next] = &arguments[next];
  std::fill(bound + next, bound + rules.size(), nullptr);
  bool named = false;
  for (size_t i = next; i < count; ++i) {
    const Argument &argument = arguments[i];
    size_t index = next;
    if (!argument.name) {
      if (named)
        throw Error(ErrorKind::User, fmt::format("`{}`: positional argument {} follows one given by name", kernel, i));
      if (next >= rules.size())
        throw Error(ErrorKind::User, fmt::format("`{}` takes {} arguments, but more are given", kernel, rules.size()));
    } else {
      named = true;
      index = parameterNamed(rules, argument.name, next < rules.size() ? next : 0);
      if (index == rules.size()) {
        setOption(kernel, rules, argument, options);
        continue;
      }
    }
    if (bound[index])
      throw Error(ErrorKind::User, fmt::format("`{}`: parameter `{}` is given twice", kernel, rules[index].name));
    bound[index] = &argument;
    next = index + 1;
  }
}

void checkComplete(const std::string &kernel, const std::vector<ParameterRule> &rules, const Argument *const *bound) {
  for (size_t i = 0; i < rules.size(); ++i)
    if (!bound[i] && !rules[i].hasDefault)
      throw Error(ErrorKind::User, fmt::format("`{}`: parameter `{}` is missing", kernel, rules[i].name));
}

void appendKey(LaunchKey &key, const ParameterRule &rule, const Argument *argument) {
  const uint32_t head = keyHead(keyMask(rule), argument);
  key.bytes(head);
  if (keyHasRest(head))
    appendKeyRest(key, rule, argument);
}

void appendKeyRest(LaunchKey &key, const ParameterRule &rule, const Argument *argument) {
  switch (argument->kind) {
  case Kind::String:
  case Kind::Function: return key.text(argument->text);
  case Kind::Descriptor:
    for (unsigned axis = 0; axis < argument->descriptor->rank; ++axis)
      key.bytes(static_cast<uint32_t>(argument->descriptor->block[axis]));
    return;
  case Kind::Tuple:
    key.word(argument->bits);
    for (uint64_t i = 0; i < argument->bits; ++i)
      appendKey(key, rule, &argument->elements[i]);
    return;
  default: return key.word(argument->bits);
  }
}

static std::string specializationOf(const ParameterRule &rule, const Argument *argument) {
  if (!argument)
    return "default";
  std::string divisible = rule.specialize && rule.alignment && argument->bits % 16 == 0 ? ":16" : "";
  switch (argument->kind) {
  case Kind::Pointer: return fmt::format("*{}{}", spelling(argument->type), divisible);
  case Kind::Bool:
    if (!rule.isConstexpr)
      return "i1";
    break;
  case Kind::Float:
    if (!rule.isConstexpr)
      return std::string(spelling(argument->typed ? argument->type : DType::F32));
    break;
  case Kind::Int:
  case Kind::UInt: {
    if (rule.isConstexpr || (rule.specialize && rule.foldOne && argument->bits == 1 && !argument->typed))
      break;
    int64_t value = static_cast<int64_t>(argument->bits);
    DType type = argument->typed                             ? argument->type
                 : argument->kind == Kind::UInt && value < 0 ? DType::U64
                 : value == static_cast<int32_t>(value)      ? DType::I32
                                                             : DType::I64;
    return fmt::format("{}{}", spelling(type), divisible);
  }
  case Kind::Tuple: {
    std::vector<std::string> elements;
    for (uint64_t i = 0; i < argument->bits; ++i)
      elements.push_back(specializationOf(rule, &argument->elements[i]));
    return fmt::format("({})", fmt::join(elements, ", "));
  }
  default: break;
  }
  return fmt::format("{}={}", rule.name, describe(*argument));
}

std::string specializationText(const std::vector<ParameterRule> &rules, const Argument *const *arguments, const LaunchOptions &options) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < rules.size(); ++i)
    parts.push_back(specializationOf(rules[i], arguments[i]));
  if (std::string text = options.text(); !text.empty())
    parts.push_back(text);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe(const Argument &argument) {
  switch (argument.kind) {
  case Kind::None: return "none";
  case Kind::Bool: return argument.bits ? "true" : "false";
  case Kind::Int: return fmt::format("{}", static_cast<int64_t>(argument.bits));
  case Kind::UInt: return fmt::format("{}", argument.bits);
  case Kind::Float: return fmt::format("{}", argument.number());
  case Kind::Pointer: return fmt::format("a pointer to {}", spelling(argument.type));
  case Kind::Type: return fmt::format("the type {}", spelling(argument.type));
  case Kind::String: return fmt::format("the string `{}`", argument.text);
  case Kind::Function: return fmt::format("the function `{}`", argument.text);
  case Kind::Tuple: return fmt::format("a tuple of {}", argument.bits);
  case Kind::Descriptor: return fmt::format("a tensor descriptor of {} with {} axes", spelling(argument.type), argument.descriptor->rank);
  }
  return "";
}

uint64_t slotBits(const Argument &argument, DType type, bool isPointer, const std::string &parameter) {
  auto mismatch = [&] {
    return Error(ErrorKind::User,
                 fmt::format("parameter `{}` is {}{}, but {} is given", parameter, isPointer ? "a pointer to " : "", spelling(type), describe(argument)));
  };
  if (isPointer) {
    if (argument.kind != Kind::Pointer || argument.type != type)
      throw mismatch();
    return argument.bits;
  }
  switch (argument.kind) {
  case Kind::Bool: return encodeInteger(type, argument.bits != 0);
  case Kind::Float:
    if (isInteger(type))
      throw mismatch();
    return encodeNumber(type, argument.number());
  case Kind::Int:
  case Kind::UInt: {
    int64_t value = static_cast<int64_t>(argument.bits);
    bool huge = argument.kind == Kind::UInt && value < 0; // beyond i64
    if (isFloat(type))
      return huge ? encodeNumber(type, static_cast<double>(argument.bits)) : encodeInteger(type, value);
    unsigned width = bitsOf(type);
    bool fits = isSigned(type) ? !huge && value >= INT64_MIN >> (64 - width) && value <= INT64_MAX >> (64 - width)
                               : (argument.kind == Kind::UInt || value >= 0) && argument.bits <= UINT64_MAX >> (64 - width);
    if (!fits)
      throw Error(ErrorKind::User, fmt::format("parameter `{}`: {} is out of range of {}", parameter, describe(argument), spelling(type)));
    return encodeInteger(type, value);
  }
  default: throw mismatch();
  }
}

} // namespace tk::runtime
