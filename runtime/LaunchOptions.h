// Launch options: how a kernel is compiled for a launch, not what it computes. They are part of the specialization key.
//
// A caller gives them like parameters, by name: tk::meta("num_warps", 8), `num_warps=8` on the command line, and as keywords of @tk.example.
#pragma once
#include "runtime/LaunchKey.h"
#include "tk/argument.h"
#include <string>
#include <string_view>

namespace tk::runtime {

/// 0 and false stand for "not given".
struct LaunchOptions {
#define LAUNCH_OPTION(field, name, type, otherwise) type field = {};
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION

  bool operator==(const LaunchOptions &) const = default;
  static bool has(std::string_view name);
  /// Sets the option of this name. Returns what is wrong with the value ("must be 1, 2, 4, 8, 16 or 32, found 3"), or nothing.
  std::string set(std::string_view name, int64_t value);
  /// "num_warps=8, num_stages=2": what is given, by name. Empty when nothing is.
  std::string text() const;
  void appendKey(LaunchKey &key) const;
};

} // namespace tk::runtime
