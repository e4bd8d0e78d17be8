// tkc compile, when it makes an object to link into programs (runtime/jit/aot/Object.h).
#pragma once
#include "compiler/Compiler.h"
#include <string>
#include <utility>
#include <vector>

namespace tk::tool {

/// Options that may stand several times, in the order of the command line: what goes with a signature stands before it.
enum class ObjectOption : uint8_t { Kernel, Name, Grid, Signature };

struct ObjectOptions {
  std::vector<std::pair<ObjectOption, std::string>> given;
  std::string header; // a file; empty: none

  void add(ObjectOption option, const std::string &value) { given.emplace_back(option, value); }
  unsigned count(ObjectOption option) const;
  /// Whether something asks for such an object that an object file of one kernel's code alone has no use for.
  bool isWanted() const { return !header.empty() || count(ObjectOption::Name) || count(ObjectOption::Grid) || count(ObjectOption::Signature) > 1; }
};

struct ObjectRequestOptions {
  std::string file, output;
  int64_t example = 1; // whose types are taken when there is no signature
  compiler::Options compile;
};

/// Writes the object and its header; the exit status. Throws Failure and Error.
int compileObject(const ObjectOptions &options, const ObjectRequestOptions &request);

} // namespace tk::tool
