// Every worker takes part in every run (a run of fewer threads leaves the rest idle for it): one counter to wake them, one to wait for them.
#include "runtime/device/cpu/ThreadPool.h"
#include <algorithm>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <utility>

namespace tk::runtime {

namespace {
/// Launches often follow each other closely: a short spin saves the wake-up.
constexpr unsigned spinsBeforeSleep = 300;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <typename T> void waitWhile(std::atomic<T> &value, T old) {
  for (unsigned i = 0; i < spinsBeforeSleep; ++i, relax())
    if (value.load(std::memory_order_acquire) != old)
      return;
  value.wait(old, std::memory_order_acquire);
}

std::atomic<unsigned> forkCount{0};

/// How often this process is the child of a fork, counted since the first pool.
unsigned forksSoFar() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forkCount.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return forkCount.load(std::memory_order_relaxed);
}
} // namespace

unsigned availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency()); // more cores than the set can hold
}

ThreadPool::ThreadPool(unsigned threads) : forks(forksSoFar()) { start(threads ? threads : availableCores()); }

void ThreadPool::start(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i)
    workers.emplace_back([this, i] { work(i); });
}

/// Nothing can be done with the handles of threads that only the parent process has, not even destroy them: they are left as they are, and the state begins anew.
void ThreadPool::restartAfterFork() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  unsigned now = forksSoFar(), threads = size();
  if (forks == now)
    return;
  static auto *abandoned = new std::vector<std::vector<std::thread> *>();
  abandoned->push_back(new std::vector<std::thread>(std::move(workers)));
  workers.clear();
  new (&turn) std::mutex;
  new (&failureMutex) std::mutex;
  generation = 0, pending = 0, owner = std::thread::id(), task = nullptr, failure = nullptr;
  start(threads);
  forks = now;
}

ThreadPool::~ThreadPool() {
  if (forks != forksSoFar()) { // see above
    new std::vector<std::thread>(std::move(workers));
    return;
  }
  stopping = true;
  ++generation;
  generation.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::call(unsigned index) {
  try {
    (*task)(index);
  } catch (...) {
    std::lock_guard lock(failureMutex);
    if (!failure)
      failure = std::current_exception();
  }
}

void ThreadPool::work(unsigned index) {
  uint32_t seen = 0;
  for (;;) {
    waitWhile(generation, seen);
    ++seen; // a run ends when every worker has taken part, so none is ever more than one behind
    if (stopping)
      return;
    if (index < taskCount)
      call(index);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
      pending.notify_all();
  }
}

void ThreadPool::run(unsigned count, const std::function<void(unsigned)> &body) {
  if (forks.load(std::memory_order_relaxed) != forksSoFar())
    restartAfterFork();
  auto self = std::this_thread::get_id();
  bool nested = owner.load(std::memory_order_relaxed) == self || std::any_of(workers.begin(), workers.end(), [&](const std::thread &worker) { return worker.get_id() == self; });
  if (nested || workers.empty() || count <= 1) {
    for (unsigned i = 0; i < std::max(1u, std::min(count, size())); ++i)
      body(i);
    return;
  }
  std::lock_guard lock(turn);
  owner = self;
  task = &body, taskCount = count, failure = nullptr;
  pending = static_cast<uint32_t>(workers.size());
  generation.fetch_add(1, std::memory_order_acq_rel);
  generation.notify_all();
  call(0);
  for (uint32_t left; (left = pending.load(std::memory_order_acquire)) != 0;)
    waitWhile(pending, left);
  owner = std::thread::id();
  task = nullptr;
  if (std::exception_ptr thrown = std::exchange(failure, nullptr))
    std::rethrow_exception(thrown);
}

void ThreadPool::parallelFor(uint64_t count, uint64_t chunk, const std::function<void(uint64_t, uint64_t)> &body) {
  chunk = std::max<uint64_t>(chunk, 1);
  std::atomic<uint64_t> next{0};
  uint64_t threads = std::min<uint64_t>(size(), (count + chunk - 1) / chunk);
  chunk = std::max(chunk, count / (threads ? threads * 8 : 1));
  run(static_cast<unsigned>(threads), [&](unsigned) {
    for (uint64_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < count;)
      body(begin, std::min(count, begin + chunk));
  });
}

} // namespace tk::runtime
