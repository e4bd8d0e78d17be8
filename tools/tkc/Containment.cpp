// See Containment.h. What a signal handler needs is prepared before: it calls nothing but write, open and _exit.
#include "tools/tkc/Containment.h"
#include "tools/tkc/Failure.h"
#include "llvm/Support/ErrorHandling.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tk::tool {

namespace {
constexpr size_t stackBytes = size_t(256) << 20, handlerStackBytes = 64 << 10;

// Signal handlers take no context, so what they need lives here.
struct {
  std::atomic<int> kernelsRunning{0};
  std::atomic<bool> ending{false};
  std::string reproducer, reproducerPath;
} state;

void say(const char *text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); }

void sayHex(uintptr_t value) {
  char digits[20] = "0x";
  int length = 2;
  for (int shift = 60; shift >= 0; shift -= 4)
    if (unsigned digit = value >> shift & 15; digit || length > 2 || shift == 0)
      digits[length++] = "0123456789abcdef"[digit];
  digits[length] = 0;
  say(digits);
}

[[noreturn]] void endWithInternalError(const char *what) {
  if (state.ending.exchange(true))
    _exit(static_cast<int>(Status::Diagnostics)); // a crash while reporting one
  say("tkc: internal error: ");
  say(what);
  say("\n");
  if (!state.reproducerPath.empty()) {
    int file = ::open(state.reproducerPath.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file >= 0 && ::write(file, state.reproducer.data(), state.reproducer.size()) == static_cast<ssize_t>(state.reproducer.size())) {
      say("tkc: note: the program and the command are kept in `");
      say(state.reproducerPath.c_str());
      say("`; please report it with them\n");
    }
  }
  _exit(static_cast<int>(Status::Diagnostics));
}

const char *nameOf(int signal) {
  switch (signal) {
  case SIGSEGV: return "invalid memory access";
  case SIGBUS: return "invalid memory access (bus error)";
  case SIGFPE: return "arithmetic exception";
  case SIGILL: return "illegal instruction";
  case SIGABRT: return "abort";
  default: return "signal";
  }
}

void handleSignal(int signal, siginfo_t *info, void *) {
  if (state.kernelsRunning == 0)
    endWithInternalError(nameOf(signal));
  if (!state.ending.exchange(true)) {
    say("tkc: error: the kernel failed while running: ");
    say(nameOf(signal));
    if (signal == SIGSEGV || signal == SIGBUS) {
      say(" at address ");
      sayHex(reinterpret_cast<uintptr_t>(info->si_addr));
    }
    say("\n");
  }
  _exit(static_cast<int>(Status::Device));
}

void handleFatalError(void *, const char *reason, bool) { endWithInternalError(reason); }
void handleBadAlloc(void *, const char *, bool) { endWithInternalError("out of memory"); }

void installHandlers() {
  llvm::install_fatal_error_handler(handleFatalError);
  llvm::install_bad_alloc_error_handler(handleBadAlloc);
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return; // the sanitizer's own report says more
#endif
#endif
  struct sigaction action = {};
  action.sa_sigaction = handleSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
}

struct Work {
  const std::function<int()> *function;
  int result = 0;
};

void *enter(void *pointer) {
  auto *work = static_cast<Work *>(pointer);
  // The thread's own stack may be what has run out.
  void *memory = mmap(nullptr, handlerStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t alternative = {};
  alternative.ss_sp = memory, alternative.ss_size = handlerStackBytes;
  if (memory != MAP_FAILED)
    sigaltstack(&alternative, nullptr);
  work->result = (*work->function)();
  return nullptr;
}
} // namespace

int runContained(const std::function<int()> &function) {
  installHandlers();
  Work work{&function};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  bool started = pthread_create(&thread, &attributes, enter, &work) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  else
    enter(&work); // no room for a large stack: the usual one serves all but the deepest programs
  return work.result;
}

void setReproducer(const std::string &command, const std::string &program) {
  state.reproducer = fmt::format("# tkc {} ended with an internal error. Command: {}\n{}", TKC_VERSION, command, program);
  state.reproducerPath = fmt::format("{}/tkc-crash-{}.tk", P_tmpdir, getpid());
}

KernelRunning::KernelRunning() {
  std::fflush(stdout); // a crash ends the process without it
  ++state.kernelsRunning;
}
KernelRunning::~KernelRunning() { --state.kernelsRunning; }

} // namespace tk::tool
