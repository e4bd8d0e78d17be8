// See StackProgram.h.
#include "runtime/StackProgram.h"
#include "runtime/ModuleDescription.h"
#include "runtime/program/Program.h"
#include <fmt/format.h>

namespace tk::runtime {

using Kind = Argument::Kind;

namespace {
struct Arguments {
  const Argument *const *list = nullptr;
  size_t count = 0;
  const Argument *at(size_t index) const { return index < count ? list[index] : nullptr; }
};

TkProgramValue valueOf(const Argument *argument) {
  if (!argument)
    return {TkValueMissing, 0, 0};
  switch (argument->kind) {
  case Kind::None: return {TkValueNone, 0, 0};
  case Kind::Bool: return {TkValueBool, argument->bits != 0, 0};
  case Kind::Int: return {TkValueInt, static_cast<int64_t>(argument->bits), 0};
  case Kind::UInt:
    if (argument->bits > INT64_MAX) // no value of a program
      return {TkValueText, 0, 0};
    return {TkValueInt, static_cast<int64_t>(argument->bits), 0};
  case Kind::Float: return {TkValueFloat, 0, argument->number()};
  case Kind::String:
  case Kind::Tuple: return {TkValueText, 0, 0};
  case Kind::Pointer:
  case Kind::Type:
  case Kind::Function: break;
  }
  return {TkValueOther, 0, 0};
}

Argument argumentOf(const TkProgramValue &value, const Arguments &arguments) {
  switch (value.kind) {
  case TkValueBool: return Argument(value.integer != 0);
  case TkValueInt: return Argument(value.integer);
  case TkValueFloat: return Argument(value.number);
  case TkValueOther:
  case TkValueText: return *arguments.at(static_cast<size_t>(value.integer));
  case TkValueMissing:
  case TkValueNone: break;
  }
  return Argument();
}

std::string wording(const TkProgramResult &result, const Arguments &arguments, const std::string &name) {
  switch (result.status) {
  case TkProgramMissingArgument: return fmt::format("needs {}, which is not given", name);
  case TkProgramBadArgument: return fmt::format("cannot compute with {}, which is {}", name, describe(*arguments.at(result.argument)));
  case TkProgramBadOperand: return "computes with None, or with a float where an integer is needed";
  case TkProgramDivisionByZero: return "divides by zero";
  case TkProgramOverflow: return "gives an integer beyond 64 bits";
  case TkProgramShift: return "shifts by a negative count";
  case TkProgramPower: return "raises a float, or to a negative power";
  case TkProgramNotFinite: return "makes an integer of infinity or NaN";
  case TkProgramTooMany: return fmt::format("gives {} values instead of one", result.count);
  case TkProgramInvalid:
  case TkProgramOk: break;
  }
  return "is no valid program";
}

std::optional<Argument> runProgram(const std::string &code, const Arguments &arguments, TkProgramResult &result) {
  auto fetch = [](const void *context, unsigned index) { return valueOf(static_cast<const Arguments *>(context)->at(index)); };
  TkProgramValue value;
  result = tkProgramRunFetching(reinterpret_cast<const uint8_t *>(code.data()), code.size(), fetch, &arguments, &value, 1);
  return result.status == TkProgramOk ? std::optional<Argument>(argumentOf(value, arguments)) : std::nullopt;
}
} // namespace

std::optional<Argument> StackProgram::run(const Argument *const *arguments, size_t count, std::string &error) const {
  Arguments all{arguments, count};
  TkProgramResult result;
  std::optional<Argument> value = runProgram(bytes, all, result);
  if (!value) {
    const Argument *argument = all.at(result.argument);
    error = wording(result, all, argument && argument->name ? fmt::format("`{}`", argument->name) : fmt::format("argument {}", result.argument + 1));
  }
  return value;
}

std::optional<Argument> run(const StackProgram &program, const std::vector<ParameterDescription> &parameters, const Argument *const *arguments, size_t count,
                            std::string &error) {
  Arguments all{arguments, count};
  TkProgramResult result;
  std::optional<Argument> value = runProgram(program.code(), all, result);
  if (!value)
    error = wording(result, all, result.argument < parameters.size() ? fmt::format("`{}`", parameters[result.argument].name) : "an argument");
  return value;
}

} // namespace tk::runtime
