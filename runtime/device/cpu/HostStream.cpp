// See HostStream.h.
#include "runtime/device/cpu/HostStream.h"
#include <unistd.h>
#include <utility>

namespace tk::runtime {

HostStream::HostStream() : process(getpid()), thread([this] { run(); }) {}

bool HostStream::isForked() const { return getpid() != process; }

HostStream::~HostStream() {
  if (isForked()) {
    new std::thread(std::move(thread)); // a handle of the parent's, which can't be joined
    return;
  }
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void HostStream::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stopping || !queue.empty(); });
    if (queue.empty())
      return;
    std::function<void()> work = std::move(queue.front());
    queue.pop_front();
    bool dropped = failure != nullptr;
    busy = true;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      if (!dropped)
        work();
      work = nullptr; // what it holds goes here, not under the lock
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    busy = false;
    if (thrown && !failure)
      failure = thrown;
    if (queue.empty())
      idle.notify_all();
  }
}

void HostStream::enqueue(std::function<void()> work) {
  if (isForked())
    return work();
  std::lock_guard lock(mutex);
  queue.push_back(std::move(work));
  changed.notify_one();
}

void HostStream::synchronize() {
  if (isForked())
    return;
  std::unique_lock lock(mutex);
  idle.wait(lock, [&] { return queue.empty() && !busy; });
  if (std::exception_ptr thrown = std::exchange(failure, nullptr))
    std::rethrow_exception(thrown);
}

} // namespace tk::runtime
