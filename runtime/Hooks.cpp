// See Hooks.h. Replaced hooks are kept: a launch on another thread may be calling them.
#include "runtime/Hooks.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace tk {

namespace {
std::atomic<const Hooks *> current{nullptr};
}

namespace runtime {
const Hooks *currentHooks() { return current.load(std::memory_order_acquire); }
} // namespace runtime

Hooks setHooks(Hooks hooks) {
  static std::mutex mutex;
  static auto &all = *new std::vector<std::unique_ptr<const Hooks>>;
  std::lock_guard lock(mutex);
  const Hooks *before = current.load(std::memory_order_relaxed);
  Hooks result = before ? *before : Hooks();
  bool any = hooks.beforeCompile || hooks.afterCompile || hooks.beforeLaunch || hooks.afterLaunch;
  if (any)
    all.push_back(std::make_unique<const Hooks>(std::move(hooks)));
  current.store(any ? all.back().get() : nullptr, std::memory_order_release);
  return result;
}

} // namespace tk
