// Which kernels were launched on which stream since it was last synchronised, so that an error that the driver reports late can name them. Keeps the last few.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace tk::runtime {

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
  static constexpr size_t most = 8;
  mutable std::mutex mutex;
  std::deque<Entry> entries;
};

} // namespace tk::runtime
