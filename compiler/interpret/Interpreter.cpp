// The entry point: flattens the kernel, then runs its programs.
#include "compiler/interpret/Interpreter.h"
#include "compiler/interpret/Machine.h"

namespace tk::interpret {

Result run(mlir::ModuleOp module, llvm::StringRef kernel, const Launch &launch) {
  Image image = flatten(module, kernel);
  if (!image.error.empty())
    return {Result::Fault, image.error, {}, 0, 0};
  Machine machine(launch, image);
  return machine.runAll();
}

} // namespace tk::interpret
