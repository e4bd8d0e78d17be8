// See LaunchLog.h.
#include "runtime/device/LaunchLog.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tk::runtime {

uint64_t LaunchLog::newState() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void LaunchLog::launched(const std::shared_ptr<const std::string> &label, void *stream) {
  struct Noted {
    const std::string *label = nullptr;
    void *stream = nullptr;
    uint64_t state = 0; // of the log, which keeps the label alive as long as it has this state
  };
  thread_local Noted noted;
  if (noted.state == state.load(std::memory_order_relaxed) && noted.label == label.get() && noted.stream == stream)
    return;
  std::lock_guard lock(mutex);
  auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry &entry) { return entry.label == label && entry.stream == stream; });
  if (found != entries.end()) {
    std::rotate(found, found + 1, entries.end());
  } else {
    if (entries.size() == most) {
      entries.erase(entries.begin());
      state.store(newState(), std::memory_order_relaxed);
    }
    entries.push_back({label, stream});
  }
  noted = {label.get(), stream, state.load(std::memory_order_relaxed)};
}

void LaunchLog::synchronized(void *stream) {
  std::lock_guard lock(mutex);
  if (std::erase_if(entries, [&](const Entry &entry) { return entry.stream == stream; }))
    state.store(newState(), std::memory_order_relaxed);
}

std::string LaunchLog::suspects(void *stream) const {
  std::lock_guard lock(mutex);
  std::vector<std::string> names;
  for (bool ofStream : {true, false})
    for (const Entry &entry : entries)
      if ((entry.stream == stream) == ofStream && std::find(names.begin(), names.end(), *entry.label) == names.end())
        names.push_back(*entry.label);
  if (names.empty())
    return "";
  return names.size() == 1 ? "kernel " + names[0] : fmt::format("one of the kernels {}", fmt::join(names, ", "));
}

} // namespace tk::runtime
