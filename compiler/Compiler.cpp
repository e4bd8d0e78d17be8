// The compiler's verbs: elaborate, run the phases of Pipeline.cpp, hand over to a target.
#include "compiler/Compiler.h"
#include "compiler/DefaultWarps.h"
#include "compiler/Elaboration.h"
#include "compiler/Limits.h"
#include "compiler/Pipeline.h"
#include "compiler/RecordRemark.h"
#include "compiler/lower/SourcePlace.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cpu/TargetName.h"
#include "compiler/target/nvidia/NvidiaTarget.h"
#include "compiler/tile/PaddedShapes.h"
#include "dialects/ttg/TTG.h"
#include "mlir/IR/Verifier.h"
#include <fmt/ranges.h>

namespace tk::compiler {

struct Compiler::Impl {
  mlir::MLIRContext context;

  Impl() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<tt::TTDialect, ttg::TTGDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  }
};

Compiler::Compiler() : impl(std::make_unique<Impl>()) {}
Compiler::~Compiler() = default;

static bool isCpuTarget(const std::string &target) { return cpu::parseTarget(target).has_value(); }

/// The place in the kernel's file that an operation came from; the whole function's name when it came from elsewhere.
static lang::Place placeOf(mlir::LocationAttr location, const lang::ModuleScope &scope, const lang::ast::Function &kernel) {
  lang::Place place{&scope.file(), kernel.nameRange};
  if (!location)
    return place;
  if (mlir::FileLineColLoc at = lower::placeOf(location); at && at.getFilename().getValue() == scope.file().name()) {
    uint32_t begin = scope.file().offset({at.getLine(), at.getColumn()});
    place.range = {begin, begin + 1};
  }
  return place;
}

std::shared_ptr<Compiler::Elaboration> Compiler::elaborate(const lang::ModuleScope &scope, const std::string &kernel,
                                                           const std::vector<lang::ParamSpec> &params, const Options &options, lang::Diagnostics &diagnostics) {
  const lang::ast::Function *function = scope.function(kernel);
  if (!function) {
    diagnostics.report(lang::Diag::UnknownKernel, {&scope.file(), {}}, kernel);
    return nullptr;
  }
  lang::ElaborateOptions elaborateOptions;
  elaborateOptions.target = options.target;
  if (const nvidia::Target *gpu = nvidia::findTarget(options.target); gpu && gpu->has(nvidia::Bf16Mma)) // which have tf32 too
    elaborateOptions.defaultDotPrecision = "tf32";
  elaborateOptions.debug = options.debug;
  elaborateOptions.strictTriton = options.strictTriton;
  auto result = std::make_shared<Elaboration>();
  result->kernel = kernel;
  result->elaborated = lang::elaborate(impl->context, scope, *function, params, elaborateOptions, diagnostics);
  if (!result->elaborated.module)
    return nullptr;
  for (const lang::KernelArgument &argument : result->elaborated.arguments) {
    ArgumentSlot slot;
    slot.name = argument.name, slot.param = argument.param, slot.path = argument.path;
    slot.dtype = argument.type.dtype, slot.pointerDepth = argument.type.pointerDepth;
    slot.kind = slot.pointerDepth ? ArgumentSlot::Kind::Pointer : ArgumentSlot::Kind::Scalar;
    slot.read = argument.read, slot.written = argument.written;
    result->slots.push_back(slot);
  }
  return result;
}

/// Runs passes on the module; what MLIR reports becomes an error at the kernel.
static bool runPasses(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build, const lang::ModuleScope &scope,
                      const lang::ast::Function &kernel, bool time, lang::Diagnostics &diagnostics) {
  std::string text;
  mlir::Location where = module.getLoc();
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && text.empty())
      text = diagnostic.str(), where = diagnostic.getLocation();
    return mlir::success();
  });
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(true);
  if (time)
    passes.enableTiming();
  build(passes);
  if (mlir::succeeded(passes.run(module)))
    return true;
  diagnostics.report(lang::Diag::InternalError, placeOf(where, scope, kernel), text.empty() ? std::string("a pass failed") : text);
  return false;
}

namespace {
/// The stages after elaboration, and the remarks that they leave.
class Job {
public:
  Job(Compiler::Elaboration &elaboration, const lang::ModuleScope &scope, const std::vector<lang::ParamSpec> &params, const Options &options,
      lang::Diagnostics &diagnostics)
      : module(std::move(elaboration.elaborated.module)), scope(scope), kernel(*scope.function(elaboration.kernel)), params(params), options(options),
        diagnostics(diagnostics),
        listener(*module->getContext(), options.remarks != nullptr, [&scope](mlir::Location location) { return positionOf(location, scope); }, remarks) {}
  ~Job() {
    if (!options.remarks)
      return;
    settle(remarks);
    options.remarks->insert(options.remarks->end(), std::make_move_iterator(remarks.begin()), std::make_move_iterator(remarks.end()));
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;

  bool optimize() { return runPasses(*module, buildTilePipeline, scope, kernel, options.timePasses, diagnostics); }
  cpu::CpuOutput lower(cpu::CpuStage stage) {
    cpu::CpuOutput output;
    if (!runPasses(*module, buildCpuPipeline, scope, kernel, options.timePasses, diagnostics))
      return output;
    output = cpu::lower(*module, options.target, options.fpFusion, stage);
    if (!output.error.empty()) {
      diagnostics.report(lang::Diag::TargetCannot, placeOf(output.location, scope, kernel), output.error);
      output.code.clear();
    }
    return output;
  }

  /// ttg for an NVIDIA GPU.
  bool layOut(const nvidia::Target &target) {
    LimitedKernel limited{scope, kernel, params};
    unsigned warps = options.numWarps ? options.numWarps : defaultWarps(*module);
    if (!checkWarps(warps, limited, diagnostics))
      return false;
    mlir::WalkResult found = module->walk([&](mlir::Operation *op) {
      for (mlir::Type type : op->getResultTypes()) {
        int64_t elements = mlir::ShapedType::getNumElements(paddedShape(tt::shapeOf(type)));
        if (elements > tt::kMaxTileElements) {
          diagnostics.report(lang::Diag::TargetCannot, placeOf(op->getLoc(), scope, kernel),
                             fmt::format("a tile of shape ({}) takes {} elements on `{}`, which rounds extents up to powers of two; at most {} can be had",
                                         fmt::join(tt::shapeOf(type), ", "), elements, options.target, tt::kMaxTileElements));
          return mlir::WalkResult::interrupt();
        }
      }
      return mlir::WalkResult::advance();
    });
    if (found.wasInterrupted())
      return false;
    return runPasses(
               *module, [&](mlir::OpPassManager &passes) { buildGpuPipeline(passes, options.target, warps, options.numStages); }, scope, kernel,
               options.timePasses, diagnostics) &&
           checkSharedMemory(*module, remarks, target, limited, diagnostics);
  }
  std::string lower(const nvidia::Target &target, nvidia::Stage stage, KernelAbi &abi) {
    if (!layOut(target))
      return "";
    nvidia::Output output = nvidia::lower(*module, target, options.fpFusion, options.maxRegisters, stage, abi);
    if (!output.error.empty()) {
      diagnostics.report(lang::Diag::TargetCannot, placeOf(output.location, scope, kernel), output.error);
      return "";
    }
    return output.code;
  }

private:
  static RemarkListener::Position positionOf(mlir::Location location, const lang::ModuleScope &scope) {
    mlir::FileLineColLoc at = lower::placeOf(location);
    return at ? RemarkListener::Position{at.getFilename().str(), at.getLine(), at.getColumn()} : RemarkListener::Position{scope.file().name(), 0, 0};
  }

  const lang::ModuleScope &scope;
  const lang::ast::Function &kernel;
  const std::vector<lang::ParamSpec> &params;
  const Options &options;
  lang::Diagnostics &diagnostics;
  Remarks remarks;
  RemarkListener listener;
};
} // namespace

static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text + "\n";
}

std::string Compiler::emit(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params, const Options &options,
                           Stage stage, lang::Diagnostics &diagnostics) {
  const nvidia::Target *gpu = nvidia::findTarget(options.target);
  if (!isCpuTarget(options.target) && !gpu) {
    diagnostics.report(lang::Diag::UnknownTarget, {&scope.file(), {}}, options.target);
    return "";
  }
  std::shared_ptr<Elaboration> elaboration = elaborate(scope, kernel, params, options, diagnostics);
  if (!elaboration)
    return "";
  if (stage == Stage::Tt)
    return textOf(*elaboration->elaborated.module);
  Job job(*elaboration, scope, params, options, diagnostics);
  if (!job.optimize())
    return "";
  KernelAbi abi;
  switch (stage) {
  case Stage::Tt:
  case Stage::TtOpt: return textOf(*job.module);
  default: break;
  }
  if (gpu) {
    if (stage == Stage::Ttg)
      return job.layOut(*gpu) ? textOf(*job.module) : "";
    return job.lower(*gpu, stage == Stage::Llvm ? nvidia::Stage::Llvm : nvidia::Stage::Ptx, abi);
  }
  switch (stage) {
  case Stage::Ttg: diagnostics.report(lang::Diag::StageUnavailable, {&scope.file(), {}}, "ttg", options.target); return "";
  case Stage::Llvm: return job.lower(cpu::CpuStage::Llvm).code;
  case Stage::Asm: return job.lower(cpu::CpuStage::Assembly).code;
  case Stage::Bin: return job.lower(cpu::CpuStage::Object).code;
  default: return "";
  }
}

CompiledKernel Compiler::compile(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params, const Options &options,
                                 lang::Diagnostics &diagnostics) {
  CompiledKernel result;
  const nvidia::Target *gpu = nvidia::findTarget(options.target);
  if (!isCpuTarget(options.target) && !gpu) {
    diagnostics.report(lang::Diag::UnknownTarget, {&scope.file(), {}}, options.target);
    return result;
  }
  std::shared_ptr<Elaboration> elaboration = elaborate(scope, kernel, params, options, diagnostics);
  if (!elaboration)
    return result;
  result.abi.entry = kernel;
  result.abi.file = scope.file().name(), result.abi.line = scope.file().position(scope.function(kernel)->nameRange.begin).line;
  result.abi.slots = elaboration->slots;
  result.printed = elaboration->elaborated.printed;
  Job job(*elaboration, scope, params, options, diagnostics);
  if (!job.optimize())
    return result;
  if (gpu) {
    result.objectKind = ObjectKind::Ptx;
    result.object = job.lower(*gpu, nvidia::Stage::Ptx, result.abi);
    return result;
  }
  cpu::CpuOutput output = job.lower(cpu::CpuStage::Object);
  result.object = std::move(output.code);
  result.abi.arenaBytes = output.arenaBytes;
  result.abi.spins = output.spins;
  return result;
}

} // namespace tk::compiler
