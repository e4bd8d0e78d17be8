// A function of an object as it is written: what was compiled for it. Shared by the writers of the object and of the header.
#pragma once
#include "compiler/Compiler.h"
#include "runtime/jit/aot/Object.h"
#include <string>
#include <vector>

namespace tk::jit::aot {

/// Code of one variant for one target.
struct Code {
  std::string target;
  unsigned variant = 0; // of the interface
  compiler::ObjectKind kind = compiler::ObjectKind::Elf;
  std::string symbol; // Elf: of the entry point
  std::string image;  // else
  runtime::KernelAbi abi;
};

struct Function {
  const FunctionRequest *request = nullptr;
  Interface interface;
  std::vector<Code> codes; // of each device the better ones first
  std::string place;       // "softmax.tk:12"

  /// Whether no code writes through the parameter.
  bool isReadOnly(unsigned parameter) const;
};

/// What the C functions call, as the objects' launcher names it (see embeddedLauncher).
struct LauncherNames {
  std::string launch, prepare, unload;
};

/// LLVM IR of the tables and typed functions, as text.
std::string tablesText(const std::vector<Function> &functions, const LauncherNames &launcher);

/// The header. Throws Error(User) for a function whose name C doesn't take.
std::string headerText(const std::vector<Function> &functions, const ObjectRequest &request);

} // namespace tk::jit::aot
