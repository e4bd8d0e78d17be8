// How many programs a launch has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace tk {

struct Argument;

/// What a grid's callable may ask: the values of the launch, configurations' and heuristics' included.
class Meta {
public:
  /// The integer value of a parameter. Throws Error(User) for a name that the kernel does not have, and for a parameter that is no integer.
  int64_t operator[](const char *parameter) const;

  Meta(const void *kernel, const Argument *const *arguments) : kernel(kernel), arguments(arguments) {}

private:
  const void *kernel;
  const Argument *const *arguments;
};

/// Programs along each axis, as numbers, as a function of the launch's values, or as the kernel's own `@tk.grid` says (tk::autoGrid). An extent of 0 launches
/// nothing.
struct Grid {
  int64_t x = 1, y = 1, z = 1;
  using Function = Grid (*)(const void *callable, const Meta &meta);
  Function function = nullptr; // called with `callable`, when there is one
  const void *callable = nullptr;
  bool fromKernel = false;

  Grid() = default;
  Grid(int64_t x, int64_t y = 1, int64_t z = 1) : x(x), y(y), z(z) {}
  /// The callable must live until the call that takes the grid returns, as a temporary of that call does.
  template <typename F, std::enable_if_t<std::is_invocable_r_v<Grid, const F &, const Meta &>, int> = 0>
  Grid(const F &callable) : function([](const void *f, const Meta &meta) -> Grid { return (*static_cast<const F *>(f))(meta); }), callable(&callable) {}
};
inline Grid grid(int64_t x, int64_t y = 1, int64_t z = 1) { return {x, y, z}; }
/// The grid that the kernel declares. Error(User) for a kernel without.
inline Grid autoGrid() {
  Grid result;
  result.fromKernel = true;
  return result;
}
/// ceil(a / b), for grids.
constexpr int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace tk
