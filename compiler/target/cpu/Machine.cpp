// The emitted code is already vectorised and blocked, so LLVM only cleans up: slots to registers, common subexpressions, invariant code out of
// loops, then its code generator. There is no loop or SLP vectoriser and no unroller: they would undo the choices made here and cost compile time.
#include "compiler/target/cpu/Machine.h"
#include "compiler/target/MachineCode.h"
#include "compiler/target/cpu/TargetName.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace llvm;
namespace tk::cpu {

static void initializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

std::unique_ptr<TargetMachine> createMachine(const std::string &target, bool fpFusion, std::string &error) {
  initializeOnce();
  std::string cpu, features;
  if (target == "cpu") {
    cpu = sys::getHostCPUName().str();
    for (auto &feature : sys::getHostCPUFeatures())
      features += (features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  } else if (std::optional<TargetName> name = parseTarget(target)) {
    cpu = name->base;
    for (const std::string &feature : name->features)
      features += (features.empty() ? "+" : ",+") + feature;
  } else {
    error = "`" + target + "` is not a CPU target";
    return nullptr;
  }
  Triple triple("x86_64-unknown-linux-gnu");
  const Target *found = TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  TargetOptions options;
  options.AllowFPOpFusion = fpFusion ? FPOpFusion::Fast : FPOpFusion::Strict;
  options.NoTrappingFPMath = true;
  return std::unique_ptr<TargetMachine>(found->createTargetMachine(triple, cpu, features, options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Default));
}

unsigned vectorBytes(const TargetMachine &machine) {
  StringRef features = machine.getTargetFeatureString(), cpu = machine.getTargetCPU();
  if (cpu == "x86-64-v4" || features.contains("+avx512vl"))
    return 64;
  if (cpu == "x86-64-v3" || features.contains("+avx2") || features.contains("+avx"))
    return 32;
  return 16;
}

void optimize(Module &module, TargetMachine &machine) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));                                                // carried scalars and partial sums become registers
  passes.addPass(EarlyCSEPass(true));                                                              // index arithmetic repeated at every use
  passes.addPass(InstCombinePass());                                                               // extensions, constant lanes, select chains
  passes.addPass(SimplifyCFGPass());                                                               // empty blocks around masked elements
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true)); // row-invariant splats and addresses
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(InstCombinePass()); // what LICM brought together
  passes.addPass(SimplifyCFGPass());
  passes.addPass(DCEPass());
  compiler::runFunctionPasses(module, machine, std::move(passes));
}

} // namespace tk::cpu
