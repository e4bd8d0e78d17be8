// A compilation inside somebody's process: what goes wrong in LLVM becomes an Error, and deep programs don't depend on the caller's stack.
#pragma once
#include <functional>

namespace tk::jit {

/// Runs `work` on a stack of its own and returns when it is done. What it throws is rethrown; an error that LLVM considers fatal, which would end the process,
/// is thrown as Error(Internal) instead, and what LLVM held at that moment is lost. Signals are the process's own: a crash by one is not contained here.
void contained(const std::function<void()> &work);

} // namespace tk::jit
