// See Containment.h. LLVM has one handler of fatal errors for the whole process, so it asks the thread whether a compilation is running there.
#include "runtime/jit/Containment.h"
#include "lang/sema/DeepStack.h"
#include "tk/error.h"
#include "llvm/Support/ErrorHandling.h"
#include <exception>
#include <mutex>

namespace tk::jit {

namespace {
constexpr unsigned stackBytes = 192u << 20; // holds what the elaborator asks for, so that it needs no thread of its own

thread_local bool compiling = false;

/// LLVM's code is compiled without exceptions but with unwind tables: this one passes through it without running its destructors.
void throwFatal(void *, const char *reason, bool) {
  if (compiling)
    throw Error(ErrorKind::Internal, std::string("internal error: ") + reason);
} // returning lets LLVM end the process as it would without us

void throwBadAlloc(void *, const char *reason, bool) {
  if (compiling)
    throw Error(ErrorKind::Device, std::string("out of memory while compiling: ") + reason);
}
} // namespace

void contained(const std::function<void()> &work) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(throwFatal);
    llvm::install_bad_alloc_error_handler(throwBadAlloc);
  });
  std::exception_ptr thrown;
  lang::onDeepStack(stackBytes, [&] {
    bool before = compiling;
    compiling = true;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    compiling = before;
  });
  if (thrown)
    std::rethrow_exception(thrown);
}

} // namespace tk::jit
