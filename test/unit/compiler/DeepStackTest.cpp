// Who gets a stack of its own, and who stays where it is.
#include "lang/sema/DeepStack.h"
#include "Catch.h"
#include <cstdint>

using tk::lang::onDeepStack;

/// Uses about `frames` KiB of stack.
__attribute__((optnone, noinline)) static unsigned descend(unsigned frames) {
  volatile char block[1024];
  block[0] = static_cast<char>(frames);
  return frames ? descend(frames - 1) + static_cast<unsigned char>(block[0] != 0) : 0;
}

static bool runsHere(size_t bytes) {
  char here;
  uintptr_t there = 0;
  onDeepStack(bytes, [&] {
    char inner;
    there = reinterpret_cast<uintptr_t>(&inner);
  });
  uintptr_t at = reinterpret_cast<uintptr_t>(&here);
  return (at > there ? at - there : there - at) < (64u << 10);
}

TEST_CASE("work gets the stack it asks for") {
  unsigned depth = 0;
  onDeepStack(64u << 20, [&] { depth = descend(40'000); }); // 40 MiB, five times what a thread has by default
  CHECK(depth > 0);
}

TEST_CASE("work stays on a stack that is large enough, and leaves one that is not") {
  bool smaller = false, same = false, larger = true, after = true;
  onDeepStack(32u << 20, [&] {
    smaller = runsHere(16u << 20);
    same = runsHere(32u << 20);
    larger = runsHere(128u << 20);
  });
  after = runsHere(16u << 20);
  CHECK(smaller);
  CHECK(same);
  CHECK_FALSE(larger);
  CHECK_FALSE(after);
}
