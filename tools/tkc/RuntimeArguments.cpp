// See RuntimeArguments.h.
#include "tools/tkc/RuntimeArguments.h"
#include "tools/tkc/Failure.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::tool {

RuntimeArguments::RuntimeArguments(const lang::ast::Function &kernel, const std::vector<ResolvedArgument> &resolved, const std::vector<std::string> &without,
                                   const Device &device)
    : device(device) {
  for (size_t i = 0; i < resolved.size(); ++i) {
    const std::string &name = kernel.params[i].name;
    if (std::find(without.begin(), without.end(), name) != without.end())
      continue;
    Argument argument = argumentOf(resolved[i].value, resolved[i].type, name);
    argument.name = texts.emplace_back(name).c_str();
    arguments.push_back(argument);
  }
}

void RuntimeArguments::add(const runtime::LaunchOptions &options) {
#define LAUNCH_OPTION(field, name, type, otherwise) \
  if (options.field != type{})                      \
    arguments.push_back(meta(name, static_cast<int64_t>(options.field)));
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
}

Argument RuntimeArguments::arrayOf(const ArrayArgument &array) {
  if (device.isHost())
    return Argument(array.array);
  auto it = copies.find(&array);
  if (it == copies.end())
    it = copies.emplace(&array, DeviceArray(device, array.array)).first;
  return Argument(it->second);
}

Argument RuntimeArguments::argumentOf(const lang::ConstValue &value, const std::optional<DType> &type, const std::string &parameter) {
  if (const lang::ArrayValue *array = value.asArray())
    return arrayOf(*static_cast<const ArrayArgument *>(array->handle.get()));
  if (value.isNone())
    return {};
  if (auto *flag = value.get<bool>())
    return type ? scalar(*type, static_cast<int64_t>(*flag)) : Argument(*flag);
  if (auto *number = value.get<double>())
    return type ? scalar(*type, *number) : Argument(*number);
  if (auto integer = value.asInt64())
    return type && isFloat(*type) ? scalar(*type, static_cast<double>(*integer)) : type ? scalar(*type, *integer) : Argument(*integer);
  if (auto bits = lang::scalarBits(value, DType::U64))
    return Argument(*bits);
  if (const std::string *text = value.asString())
    return Argument(texts.emplace_back(*text).c_str());
  if (auto *dtype = value.get<lang::TypeValue>(); dtype && !dtype->pointerDepth)
    return Argument(dtype->dtype);
  if (auto *function = value.get<lang::FunctionValue>(); function && function->function)
    return tk::function(texts.emplace_back(function->function->name).c_str());
  if (const lang::TupleValue *tuple = value.asTuple()) {
    std::vector<Argument> elements;
    for (const lang::ConstValue &element : tuple->elements)
      elements.push_back(argumentOf(element, std::nullopt, parameter));
    Argument result;
    result.kind = Argument::Kind::Tuple, result.bits = elements.size();
    result.elements = tuples.emplace_back(std::move(elements)).data();
    return result;
  }
  throw Failure(Status::Usage, fmt::format("argument `{}`: {} can't be passed to a launch that is tuned", parameter, value.repr()));
}

} // namespace tk::tool
