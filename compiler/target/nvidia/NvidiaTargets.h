// The table of NVIDIA targets (Targets.def) and the choice of one for a device.
#pragma once
#include <cstdint>
#include <string_view>

namespace tk::nvidia {

enum Feature : uint32_t { None = 0, CpAsync = 1, Bf16Mma = 2, Fp8Mma = 4, BlockScaledMma = 8, Wgmma = 16, Tma = 32, Cluster = 64, Tcgen05 = 128 };

struct Target {
  std::string_view name;
  unsigned sm = 0;  // 90 for compute capability 9.0
  unsigned ptx = 0; // 80 for version 8.0
  uint32_t maxSharedBytes = 0;
  uint32_t features = 0;

  bool has(Feature feature) const { return (features & feature) != 0; }
  /// Code for this compute capability alone.
  bool isExact() const { return name.ends_with('a'); }
};

inline constexpr Target targets[] = {
#define NVIDIA_TARGET(name, sm, ptx, maxSharedBytes, features) {name, sm, ptx, maxSharedBytes, features},
#include "compiler/target/nvidia/Targets.def"
#undef NVIDIA_TARGET
};

/// Null for a name that is not in the table.
constexpr const Target *findTarget(std::string_view name) {
  for (const Target &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}

/// The best target whose code a device of this compute capability (ten times major plus minor) runs; null for a device older than all.
constexpr const Target *targetFor(unsigned sm) {
  const Target *best = nullptr;
  for (const Target &target : targets)
    if (target.sm == sm || (target.sm < sm && !target.isExact()))
      best = &target;
  return best;
}

} // namespace tk::nvidia
