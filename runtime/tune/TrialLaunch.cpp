// See TrialLaunch.h.
#include "runtime/tune/TrialLaunch.h"
#include <algorithm>
#include <chrono>

namespace tk::runtime {

void TrialLaunch::compile() {
  for (size_t i = 0; i < given.arguments.size(); ++i)
    bound.arguments[i] = given.arguments[i];
  bound.options = given.options;
  GpuDevice *device = stream.device().implementation();
  kernel.apply(config, bound);
  kernel.complete(device, bound);
  code = &kernel.obtain(device, bound);
  slots.resize(code->abi.slots.size());
  kernel.fillSlots(*code, bound, slots.data());
}

void TrialLaunch::run() {
  if (!extents)
    extents = kernel.gridOf(grid, bound);
  kernel.launch(stream, *extents, *code, slots.data());
}

double LaunchMeasurement::now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The pointers that the code gets, and what has to happen with what they point to. Arguments may point to the same memory, so that one is read and the other
/// written.
std::vector<TrialArray> LaunchMeasurement::arraysOf(const KernelAbi &abi) const {
  struct Pointed {
    TrialArray array;
    bool read, written;
  };
  std::vector<Pointed> all;
  auto contains = [](const std::vector<unsigned> &list, unsigned parameter) { return std::find(list.begin(), list.end(), parameter) != list.end(); };
  for (const ArgumentSlot &slot : abi.slots) {
    if (slot.isHidden() || slot.pointerDepth != 1)
      continue;
    const Argument *argument = given.arguments[slot.param];
    for (size_t i = 0; argument && i < slot.path.size(); ++i)
      argument = argument->kind == Argument::Kind::Tuple && slot.path[i] < argument->bits ? &argument->elements[slot.path[i]] : nullptr;
    if (!argument || argument->kind != Argument::Kind::Pointer)
      continue;
    TrialArray array{
        slot.name,   argument->bits, argument->bytes, slot.dtype, contains(tuning.resetToZero, slot.param), contains(tuning.restoreValue, slot.param),
        slot.written};
    all.push_back({std::move(array), slot.read, slot.written});
  }
  auto overlap = [](const TrialArray &a, const TrialArray &b) {
    return a.address < b.address + std::max<uint64_t>(b.bytes, 1) && b.address < a.address + std::max<uint64_t>(a.bytes, 1);
  };
  std::vector<TrialArray> result;
  for (Pointed &one : all) {
    if (one.written && !one.array.zero)
      one.array.restore |= std::any_of(all.begin(), all.end(), [&](const Pointed &other) { return other.read && overlap(one.array, other.array); });
    result.push_back(one.array);
  }
  return result;
}

std::vector<double> LaunchMeasurement::run(Trial &trial, unsigned count) {
  current = &trial;
  if (!stopwatch) {
    arrays = std::make_unique<TrialArrays>(stream, arraysOf(static_cast<TrialLaunch &>(trial).loaded().abi), check);
    Stopwatch::Options options;
    options.flushCache = stream.device().implementation() != nullptr;
    if (arrays->changes())
      options.prepare = [this] { arrays->prepare(); };
    stopwatch = std::make_unique<Stopwatch>(stream, [this] { current->run(); }, std::move(options));
  }
  return stopwatch->run(count);
}

std::string LaunchMeasurement::lost() {
  if (!stream.device().implementation())
    return "";
  try {
    stream.synchronize();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

} // namespace tk::runtime
