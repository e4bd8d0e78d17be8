// See SeenLaunch.h.
#include "runtime/SeenLaunch.h"
#include <cstddef>
#include <cstring>

namespace tk::runtime {

/// The first four bytes of an argument.
static uint32_t formOf(const Argument &argument) {
  static_assert(offsetof(Argument, kind) == 0 && offsetof(Argument, typed) == 1 && offsetof(Argument, type) == 2 && offsetof(Argument, memory) == 3 &&
                sizeof argument.type == 1 && sizeof argument.memory == 1);
  uint32_t form;
  std::memcpy(&form, &argument, sizeof form);
  return form;
}

SeenLaunch::SeenLaunch(GpuDevice *device, const LaunchOptions &options, const std::vector<uint32_t> &masks, unsigned policy, const Argument *const *given,
                       const std::vector<std::optional<Argument>> &defaults)
    : device(device), options(options), policy(policy) {
  for (size_t i = 0; i < masks.size(); ++i) {
    const Argument *argument = given[i];
    if (!argument || (defaults[i] && argument == &*defaults[i])) {
      arguments.push_back({absent, 0, 0});
      continue;
    }
    if (argument->kind > Argument::Kind::Type) { // whose value lies behind a pointer
      arguments.clear();
      return;
    }
    arguments.push_back({formOf(*argument), keyHead(masks[i], argument), argument->bits});
  }
}

bool SeenLaunch::isAgain(GpuDevice *where, const LaunchOptions &wanted, const std::vector<uint32_t> &masks, unsigned current, const Argument **given,
                         const std::vector<std::optional<Argument>> &defaults) const {
  if (arguments.empty() || where != device || current != policy || !(wanted == options))
    return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Seen &seen = arguments[i];
    const Argument *&argument = given[i];
    if (seen.form == absent) {
      const Argument *otherwise = defaults[i] ? &*defaults[i] : nullptr;
      if (argument && argument != otherwise)
        return false;
      argument = otherwise;
      continue;
    }
    if (!argument || formOf(*argument) != seen.form)
      return false;
    // Another value may do as well, but not for a compile-time parameter.
    if (argument->bits != seen.bits && (keyHasRest(seen.head) || keyHead(masks[i], argument) != seen.head))
      return false;
    if (argument->memory == Argument::Memory::Device && argument->device != device)
      return false;
  }
  return true;
}

} // namespace tk::runtime
