// Persistent threads of the host: the calling thread and workers that sleep between calls. In a child process after fork(), where the workers are gone, new ones start
// with the next call.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tk::runtime {

class ThreadPool {
public:
  /// 0 threads: as many as the process may use (its affinity mask). The caller of a run counts as one.
  explicit ThreadPool(unsigned threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return static_cast<unsigned>(workers.size()) + 1; }

  /// Calls task(i) once on each of `count` (at most size()) threads, i from 0, the caller being 0; returns when all have returned. The first exception is
  /// rethrown then. Callers on several threads take turns; a task that calls run() again runs all of it on its own thread.
  void run(unsigned count, const std::function<void(unsigned)> &task);

  /// Calls body(begin, end) over disjoint ranges that cover 0 to count, each of at least `chunk` elements but the last.
  void parallelFor(uint64_t count, uint64_t chunk, const std::function<void(uint64_t, uint64_t)> &body);

private:
  void start(unsigned threads);
  void restartAfterFork();
  void work(unsigned index);
  void call(unsigned index);

  std::vector<std::thread> workers;
  std::mutex turn;                  // held by the caller of a run
  std::atomic<std::thread::id> owner{}; // who holds it
  const std::function<void(unsigned)> *task = nullptr;
  unsigned taskCount = 0;
  std::atomic<uint32_t> generation{0}; // counts runs
  std::atomic<uint32_t> pending{0};    // workers that have not finished the current run
  std::atomic<bool> stopping{false};
  std::atomic<unsigned> forks;         // of the process when the workers started
  std::mutex failureMutex;
  std::exception_ptr failure;
};

/// The cores that this process may run on.
unsigned availableCores();

} // namespace tk::runtime
