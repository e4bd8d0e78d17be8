#include "test/fuzz/FuzzedKernels.h"
#include "lang/syntax/Parser.h"
#include <cstdio>
#include <cstring>

namespace tk::fuzz {

std::unique_ptr<lang::ModuleScope> scopeOf(const uint8_t *data, size_t size) {
  lang::Diagnostics diagnostics;
  auto file = std::make_shared<lang::SourceFile>("input.tk", std::string(reinterpret_cast<const char *>(data), size));
  if (size % 4 == 0) { // the parser runs the lexer too; this adds only the printing
    lang::printTokens(*file, diagnostics);
    diagnostics.clear();
  }
  lang::ast::Module module = lang::parse(file, diagnostics);
  lang::checkRestrictions(module, diagnostics);
  if (size % 4 == 1)
    lang::ast::print(module);
  diagnostics.render();
  return diagnostics.hasErrors() ? nullptr : std::make_unique<lang::ModuleScope>(std::move(module), false);
}

static lang::ParamSpec specOf(const lang::ModuleScope &scope, const lang::ast::Parameter &parameter) {
  lang::Diagnostics diagnostics;
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

void forEachKernel(const lang::ModuleScope &scope, llvm::function_ref<void(const lang::ast::Function &, const std::vector<lang::ParamSpec> &)> visit) {
  unsigned kernels = 0;
  for (const lang::ast::Function *function : scope.kernels()) {
    if (++kernels > 4)
      return;
    lang::Diagnostics diagnostics;
    lang::decoratorsOf(scope, *function, diagnostics);
    std::vector<lang::ParamSpec> params;
    for (const lang::ast::Parameter &parameter : function->params)
      params.push_back(specOf(scope, parameter));
    visit(*function, params);
  }
}

void expectReason(const lang::Diagnostics &diagnostics, bool result) {
  bool internal = false;
  for (const lang::Message &message : diagnostics.messages())
    internal |= message.id == lang::Diag::Internal || message.id == lang::Diag::InternalError;
  if (!internal && (result || diagnostics.hasErrors()))
    return;
  std::fprintf(stderr, "%s\n%s\n", internal ? "an internal error:" : "no result and no reason:", diagnostics.render().c_str());
  __builtin_trap();
}

} // namespace tk::fuzz
