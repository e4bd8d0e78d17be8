// tk::Event over a device's events. On the host an event is a moment that a stream's thread comes to; on the default stream, whose work is done when the call
// returns, it comes at once.
#include "runtime/device/GpuDevice.h"
#include "runtime/device/cpu/HostStream.h"
#include "tk/device.h"
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>

namespace tk {

using Clock = std::chrono::steady_clock;

namespace {
/// What a stream of the host has come to, or not yet.
class Moment {
public:
  void come() {
    std::lock_guard lock(mutex);
    if (!std::exchange(isThere, true))
      time = Clock::now();
    changed.notify_all();
  }
  Clock::time_point wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return isThere; });
    return time;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isThere = false;
  Clock::time_point time;
};

/// Work of a stream that comes to a moment: also when the stream drops it, after a failure, so that nobody waits for ever.
struct Coming {
  explicit Coming(std::shared_ptr<Moment> moment) : moment(std::move(moment)) {}
  ~Coming() { moment->come(); }
  std::shared_ptr<Moment> moment;
};

runtime::HostStream *queueOf(const Stream &stream) { return static_cast<runtime::HostStream *>(stream.handle()); }
} // namespace

struct Event::Impl {
  explicit Impl(const Device &device) : place(device), gpu(device.implementation()) {}
  ~Impl() {
    try {
      if (handle)
        gpu->destroyEvent(handle);
    } catch (const Error &) { // its context is gone
    }
  }
  /// Null when it was never recorded.
  runtime::EventHandle recorded() {
    std::lock_guard lock(mutex);
    return handle;
  }

  std::shared_ptr<Moment> latest() {
    std::lock_guard lock(mutex);
    return moment;
  }

  const Device place;
  runtime::GpuDevice *const gpu;
  std::mutex mutex;                        // guards what follows
  runtime::EventHandle handle = nullptr;   // made with the first record, in the context of that moment
  std::shared_ptr<Moment> moment;          // on the host: of the latest record
};

Event::Event(const Device &device) : impl(std::make_shared<Impl>(device)) {}

/// `verb` says what was tried: "recorded on".
static void checkDevice(const Device &event, const Stream &stream, const char *verb) {
  if (stream.device() != event)
    throw Error(ErrorKind::User, fmt::format("an event of {} can't be {} a stream of {}", event.name(), verb, stream.device().name()));
}

void Event::record(const Stream &stream) const {
  checkDevice(impl->place, stream, "recorded on");
  if (!impl->gpu) {
    auto moment = std::make_shared<Moment>();
    {
      std::lock_guard lock(impl->mutex);
      impl->moment = moment;
    }
    auto coming = std::make_shared<Coming>(std::move(moment));
    if (runtime::HostStream *queue = queueOf(stream))
      queue->enqueue([coming = std::move(coming)] { coming->moment->come(); });
    return;
  }
  std::lock_guard lock(impl->mutex);
  if (!impl->handle)
    impl->handle = impl->gpu->createEvent();
  impl->gpu->recordEvent(impl->handle, stream.handle());
}

void Event::synchronize() const {
  if (runtime::EventHandle handle = impl->recorded())
    impl->gpu->synchronizeEvent(handle);
  else if (std::shared_ptr<Moment> moment = impl->latest())
    moment->wait();
}

void Event::wait(const Stream &stream) const {
  if (runtime::EventHandle handle = impl->recorded()) {
    checkDevice(impl->place, stream, "waited for by");
    impl->gpu->waitForEvent(stream.handle(), handle);
  } else if (std::shared_ptr<Moment> moment = impl->latest()) {
    checkDevice(impl->place, stream, "waited for by");
    if (runtime::HostStream *queue = queueOf(stream))
      queue->enqueue([moment = std::move(moment)] { moment->wait(); });
    else
      moment->wait();
  }
}

double Event::secondsSince(const Event &start) const {
  if (impl->place != start.impl->place)
    throw Error(ErrorKind::User, fmt::format("time can't be taken between events of {} and of {}", start.impl->place.name(), impl->place.name()));
  const char *missing = "time can't be taken between events: the {} one was never recorded";
  if (impl->gpu) {
    runtime::EventHandle first = start.impl->recorded(), last = impl->recorded();
    if (!first || !last)
      throw Error(ErrorKind::User, fmt::format(fmt::runtime(missing), first ? "later" : "earlier"));
    return impl->gpu->secondsBetween(first, last);
  }
  auto momentOf = [&](Impl &of, const char *which) {
    std::shared_ptr<Moment> moment = of.latest();
    if (!moment)
      throw Error(ErrorKind::User, fmt::format(fmt::runtime(missing), which));
    return moment->wait();
  };
  Clock::time_point first = momentOf(*start.impl, "earlier"), last = momentOf(*impl, "later");
  return std::chrono::duration<double>(last - first).count();
}

} // namespace tk
