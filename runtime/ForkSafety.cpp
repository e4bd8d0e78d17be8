// See ForkSafety.h.
#include "runtime/ForkSafety.h"
#include <pthread.h>

namespace tk::runtime {

std::mutex &tablesMutex() {
  static std::mutex &mutex = *new std::mutex; // in use until the process ends
  static const int registered = pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
  (void)registered;
  return mutex;
}

} // namespace tk::runtime
