// Fibers over ucontext, with the annotations that the address and thread sanitizers need to follow them.
#include "runtime/device/cpu/Fiber.h"
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define TK_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define TK_THREAD_SANITIZER 1
#endif
#endif

namespace tk::runtime {

Fiber::~Fiber() {
#ifdef TK_THREAD_SANITIZER
  if (stack && threadSanitizerFiber)
    __tsan_destroy_fiber(threadSanitizerFiber);
#endif
  if (stack)
    munmap(stack, stackSize);
}

bool Fiber::prepare(size_t stackBytes, void (*entry)(void *), void *entryArgument) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (!stack) {
    stackSize = (stackBytes + page - 1) / page * page + page;
    void *memory = mmap(nullptr, stackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return false;
    stack = static_cast<char *>(memory);
    mprotect(stack, page, PROT_NONE);
  }
#ifdef TK_THREAD_SANITIZER
  if (!threadSanitizerFiber)
    threadSanitizerFiber = __tsan_create_fiber(0);
#endif
  function = entry, argument = entryArgument;
  fakeStack = nullptr;
  sanitizerBottom = stack + page, sanitizerSize = stackSize - page;
  getcontext(&context);
  context.uc_stack.ss_sp = stack + page;
  context.uc_stack.ss_size = stackSize - page;
  context.uc_link = nullptr;
  auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  return true;
}

void Fiber::enter(unsigned high, unsigned low) {
  auto *self = reinterpret_cast<Fiber *>(static_cast<uintptr_t>(high) << 32 | low);
  self->arrived();
  self->function(self->argument);
  __builtin_trap(); // the function switched away for good
}

/// Runs on this fiber's stack right after a switch to it.
void Fiber::arrived() {
#ifdef TK_ADDRESS_SANITIZER
  const void *bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(fakeStack, &bottom, &size);
  if (cameFrom && !cameFrom->stack)
    cameFrom->sanitizerBottom = bottom, cameFrom->sanitizerSize = size;
#endif
}

void Fiber::switchFrom(Fiber &from, bool fromIsDone) {
  cameFrom = &from;
#ifdef TK_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fromIsDone ? nullptr : &from.fakeStack, sanitizerBottom, sanitizerSize);
#endif
#ifdef TK_THREAD_SANITIZER
  if (!from.stack) // a thread's own stack
    from.threadSanitizerFiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(threadSanitizerFiber, 0);
#endif
  swapcontext(&from.context, &context);
  from.arrived();
}

} // namespace tk::runtime
