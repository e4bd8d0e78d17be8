// The arguments that code was made for, by which the next launch of the same code is recognized without its key: launches repeat one another, but for an
// address or a length.
#pragma once
#include "runtime/Specialization.h"
#include <cstdint>
#include <vector>

namespace tk::runtime {

class GpuDevice;

class SeenLaunch {
public:
  SeenLaunch() = default;
  /// `arguments` as a key is made of them: one per parameter, defaults filled in. `policy`: whichever number stands for `masks`, which may change.
  SeenLaunch(GpuDevice *device, const LaunchOptions &options, const std::vector<uint32_t> &masks, unsigned policy, const Argument *const *arguments,
             const std::vector<std::optional<Argument>> &defaults);

  /// True when these arguments certainly have the same key; false when they haven't, or it takes more to say. Then fills in defaults.
  bool isAgain(GpuDevice *device, const LaunchOptions &options, const std::vector<uint32_t> &masks, unsigned policy, const Argument **arguments,
               const std::vector<std::optional<Argument>> &defaults) const;

private:
  struct Seen {
    uint32_t form; // kind, whether it is typed, type and memory; or `absent`
    uint32_t head;
    uint64_t bits;
  };
  static constexpr uint32_t absent = ~uint32_t(0);

  GpuDevice *device = nullptr;
  LaunchOptions options;
  unsigned policy = 0;
  std::vector<Seen> arguments; // empty: nothing is recognized by this
};

} // namespace tk::runtime
