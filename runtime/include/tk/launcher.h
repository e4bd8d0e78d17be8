// A launch whose specialization is settled beforehand: no key is made and nothing is looked up, only values are put into their places.
//
//   tk::Launcher launcher = kernel.launcher(stream, out, x, n, tk::meta("BLOCK", 1024));
//   launcher.launch(tk::grid(blocks));       // with the arguments it was made with
//   launcher.set("x", otherX);               // another value of the same specialization
//   launcher.launch(tk::grid(blocks));
#pragma once
#include "tk/argument.h"
#include "tk/device.h"
#include "tk/grid.h"
#include <memory>

namespace tk {

/// Movable. Not thread-safe: one per thread. Keeps the kernel's code alive, not the memory that its arguments point to.
class Launcher {
public:
  Launcher(Launcher &&) noexcept;
  Launcher &operator=(Launcher &&) noexcept;
  ~Launcher();

  /// Asynchronous on a GPU's stream. Throws as Kernel::launch does.
  void launch(const Grid &grid) const;
  /// Replaces a run-time argument. Error(User) for a compile-time parameter, and for a value that the code was not made for: another type, an integer that was 1
  /// or divisible by 16, an address that was.
  void set(const char *parameter, const Argument &value);
  /// The same by the parameter's index, which saves finding the name.
  template <typename Index, std::enable_if_t<std::is_integral_v<Index>, int> = 0> void set(Index parameter, const Argument &value) {
    setIndex(static_cast<size_t>(parameter), value);
  }

  struct Impl;
  explicit Launcher(std::unique_ptr<Impl> impl);

private:
  void setIndex(size_t parameter, const Argument &value);
  std::unique_ptr<Impl> impl;
};

} // namespace tk
