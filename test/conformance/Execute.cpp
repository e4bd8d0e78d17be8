// See Execute.h.
#include "test/conformance/Execute.h"
#include "compiler/Compiler.h"
#include "compiler/interpret/Oracle.h"
#include "lang/sema/ParamSpecs.h"
#include "runtime/Environment.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/Assembler.h"
#include "runtime/jit/ObjectLoader.h"
#include "runtime/jit/Program.h"
#include "test/conformance/Compare.h"
#include "test/conformance/GpuRunner.h"
#include "test/conformance/Memory.h"
#include "tk/error.h"
#include <fmt/format.h>
#include <set>

namespace tk::conformance {

namespace {
/// A reason why a case can't go on, as the message of its failure.
struct Problem {
  std::string text;
};

lang::ConstValue constValue(const Argument &argument, const lang::ModuleScope &scope) {
  if (argument.isBuffer) {
    auto array = std::make_shared<lang::ArrayValue>();
    array->dtype = argument.initial.dtype, array->shape = {static_cast<int64_t>(argument.initial.size())}, array->strides = {1};
    return lang::ConstValue(std::shared_ptr<const lang::ArrayValue>(std::move(array)));
  }
  if (auto *flag = std::get_if<bool>(&argument.value))
    return lang::ConstValue(*flag);
  if (auto *integer = std::get_if<int64_t>(&argument.value))
    return lang::ConstValue::integer(*integer);
  if (auto *natural = std::get_if<uint64_t>(&argument.value))
    return lang::ConstValue(lang::BigInt(static_cast<int64_t>(*natural >> 1)) * lang::BigInt(2) + lang::BigInt(static_cast<int64_t>(*natural & 1)));
  if (auto *power = std::get_if<PowerOfTwo>(&argument.value)) {
    lang::BigInt value(1);
    for (unsigned i = 0; i < power->exponent; ++i)
      value *= lang::BigInt(2);
    return lang::ConstValue(value);
  }
  if (auto *number = std::get_if<double>(&argument.value))
    return lang::ConstValue(*number);
  if (auto *type = std::get_if<DType>(&argument.value))
    return lang::ConstValue(lang::TypeValue{*type, 0, false});
  if (auto *function = std::get_if<std::string>(&argument.value)) {
    lang::Diagnostics quiet;
    std::optional<lang::ConstValue> value = scope.lookup(*function, quiet);
    if (!value)
      throw Problem{fmt::format("the kernel's file has no function `{}`", *function)};
    return *value;
  }
  return lang::ConstValue();
}

std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

/// Whether the lines hold the parts, one each, in order.
std::string compareLines(const char *what, const std::vector<std::string> &parts, const std::vector<std::string> &lines) {
  for (size_t i = 0; i < std::max(parts.size(), lines.size()); ++i) {
    if (i >= lines.size())
      return fmt::format("{}: expected a line with `{}` found none", what, parts[i]);
    if (i >= parts.size())
      return fmt::format("{}: expected no further line found `{}`", what, lines[i]);
    if (lines[i].find(parts[i]) == std::string::npos)
      return fmt::format("{}: expected a line with `{}` found `{}`", what, parts[i], lines[i]);
  }
  return "";
}
} // namespace

struct Executor::Impl {
  compiler::Compiler compiler;
  jit::ObjectLoader loader;
  std::unique_ptr<GpuRunner> gpu; // made when it is asked for
  std::vector<std::string> lines;
  runtime::CpuDevice device{{0, [this](std::string_view line) { lines.emplace_back(line); }}};

  /// A case with its kernel parsed and specialized.
  struct Prepared {
    const Case &testCase;
    std::unique_ptr<jit::Program> program;
    std::vector<lang::ParamSpec> specs;
    compiler::Options options;
    const lang::ast::Function *kernel = nullptr;
  };

  Prepared prepare(const Case &testCase);
  using AddressOf = std::function<uint64_t(unsigned parameter)>;
  std::vector<uint64_t> slotBits(const Prepared &prepared, const std::vector<compiler::ArgumentSlot> &slots, const AddressOf &addressOf);
  compiler::CompiledKernel compile(Prepared &prepared, const std::string &target);
  Ran interpret(Prepared &prepared);
  Ran runOnCpu(Prepared &prepared, const std::string &target);
  Ran runOnGpu(Prepared &prepared, const std::string &execution);
  std::string assemble(Prepared &prepared, const std::string &target);
  std::set<std::string> assembled; // the code that was accepted: many cases share a kernel
  std::string judge(const Case &testCase, const Prepared &prepared, const Ran &ran, bool onGpu);
  std::vector<Outcome> expectDiagnostic(const Case &testCase);
};

Executor::Executor() : impl(std::make_unique<Impl>()) {}
Executor::~Executor() = default;

Executor::Impl::Prepared Executor::Impl::prepare(const Case &testCase) {
  Prepared prepared{testCase, jit::Program::fromText(testCase.source, testCase.id + ".tk"), {}, {}, nullptr};
  const lang::ModuleScope &scope = prepared.program->scope();
  prepared.kernel = scope.function("k");
  if (!prepared.kernel)
    throw Problem{"the case has no kernel `k`"};
  if (prepared.kernel->params.size() != testCase.arguments.size())
    throw Problem{fmt::format("the case gives {} arguments to {} parameters", testCase.arguments.size(), prepared.kernel->params.size())};
  lang::Diagnostics diagnostics;
  lang::KernelDecorators decorators = lang::decoratorsOf(scope, *prepared.kernel, diagnostics);
  for (size_t i = 0; i < testCase.arguments.size(); ++i) {
    std::optional<lang::Annotation> annotation = lang::annotationOf(scope, prepared.kernel->params[i], diagnostics);
    lang::SpecializeOptions options;
    options.specialize = !decorators.doNotSpecialize[i];
    options.alignment = !decorators.doNotSpecializeOnAlignment[i];
    const Argument &argument = testCase.arguments[i];
    if (argument.isBuffer && argument.placement == Placement::Plain && argument.offset * bytesOf(argument.initial.dtype) % 16 == 0)
      options.addressDivisibility = 16;
    std::string error;
    std::optional<lang::ParamSpec> spec = lang::specializeParam(constValue(argument, scope), annotation, options, error);
    if (!spec)
      throw Error(ErrorKind::User, fmt::format("parameter `{}` {}", prepared.kernel->params[i].name, error));
    prepared.specs.push_back(std::move(*spec));
  }
  if (diagnostics.hasErrors())
    throw Error(ErrorKind::User, diagnostics.render());
  prepared.options.debug = testCase.debug;
  prepared.options.numWarps = testCase.warps;
  return prepared;
}

std::vector<uint64_t> Executor::Impl::slotBits(const Prepared &prepared, const std::vector<compiler::ArgumentSlot> &slots, const AddressOf &addressOf) {
  std::vector<uint64_t> bits;
  for (const compiler::ArgumentSlot &slot : slots) {
    if (slot.isHidden())
      continue;
    const Argument &argument = prepared.testCase.arguments.at(slot.param);
    if (argument.isBuffer) {
      bits.push_back(addressOf(slot.param) + static_cast<uint64_t>(argument.offset * static_cast<int64_t>(bytesOf(argument.initial.dtype))));
      continue;
    }
    std::optional<uint64_t> scalar = lang::scalarBits(constValue(argument, prepared.program->scope()), slot.dtype);
    if (!scalar)
      throw Error(ErrorKind::User, fmt::format("parameter `{}`: the value can't be passed as {}", slot.name, spelling(slot.dtype)));
    bits.push_back(*scalar);
  }
  return bits;
}

static std::vector<Memory> memoryOf(const Case &testCase) {
  std::vector<Memory> memory;
  for (const Argument &argument : testCase.arguments)
    memory.emplace_back(argument);
  return memory;
}

static std::function<uint64_t(unsigned)> addressIn(const std::vector<Memory> &memory) {
  return [&](unsigned parameter) { return reinterpret_cast<uintptr_t>(memory.at(parameter).data()); };
}

Ran Executor::Impl::interpret(Prepared &prepared) {
  lang::Diagnostics diagnostics;
  auto elaboration = compiler.elaborate(prepared.program->scope(), "k", prepared.specs, prepared.options, diagnostics);
  if (!elaboration)
    throw Error(ErrorKind::User, diagnostics.render());
  Ran ran;
  ran.memory = memoryOf(prepared.testCase);
  std::vector<interpret::OracleArray> arrays;
  for (size_t i = 0; i < ran.memory.size(); ++i) {
    const Argument &argument = prepared.testCase.arguments[i];
    if (!argument.isBuffer || argument.placement == Placement::Forbidden)
      continue;
    interpret::OracleArray array;
    array.data = ran.memory[i].data(), array.bytes = ran.memory[i].bytes(), array.dtype = argument.initial.dtype, array.name = prepared.kernel->params[i].name;
    arrays.push_back(std::move(array));
  }
  interpret::OracleLaunch launch;
  for (size_t axis = 0; axis < 3; ++axis)
    launch.grid[axis] = static_cast<int32_t>(prepared.testCase.grid[axis]);
  launch.arguments = slotBits(prepared, interpret::slotsOf(*elaboration), addressIn(ran.memory));
  launch.arrays = &arrays;
  launch.print = [&](const std::string &line) { ran.lines.push_back(line); };
  interpret::OracleResult result = interpret::runOracle(*elaboration, launch);
  if (!result.ok)
    ran.failure = result.message.empty() ? "failed without a message" : result.message;
  return ran;
}

compiler::CompiledKernel Executor::Impl::compile(Prepared &prepared, const std::string &target) {
  lang::Diagnostics diagnostics;
  prepared.options.target = target;
  compiler::CompiledKernel compiled = compiler.compile(prepared.program->scope(), "k", prepared.specs, prepared.options, diagnostics);
  if (compiled.object.empty())
    throw Error(ErrorKind::User, diagnostics.hasErrors() ? diagnostics.render() : "compiling gave no code and no message");
  if (!prepared.testCase.staticPrinted.empty())
    if (std::string problem = compareLines("static_print", prepared.testCase.staticPrinted, compiled.printed); !problem.empty())
      throw Problem{problem};
  return compiled;
}

Ran Executor::Impl::runOnGpu(Prepared &prepared, const std::string &execution) {
  if (!gpu)
    gpu = std::make_unique<GpuRunner>(execution);
  compiler::CompiledKernel compiled = compile(prepared, gpu->target());
  Ran ran;
  ran.memory = memoryOf(prepared.testCase);
  gpu->run(prepared.testCase, compiled, [&](const AddressOf &addressOf) { return slotBits(prepared, compiled.abi.slots, addressOf); }, ran);
  return ran;
}

/// Why NVIDIA's assembler does not take the kernel's code.
std::string Executor::Impl::assemble(Prepared &prepared, const std::string &target) {
  compiler::CompiledKernel compiled = compile(prepared, target);
  std::string ptx(compiled.object.begin(), compiled.object.end());
  // The file's name is the case's: what follows is compared.
  std::string code = target + ptx.substr(0, ptx.find("\n\t.file"));
  if (assembled.count(code))
    return "";
  cuda::Assembled result = cuda::runPtxas(runtime::environment().ptxas, ptx, target);
  if (result.cubin.empty())
    return fmt::format("ptxas refuses the code: `{}`", firstLine(result.log));
  if (size_t at = result.log.find("wgmma.mma_async instructions are serialized"); at != std::string::npos)
    return fmt::format("ptxas parts the products: `{}`", firstLine(result.log.substr(at)));
  assembled.insert(std::move(code));
  return "";
}

Ran Executor::Impl::runOnCpu(Prepared &prepared, const std::string &target) {
  compiler::CompiledKernel compiled = compile(prepared, target);
  runtime::CpuFunction function;
  function.entry = reinterpret_cast<runtime::CpuEntry>(loader.load(compiled.object, compiled.abi.entry));
  function.arenaBytes = compiled.abi.arenaBytes, function.spins = compiled.abi.spins;
  Ran ran;
  ran.memory = memoryOf(prepared.testCase);
  std::vector<uint64_t> slots = slotBits(prepared, compiled.abi.slots, addressIn(ran.memory));
  lines.clear();
  try {
    device.launch(function, slots.data(), prepared.testCase.grid);
  } catch (const Error &error) {
    ran.failure = error.what();
  }
  ran.lines = std::move(lines);
  return ran;
}

std::string Executor::Impl::judge(const Case &testCase, const Prepared &prepared, const Ran &ran, bool onGpu) {
  if (testCase.failure.empty() && !ran.failure.empty())
    return fmt::format("expected success found `{}`", firstLine(ran.failure));
  if (!testCase.failure.empty()) {
    if (ran.failure.find(testCase.failure) == std::string::npos)
      return fmt::format("expected a failure with `{}` found {}", testCase.failure, ran.failure.empty() ? "success" : "`" + ran.failure + "`");
    std::string report = ran.failure; // without the file's name, which may say the same
    for (size_t at; (at = report.find(testCase.id)) != std::string::npos;)
      report.erase(at, testCase.id.size());
    if (report.find(testCase.failure) != report.rfind(testCase.failure))
      return fmt::format("expected one report of `{}` found several: `{}`", testCase.failure, ran.failure);
    return "";
  }
  if (testCase.printsChecked)
    if (std::string problem = compareLines("device_print", testCase.printed, ran.lines); !problem.empty())
      return problem;
  for (size_t i = 0; i < testCase.arguments.size(); ++i) {
    const Argument &argument = testCase.arguments[i];
    if (!argument.isBuffer)
      continue;
    const std::string &name = prepared.kernel->params[i].name;
    if (std::string problem = compare(name, argument, ran.memory[i].read(argument), onGpu); !problem.empty())
      return problem;
    if (!ran.memory[i].intact() || ran.overrun == std::to_string(i))
      return fmt::format("{}: memory beside the buffer was written", name);
  }
  return "";
}

std::vector<Outcome> Executor::Impl::expectDiagnostic(const Case &testCase) {
  std::string found;
  bool refused = true;
  try {
    Prepared prepared = prepare(testCase);
    lang::Diagnostics diagnostics;
    refused = compiler.compile(prepared.program->scope(), "k", prepared.specs, prepared.options, diagnostics).object.empty();
    found = diagnostics.render();
  } catch (const Error &error) {
    found = error.what();
  }
  const char *kind = testCase.isWarning ? "warning" : "error";
  if (found.find(testCase.diagnostic) != std::string::npos && found.find("internal error") == std::string::npos && refused != testCase.isWarning)
    return {{"compile", ""}};
  return {{"compile", fmt::format("expected the {} `{}` found {}", kind, testCase.diagnostic, found.empty() ? "none" : "`" + firstLine(found) + "`")}};
}

static bool canExecute(const std::string &target) {
#if defined(__x86_64__)
  if (target == "x86-64-v3")
    return __builtin_cpu_supports("x86-64-v3");
  if (target == "x86-64-v4")
    return __builtin_cpu_supports("x86-64-v4");
#endif
  return target == "cpu";
}

bool Executor::isSpent() const { return impl->gpu && impl->gpu->isLost(); }

constexpr std::string_view kAssembly = "ptxas:";

bool Executor::isAssembly(const std::string &execution) {
  return execution.starts_with(kAssembly) && execution != "ptxas:cuda" && GpuRunner::isGpu(execution.substr(kAssembly.size()));
}

std::vector<Outcome> Executor::run(const Case &testCase, const std::string &only) {
  if (isAssembly(only) && !testCase.diagnostic.empty())
    return {}; // there is no code
  if (!testCase.diagnostic.empty())
    return impl->expectDiagnostic(testCase);
  std::vector<std::string> executions = testCase.targets;
  executions.insert(executions.begin(), "interpreter");
  if (GpuRunner::isGpu(only) || isAssembly(only))
    executions = {only};
  std::vector<Outcome> outcomes;
  for (const std::string &execution : executions) {
    if ((!only.empty() && execution != only) || (execution != "interpreter" && !GpuRunner::isGpu(execution) && !isAssembly(execution) && !canExecute(execution)))
      continue;
    std::string problem;
    try {
      Impl::Prepared prepared = impl->prepare(testCase);
      if (isAssembly(execution)) {
        outcomes.push_back({execution, impl->assemble(prepared, execution.substr(kAssembly.size()))});
        continue;
      }
      Ran ran = execution == "interpreter"    ? impl->interpret(prepared)
                : GpuRunner::isGpu(execution) ? impl->runOnGpu(prepared, execution)
                                              : impl->runOnCpu(prepared, execution);
      problem = impl->judge(testCase, prepared, ran, GpuRunner::isGpu(execution));
    } catch (const Problem &reason) {
      problem = reason.text;
    } catch (const std::exception &error) {
      problem = fmt::format("expected success found `{}`", firstLine(error.what()));
    }
    outcomes.push_back({execution, problem});
  }
  return outcomes;
}

} // namespace tk::conformance
