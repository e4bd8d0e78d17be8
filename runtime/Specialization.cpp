// See Specialization.h.
#include "runtime/Specialization.h"
#include "runtime/FloatBits.h"
#include "tk/error.h"
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tk::runtime {

using Kind = Argument::Kind;

std::vector<const Argument *> bindArguments(const std::string &kernel, const std::vector<ParameterRule> &rules, const Argument *arguments, size_t count,
                                            LaunchOptions &options) {
  std::vector<const Argument *> bound(rules.size(), nullptr);
  size_t next = 0;
  bool named = false;
  for (size_t i = 0; i < count; ++i) {
    const Argument &argument = arguments[i];
    size_t index = next;
    if (!argument.name) {
      if (named)
        throw Error(ErrorKind::User, fmt::format("`{}`: positional argument {} follows one given by name", kernel, i));
      if (next++ >= rules.size())
        throw Error(ErrorKind::User, fmt::format("`{}` takes {} arguments, but more are given", kernel, rules.size()));
    } else {
      named = true;
      for (index = 0; index < rules.size() && rules[index].name != argument.name;)
        ++index;
      if (index == rules.size() && LaunchOptions::has(argument.name)) {
        bool whole = argument.kind == Kind::Int || argument.kind == Kind::UInt || argument.kind == Kind::Bool;
        std::string wrong =
            whole ? options.set(argument.name, static_cast<int64_t>(argument.bits)) : fmt::format("must be an integer, found {}", describe(argument));
        if (!wrong.empty())
          throw Error(ErrorKind::User, fmt::format("`{}`: launch option `{}` {}", kernel, argument.name, wrong));
        continue;
      }
      if (index == rules.size()) {
        std::vector<std::string_view> names;
        for (const ParameterRule &rule : rules)
          names.push_back(rule.name);
        throw Error(ErrorKind::User, fmt::format("`{}` has no parameter `{}`; it has {}", kernel, argument.name, fmt::join(names, ", ")));
      }
    }
    if (bound[index])
      throw Error(ErrorKind::User, fmt::format("`{}`: parameter `{}` is given twice", kernel, rules[index].name));
    bound[index] = &argument;
  }
  for (size_t i = 0; i < rules.size(); ++i)
    if (!bound[i] && !rules[i].hasDefault)
      throw Error(ErrorKind::User, fmt::format("`{}`: parameter `{}` is missing", kernel, rules[i].name));
  return bound;
}

void appendKey(std::string &key, const ParameterRule &rule, const Argument *argument) {
  auto byte = [&](auto value) { key += static_cast<char>(value); };
  auto word = [&](uint64_t value) { key.append(reinterpret_cast<const char *>(&value), sizeof value); };
  auto text = [&](std::string_view value) { word(value.size()), key += value; };
  if (!argument)
    return byte(0xff);
  byte(argument->kind == Kind::UInt ? Kind::Int : argument->kind); // the sign of the C++ type doesn't matter
  bool multiple = rule.specialize && rule.alignment && argument->bits % 16 == 0;
  switch (argument->kind) {
  case Kind::None: break;
  case Kind::Bool:
  case Kind::Int:
  case Kind::UInt: {
    byte(argument->typed ? static_cast<unsigned>(argument->type) : 0xff);
    bool isUnsigned = argument->kind == Kind::UInt;
    int64_t value = static_cast<int64_t>(argument->bits);
    bool narrow = isUnsigned ? argument->bits <= INT32_MAX : value >= INT32_MIN && value <= INT32_MAX;
    bool wide = narrow || !isUnsigned || argument->bits <= INT64_MAX;
    unsigned width = narrow ? 0 : wide ? 1 : 2;
    if (rule.isConstexpr)
      return byte(width), word(argument->bits);
    byte(width | (rule.specialize && argument->bits == 1) << 2 | multiple << 3);
    break;
  }
  case Kind::Float:
    byte(argument->typed ? static_cast<unsigned>(argument->type) : 0xff);
    if (rule.isConstexpr)
      word(argument->bits);
    break;
  case Kind::Pointer:
    byte(argument->type);
    byte(multiple);
    break;
  case Kind::Type: byte(argument->type); break;
  case Kind::String:
  case Kind::Function: text(argument->text); break;
  }
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
