// See ArgumentText.h.
#include "runtime/tune/ArgumentText.h"
#include <fmt/format.h>

namespace tk::runtime {

template <typename Text> static std::string tupleText(const Argument &tuple, Text textOf) {
  std::string text = "(";
  for (uint64_t i = 0; i < tuple.bits; ++i)
    text += (i ? ", " : "") + textOf(&tuple.elements[i]);
  return text + ")";
}

std::string valueText(const Argument *argument) {
  if (!argument)
    return "none";
  switch (argument->kind) {
  case Argument::Kind::None: return "none";
  case Argument::Kind::Bool: return argument->bits ? "true" : "false";
  case Argument::Kind::Int: return fmt::format("{}", static_cast<int64_t>(argument->bits));
  case Argument::Kind::UInt: return fmt::format("{}", argument->bits);
  case Argument::Kind::Float: return fmt::format("{}", argument->number());
  case Argument::Kind::Type: return std::string(spelling(argument->type));
  case Argument::Kind::String:
  case Argument::Kind::Function: return argument->text ? argument->text : "";
  case Argument::Kind::Pointer: return typeText(argument);
  case Argument::Kind::Tuple: return tupleText(*argument, valueText);
  }
  return "";
}

/// As the front end types a host integer by its value.
static DType integerType(const Argument &argument) {
  if (argument.kind == Argument::Kind::UInt && argument.bits > static_cast<uint64_t>(INT64_MAX))
    return DType::U64;
  auto value = static_cast<int64_t>(argument.bits);
  return value >= INT32_MIN && value <= INT32_MAX ? DType::I32 : DType::I64;
}

std::string typeText(const Argument *argument) {
  if (!argument)
    return "";
  switch (argument->kind) {
  case Argument::Kind::Bool: return "i1";
  case Argument::Kind::Int:
  case Argument::Kind::UInt: return std::string(spelling(argument->typed ? argument->type : integerType(*argument)));
  case Argument::Kind::Float: return std::string(spelling(argument->typed ? argument->type : DType::F32));
  case Argument::Kind::Pointer: return fmt::format("*{}", spelling(argument->type));
  case Argument::Kind::Tuple: return tupleText(*argument, typeText);
  case Argument::Kind::None:
  case Argument::Kind::Type:
  case Argument::Kind::String:
  case Argument::Kind::Function: break;
  }
  return "";
}

} // namespace tk::runtime
