// Compiled code on its way from the disk cache or the compiler to a launch.
//
// Second level of the cache (the first is Module.cpp's manifest): the key is made of what code depends on and nothing else - the closure of the kernel's
// source, the specialization, the options, the target, the compiler, for GPUs the assembler - so that edits elsewhere in the file, and other files with the
// same kernel, find it again. Lines are kept as they were, with where each function stood then, and moved to where it stands now (LineMap.h).
#pragma once
#include "runtime/KernelImpl.h"
#include "tk/hooks.h"

namespace tk::runtime {

struct Obtained {
  CompiledCode code; // of a GPU: assembled, where its device takes machine code
  LineMap lines;     // of messages that host code holds itself; what `code.abi` says is moved already
};

class CodeStore {
public:
  /// `device`: null for the host.
  CodeStore(Module::Impl &module, const KernelDescription &kernel, GpuDevice *device) : module(module), kernel(kernel), device(device) {}

  /// From the disk cache, else compiled and published. Fills the report's source, seconds and codeBytes. Throws Error as FrontendModule::compile does.
  Obtained obtain(const BoundLaunch &bound, CompileReport &report);

private:
  std::string keyOf(const BoundLaunch &bound) const;
  std::string pack(const CompiledCode &code) const;
  std::optional<Obtained> unpack(const std::string &bytes) const;
  CompiledCode compile(const BoundLaunch &bound) const;

  Module::Impl &module;
  const KernelDescription &kernel;
  GpuDevice *device;
};

} // namespace tk::runtime
