// NVIDIA GPUs. What is peculiar here:
//
// - PTX is a virtual instruction set with as many registers as one likes; ptxas (or the driver) allocates them and schedules. So LLVM only has to remove what is redundant:
//   a short list of passes, no jump threading (it tears convergent code apart), no vectoriser, no unroller.
// - A block's threads run in warps of 32 lanes. Shuffles and matrix units work on whole warps, so control flow around them must be uniform; it is, as conditions are scalars
//   that all threads compute alike, and scalars that come from memory are read once and broadcast.
// - Shared memory is one dynamic array; its size is a launch parameter, since more than 48 KiB must be asked for. Its pointers are 32 bits wide.
// - Code for a target whose name ends in `a` runs on that compute capability only and may use its matrix units of the warp group.
#include "compiler/target/nvidia/NvidiaTarget.h"
#include "compiler/lower/GpuEmitter.h"
#include "compiler/target/MachineCode.h"
#include "compiler/target/nvidia/NvidiaInstructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace llvm;
namespace tk::nvidia {

static void initializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // 32-bit pointers to shared memory halve its address arithmetic; LLVM offers the choice as a command-line option only.
    auto option = cl::getRegisteredOptions().find("nvptx-short-ptr");
    if (option != cl::getRegisteredOptions().end())
      static_cast<cl::opt<bool> *>(option->second)->setValue(true);
  });
}

static std::unique_ptr<TargetMachine> createMachine(const Target &target, unsigned ptx, bool fpFusion, std::string &error) {
  initializeOnce();
  Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *found = TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  TargetOptions options;
  options.AllowFPOpFusion = fpFusion ? FPOpFusion::Fast : FPOpFusion::Strict;
  options.NoTrappingFPMath = true;
  return std::unique_ptr<TargetMachine>(found->createTargetMachine(triple, std::string(target.name), "+ptx" + std::to_string(ptx), options, std::nullopt,
                                                                   std::nullopt, CodeGenOptLevel::Default));
}

static void optimize(Module &module, TargetMachine &machine) {
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(true)); // index arithmetic repeated for every register
  passes.addPass(InstCombinePass());  // widening and rounding around 16-bit arithmetic, packing
  // Empty sides of branches. Without what it does to conditions: it would send the threads for which a second branch is decided by the first around what lies
  // between, which is jump threading under another name.
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().setSimplifyCondBranch(false)));
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true)); // addresses that don't change in a loop
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(DCEPass());
  compiler::runFunctionPasses(module, machine, std::move(passes));
}

/// The version of PTX, times ten, that the code needs. (mbarrier.test_wait.parity came with 7.1.)
static unsigned ptxFor(mlir::ModuleOp source, const Target &target) {
  bool waits = source.walk([](ttg::MbarrierWaitOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  return std::max(target.ptx, waits ? 71u : 0u);
}

Output lower(mlir::ModuleOp source, const Target &target, bool fpFusion, unsigned maxRegisters, Stage stage, runtime::KernelAbi &abi) {
  Output output;
  output.location = source.getLoc();
  std::unique_ptr<TargetMachine> machine = createMachine(target, ptxFor(source, target), fpFusion, output.error);
  if (!machine)
    return output;
  LLVMContext context;
  Module module("tkc", context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  Instructions instructions(target, maxRegisters);
  for (auto function : source.getOps<tt::FuncOp>()) {
    if (!function.isKernel())
      continue;
    lower::GpuEmitter emitter(module, instructions, abi);
    if (!emitter.emitKernel(function)) {
      output.error = emitter.error;
      output.location = emitter.errorLocation;
      return output;
    }
  }
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(module, &stream)) {
    output.error = "internal error: the generated LLVM IR is wrong: " + problem;
    return output;
  }
  optimize(module, *machine);
  if (stage == Stage::Llvm) {
    raw_string_ostream text(output.code);
    module.print(text, nullptr);
    return output;
  }
  output.code = compiler::machineCode(module, *machine, CodeGenFileType::AssemblyFile);
  if (output.code.empty())
    output.error = "internal error: LLVM can't write PTX";
  return output;
}

} // namespace tk::nvidia
