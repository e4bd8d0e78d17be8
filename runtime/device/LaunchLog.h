// Which kernels were launched on which stream since it was last synchronised, so that an error that the driver reports late can name them. Keeps the last few.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tk::runtime {

/// Thread-safe. Noting the launch that its thread noted last takes no lock.
class LaunchLog {
public:
  void launched(const std::shared_ptr<const std::string> &label, void *stream);
  void synchronized(void *stream);
  /// "kernel `softmax` (softmax.tk:3)", or "one of the kernels ..."; empty when none is waited for. An error may come from any stream of a context: kernels of
  /// others come last.
  std::string suspects(void *stream) const;

private:
  struct Entry {
    std::shared_ptr<const std::string> label;
    void *stream;
  };
  static uint64_t newState();
  static constexpr size_t most = 8;
  mutable std::mutex mutex;
  std::vector<Entry> entries; // no two alike; the last one launched comes last
  /// Changes whenever an entry goes: while it stays the same, what was noted is still there. No two logs ever have the same.
  std::atomic<uint64_t> state{newState()};
};

} // namespace tk::runtime
