#include "lang/sema/DeepStack.h"
#include "llvm/Support/ProgramStack.h"
#include <algorithm>
#include <climits>

namespace tk::lang {

static constexpr size_t kSlack = 1u << 20; // what the caller of onDeepStack may have used of a stack of the size it asks for

static thread_local uintptr_t lowest = 0; // the end of this thread's stack, 0 when nothing is known

void declareStack(size_t bytes) {
  uintptr_t here = llvm::getStackPointer();
  lowest = here > bytes ? here - bytes : 0;
}

void onDeepStack(size_t bytes, llvm::function_ref<void()> work) {
  uintptr_t here = llvm::getStackPointer();
  if (lowest && here > lowest && here - lowest >= bytes)
    return work();
  size_t size = std::min<size_t>(bytes + kSlack, UINT_MAX);
  llvm::runOnNewStack(static_cast<unsigned>(size), [&] {
    uintptr_t before = lowest; // the same thread may come back to its old stack
    declareStack(size - kSlack / 4);
    work();
    lowest = before;
  });
}

} // namespace tk::lang
