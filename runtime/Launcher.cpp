// tk::Launcher: the bits of a launch, ready to be sent again and again.
#include "tk/launcher.h"
#include "runtime/KernelImpl.h"
#include "runtime/tune/KernelTuning.h"
#include <fmt/format.h>

namespace tk {

using namespace runtime;

struct Launcher::Impl {
  std::shared_ptr<Kernel::Impl> kernel;
  Stream stream;
  const LoadedCode *code = nullptr;
  std::vector<uint64_t> slots;
  const KernelTuning *zeroing = nullptr; // which has arrays that each launch must find zeroed
  std::vector<Argument> arguments;       // then: one per parameter
  std::vector<std::unique_ptr<TensorDescriptor>> tensors; // per slot, where it is one
  std::vector<std::string> keys; // what the code is made for, parameter by parameter
};

Launcher::Launcher(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Launcher::Launcher(Launcher &&) noexcept = default;
Launcher &Launcher::operator=(Launcher &&) noexcept = default;
Launcher::~Launcher() = default;

/// What a slot points to becomes the launcher's own.
static void own(Launcher::Impl &impl, const ArgumentSlot &slot, size_t index) {
  if (slot.kind != ArgumentSlot::Kind::TensorMap)
    return;
  impl.tensors.resize(impl.slots.size());
  impl.tensors[index] = std::make_unique<TensorDescriptor>(*reinterpret_cast<const TensorDescriptor *>(impl.slots[index]));
  impl.slots[index] = reinterpret_cast<uintptr_t>(impl.tensors[index].get());
}

static std::string keyOf(const ParameterRule &rule, const Argument *argument) {
  LaunchKey key;
  appendKey(key, rule, argument);
  return std::string(key.view());
}

Launcher Kernel::launcherList(const Stream &stream, const Argument *arguments, size_t count) const {
  GpuDevice *device = stream.device().implementation();
  BoundLaunch bound(impl->rules);
  impl->bind(stream, nullptr, arguments, count, bound);
  impl->complete(device, bound);
  auto result = std::make_unique<Launcher::Impl>();
  result->kernel = impl, result->stream = stream;
  result->code = &impl->obtain(device, bound);
  result->slots.resize(result->code->abi.slots.size());
  impl->fillSlots(*result->code, bound, result->slots.data());
  size_t index = 0;
  for (const ArgumentSlot &slot : result->code->abi.slots)
    if (!slot.isHidden())
      own(*result, slot, index++);
  for (size_t i = 0; i < bound.arguments.size(); ++i)
    result->keys.push_back(keyOf(impl->rules[i], bound.arguments[i]));
  if (KernelTuning *tuned = impl->tuning.load(std::memory_order_acquire); tuned && tuned->zeroes()) {
    result->zeroing = tuned;
    for (const Argument *argument : bound.arguments)
      result->arguments.push_back(argument ? *argument : Argument());
  }
  if (device)
    device->prepare(*result->code->gpu, stream.handle());
  return Launcher(std::move(result));
}

void Launcher::launch(const Grid &grid) const {
  if (grid.function || grid.fromKernel)
    throw Error(ErrorKind::User, fmt::format("a launcher of `{}` takes its grid as numbers", impl->kernel->description.name));
  if (impl->zeroing) {
    std::vector<const Argument *> pointers;
    for (const Argument &argument : impl->arguments)
      pointers.push_back(&argument);
    impl->zeroing->zero(impl->stream, pointers.data());
  }
  impl->kernel->launch(impl->stream, grid, *impl->code, impl->slots.data());
}

void Launcher::set(const char *parameter, const Argument &value) { setIndex(impl->kernel->parameterIndex(parameter), value); }

void Launcher::setIndex(size_t parameter, const Argument &value) {
  Kernel::Impl &kernel = *impl->kernel;
  if (parameter >= kernel.rules.size())
    throw Error(ErrorKind::User, fmt::format("`{}` has {} parameters: there is no number {}", kernel.description.name, kernel.rules.size(), parameter));
  const ParameterRule &rule = kernel.rules[parameter];
  LaunchKey key;
  appendKey(key, rule, &value);
  if (key.view() != impl->keys[parameter])
    throw Error(ErrorKind::User, fmt::format("parameter `{}`: {} is another specialization than the one this launcher of `{}` was made for: make another one",
                                             rule.name, describe(value), kernel.description.name));
  GpuDevice *device = impl->stream.device().implementation();
  if (value.memory == Argument::Memory::Host ? device != nullptr : value.memory == Argument::Memory::Device && value.device != device)
    throw Error(ErrorKind::User, fmt::format("parameter `{}`: the array does not lie where this launcher of `{}` runs", rule.name, kernel.description.name));
  bool found = false;
  size_t visible = 0;
  for (const ArgumentSlot &slot : impl->code->abi.slots) {
    if (slot.isHidden())
      continue;
    if (slot.param == parameter) {
      const Argument *element = &value;
      for (unsigned index : slot.path)
        element = &element->elements[index];
      if (slot.kind == ArgumentSlot::Kind::TensorMap)
        impl->slots[visible] = reinterpret_cast<uintptr_t>(element->descriptor), own(*impl, slot, visible);
      else
        impl->slots[visible] = slotBits(*element, slot.dtype, slot.pointerDepth > 0, slot.name);
      found = true;
    }
    ++visible;
  }
  if (found && impl->zeroing)
    impl->arguments[parameter] = value;
  if (!found)
    throw Error(ErrorKind::User, fmt::format("parameter `{}` of `{}` is a compile-time value of this launcher, or its code does not use it", rule.name,
                                             kernel.description.name));
}

} // namespace tk
