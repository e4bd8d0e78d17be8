// See LaunchLog.h.
#include "runtime/device/LaunchLog.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace tk::runtime {

void LaunchLog::launched(const std::shared_ptr<const std::string> &label, void *stream) {
  std::lock_guard lock(mutex);
  if (!entries.empty() && entries.back().label == label && entries.back().stream == stream)
    return;
  if (entries.size() == most)
    entries.pop_front();
  entries.push_back({label, stream});
}

void LaunchLog::synchronized(void *stream) {
  std::lock_guard lock(mutex);
  std::erase_if(entries, [&](const Entry &entry) { return entry.stream == stream; });
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
