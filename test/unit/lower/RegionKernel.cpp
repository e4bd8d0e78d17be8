// See RegionKernel.h.
#include "RegionKernel.h"
#include "compiler/Passes.h"
#include "compiler/RecordRemark.h"
#include "compiler/target/nvidia/NvidiaTarget.h"
#include "dialects/ttg/TTG.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <fmt/format.h>

namespace tk::lower::test {

namespace {
struct Lowered {
  nvidia::Output output;
  runtime::KernelAbi abi;
  std::string remarks;
};

Lowered lowered(const std::string &text, const std::string &targetName, bool laidOut, unsigned warps, unsigned maxRegisters = 0) {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<tt::TTDialect, ttg::TTGDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  std::string complaints;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    complaints += diagnostic.str() + "\n";
    return mlir::success();
  });
  INFO(text);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), "kernel.mlir");
  INFO(complaints);
  REQUIRE(module);
  Lowered result;
  compiler::Remarks remarks;
  {
    compiler::RemarkListener listener(context, true, [](mlir::Location) { return compiler::RemarkListener::Position{"kernel.mlir", 1, 1}; }, remarks);
    // The end of buildGpuPipeline.
    mlir::PassManager passes(&context);
    if (!laidOut) {
      compiler::AssignLayoutsPassOptions layouts;
      layouts.target = targetName, layouts.numWarps = warps;
      passes.addNestedPass<tt::FuncOp>(compiler::createAssignLayoutsPass(layouts));
    }
    compiler::PipelineLoopsPassOptions stages;
    stages.target = targetName;
    passes.addNestedPass<tt::FuncOp>(compiler::createPipelineLoopsPass(stages));
    passes.addNestedPass<tt::FuncOp>(compiler::createHoistLoadsPass());
    passes.addNestedPass<tt::FuncOp>(compiler::createAllocateSharedPass());
    passes.addNestedPass<tt::FuncOp>(compiler::createOrderMemoryPass());
    bool passed = mlir::succeeded(passes.run(*module));
    INFO(complaints);
    REQUIRE(passed);
    const nvidia::Target *target = nvidia::findTarget(targetName);
    REQUIRE(target);
    result.output = nvidia::lower(*module, *target, false, maxRegisters, nvidia::Stage::Ptx, result.abi);
  }
  for (const compiler::Remark &remark : remarks)
    result.remarks += compiler::sentence(remark) + "\n";
  return result;
}
} // namespace

RegionKernel::RegionKernel(const std::string &text, const std::string &target, bool laidOut, unsigned warpsWanted, unsigned maxRegisters)
    : device(nvidia::findTarget(target)->sm) {
  Lowered made = lowered(text, target, laidOut, warpsWanted, maxRegisters);
  REQUIRE(made.output.error == "");
  ptx = made.output.code, remarks = made.remarks;
  warps = made.abi.threads / 32, sharedBytes = made.abi.sharedBytes;
}

void RegionKernel::launch(uint32_t programs, const std::vector<uint8_t> &parameters) {
  INFO(ptx);
  std::unique_ptr<emulated::Module> module = device.load(ptx);
  const emulated::Function *function = module->find("k");
  REQUIRE(function);
  // Transfers as late and as early as they may be: what is read too early shows, and what is overwritten too early.
  for (emulated::AsyncTiming timing : {emulated::AsyncTiming::Late, emulated::AsyncTiming::Early}) {
    emulated::LaunchSpec spec;
    spec.grid = {programs, 1, 1}, spec.block = {warps * 32, 1, 1}, spec.dynamicShared = sharedBytes, spec.threads = 1;
    spec.parameters = parameters, spec.timing = timing;
    REQUIRE(device.launch(*module, *function, spec).text() == "");
  }
}

std::string refusalOf(const std::string &text, const std::string &target) { return lowered(text, target, true, 4).output.error; }

std::optional<std::string> ptxasVerdict(const std::string &ptx, const std::string &target) {
  auto program = llvm::sys::findProgramByName("ptxas");
  if (!program)
    program = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  if (!program)
    return std::nullopt;
  llvm::SmallString<128> source, log;
  int file = -1;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("regions", "ptx", file, source));
  REQUIRE(!llvm::sys::fs::createTemporaryFile("regions", "log", log));
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << ptx;
  std::string architecture = "-arch=" + target;
  std::optional<llvm::StringRef> streams[] = {std::nullopt, llvm::StringRef(log), llvm::StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(*program, {*program, architecture, source, "-o", "/dev/null"}, std::nullopt, streams);
  std::string said = llvm::MemoryBuffer::getFile(log).get()->getBuffer().str();
  llvm::sys::fs::remove(source);
  llvm::sys::fs::remove(log);
  return status == 0 ? said : fmt::format("status {}: {}", status, said);
}

} // namespace tk::lower::test
