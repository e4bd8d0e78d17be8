// Host expressions of a kernel file as tiny programs over a launch's arguments: `@tk.grid(cdiv(n, BLOCK))`, heuristics, predicates. The front end compiles them
// (lang/sema/HostPrograms.h), and what launches without a front end, precompiled objects included, runs them. program/Program.h is the machine, in C.
#pragma once
#include "tk/argument.h"
#include <optional>
#include <string>
#include <vector>

namespace tk::runtime {

class StackProgram {
public:
  StackProgram() = default;
  explicit StackProgram(std::string code) : bytes(std::move(code)) {}
  bool empty() const { return bytes.empty(); }
  /// The instructions, as program/Program.h defines them. Position-independent, the same on every machine.
  const std::string &code() const { return bytes; }

  /// Runs it. `arguments` has one per parameter, null where none is known. Empty with `error` filled, worded to follow the name of what is evaluated
  /// ("divides by zero", "needs `n`, which is not given"), for a program that fails; never crashes, whatever the bytes are. Allocates nothing on success.
  std::optional<Argument> run(const Argument *const *arguments, size_t count, std::string &error) const;

private:
  std::string bytes;
};

} // namespace tk::runtime
