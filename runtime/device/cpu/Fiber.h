// A stack of its own to run a function on, switched to and from by hand. Used for programs that wait in a loop while others of their launch must run.
#pragma once
#include <cstddef>
#include <ucontext.h>

namespace tk::runtime {

/// Either the stack that a thread already runs on (default constructed) or a new one with a guard page.
class Fiber {
public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Gives this fiber a stack and the function that the next switch to it enters. The function must never return. False when memory is short.
  bool prepare(size_t stackBytes, void (*function)(void *), void *argument);
  /// Leaves `from`, which must be the running fiber, and continues this one; returns when something switches back to `from`.
  /// `fromIsDone`: nothing will.
  void switchFrom(Fiber &from, bool fromIsDone = false);

private:
  static void enter(unsigned high, unsigned low);
  void arrived();

  ucontext_t context = {};
  char *stack = nullptr;
  size_t stackSize = 0;
  void (*function)(void *) = nullptr;
  void *argument = nullptr;
  Fiber *cameFrom = nullptr;
  // What the address sanitizer wants to know of the two stacks.
  void *fakeStack = nullptr;
  const void *sanitizerBottom = nullptr;
  size_t sanitizerSize = 0;
  [[maybe_unused]] void *threadSanitizerFiber = nullptr; // what the thread sanitizer calls it
};

} // namespace tk::runtime
