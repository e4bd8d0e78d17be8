// libFuzzer's entry point for everything after elaboration (README.md): each kernel that the front end accepts becomes code for one target, which the input's
// bytes choose. Nothing is executed. LLVM itself is not instrumented, so what guides the mutations is the project's own code.
#include "compiler/Compiler.h"
#include "test/fuzz/FuzzedKernels.h"

using namespace tk;

namespace {
struct Way {
  const char *target;
  compiler::Stage stage;
};

/// The text of LLVM's IR where machine code adds nothing of ours, since that takes most of the time.
constexpr Way kWays[] = {
    {"x86-64-v3", compiler::Stage::Llvm}, {"sm_80", compiler::Stage::Asm}, {"x86-64-v4", compiler::Stage::Llvm}, {"sm_90a", compiler::Stage::Asm},
    {"x86-64-v4", compiler::Stage::Asm},  {"sm_75", compiler::Stage::Asm}, {"x86-64-v3", compiler::Stage::Asm},  {"sm_120a", compiler::Stage::Asm},
};

/// The same on every run: a finding must be repeatable from its bytes.
size_t choiceOf(const uint8_t *data, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ data[i]) * 16777619u;
  return (hash >> 13) % std::size(kWays);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<compiler::Compiler> compiler;
  static unsigned used = 0;
  std::unique_ptr<lang::ModuleScope> scope = fuzz::scopeOf(data, size);
  if (!scope)
    return 0;
  const Way &way = kWays[choiceOf(data, size)];
  fuzz::forEachKernel(*scope, [&](const lang::ast::Function &function, const std::vector<lang::ParamSpec> &params) {
    if (!compiler || ++used > 500)
      compiler.reset(), compiler = std::make_unique<compiler::Compiler>(), used = 0;
    lang::Diagnostics diagnostics;
    compiler::Options options;
    options.target = way.target;
    options.debug = size % 2;
    std::string code = compiler->emit(*scope, function.name, params, options, way.stage, diagnostics);
    fuzz::expectReason(diagnostics, !code.empty());
  });
  return 0;
}
