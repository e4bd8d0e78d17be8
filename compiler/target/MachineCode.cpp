// See MachineCode.h.
#include "compiler/target/MachineCode.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

void tk::compiler::runFunctionPasses(Module &module, TargetMachine &machine, FunctionPassManager passes) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager calls;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  ModulePassManager all;
  all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

std::string tk::compiler::machineCode(Module &module, TargetMachine &machine, CodeGenFileType kind) {
  SmallString<0> output;
  raw_svector_ostream stream(output);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return "";
  passes.run(module);
  return std::string(output.data(), output.size());
}
