// tk::Kernel: a launch's arguments become a key, the key finds the code, and code that is not there yet is found in the disk cache or compiled.
#include "runtime/CodeStore.h"
#include "runtime/ForkSafety.h"
#include "runtime/Hooks.h"
#include "runtime/KernelImpl.h"
#include "runtime/device/cpu/HostStream.h"
#include "runtime/tune/KernelTuning.h"
#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace tk {

using namespace runtime;

namespace runtime {
struct Making {
  std::string key;
  pid_t process = getpid(); // a child after a fork can't wait for the parent's threads
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  const LoadedCode *code = nullptr;
  std::exception_ptr failure;
};
} // namespace runtime

Kernel::Impl::Impl(std::shared_ptr<Module::Impl> owner, const KernelDescription &description) : module(std::move(owner)), description(description) {
  for (const ParameterDescription &parameter : description.parameters) {
    rules.push_back(parameter);
    keyMasks.push_back(keyMask(parameter));
    parameterNames.push_back(parameter.name);
    defaults.push_back(parameter.defaultValue ? std::optional(parameter.defaultValue->get()) : std::nullopt);
  }
  if (description.tune && !description.tune->configs.empty())
    setTuning(*description.tune);
}

void Kernel::Impl::setTuning(TuneDescription tuned) {
  auto made = std::make_unique<KernelTuning>(*this, std::move(tuned));
  std::lock_guard lock(tablesMutex());
  tuning.store(made.get(), std::memory_order_release);
  tunings.push_back(std::move(made));
}

Kernel::Impl::~Impl() = default;

size_t Kernel::Impl::parameterIndex(std::string_view parameter) const {
  for (size_t i = 0; i < rules.size(); ++i)
    if (rules[i].name == parameter)
      return i;
  throw Error(ErrorKind::User, fmt::format("`{}` has no parameter `{}`; it has {}", description.name, parameter, fmt::join(parameterNames, ", ")));
}

/// Whether an array of known memory lies where the kernel runs.
static bool lies(const Argument &argument, GpuDevice *device) { return argument.memory == Argument::Memory::Host ? !device : argument.device == device; }
[[noreturn]] static void refuseMemory(const Argument &argument, const std::string &parameter, GpuDevice *device) {
  if (argument.memory == Argument::Memory::Host)
    throw Error(ErrorKind::User, fmt::format("parameter `{}`: the array lies in host memory, but the stream is one of {}: copy it into a tk::DeviceArray",
                                             parameter, device->properties().name));
  throw Error(ErrorKind::User, fmt::format("parameter `{}`: the array lies in the memory of {}, but the stream is one of {}", parameter,
                                           argument.device->properties().name, device ? device->properties().name : "the host"));
}

/// The heads of all parameters, written two at a time, as the hash reads them. True when something follows one of them.
static bool appendHeads(LaunchKey &key, const std::vector<uint32_t> &masks, const Argument *const *arguments) {
  const size_t count = masks.size();
  char *place = key.room((count + 1) / 2 * sizeof(uint64_t));
  uint64_t all = 0;
  for (size_t i = 0; i < count; i += 2, place += sizeof(uint64_t)) {
    uint64_t pair = keyHead(masks[i], arguments[i]);
    if (i + 1 < count)
      pair |= static_cast<uint64_t>(keyHead(masks[i + 1], arguments[i + 1])) << 32;
    std::memcpy(place, &pair, sizeof pair);
    all |= pair;
  }
  return keyHasRest(static_cast<uint32_t>(all | all >> 32));
}

void Kernel::Impl::apply(const TuneConfig &config, BoundLaunch &bound) const {
  for (const auto &[parameter, value] : config.values) {
    if (bound.arguments[parameter])
      throw Error(ErrorKind::User, fmt::format("`{}`: parameter `{}` is given, but a tuned configuration chooses it", description.name, rules[parameter].name));
    bound.computed[parameter] = value.get();
    bound.arguments[parameter] = &bound.computed[parameter];
  }
#define LAUNCH_OPTION(field, text, type, otherwise) \
  if (bound.options.field == type{})                \
    bound.options.field = config.options.field;
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
}

void Kernel::Impl::bind(const Stream &stream, const Grid *grid, const Argument *given, size_t count, BoundLaunch &bound, bool configured) {
  bindArguments(description.name, rules, given, count, bound.arguments.data(), bound.options);
  if (KernelTuning *tuned = tuning.load(std::memory_order_acquire); tuned && configured)
    apply(tuned->choose(stream, grid, bound), bound);
}

void Kernel::Impl::runHeuristics(BoundLaunch &bound) {
  if (description.heuristics.empty())
    return;
  for (size_t i = 0; i < rules.size(); ++i) // which heuristics may ask for; one of a parameter with a default wins over the default
    if (!bound.arguments[i] && defaults[i] &&
        std::none_of(description.heuristics.begin(), description.heuristics.end(), [&](const Heuristic &h) { return h.parameter == i; }))
      bound.arguments[i] = &*defaults[i];
  for (const Heuristic &heuristic : description.heuristics) {
    const std::string &parameter = rules[heuristic.parameter].name;
    if (bound.arguments[heuristic.parameter])
      continue; // what the caller says
    std::string error;
    std::optional<Argument> value;
    if (!heuristic.program.empty()) {
      value = heuristic.program.run(bound.arguments.data(), bound.arguments.size(), error);
      if (!value)
        throw Error(ErrorKind::User, fmt::format("`{}`: the heuristic of parameter `{}` {}", description.name, parameter, error));
    } else {
      std::vector<StoredArgument> values = module->front().evaluate(description.name, parameter, bound.arguments.data(), bound.arguments.size());
      if (values.size() != 1)
        throw Error(ErrorKind::User,
                    fmt::format("`{}`: the heuristic of parameter `{}` must give one value, found {}", description.name, parameter, values.size()));
      value = values[0].get();
      if (value->kind == Argument::Kind::String || value->kind == Argument::Kind::Function || value->kind == Argument::Kind::Tuple)
        throw Error(ErrorKind::User,
                    fmt::format("`{}`: the heuristic of parameter `{}` must give a number, found {}", description.name, parameter, describe(*value)));
    }
    bound.computed[heuristic.parameter] = *value;
    bound.arguments[heuristic.parameter] = &bound.computed[heuristic.parameter];
  }
}

void Kernel::Impl::complete(GpuDevice *device, BoundLaunch &bound) {
  runHeuristics(bound);
  makeKey(device, bound);
}

const LoadedCode &Kernel::Impl::codeFor(GpuDevice *device, BoundLaunch &bound) {
  runHeuristics(bound);
  const LoadedCode *last = latest.load(std::memory_order_acquire);
  if (last && last->seen.isAgain(device, bound.options, keyMasks, policy, bound.arguments.data(), defaults))
    return *last;
  makeKey(device, bound);
  const LoadedCode &code = obtain(device, bound);
  latest.store(&code, std::memory_order_release);
  return code;
}

void Kernel::Impl::makeKey(GpuDevice *device, BoundLaunch &bound) {
  bound.key.word(reinterpret_cast<uintptr_t>(device));
  bound.options.appendKey(bound.key);
  for (size_t i = 0; i < rules.size(); ++i) {
    const Argument *&argument = bound.arguments[i];
    if (argument && (argument->memory == Argument::Memory::Unknown || lies(*argument, device)))
      continue;
    if (argument)
      refuseMemory(*argument, rules[i].name, device);
    if (defaults[i])
      argument = &*defaults[i];
    else if (!rules[i].hasDefault)
      checkComplete(description.name, rules, bound.arguments.data()); // throws
  }
  if (appendHeads(bound.key, keyMasks, bound.arguments.data()))
    for (size_t i = 0; i < rules.size(); ++i)
      if (keyHasRest(keyHead(keyMasks[i], bound.arguments[i])))
        appendKeyRest(bound.key, rules[i], bound.arguments[i]);
}

/// Plain addresses may lie anywhere; the driver knows where. Asked once per specialization.
void Kernel::Impl::checkResidence(GpuDevice &device, const BoundLaunch &bound) const {
  for (size_t i = 0; i < rules.size(); ++i) {
    const Argument *argument = bound.arguments[i];
    if (!argument || argument->kind != Argument::Kind::Pointer || argument->memory != Argument::Memory::Unknown || argument->bits == 0)
      continue;
    if (std::string where = device.foreign(argument->bits); !where.empty())
      throw Error(ErrorKind::User,
                  fmt::format("parameter `{}`: the address lies in {}, but the stream is one of {}", rules[i].name, where, device.properties().name));
  }
}

LoadedCode Kernel::Impl::make(GpuDevice *device, const BoundLaunch &bound) {
  if (device)
    checkResidence(*device, bound);
  const Hooks *hooks = currentHooks();
  CompileReport report;
  report.kernel = description.name, report.device = device ? device->properties().name : "CPU";
  report.specialization = specializationText(rules, bound.arguments.data(), bound.options);
  if (hooks && hooks->beforeCompile)
    hooks->beforeCompile(report);
  CodeStore store(*module, description, device);
  try {
    Obtained obtained = store.obtain(bound, report);
    compiled += report.source == CompileReport::Source::Compiled;
    LoadedCode result;
    result.lines = std::move(obtained.lines);
    CompiledCode &code = obtained.code;
    if (device) {
      GpuImage image{code.kind == CompiledCode::Kind::Ptx ? GpuImage::Kind::Ptx : GpuImage::Kind::Binary, std::move(code.bytes)};
      result.abi = code.abi;
      result.gpu = device->makeKernel(image, std::move(code.abi));
    } else {
      result.image = std::make_unique<CpuImage>(code.bytes, description.name);
      result.cpu.entry = reinterpret_cast<CpuEntry>(result.image->symbol(code.abi.entry));
      result.cpu.arenaBytes = code.abi.arenaBytes, result.cpu.spins = code.abi.spins;
      result.abi = std::move(code.abi);
    }
    result.planSlots();
    if (hooks && hooks->afterCompile)
      hooks->afterCompile(report);
    return result;
  } catch (const Error &error) {
    report.failure = error.what();
    if (hooks && hooks->afterCompile)
      hooks->afterCompile(report);
    throw;
  }
}

const LoadedCode &Kernel::Impl::obtain(GpuDevice *device, const BoundLaunch &bound) {
  std::string_view key = bound.key.view();
  uint64_t hash = bound.key.hash();
  if (const auto *found = table.find(key, hash))
    return **found;
  std::shared_ptr<Making> mine;
  for (;;) {
    std::shared_ptr<Making> other;
    {
      std::lock_guard lock(tablesMutex());
      if (const auto *found = table.find(key, hash))
        return **found;
      for (const auto &each : making)
        if (each->key == key && each->process == getpid())
          other = each;
      if (!other) {
        mine = std::make_shared<Making>();
        mine->key = key;
        making.push_back(mine);
        break;
      }
    }
    std::unique_lock lock(other->mutex);
    other->changed.wait(lock, [&] { return other->done; });
    if (other->failure)
      std::rethrow_exception(other->failure);
    return *other->code;
  }
  const LoadedCode *code = nullptr;
  std::exception_ptr failure;
  try {
    auto loaded = std::make_unique<LoadedCode>(make(device, bound));
    loaded->cpu.lines = &loaded->lines;
    loaded->seen = SeenLaunch(device, bound.options, keyMasks, policy, bound.arguments.data(), defaults);
    std::lock_guard lock(tablesMutex());
    code = table.insert(key, hash, std::move(loaded)).get();
  } catch (...) {
    failure = std::current_exception();
  }
  {
    std::lock_guard lock(tablesMutex());
    std::erase(making, mine);
  }
  {
    std::lock_guard lock(mine->mutex);
    mine->done = true, mine->code = code, mine->failure = failure;
  }
  mine->changed.notify_all();
  if (failure)
    std::rethrow_exception(failure);
  return *code;
}

/// The bits for a slot, whatever its argument may be.
static uint64_t bitsFor(const ArgumentSlot &slot, const BoundLaunch &bound, const std::string &kernel) {
  const Argument *argument = bound.arguments[slot.param];
  for (unsigned index : slot.path) {
    if (!argument || argument->kind != Argument::Kind::Tuple || index >= argument->bits)
      throw Error(ErrorKind::Internal, fmt::format("slot `{}` of `{}` does not match its argument", slot.name, kernel));
    argument = &argument->elements[index];
  }
  if (!argument)
    throw Error(ErrorKind::User, fmt::format("parameter `{}` of `{}` must be given: its default can't be passed at run time", slot.name, kernel));
  if (slot.kind == ArgumentSlot::Kind::TensorMap && argument->kind == Argument::Kind::Descriptor)
    return reinterpret_cast<uintptr_t>(argument->descriptor);
  return slotBits(*argument, slot.dtype, slot.pointerDepth > 0, slot.name);
}

void LoadedCode::planSlots() {
  using Kind = SlotPlan::Kind;
  for (const ArgumentSlot &slot : abi.slots) {
    if (slot.isHidden())
      continue;
    const bool isPlain = slot.path.empty() && slot.kind != ArgumentSlot::Kind::TensorMap;
    const Kind kind = !isPlain                   ? Kind::Other
                      : slot.pointerDepth > 0    ? Kind::Pointer
                      : slot.dtype == DType::I32 ? Kind::Int32
                      : slot.dtype == DType::F32 ? Kind::Float32
                                                 : Kind::Other;
    plans.push_back({slot.param, static_cast<uint32_t>(&slot - abi.slots.data()), kind, slot.dtype});
  }
}

void Kernel::Impl::fillSlots(const LoadedCode &code, const BoundLaunch &bound, uint64_t *slots) const {
  using Kind = Argument::Kind;
  for (const SlotPlan &plan : code.plans) {
    const Argument *argument = bound.arguments[plan.parameter];
    uint64_t &slot = *slots++;
    if (argument && plan.kind == SlotPlan::Kind::Pointer && argument->kind == Kind::Pointer && argument->type == plan.dtype)
      slot = argument->bits;
    else if (argument && plan.kind == SlotPlan::Kind::Int32 && argument->kind == Kind::Int &&
             static_cast<int64_t>(argument->bits) == static_cast<int32_t>(argument->bits))
      slot = static_cast<uint32_t>(argument->bits);
    else if (argument && plan.kind == SlotPlan::Kind::Float32 && argument->kind == Kind::Float)
      slot = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(argument->bits)));
    else
      slot = bitsFor(code.abi.slots[plan.slot], bound, description.name);
  }
}

Grid Kernel::Impl::gridOf(const Grid &grid, const BoundLaunch &bound) {
  if (grid.function)
    return grid.function(grid.callable, Meta(this, bound.arguments.data()));
  if (!grid.fromKernel)
    return grid;
  if (!description.hasGrid)
    throw Error(ErrorKind::User, fmt::format("`{}` has no @tk.grid: give the grid with the launch", description.name));
  int64_t extents[3] = {1, 1, 1};
  auto set = [&](size_t axis, const Argument &value) {
    if (value.kind != Argument::Kind::Int && value.kind != Argument::Kind::UInt)
      throw Error(ErrorKind::User, fmt::format("`{}`: the grid's extent along axis {} must be an integer, found {}", description.name, axis, describe(value)));
    extents[axis] = static_cast<int64_t>(value.bits);
  };
  if (description.grid.empty()) {
    std::vector<StoredArgument> values = module->front().evaluate(description.name, "grid", bound.arguments.data(), bound.arguments.size());
    for (size_t axis = 0; axis < std::min<size_t>(values.size(), 3); ++axis)
      set(axis, values[axis].get());
  }
  for (size_t axis = 0; axis < description.grid.size(); ++axis) {
    std::string error;
    std::optional<Argument> value = description.grid[axis].run(bound.arguments.data(), bound.arguments.size(), error);
    if (!value)
      throw Error(ErrorKind::User, fmt::format("`{}`: the grid {}", description.name, error));
    set(axis, *value);
  }
  return {extents[0], extents[1], extents[2]};
}

void Kernel::Impl::launch(const Stream &stream, const Grid &grid, const LoadedCode &code, const uint64_t *slots) const {
  const Hooks *hooks = currentHooks();
  LaunchReport report;
  if (hooks) {
    report.kernel = description.name.c_str(), report.grid = grid, report.stream = stream.handle();
    if (hooks->beforeLaunch)
      hooks->beforeLaunch(report);
  }
  std::array<int64_t, 3> extents = {grid.x, grid.y, grid.z};
  if (GpuDevice *device = stream.device().implementation())
    device->launch(*code.gpu, slots, extents, stream.handle());
  else if (auto *queue = static_cast<HostStream *>(stream.handle()))
    queue->enqueue(
        [&code, values = std::vector<uint64_t>(slots, slots + code.abi.slots.size()), extents] { hostDevice().launch(code.cpu, values.data(), extents); });
  else
    hostDevice().launch(code.cpu, slots, extents);
  if (hooks && hooks->afterLaunch)
    hooks->afterLaunch(report);
}

int64_t Meta::operator[](const char *parameter) const {
  auto &impl = *static_cast<const Kernel::Impl *>(kernel);
  size_t index = impl.parameterIndex(parameter);
  const Argument *argument = arguments[index];
  if (!argument || (argument->kind != Argument::Kind::Int && argument->kind != Argument::Kind::UInt && argument->kind != Argument::Kind::Bool))
    throw Error(ErrorKind::User, fmt::format("the grid asks for parameter `{}` of `{}`, which is {}, not an integer", parameter, impl.description.name,
                                             argument ? describe(*argument) : "not given"));
  return static_cast<int64_t>(argument->bits);
}

const std::string &Kernel::name() const { return impl->description.name; }
const std::vector<std::string> &Kernel::parameters() const { return impl->parameterNames; }
size_t Kernel::compiledCount() const { return impl->compiled; }

void Kernel::launchList(const Stream &stream, const Grid &grid, const Argument *arguments, size_t count) const {
  GpuDevice *device = stream.device().implementation();
  BoundLaunch bound(impl->rules);
  impl->bind(stream, &grid, arguments, count, bound);
  const LoadedCode &code = impl->codeFor(device, bound);
  StackArray<uint64_t, 64> slots(code.abi.slots.size());
  impl->fillSlots(code, bound, slots.data());
  if (KernelTuning *tuned = impl->tuning.load(std::memory_order_acquire); tuned && tuned->zeroes())
    tuned->zero(stream, bound.arguments.data());
  impl->launch(stream, impl->gridOf(grid, bound), code, slots.data());
}

void Kernel::prepareList(const Stream &stream, const Argument *arguments, size_t count) const {
  GpuDevice *device = stream.device().implementation();
  BoundLaunch bound(impl->rules);
  impl->bind(stream, nullptr, arguments, count, bound);
  impl->complete(device, bound);
  const LoadedCode &code = impl->obtain(device, bound);
  if (device)
    device->prepare(*code.gpu, stream.handle());
}

KernelResources Kernel::resourcesList(const Stream &stream, const Argument *arguments, size_t count) const {
  GpuDevice *device = stream.device().implementation();
  if (!device)
    throw Error(ErrorKind::User, fmt::format("`{}`: code for the host has no resources to tell", name()));
  BoundLaunch bound(impl->rules);
  impl->bind(stream, nullptr, arguments, count, bound);
  impl->complete(device, bound);
  const LoadedCode &code = impl->obtain(device, bound);
  GpuKernelUse use = device->useOf(*code.gpu);
  return {use.registers, use.spillBytes, use.staticSharedBytes + static_cast<int>(code.abi.sharedBytes), static_cast<int>(code.abi.threads),
          use.blocksPerMultiprocessor};
}

void Kernel::specialize(const std::string &parameter, Specialization policy) const {
  size_t index = impl->parameterIndex(parameter);
  ParameterRule &rule = impl->rules[index];
  const ParameterRule &declared = impl->description.parameters[index];
  rule.specialize = declared.specialize && policy != Specialization::None;
  rule.alignment = declared.alignment && policy != Specialization::None;
  rule.foldOne = declared.foldOne && policy == Specialization::Full;
  impl->keyMasks[index] = keyMask(rule), ++impl->policy;
}

void Kernel::specialize(Specialization policy) const {
  for (const std::string &parameter : impl->parameterNames)
    specialize(parameter, policy);
}

} // namespace tk
