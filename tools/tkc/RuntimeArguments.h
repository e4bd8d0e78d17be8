// Resolved arguments as tk::Kernel takes them.
#pragma once
#include "tk/argument.h"
#include "tools/tkc/ArgumentResolver.h"
#include <deque>

namespace tk::tool {

/// Owns what the arguments refer to: names, texts, tuples, copies of arrays in a GPU's memory. The arrays of the resolver must outlive it.
class RuntimeArguments {
public:
  /// All by name, without the parameters in `without`. Arrays must have been allocated. Throws Failure(Usage) for values that only a compilation can take.
  RuntimeArguments(const lang::ast::Function &kernel, const std::vector<ResolvedArgument> &arguments, const std::vector<std::string> &without,
                   const Device &device);
  RuntimeArguments(const RuntimeArguments &) = delete;
  RuntimeArguments &operator=(const RuntimeArguments &) = delete;

  void add(const runtime::LaunchOptions &options);
  const std::vector<Argument> &list() const { return arguments; }

private:
  Argument argumentOf(const lang::ConstValue &value, const std::optional<DType> &type, const std::string &parameter);
  Argument arrayOf(const ArrayArgument &array);

  const Device device;
  std::deque<std::string> texts;
  std::deque<std::vector<Argument>> tuples;
  std::map<const ArrayArgument *, DeviceArray> copies;
  std::vector<Argument> arguments;
};

} // namespace tk::tool
