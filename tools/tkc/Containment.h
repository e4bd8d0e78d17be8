// Nothing that a user's program does ends tkc without a message.
//
// The work runs on a thread with a large stack. A crash (a signal, LLVM's fatal-error handler, no memory) is reported: while compiling as an internal error with a file that
// reproduces it, while a kernel runs as the kernel's fault. The process then ends at once; nothing is resumed.
#pragma once
#include <functional>
#include <string>

namespace tk::tool {

/// Runs `work` and returns what it returns.
int runContained(const std::function<int()> &work);

/// What a reproducer will hold: the command and the program's text. Replaces what was there.
void setReproducer(const std::string &command, const std::string &program);

/// While at least one of these exists, a crash is the kernel's.
class KernelRunning {
public:
  KernelRunning();
  ~KernelRunning();
};

} // namespace tk::tool
