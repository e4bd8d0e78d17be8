// libFuzzer's entry point for the front end (README.md). One process runs many inputs; the MLIR context is renewed now and then, since it keeps what it has
// seen.
#include "compiler/Pipeline.h"
#include "dialects/tt/TT.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "test/fuzz/FuzzedKernels.h"

using namespace tk;

namespace {
/// A context with the passes made for it once: collecting their patterns takes longer than most inputs do.
struct Context {
  mlir::MLIRContext mlir{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<mlir::PassManager> passes;
  unsigned used = 0;
  Context() {
    mlir.loadDialect<tt::TTDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
    mlir.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
    passes = std::make_unique<mlir::PassManager>(&mlir);
    compiler::buildTilePipeline(*passes);
  }
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<Context> context;
  std::unique_ptr<lang::ModuleScope> scope = fuzz::scopeOf(data, size);
  if (!scope)
    return 0;
  fuzz::forEachKernel(*scope, [&](const lang::ast::Function &function, const std::vector<lang::ParamSpec> &params) {
    if (!context || ++context->used > 2000)
      context.reset(), context = std::make_unique<Context>();
    lang::Diagnostics diagnostics;
    lang::ElaborateOptions options;
    options.stepLimit = 20'000;
    options.callDepthLimit = 40;
    options.debug = true;
    lang::Elaborated result = lang::elaborate(context->mlir, *scope, function, params, options, diagnostics);
    diagnostics.render();
    fuzz::expectReason(diagnostics, bool(result.module));
    if (result.module && mlir::failed(context->passes->run(*result.module)))
      __builtin_trap(); // a program that was accepted must go through
  });
  return 0;
}
