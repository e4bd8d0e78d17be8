// Object code to callable functions in this process, through LLVM's ORC. The one class here that knows LLVM, and its header does not show it.
#pragma once
#include <memory>
#include <string>

namespace tk::jit {

/// One session of the linker. Objects stay loaded until the loader goes. Thread-safe.
class ObjectLoader {
public:
  /// `debugSupport`: announce code to gdb (costs a copy of each object).
  explicit ObjectLoader(bool debugSupport = false);
  ~ObjectLoader();

  /// Links a relocatable object and gives the address of `symbol`. Objects are separate: they may define the same names. What an object refers to and does not
  /// define is looked for in this process (libc, libm). Throws Error(Internal).
  void *load(const std::string &object, const std::string &symbol);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tk::jit
