// Being told of compilations and launches: for profilers, logs and tests.
#pragma once
#include "tk/grid.h"
#include <cstdint>
#include <functional>
#include <string>

namespace tk {

class Device;

/// What a kernel needed to become ready for a specialization.
struct CompileReport {
  std::string kernel, device, specialization; // "softmax", "NVIDIA H200", "*fp32:16, i32:16, BLOCK=1024, num_warps=4"
  enum class Source { Compiled, DiskCache, Precompiled } source = Source::Compiled;
  double seconds = 0;
  uint64_t codeBytes = 0;
  std::string failure; // empty: it worked
};

struct LaunchReport {
  const char *kernel = nullptr;
  Grid grid;
  void *stream = nullptr;
};

/// Each may be empty. They are called on the thread that compiles or launches, which must not change the hooks meanwhile; what they throw reaches the caller of
/// the launch.
struct Hooks {
  std::function<void(const CompileReport &)> beforeCompile; // only kernel, device and specialization are filled
  std::function<void(const CompileReport &)> afterCompile;
  std::function<void(const LaunchReport &)> beforeLaunch;
  std::function<void(const LaunchReport &)> afterLaunch;
};
/// Replaces the process's hooks and gives back the ones before. Thread-safe.
Hooks setHooks(Hooks hooks);

} // namespace tk
