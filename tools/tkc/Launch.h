// What the launch of a kernel needs: the bits of its arguments, contents to put back between launches.
#pragma once
#include "compiler/Compiler.h"
#include "tools/tkc/ArgumentResolver.h"

namespace tk::tool {

/// The bits of every slot that is not hidden. `address` gives where the elements of an array are.
std::vector<uint64_t> slotBits(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments,
                               const std::function<uint64_t(const ArrayArgument &)> &address);

/// The array that a slot points to, null for a scalar.
const ArrayArgument *arrayOf(const compiler::ArgumentSlot &slot, const std::vector<ResolvedArgument> &arguments);

/// Compiles to object code. Throws Failure(Diagnostics).
compiler::CompiledKernel compileKernel(compiler::Compiler &compiler, const jit::Program &program, const std::string &kernel, const std::vector<lang::ParamSpec> &specs,
                                       const compiler::Options &options);

/// An option of the command line wins over the example's.
compiler::Options withLaunchOptions(compiler::Options compile, const runtime::LaunchOptions &launch);

/// Of the arrays of a launch: what is read once and what is written once.
uint64_t bytesMoved(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments);

/// What a kernel both reads and writes, as it was before the first launch: a counter or a flag that a second launch must find as the first one did.
class Snapshot {
public:
  Snapshot(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments);
  void restore() const;
  bool isEmpty() const { return arrays.empty(); }
  bool holds(const ArrayArgument &array) const;

private:
  std::vector<std::pair<const ArrayArgument *, std::vector<char>>> arrays;
};

} // namespace tk::tool
