// See Describe.h.
#include "lang/sema/Describe.h"
#include "lang/sema/Closure.h"
#include "lang/sema/HostArguments.h"
#include "lang/sema/HostPrograms.h"
#include "lang/sema/ParamSpecs.h"
#include "lang/sema/Tuning.h"

namespace tk::lang {

using namespace runtime;

std::string problemText(const Diagnostics &diagnostics) {
  std::string text;
  for (const Message &message : diagnostics.messages())
    if (message.severity == Severity::Error)
      text += fmt::format("{}line {}: {}", text.empty() ? "" : "\n", message.place.file ? message.place.file->position(message.place.range.begin).line : 0, message.text);
  return text;
}

static void describeParameters(const ModuleScope &scope, const ast::Function &kernel, const KernelDecorators &decorators, KernelDescription &result, Diagnostics &diagnostics) {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ast::Parameter &parameter = kernel.params[i];
    ParameterDescription &rule = result.parameters.emplace_back();
    rule.name = parameter.name;
    rule.hasDefault = parameter.defaultValue != nullptr;
    rule.specialize = !decorators.doNotSpecialize[i];
    rule.alignment = !decorators.doNotSpecializeOnAlignment[i];
    std::optional<Annotation> annotation = annotationOf(scope, parameter, diagnostics);
    rule.isConstexpr = annotation && annotation->isConstexpr;
    if (!parameter.defaultValue)
      continue;
    Diagnostics quiet; // host code may stand there
    if (std::optional<ConstValue> value = HostEvaluator(&scope, quiet).evaluate(*parameter.defaultValue, scope.file()))
      rule.defaultValue = argumentOf(scope, *value);
  }
}

/// The programs of `@tk.grid`, none when one of the extents has no program.
static std::vector<StackProgram> gridPrograms(const ModuleScope &scope, const ast::Function &kernel, const std::vector<const ast::Expr *> &grid) {
  std::vector<StackProgram> programs;
  if (grid.size() == 1) {
    std::optional<std::vector<std::string>> codes = compileHostResults(scope, kernel, *grid[0]);
    for (std::string &code : codes && codes->size() <= 3 ? *codes : std::vector<std::string>())
      programs.emplace_back(std::move(code));
    return programs;
  }
  for (const ast::Expr *extent : grid) {
    std::optional<std::string> code = compileHostValue(scope, kernel, *extent);
    if (!code)
      return {};
    programs.emplace_back(std::move(*code));
  }
  return programs;
}

KernelDescription describe(const ModuleScope &scope, const ast::Function &kernel, Diagnostics &diagnostics) {
  Diagnostics own;
  KernelDescription result;
  result.name = kernel.name;
  result.closure = Closures().of(scope, kernel);
  result.line = scope.file().position(kernel.range.begin).line;
  KernelDecorators decorators = decoratorsOf(scope, kernel, own);
  describeParameters(scope, kernel, decorators, result, own);
  result.hasGrid = decorators.hasGrid;
  result.grid = gridPrograms(scope, kernel, decorators.grid);
  describeTuning(scope, kernel, result, own);
  result.problem = problemText(own);
  for (const Message &message : own.messages())
    diagnostics.report(message.severity == Severity::Note ? Diag::RelayedNote : Diag::RelayedError, message.place, message.text);
  return result;
}

ModuleDescription describe(const ModuleScope &scope, Diagnostics &diagnostics) {
  ModuleDescription result;
  Closures closures;
  for (const ast::Function *kernel : scope.kernels())
    result.kernels.push_back(describe(scope, *kernel, diagnostics));
  std::vector<const ast::Function *> functions;
  for (const std::string &name : scope.names())
    if (const ast::Function *function = scope.function(name))
      functions.push_back(function);
  std::sort(functions.begin(), functions.end(), [](const ast::Function *a, const ast::Function *b) { return a->range.begin < b->range.begin; });
  for (const ast::Function *function : functions) {
    size_t length = llvm::StringRef(scope.file().text(function->range)).rtrim().size(); // the range ends behind the last line
    uint32_t first = function->range.begin, last = first + static_cast<uint32_t>(length);
    result.functions.push_back({function->name, closures.of(scope, *function), scope.file().position(first).line, scope.file().position(last).line});
  }
  return result;
}

} // namespace tk::lang
