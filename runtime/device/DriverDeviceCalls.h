// The longer functions of DriverDevice. Included where a vendor's device is instantiated.
#pragma once
#include "runtime/StackArray.h"
#include "runtime/device/DriverDevice.h"
#include "tk/descriptor.h"

namespace tk::runtime {

/// Tells what failed, in which kernel, and after what. `what` is empty for an error that a synchronisation reports.
template <typename Api> void DriverDevice<Api>::fail(Result result, const std::string &what, StreamHandle stream) {
  std::string reason = Api::describe(driver, result), suspects = Api::isSticky(result) ? log.suspects(stream) : "";
  if (Api::isSticky(result)) {
    std::lock_guard lock(mutex);
    if (lostTo.empty())
      lostTo = suspects.empty() ? "an earlier failure" : "the failure of " + suspects;
    else
      reason += fmt::format("; the device's context was lost through {}", lostTo);
  }
  if (!what.empty() || suspects.empty())
    throw Error(ErrorKind::Device, fmt::format("{}: {}", what.empty() ? "the device failed" : what, reason));
  throw Error(ErrorKind::Device, fmt::format("{} failed: {}", suspects, reason));
}

/// A number for the current context that no later one gets, where the driver has such numbers. 0: there is none.
template <typename Api> uint64_t DriverDevice<Api>::currentContext(Context *handle) {
  Context current = nullptr;
  check(driver.ctxGetCurrent(&current), "the current context is unknown");
  if (handle)
    *handle = current;
  unsigned long long id = 0;
  if (current && driver.ctxGetId && driver.ctxGetId(current, &id) == Api::success)
    return id;
  return reinterpret_cast<uintptr_t>(current);
}

template <typename Api> bool DriverDevice<Api>::capturing(StreamHandle stream) {
  typename Api::CaptureStatus status = {};
  Result result = driver.streamIsCapturing(static_cast<Stream>(stream), &status);
  if (Api::isCaptureConflict(result)) // the default stream, while another one is being captured
    return true;
  check(result, "the stream can't be used");
  return status != typename Api::CaptureStatus{};
}

template <typename Api> std::shared_ptr<GpuKernel> DriverDevice<Api>::makeKernel(const GpuImage &image, KernelAbi abi) {
  if (abi.threads == 0)
    throw Error(ErrorKind::Internal, fmt::format("`{}` is not code for a GPU", abi.entry));
  if (abi.threads > facts.maxThreads)
    throw Error(ErrorKind::User,
                fmt::format("`{}` needs {} threads a program, but {} has {} at most: lower num_warps", abi.entry, abi.threads, facts.name, facts.maxThreads));
  if (abi.sharedBytes > facts.maxSharedBytes)
    throw Error(ErrorKind::User, fmt::format("`{}` needs {} bytes of shared memory a program, but {} has {}: smaller tiles or a lower num_stages need less",
                                             abi.entry, abi.sharedBytes, facts.name, facts.maxSharedBytes));
  if (image.kind == GpuImage::Kind::Binary)
    return std::make_shared<Kernel>(*this, image, std::move(abi));
  Scope scope(*this);
  GpuImage loadable = Api::assemble(driver, image, facts, abi);
  return std::make_shared<Kernel>(*this, std::move(loadable), std::move(abi));
}

/// The code in the caller's current context, when there is one and it was loaded there before. Code is only ever loaded into contexts of this device, so that
/// the context's number says that as well.
template <typename Api> auto DriverDevice<Api>::loadedHere(const Kernel &kernel) -> const Loaded * {
  Context current = nullptr; // asked for first: a driver's checkers report a question for the number of none as an error
  unsigned long long id = 0;
  if (!driver.ctxGetId || driver.ctxGetCurrent(&current) != Api::success || !current)
    return nullptr;
  return driver.ctxGetId(current, &id) == Api::success ? kernel.find(id) : nullptr;
}

/// The code in the current context.
template <typename Api> auto DriverDevice<Api>::load(Kernel &kernel, StreamHandle stream) -> const Loaded & {
  Context handle = nullptr;
  uint64_t context = currentContext(&handle);
  if (const Loaded *found = kernel.find(context))
    return *found;
  std::lock_guard lock(kernel.loading);
  if (const Loaded *found = kernel.find(context)) // another thread was faster
    return *found;
  auto refuse = [&] {
    throw Error(ErrorKind::User, fmt::format("kernel {} is launched on a stream that is being captured, but its code is not loaded yet, and loading is not "
                                             "possible then: call Kernel::prepare() with the "
                                             "same arguments before the capture",
                                             *kernel.label()));
  };
  if (capturing(stream))
    refuse();
  const KernelAbi &abi = kernel.abi();
  Loaded loaded{context, handle, {}, {}};
  Result result = Api::loadModule(driver, &loaded.module, kernel.image);
  if (Api::isCaptureConflict(result))
    refuse();
  check(result, "the code of kernel {} can't be loaded on {}", *kernel.label(), facts.name);
  result = driver.moduleGetFunction(&loaded.function, loaded.module, abi.entry.c_str());
  if (result == Api::success)
    result = Api::allowSharedBytes(driver, loaded.function, abi);
  if (result != Api::success)
    driver.moduleUnload(loaded.module);
  check(result, "the code of kernel {} can't be used on {}", *kernel.label(), facts.name);
  auto *node = new typename Kernel::Node{loaded, kernel.nodes.load(std::memory_order_relaxed)};
  kernel.nodes.store(node, std::memory_order_release);
  return node->loaded;
}

template <typename Api> auto DriverDevice<Api>::takeBuffer(uint64_t context) -> Buffer {
  auto it = std::find_if(freeBuffers.begin(), freeBuffers.end(), [&](const Buffer &buffer) { return buffer.context == context; });
  Buffer buffer{context, nullptr, 0};
  if (it != freeBuffers.end()) {
    buffer = *it;
    freeBuffers.erase(it);
  } else {
    check(driver.memHostAlloc(&buffer.host, printBufferBytes(printCapacity), Api::hostAllocMapped), "a print buffer can't be allocated");
    check(driver.memHostGetDevicePointer(&buffer.device, buffer.host, 0), "a print buffer can't be seen by the device");
  }
  clearPrintBuffer(buffer.host, printCapacity);
  return buffer;
}

template <typename Api> size_t DriverDevice<Api>::waitingPrints(StreamHandle stream) {
  std::lock_guard lock(mutex);
  return static_cast<size_t>(std::count_if(pendingPrints.begin(), pendingPrints.end(), [&](const PendingPrint &print) { return print.stream == stream; }));
}

/// One for each stream: launches there follow one another. Grows when needed, once the stream is idle.
template <typename Api> typename Api::DevicePointer DriverDevice<Api>::scratch(uint64_t context, StreamHandle stream, size_t bytes) {
  std::lock_guard lock(mutex);
  Scratch &found = scratches[{context, stream}];
  if (found.bytes >= bytes)
    return found.address;
  if (found.address) {
    check(driver.streamSynchronize(static_cast<Stream>(stream)), "scratch memory can't grow");
    check(driver.memFree(std::exchange(found.address, 0)), "scratch memory can't grow");
  }
  found.bytes = 0;
  check(driver.memAlloc(&found.address, bytes), "{} bytes of scratch memory can't be allocated on {}", bytes, facts.name);
  found.bytes = bytes;
  return found.address;
}

template <typename Api> void DriverDevice<Api>::launch(GpuKernel &base, const uint64_t *slots, std::array<int64_t, 3> grid, StreamHandle stream) {
  auto &kernel = static_cast<Kernel &>(base);
  const KernelAbi &abi = kernel.abi();
  constexpr std::array<int64_t, 3> most = {INT32_MAX, UINT16_MAX, UINT16_MAX};
  for (unsigned axis = 0; axis < 3; ++axis)
    if (grid[axis] < 0 || grid[axis] > most[axis])
      throw Error(ErrorKind::User,
                  fmt::format("a grid of ({}, {}, {}) can't be launched: extents lie between 0 and 2^31 - 1, 65535, 65535", grid[0], grid[1], grid[2]));
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;
  if (grid[0] % abi.clusterSize != 0)
    throw Error(ErrorKind::User, fmt::format("a grid of ({}, {}, {}) can't be launched: `{}` runs clusters of {} programs along x", grid[0], grid[1], grid[2],
                                             abi.entry, abi.clusterSize));
  std::optional<Scope> scope;
  const Loaded *here = loadedHere(kernel);
  if (!here) {
    scope.emplace(*this);
    here = &load(kernel, stream);
  }
  const Loaded &loaded = *here;

  StackArray<void *, 64> parameters(abi.slots.size());
  StackArray<uint64_t, 2> hidden(kernel.hidden);
  PendingPrint print;
  StackArray<typename Api::TensorMap, 4> maps(kernel.maps);
  size_t visible = 0, hiddenCount = 0, count = 0, mapCount = 0;
  if (kernel.hidden == 0 && kernel.maps == 0) // as in most kernels: then nothing more is asked of a slot
    for (; count < abi.slots.size(); ++count)
      parameters[count] = const_cast<uint64_t *>(&slots[count]);
  for (size_t i = count; i < abi.slots.size(); ++i) {
    const ArgumentSlot &slot = abi.slots[i];
    if (slot.kind == ArgumentSlot::Kind::TensorMap) {
      typename Api::TensorMap &map = maps[mapCount++];
      Api::tensorMap(driver, *reinterpret_cast<const TensorDescriptor *>(slots[visible++]), slot, map);
      parameters[count++] = &map;
      continue;
    }
    if (!slot.isHidden()) {
      parameters[count++] = const_cast<uint64_t *>(&slots[visible++]); // little-endian: a narrow value lies at the start of its bits
      continue;
    }
    uint64_t &value = hidden[hiddenCount++];
    parameters[count++] = &value;
    if (slot.kind == ArgumentSlot::Kind::Scratch) {
      value = scratch(loaded.context, stream, abi.scratchBytes * static_cast<uint64_t>(grid[0] * grid[1] * grid[2]));
    } else {
      if (capturing(stream))
        throw Error(ErrorKind::User, fmt::format("kernel {} prints or asserts, which can't be captured into a graph", *kernel.label()));
      if (waitingPrints(stream) >= mostPendingPrints)
        synchronize(stream);
      std::lock_guard lock(mutex);
      print = {takeBuffer(loaded.context), stream, kernel.sites};
      value = print.buffer.device;
    }
  }
  Result result = Api::launch(driver, loaded.function, abi, grid, static_cast<Stream>(stream), parameters.data());
  if (kernel.prints) {
    std::lock_guard lock(mutex);
    if (result == Api::success)
      pendingPrints.push_back(std::move(print));
    else
      freeBuffers.push_back(print.buffer);
  }
  check(result, "kernel {} can't be launched", *kernel.label());
  log.launched(kernel.label(), stream);
}

template <typename Api> void DriverDevice<Api>::synchronize(StreamHandle stream) {
  Scope scope(*this);
  Result result = driver.streamSynchronize(static_cast<Stream>(stream));
  std::vector<PendingPrint> prints;
  {
    std::lock_guard lock(mutex);
    std::vector<PendingPrint> others;
    for (PendingPrint &print : pendingPrints)
      (print.stream == stream ? prints : others).push_back(std::move(print));
    pendingPrints = std::move(others);
  }
  // A failed assertion ends in a trap, which the driver reports too; the assertion says more.
  std::exception_ptr failure;
  for (PendingPrint &print : prints) {
    try {
      readPrintBuffer(print.buffer.host, *print.sites, printer);
    } catch (...) {
      if (!failure)
        failure = std::current_exception();
    }
    if (result == Api::success) { // else the context is lost, and what belongs to it
      std::lock_guard lock(mutex);
      freeBuffers.push_back(print.buffer);
    }
  }
  if (failure) {
    if (Api::isSticky(result)) {
      std::lock_guard lock(mutex);
      lostTo = "a failed device assertion";
    }
    std::rethrow_exception(failure);
  }
  if (result != Api::success)
    fail(result, "", stream);
  log.synchronized(stream);
}

template <typename Api> std::unique_ptr<GpuGraph> DriverDevice<Api>::capture(StreamHandle stream, const std::function<void()> &work) {
  if (!driver.streamBeginCapture || !driver.streamEndCapture || !driver.graphInstantiate || !driver.graphLaunch || !driver.graphExecDestroy ||
      !driver.graphDestroy)
    throw Error(ErrorKind::Device, fmt::format("the driver of {} can't record graphs", facts.name));
  Scope scope(*this);
  auto recorded = std::make_unique<Graph>(*this);
  check(driver.streamBeginCapture(static_cast<Stream>(stream), Api::captureMode), "the stream can't be captured");
  try {
    work();
  } catch (...) {
    driver.streamEndCapture(static_cast<Stream>(stream), &recorded->graph);
    throw;
  }
  check(driver.streamEndCapture(static_cast<Stream>(stream), &recorded->graph), "the stream's work can't be recorded");
  check(driver.graphInstantiate(&recorded->executable, recorded->graph, 0), "the recorded work can't be made ready");
  return recorded;
}

template <typename Api> double DriverDevice<Api>::secondsBetween(EventHandle start, EventHandle stop) {
  Scope scope(*this);
  for (EventHandle event : {start, stop})
    if (Result result = driver.eventSynchronize(static_cast<Event>(event)); result != Api::success)
      fail(result, "", nullptr);
  float milliseconds = 0;
  check(driver.eventElapsedTime(&milliseconds, static_cast<Event>(start), static_cast<Event>(stop)), "time can't be taken");
  return milliseconds / 1000;
}

template <typename Api> double DriverDevice<Api>::measure(StreamHandle stream, const std::function<void()> &work) {
  Scope scope(*this);
  auto destroy = [this](EventHandle event) { driver.eventDestroy(static_cast<Event>(event)); };
  using Owned = std::unique_ptr<void, decltype(destroy)>;
  Owned start(createEvent(), destroy), stop(createEvent(), destroy);
  recordEvent(start.get(), stream);
  work();
  recordEvent(stop.get(), stream);
  if (Result result = driver.eventSynchronize(static_cast<Event>(stop.get())); result != Api::success)
    fail(result, "", stream);
  return secondsBetween(start.get(), stop.get());
}

} // namespace tk::runtime
