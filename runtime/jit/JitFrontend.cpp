// The front end and the compiler as the runtime sees them (runtime/Frontend.h): source to description, a launch's arguments to code.
#include "CompilerIdentity.h"
#include "compiler/Compiler.h"
#include "lang/sema/Describe.h"
#include "lang/sema/HostArguments.h"
#include "lang/sema/ParamSpecs.h"
#include "lang/sema/Tuning.h"
#include "runtime/ForkSafety.h"
#include "runtime/Frontend.h"
#include "runtime/jit/Containment.h"
#include "runtime/jit/GpuTarget.h"
#include "runtime/jit/Linker.h"
#include "runtime/jit/Program.h"
#include "tk/error.h"
#include <fmt/format.h>

namespace tk::jit {

using namespace runtime;

namespace {
/// Things that are dear to make and serve one at a time: taken, used, put back. What was in use when something failed internally is not put back.
template <typename T> class Pool {
public:
  std::unique_ptr<T> take() {
    std::lock_guard lock(tablesMutex());
    if (idle.empty())
      return nullptr;
    std::unique_ptr<T> result = std::move(idle.back());
    idle.pop_back();
    return result;
  }
  void give(std::unique_ptr<T> value) {
    std::lock_guard lock(tablesMutex());
    idle.push_back(std::move(value));
  }

private:
  std::vector<std::unique_ptr<T>> idle;
};

/// Compilers serve all modules. They are never destroyed: threads may still compile when the process ends.
Pool<compiler::Compiler> &compilers() {
  static Pool<compiler::Compiler> &pool = *new Pool<compiler::Compiler>;
  return pool;
}

class JitModule : public FrontendModule {
public:
  JitModule(std::string text, std::string name) : text(std::move(text)), name(std::move(name)) {
    std::unique_ptr<Program> program;
    contained([&] {
      program = Program::fromText(this->text, this->name);
      lang::Diagnostics diagnostics; // each kernel keeps what is wrong with it
      description = lang::describe(program->scope(), diagnostics);
    });
    programs.give(std::move(program));
  }
  const ModuleDescription &describe() override { return description; }
  CompiledCode compile(const CompileRequest &request) override;
  std::vector<unsigned> prune(const std::string &kernel, const Argument *const *arguments, size_t count) override;
  std::vector<StoredArgument> evaluate(const std::string &kernel, const std::string &which, const Argument *const *arguments, size_t count) override;

private:
  template <typename Ask> auto askFile(const std::string &kernel, const Argument *const *arguments, size_t count, Ask ask);
  std::vector<lang::ParamSpec> specsOf(const Program &program, const lang::ast::Function &kernel, const CompileRequest &request);

  const std::string text, name;
  ModuleDescription description;
  Pool<Program> programs; // trees of the file: one serves one thread
};

class JitFrontend : public Frontend {
public:
  std::unique_ptr<FrontendModule> open(const std::string &text, const std::string &name) override { return std::make_unique<JitModule>(text, name); }
};

lang::ConstValue valueOf(const lang::ModuleScope &scope, const Argument &argument, const std::string &parameter) {
  if (argument.kind == Argument::Kind::Descriptor)
    throw Error(ErrorKind::User, fmt::format("parameter `{}`: kernels can't take tensor descriptors from the host yet: pass the pointer, shape and strides", parameter));
  if (argument.kind == Argument::Kind::Tuple) {
    std::vector<lang::ConstValue> elements;
    for (uint64_t i = 0; i < argument.bits; ++i)
      elements.push_back(valueOf(scope, argument.elements[i], parameter));
    return lang::ConstValue::tuple(std::move(elements));
  }
  std::string error;
  if (std::optional<lang::ConstValue> value = lang::valueOf(scope, argument, parameter, error))
    return *value;
  throw Error(ErrorKind::User, fmt::format("parameter `{}` {}", parameter, error));
}
} // namespace

/// What `ask` finds with a tree of the file and the arguments by name. Throws Error(User) with the diagnostics when it finds nothing.
template <typename Ask> auto JitModule::askFile(const std::string &kernel, const Argument *const *arguments, size_t count, Ask ask) {
  std::unique_ptr<Program> program = programs.take();
  decltype(ask(program->scope(), program->kernel(kernel), lang::NamedArguments(), std::declval<lang::Diagnostics &>())) result;
  contained([&] {
    if (!program)
      program = Program::fromText(text, name);
    lang::Diagnostics diagnostics;
    const lang::ast::Function &function = program->kernel(kernel);
    if (std::optional<lang::NamedArguments> named = lang::namedArguments(program->scope(), function, arguments, count, diagnostics))
      result = ask(program->scope(), function, *named, diagnostics);
    if (!result)
      throw Error(ErrorKind::User, diagnostics.hasErrors() ? diagnostics.render() : fmt::format("`{}`: its decorators can't be evaluated", kernel));
  });
  programs.give(std::move(program));
  return std::move(*result);
}

std::vector<unsigned> JitModule::prune(const std::string &kernel, const Argument *const *arguments, size_t count) {
  return askFile(kernel, arguments, count,
                 [](const lang::ModuleScope &scope, const lang::ast::Function &function, const lang::NamedArguments &named, lang::Diagnostics &diagnostics) {
                   return lang::prune(scope, function, named, diagnostics);
                 });
}

std::vector<StoredArgument> JitModule::evaluate(const std::string &kernel, const std::string &which, const Argument *const *arguments, size_t count) {
  return askFile(kernel, arguments, count,
                 [&](const lang::ModuleScope &scope, const lang::ast::Function &function, const lang::NamedArguments &named, lang::Diagnostics &diagnostics) {
                   return lang::evaluateDecorator(scope, function, which, named, diagnostics);
                 });
}

std::vector<lang::ParamSpec> JitModule::specsOf(const Program &program, const lang::ast::Function &kernel, const CompileRequest &request) {
  const lang::ModuleScope &scope = program.scope();
  lang::Diagnostics diagnostics;
  lang::KernelDecorators decorators = lang::decoratorsOf(scope, kernel, diagnostics);
  std::vector<lang::ParamSpec> specs;
  for (size_t i = 0; i < request.count; ++i) {
    const Argument *argument = request.arguments[i];
    const lang::ast::Parameter &parameter = kernel.params[i];
    std::optional<lang::Annotation> annotation = lang::annotationOf(scope, parameter, diagnostics);
    lang::SpecializeOptions options;
    options.specialize = !decorators.doNotSpecialize[i], options.alignment = !decorators.doNotSpecializeOnAlignment[i];
    if (request.rules) {
      const ParameterRule &rule = (*request.rules)[i];
      options.specialize = rule.specialize, options.alignment = rule.alignment, options.foldOne = rule.foldOne;
    }
    std::optional<lang::ConstValue> value;
    if (argument)
      value = valueOf(scope, *argument, parameter.name);
    else if (parameter.defaultValue)
      value = lang::HostEvaluator(&scope, diagnostics).evaluate(*parameter.defaultValue, scope.file());
    if (diagnostics.hasErrors())
      throw Error(ErrorKind::User, diagnostics.render());
    if (!value)
      throw Error(ErrorKind::User, fmt::format("`{}`: parameter `{}` is missing", kernel.name, parameter.name));
    if (argument && argument->kind == Argument::Kind::Pointer)
      options.addressDivisibility = argument->bits % 16 == 0 ? 16 : 1;
    if (argument && argument->kind == Argument::Kind::Tuple)
      options.elementAddresses = [argument](size_t index) { return argument->elements[index].bits % 16 == 0 ? 16u : 1u; };
    if (argument && argument->typed && (!annotation || (!annotation->isConstexpr && !annotation->type))) {
      annotation.emplace();
      annotation->type = lang::TypeValue{argument->type, 0, false};
    }
    std::string error;
    std::optional<lang::ParamSpec> spec = lang::specializeParam(*value, annotation, options, error);
    if (!spec)
      throw Error(ErrorKind::User, fmt::format("parameter `{}` of `{}` {}", parameter.name, kernel.name, error));
    specs.push_back(std::move(*spec));
  }
  return specs;
}

CompiledCode JitModule::compile(const CompileRequest &request) {
  std::unique_ptr<Program> program = programs.take();
  std::unique_ptr<compiler::Compiler> compiler = compilers().take();
  CompiledCode code;
  try {
    contained([&] {
      if (!program)
        program = Program::fromText(text, name);
      const lang::ast::Function &kernel = program->kernel(request.kernel);
      std::vector<lang::ParamSpec> specs = specsOf(*program, kernel, request);
      if (!compiler)
        compiler = std::make_unique<compiler::Compiler>();
      compiler::Options options;
      options.numWarps = request.options.numWarps, options.numStages = request.options.numStages, options.fpFusion = request.options.fpFusion;
      options.maxRegisters = request.options.maxRegisters, options.debug = request.options.debug;
      if (request.architecture)
        options.target = targetOf(request.architecture);
      lang::Diagnostics diagnostics;
      compiler::CompiledKernel compiled = compiler->compile(program->scope(), request.kernel, specs, options, diagnostics);
      if (compiled.object.empty())
        throw Error(diagnostics.hasErrors() ? ErrorKind::User : ErrorKind::Internal,
                    diagnostics.hasErrors() ? diagnostics.render() : fmt::format("compiling `{}` gave no code and no message", request.kernel));
      code.abi = std::move(compiled.abi);
      code.abi.cooperative = request.options.cooperative, code.abi.programmatic = request.options.programmatic;
      if (compiled.objectKind == compiler::ObjectKind::Elf) {
        code.kind = CompiledCode::Kind::SharedObject;
        code.bytes = linkShared({compiled.object}, request.kernel);
      } else {
        code.kind = compiled.objectKind == compiler::ObjectKind::Ptx ? CompiledCode::Kind::Ptx : CompiledCode::Kind::Cubin;
        code.bytes = std::move(compiled.object);
      }
    });
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::User) { // in a state that nobody knows, so not even destroyed
      (void)compiler.release();
      (void)program.release();
    }
    if (compiler)
      compilers().give(std::move(compiler));
    if (program)
      programs.give(std::move(program));
    throw;
  } catch (...) { // such as a lack of memory: as above
    (void)compiler.release();
    (void)program.release();
    throw;
  }
  compilers().give(std::move(compiler));
  programs.give(std::move(program));
  return code;
}

static Frontend &jitFrontend() {
  static Frontend &instance = *new JitFrontend;
  return instance;
}

/// Linked into a program, the front end is known from its start; in libtkc_jit, as soon as that is loaded, but never to a runtime of another build.
[[maybe_unused]] static const bool registered = std::string_view(compilerIdentity()) == TKC_COMPILER_IDENTITY && (registerFrontend(jitFrontend()), true);

} // namespace tk::jit

/// Of libtkc_jit, for the runtime that loads it: null when the runtime is of another build.
extern "C" __attribute__((visibility("default"))) tk::runtime::Frontend *tkc_jit_frontend(const char *identity) {
  return std::string_view(identity) == TKC_COMPILER_IDENTITY ? &tk::jit::jitFrontend() : nullptr;
}
