// tk::Module and tk::Kernel: a launch's arguments become a key, the key finds the code, and code that is not there yet is compiled and linked into this
// process.
#include "compiler/Compiler.h"
#include "lang/sema/ParamSpecs.h"
#include "runtime/Specialization.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/jit/Containment.h"
#include "runtime/jit/GpuTarget.h"
#include "runtime/jit/ObjectLoader.h"
#include "runtime/jit/Program.h"
#include "tk/kernel.h"
#include <fmt/format.h>
#include <mutex>
#include <unordered_map>

namespace tk {

using namespace runtime;

namespace {
/// Code for one specialization of a kernel.
struct CompiledFunction {
  CpuFunction function;
  std::shared_ptr<GpuKernel> gpu; // or this
  std::vector<compiler::ArgumentSlot> slots;
};

/// The arguments of a launch, one per parameter.
struct Bound {
  std::vector<const Argument *> arguments;
  LaunchOptions options;
  std::string key;
};

/// The host's threads, shared by all modules of the process; they start with the first launch.
CpuDevice &hostDevice() {
  static CpuDevice device;
  return device;
}
} // namespace

struct Module::Impl {
  std::unique_ptr<jit::Program> program;
  std::mutex compileMutex; // guards the two below
  std::unique_ptr<compiler::Compiler> compiler;
  std::unique_ptr<jit::ObjectLoader> loader;
};

struct Kernel::Impl {
  std::shared_ptr<Module::Impl> module;
  const lang::ast::Function *function = nullptr;
  std::string name;
  std::vector<std::string> parameterNames;
  std::vector<ParameterRule> rules;
  std::vector<std::optional<lang::Annotation>> annotations;
  std::vector<std::optional<Argument>> defaults;              // as arguments
  std::vector<std::optional<lang::ConstValue>> defaultValues; // those that no argument can express
  mutable std::mutex cacheMutex;
  std::unordered_map<std::string, std::shared_ptr<const CompiledFunction>> cache;

  void readSignature();
  Bound bind(GpuDevice *device, const Argument *arguments, size_t count) const;
  std::shared_ptr<const CompiledFunction> find(GpuDevice *device, const Bound &bound);
  std::shared_ptr<const CompiledFunction> compile(GpuDevice *device, const Bound &launch);
  std::vector<uint64_t> slotsOf(const CompiledFunction &code, const Bound &bound) const;
  lang::ConstValue valueOf(const Argument &argument, const std::string &parameter) const;
};

namespace {
/// A compile-time value as an argument, where there is a form for it.
std::optional<Argument> argumentOf(const lang::ConstValue &value) {
  if (value.isNone())
    return Argument();
  if (auto *flag = value.get<bool>())
    return Argument(*flag);
  if (auto *number = value.get<double>())
    return Argument(*number);
  if (auto *text = value.asString())
    return Argument(*text);
  if (auto integer = value.asInt64())
    return Argument(*integer);
  if (auto *type = value.get<lang::TypeValue>(); type && !type->pointerDepth)
    return Argument(type->dtype);
  return std::nullopt;
}
} // namespace

void Kernel::Impl::readSignature() {
  lang::Diagnostics diagnostics;
  const lang::ModuleScope &scope = module->program->scope();
  lang::KernelDecorators decorators = lang::decoratorsOf(scope, *function, diagnostics);
  for (size_t i = 0; i < function->params.size(); ++i) {
    const lang::ast::Parameter &parameter = function->params[i];
    ParameterRule rule;
    rule.name = parameter.name;
    rule.hasDefault = parameter.defaultValue != nullptr;
    rule.specialize = !decorators.doNotSpecialize[i];
    rule.alignment = !decorators.doNotSpecializeOnAlignment[i];
    annotations.push_back(lang::annotationOf(scope, parameter, diagnostics));
    rule.isConstexpr = annotations.back() && annotations.back()->isConstexpr;
    std::optional<lang::ConstValue> value;
    if (parameter.defaultValue)
      value = lang::HostEvaluator(&scope, diagnostics).evaluate(*parameter.defaultValue, scope.file());
    defaults.push_back(value ? argumentOf(*value) : std::nullopt);
    defaultValues.push_back(std::move(value));
    parameterNames.push_back(parameter.name);
    rules.push_back(std::move(rule));
  }
  if (diagnostics.hasErrors())
    throw Error(ErrorKind::User, diagnostics.render());
}

lang::ConstValue Kernel::Impl::valueOf(const Argument &argument, const std::string &parameter) const {
  switch (argument.kind) {
  case Argument::Kind::None: return lang::ConstValue();
  case Argument::Kind::Bool: return lang::ConstValue(argument.bits != 0);
  case Argument::Kind::Int: return lang::ConstValue::integer(static_cast<int64_t>(argument.bits));
  case Argument::Kind::UInt:
    return lang::ConstValue(lang::BigInt(static_cast<int64_t>(argument.bits >> 1)) * lang::BigInt(2) + lang::BigInt(static_cast<int64_t>(argument.bits & 1)));
  case Argument::Kind::Float: return lang::ConstValue(argument.number());
  case Argument::Kind::Type: return lang::ConstValue(lang::TypeValue{argument.type, 0, false});
  case Argument::Kind::String: return lang::ConstValue::string(argument.text);
  case Argument::Kind::Pointer: {
    auto array = std::make_shared<lang::ArrayValue>();
    array->dtype = argument.type, array->name = parameter;
    return lang::ConstValue(std::shared_ptr<const lang::ArrayValue>(std::move(array)));
  }
  case Argument::Kind::Function: {
    lang::Diagnostics diagnostics;
    std::optional<lang::ConstValue> value = module->program->scope().lookup(argument.text, diagnostics);
    if (!value || !value->get<lang::FunctionValue>())
      throw Error(ErrorKind::User,
                  fmt::format("parameter `{}`: `{}` is not a function of `{}`", parameter, argument.text, module->program->scope().file().name()));
    return *value;
  }
  }
  return lang::ConstValue();
}

std::shared_ptr<const CompiledFunction> Kernel::Impl::compile(GpuDevice *device, const Bound &launch) {
  const std::vector<const Argument *> &bound = launch.arguments;
  std::vector<lang::ParamSpec> specs;
  for (size_t i = 0; i < bound.size(); ++i) {
    std::optional<lang::Annotation> annotation = annotations[i];
    lang::SpecializeOptions options;
    options.specialize = rules[i].specialize, options.alignment = rules[i].alignment;
    lang::ConstValue value = bound[i] ? valueOf(*bound[i], rules[i].name) : *defaultValues[i];
    if (bound[i] && bound[i]->kind == Argument::Kind::Pointer)
      options.addressDivisibility = bound[i]->bits % 16 == 0 ? 16 : 1;
    if (bound[i] && bound[i]->typed && (!annotation || (!annotation->isConstexpr && !annotation->type))) {
      annotation.emplace();
      annotation->type = lang::TypeValue{bound[i]->type, 0, false};
    }
    std::string error;
    std::optional<lang::ParamSpec> spec = lang::specializeParam(value, annotation, options, error);
    if (!spec)
      throw Error(ErrorKind::User, fmt::format("parameter `{}` of `{}` {}", rules[i].name, name, error));
    specs.push_back(std::move(*spec));
  }
  if (!module->compiler)
    module->compiler = std::make_unique<compiler::Compiler>(), module->loader = std::make_unique<jit::ObjectLoader>();
  lang::Diagnostics diagnostics;
  compiler::Options options;
  options.numWarps = launch.options.numWarps, options.numStages = launch.options.numStages, options.fpFusion = launch.options.fpFusion;
  if (device)
    options.target = jit::targetOf(device->properties());
  compiler::CompiledKernel compiled = module->compiler->compile(module->program->scope(), name, specs, options, diagnostics);
  if (compiled.object.empty())
    throw Error(diagnostics.hasErrors() ? ErrorKind::User : ErrorKind::Internal,
                diagnostics.hasErrors() ? diagnostics.render() : fmt::format("compiling `{}` gave no code and no message", name));
  auto result = std::make_shared<CompiledFunction>();
  if (device) {
    result->gpu = jit::makeKernel(*device, compiled);
    result->slots = std::move(compiled.abi.slots);
    return result;
  }
  result->function.entry = reinterpret_cast<CpuEntry>(module->loader->load(compiled.object, compiled.abi.entry));
  result->function.arenaBytes = compiled.abi.arenaBytes;
  result->function.spins = compiled.abi.spins;
  result->slots = std::move(compiled.abi.slots);
  return result;
}

std::shared_ptr<const CompiledFunction> Kernel::Impl::find(GpuDevice *device, const Bound &bound) {
  auto cached = [&]() -> std::shared_ptr<const CompiledFunction> {
    std::lock_guard lock(cacheMutex);
    auto it = cache.find(bound.key);
    return it == cache.end() ? nullptr : it->second;
  };
  if (auto found = cached())
    return found;
  std::lock_guard lock(module->compileMutex);
  if (auto found = cached()) // compiled while this thread waited
    return found;
  std::shared_ptr<const CompiledFunction> compiled;
  try {
    jit::contained([&] { compiled = compile(device, bound); });
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::User)
      (void)module->compiler.release(); // in a state that nobody knows, so not even destroyed
    throw;
  }
  std::lock_guard insertion(cacheMutex);
  return cache.emplace(bound.key, std::move(compiled)).first->second;
}

const std::string &Kernel::name() const { return impl->name; }
const std::vector<std::string> &Kernel::parameters() const { return impl->parameterNames; }

size_t Kernel::compiledCount() const {
  std::lock_guard lock(impl->cacheMutex);
  return impl->cache.size();
}

/// Checks that an array lies where the kernel runs.
static void checkMemory(const Argument &argument, const std::string &parameter, GpuDevice *device) {
  if (device && argument.memory == Argument::Memory::Host)
    throw Error(ErrorKind::User, fmt::format("parameter `{}`: the array lies in host memory, but the stream is one of {}: copy it into a tk::DeviceArray",
                                             parameter, device->properties().name));
  if (argument.memory == Argument::Memory::Device && argument.device != device)
    throw Error(ErrorKind::User, fmt::format("parameter `{}`: the array lies in the memory of {}, but the stream is one of {}", parameter,
                                             argument.device->properties().name, device ? device->properties().name : "the host"));
}

Bound Kernel::Impl::bind(GpuDevice *device, const Argument *arguments, size_t count) const {
  Bound bound;
  bound.arguments = bindArguments(name, rules, arguments, count, bound.options);
  bound.key.reserve(sizeof(device) + 8 + 12 * rules.size());
  bound.key.assign(reinterpret_cast<const char *>(&device), sizeof(device));
  bound.options.appendKey(bound.key);
  for (size_t i = 0; i < bound.arguments.size(); ++i) {
    if (!bound.arguments[i] && defaults[i])
      bound.arguments[i] = &*defaults[i];
    if (bound.arguments[i] && bound.arguments[i]->memory != Argument::Memory::Unknown)
      checkMemory(*bound.arguments[i], rules[i].name, device);
    appendKey(bound.key, rules[i], bound.arguments[i]);
  }
  return bound;
}

std::vector<uint64_t> Kernel::Impl::slotsOf(const CompiledFunction &code, const Bound &bound) const {
  std::vector<uint64_t> slots;
  for (const compiler::ArgumentSlot &slot : code.slots) {
    if (slot.isHidden())
      continue;
    const Argument *argument = bound.arguments[slot.param];
    if (!argument)
      throw Error(ErrorKind::User, fmt::format("parameter `{}` of `{}` must be given: its default can't be passed at run time", slot.name, name));
    slots.push_back(slotBits(*argument, slot.dtype, slot.pointerDepth > 0, slot.name));
  }
  return slots;
}

void Kernel::launchList(const Stream &stream, const Grid &grid, const Argument *arguments, size_t count) const {
  GpuDevice *device = stream.device().implementation();
  Bound bound = impl->bind(device, arguments, count);
  std::shared_ptr<const CompiledFunction> code = impl->find(device, bound);
  std::vector<uint64_t> slots = impl->slotsOf(*code, bound);
  if (device)
    device->launch(*code->gpu, slots.data(), {grid.x, grid.y, grid.z}, stream.handle());
  else
    hostDevice().launch(code->function, slots.data(), {grid.x, grid.y, grid.z});
}

void Kernel::prepareList(const Stream &stream, const Argument *arguments, size_t count) const {
  GpuDevice *device = stream.device().implementation();
  std::shared_ptr<const CompiledFunction> code = impl->find(device, impl->bind(device, arguments, count));
  if (device)
    device->prepare(*code->gpu, stream.handle());
}

KernelResources Kernel::resourcesList(const Stream &stream, const Argument *arguments, size_t count) const {
  GpuDevice *device = stream.device().implementation();
  if (!device)
    throw Error(ErrorKind::User, fmt::format("`{}`: code for the host has no resources to tell", impl->name));
  std::shared_ptr<const CompiledFunction> code = impl->find(device, impl->bind(device, arguments, count));
  GpuKernelUse use = device->useOf(*code->gpu);
  const KernelAbi &abi = code->gpu->abi();
  return {use.registers, use.spillBytes, use.staticSharedBytes + static_cast<int>(abi.sharedBytes), static_cast<int>(abi.threads), use.blocksPerMultiprocessor};
}

Module Module::fromFile(const std::string &path) {
  auto impl = std::make_shared<Impl>();
  impl->program = jit::Program::fromFile(path);
  return Module(std::move(impl));
}

Module Module::fromSource(const std::string &text, const std::string &name) {
  auto impl = std::make_shared<Impl>();
  impl->program = jit::Program::fromText(text, name);
  return Module(std::move(impl));
}

std::vector<std::string> Module::kernelNames() const {
  std::vector<std::string> names;
  for (const lang::ast::Function *function : impl->program->scope().kernels())
    names.push_back(function->name);
  return names;
}

Kernel Module::kernel(const std::string &name) const {
  auto kernel = std::make_shared<Kernel::Impl>();
  kernel->module = impl;
  kernel->function = &impl->program->kernel(name);
  kernel->name = kernel->function->name;
  kernel->readSignature();
  return Kernel(std::move(kernel));
}

} // namespace tk
