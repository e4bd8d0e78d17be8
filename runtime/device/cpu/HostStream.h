// A stream of the host: work in order, on a thread of its own.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tk::runtime {

/// Thread-safe. The destructor waits for what is queued. A child after a fork has the object but not its thread: there, work is done where it is queued.
class HostStream {
public:
  HostStream();
  ~HostStream();
  HostStream(const HostStream &) = delete;
  HostStream &operator=(const HostStream &) = delete;

  /// Runs `work` after everything that was queued before. After a failure work is dropped until synchronize() has told of it.
  void enqueue(std::function<void()> work);
  /// Waits until everything that was queued is done; throws the first failure since the last time.
  void synchronize();

private:
  void run();
  bool isForked() const;

  const int process;
  std::mutex mutex;
  std::condition_variable changed, idle;
  std::deque<std::function<void()>> queue;
  bool busy = false, stopping = false;
  std::exception_ptr failure;
  std::thread thread;
};

} // namespace tk::runtime
