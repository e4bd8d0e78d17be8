// What the runtime asks of the front end and the compiler, which it does not contain: they are linked in (tkc, static builds) or loaded as libtkc_jit when a
// launch first needs something compiled.
#pragma once
#include "runtime/KernelAbi.h"
#include "runtime/LaunchOptions.h"
#include "runtime/ModuleDescription.h"
#include <memory>
#include <string>
#include <vector>

namespace tk::runtime {

/// Compiled code and how to call it. As text and bytes it is what the disk cache keeps.
struct CompiledCode {
  enum class Kind : uint8_t {
    SharedObject, // of the host: an ELF shared library with the entry point, needing nothing but libc and libm
    Ptx,
    Cubin
  };
  Kind kind = Kind::SharedObject;
  std::string bytes;
  KernelAbi abi;
};

struct CompileRequest {
  std::string kernel;
  /// One per parameter, null where the default stands.
  const Argument *const *arguments = nullptr;
  size_t count = 0;
  const std::vector<ParameterRule> *rules = nullptr; // what may be specialized; null: as the file says
  LaunchOptions options;
  unsigned architecture = 0; // of an NVIDIA GPU, ten times its compute capability; 0: this host
};

/// One kernel file, parsed. Thread-safe: several compilations may run at once.
class FrontendModule {
public:
  virtual ~FrontendModule() = default;
  virtual const ModuleDescription &describe() = 0;
  /// Host code is linked, GPU code is left as the compiler gives it (PTX). Throws Error(User) with the rendered diagnostics.
  virtual CompiledCode compile(const CompileRequest &request) = 0;
  /// What early_config_prune and perf_model leave of the configurations, as their indices in the order to try. Throws Error(User).
  virtual std::vector<unsigned> prune(const std::string &kernel, const Argument *const *arguments, size_t count) = 0;
  /// A heuristic's or grid's value that no stack program expresses. `which`: "grid", or a parameter's name. Throws Error(User).
  virtual std::vector<StoredArgument> evaluate(const std::string &kernel, const std::string &which, const Argument *const *arguments, size_t count) = 0;
};

class Frontend {
public:
  virtual ~Frontend() = default;
  /// `name` stands for the file in messages; one that ends in `.py` is Python. Throws Error(User) with the rendered diagnostics.
  virtual std::unique_ptr<FrontendModule> open(const std::string &text, const std::string &name) = 0;
};

/// The one of this process. Throws Error(User) that says what to install when there is none.
Frontend &frontend();
/// Makes it known, once, before the first use: by a static object of the library that has it.
void registerFrontend(Frontend &frontend);

/// A hash over the sources of lang, dialects and compiler and the version of LLVM: part of every key of the disk cache.
const char *compilerIdentity();

} // namespace tk::runtime
