// Joins emission (Emitter.h) and LLVM (Machine.h).
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cpu/Emitter.h"
#include "compiler/target/MachineCode.h"
#include "compiler/target/cpu/Machine.h"
#include "llvm/IR/Verifier.h"

namespace tk::cpu {

CpuOutput lower(mlir::ModuleOp source, const std::string &target, bool fpFusion, CpuStage stage) {
  CpuOutput output;
  output.location = source.getLoc();
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target, fpFusion, output.error);
  if (!machine)
    return output;
  llvm::LLVMContext context;
  llvm::Module module("tkc", context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 5);
  module.setPICLevel(llvm::PICLevel::BigPIC);

  MachineFacts facts;
  facts.vectorBytes = vectorBytes(*machine);
  facts.cpu = machine->getTargetCPU().str();
  facts.features = machine->getTargetFeatureString().str();
  for (auto function : source.getOps<tt::FuncOp>()) {
    if (!function.isKernel())
      continue;
    Emitter emitter(module, facts, source);
    if (!emitter.emitKernel(function)) {
      output.error = emitter.error;
      output.location = emitter.errorLocation;
      return output;
    }
    output.arenaBytes = std::max(output.arenaBytes, emitter.arenaBytes());
    output.spins |= emitter.spins();
  }
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) {
    output.error = "internal error: the generated LLVM IR is wrong: " + problem;
    return output;
  }
  optimize(module, *machine);
  if (stage == CpuStage::Llvm) {
    llvm::raw_string_ostream text(output.code);
    module.print(text, nullptr);
  } else {
    output.code = compiler::machineCode(module, *machine, stage == CpuStage::Assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile);
  }
  return output;
}

} // namespace tk::cpu
