// tk::Event over a device's events. On the host an event is a moment: work there is done when the call that asks for it returns.
#include "runtime/device/GpuDevice.h"
#include "tk/device.h"
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <optional>

namespace tk {

using Clock = std::chrono::steady_clock;

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

  const Device place;
  runtime::GpuDevice *const gpu;
  std::mutex mutex;                        // guards what follows
  runtime::EventHandle handle = nullptr;   // made with the first record, in the context of that moment
  std::optional<Clock::time_point> moment; // on the host
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
    std::lock_guard lock(impl->mutex);
    impl->moment = Clock::now();
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
}

void Event::wait(const Stream &stream) const {
  if (runtime::EventHandle handle = impl->recorded()) {
    checkDevice(impl->place, stream, "waited for by");
    impl->gpu->waitForEvent(stream.handle(), handle);
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
    std::lock_guard lock(of.mutex);
    if (!of.moment)
      throw Error(ErrorKind::User, fmt::format(fmt::runtime(missing), which));
    return *of.moment;
  };
  Clock::time_point first = momentOf(*start.impl, "earlier"), last = momentOf(*impl, "later");
  return std::chrono::duration<double>(last - first).count();
}

} // namespace tk
