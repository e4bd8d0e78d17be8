// Work whose recursion is bounded by the depth of a user's program runs on a stack that was made for it.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>

namespace tk::lang {

/// Runs `work` with at least `bytes` of stack and returns when it is done: in place when the calling thread is known to have them left, else on a thread of its
/// own, across whose end no exception may pass. In place is what happens to the elaborator inside a compilation that runs on such a stack as a whole.
void onDeepStack(size_t bytes, llvm::function_ref<void()> work);

/// Tells that the calling thread's stack has `bytes` left below this call.
void declareStack(size_t bytes);

} // namespace tk::lang
