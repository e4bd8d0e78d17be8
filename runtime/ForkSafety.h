// Locks and fork: what other threads held when a process forks stays locked in the child for ever.
#pragma once
#include <mutex>

namespace tk::runtime {

/// Guards the tables of everything that is made once and kept: code being compiled, idle compilers. Held for moments only, never while something is compiled or
/// another lock is taken; a fork waits for it, so that it is free in the child.
std::mutex &tablesMutex();

} // namespace tk::runtime
