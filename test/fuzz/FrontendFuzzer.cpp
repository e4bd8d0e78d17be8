// libFuzzer's entry points for the front end (README.md). One process runs many inputs; the MLIR context is renewed now and then, since it keeps what it has seen.
#include "compiler/Pipeline.h"
#include "dialects/tt/TT.h"
#include "lang/sema/Elaborate.h"
#include "lang/sema/ParamSpecs.h"
#include "lang/syntax/Parser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include <cstring>
#include <random>

using namespace tk;

namespace {

struct Context {
  mlir::MLIRContext mlir{mlir::MLIRContext::Threading::DISABLED};
  unsigned used = 0;
  Context() {
    mlir.loadDialect<tt::TTDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
    mlir.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  }
};

/// A parameter as a caller might give it: what its annotation says, else by the first letter of its name.
lang::ParamSpec specOf(const lang::ModuleScope &scope, const lang::ast::Parameter &parameter, lang::Diagnostics &diagnostics) {
  lang::ParamSpec spec;
  std::optional<lang::Annotation> annotation = lang::annotationOf(scope, parameter, diagnostics);
  if (annotation && annotation->isConstexpr) {
    spec.value = lang::ConstValue::integer(16);
    return spec;
  }
  spec.type = annotation && annotation->type ? *annotation->type : lang::TypeValue{DType::I32, 0, false};
  bool looksLikePointer = !parameter.name.empty() && std::strchr("abcopqvxyz", parameter.name[0]);
  if ((annotation && annotation->type) ? spec.type.pointerDepth > 0 : looksLikePointer) {
    spec.kind = lang::ParamSpec::Pointer;
    if (annotation && annotation->type)
      --spec.type.pointerDepth;
    else
      spec.type.dtype = DType::F32;
    spec.divisibility = 16;
  } else {
    spec.kind = lang::ParamSpec::Scalar;
  }
  return spec;
}

void runFunction(Context &context, const lang::ModuleScope &scope, const lang::ast::Function &function) {
  lang::Diagnostics diagnostics;
  lang::decoratorsOf(scope, function, diagnostics);
  std::vector<lang::ParamSpec> params;
  for (const lang::ast::Parameter &parameter : function.params)
    params.push_back(specOf(scope, parameter, diagnostics));
  lang::ElaborateOptions options;
  options.stepLimit = 20'000;
  options.callDepthLimit = 40;
  options.debug = true;
  lang::Elaborated result = lang::elaborate(context.mlir, scope, function, params, options, diagnostics);
  diagnostics.render();
  if (!result.module) {
    if (!diagnostics.hasErrors())
      __builtin_trap(); // no module and no reason
    return;
  }
  mlir::PassManager passes(&context.mlir);
  compiler::buildTilePipeline(passes);
  if (mlir::failed(passes.run(*result.module)))
    __builtin_trap(); // a program that was accepted must go through
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<Context> context;
  if (!context || ++context->used > 500)
    context = std::make_unique<Context>();
  lang::Diagnostics diagnostics;
  auto file = std::make_shared<lang::SourceFile>("input.tk", std::string(reinterpret_cast<const char *>(data), size));
  lang::printTokens(*file, diagnostics);
  diagnostics.clear();
  lang::ast::Module module = lang::parse(file, diagnostics);
  lang::checkRestrictions(module, diagnostics);
  lang::ast::print(module);
  diagnostics.render();
  if (diagnostics.hasErrors())
    return 0;
  lang::ModuleScope scope(std::move(module), false);
  unsigned kernels = 0;
  for (const lang::ast::Function *function : scope.kernels())
    if (++kernels <= 4)
      runFunction(*context, scope, *function);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Half of the mutations are libFuzzer's on bytes; the others move whole words and lines, which keeps programs parseable more often.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (size < 8 || random() % 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<char *>(data), size);
  bool lines = random() % 2;
  auto isBreak = [&](char c) { return lines ? c == '\n' : !(std::isalnum(static_cast<unsigned char>(c)) || c == '_'); };
  auto pieceAt = [&](size_t at) {
    size_t begin = at, end = at;
    while (begin > 0 && !isBreak(text[begin - 1]))
      --begin;
    while (end < text.size() && !isBreak(text[end]))
      ++end;
    return std::pair(begin, std::min(text.size(), end + (lines ? 1 : 0)) - begin);
  };
  auto [from, fromLength] = pieceAt(random() % text.size());
  auto [to, toLength] = pieceAt(random() % text.size());
  std::string piece = text.substr(from, fromLength);
  switch (random() % 3) {
  case 0: text.replace(to, toLength, piece); break;
  case 1: text.insert(to, piece); break;
  default: text.erase(to, toLength); break;
  }
  text.resize(std::min(text.size(), maxSize));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
