#include "runtime/device/emulated/Launch.h"
#include "runtime/device/emulated/Block.h"
#include <chrono>
#include <fmt/format.h>
#include <list>
#include <thread>

namespace tk::emulated {

using Time = std::chrono::steady_clock;

Launch::Launch(EmulatedDevice &device, const Module &module, const Function &kernel, const LaunchSpec &spec)
    : device(device), module(module), kernel(kernel), spec(spec) {
  static std::atomic<uint64_t> launches = 0;
  gridId = ++launches;
  threadsPerBlock = spec.block[0] * spec.block[1] * spec.block[2];
  warpsPerBlock = (threadsPerBlock + 31) / 32;
  clusterShape = spec.cluster;
  for (int i = 0; i < 3; ++i)
    if (!clusterShape[i])
      clusterShape[i] = std::max(kernel.requiredCluster[i], 1u);
  clusterBlocks = clusterShape[0] * clusterShape[1] * clusterShape[2];
  sharedBytes = kernel.dynamicBase - sharedBase + spec.dynamicShared;
}

/// What is wrong with the launch itself; what a driver refuses.
std::string Launch::problem() const {
  if (!kernel.isEntry)
    return fmt::format("`{}` is no kernel", kernel.name);
  uint64_t threads = uint64_t(spec.block[0]) * spec.block[1] * spec.block[2];
  if (threads == 0 || threads > 1024)
    return fmt::format("a block of {} threads: there must be 1 to 1024", threads);
  if (!spec.grid[0] || !spec.grid[1] || !spec.grid[2] || spec.grid[0] > 0x7FFFFFFF || spec.grid[1] > 65535 || spec.grid[2] > 65535)
    return fmt::format("a grid of {} x {} x {} blocks", spec.grid[0], spec.grid[1], spec.grid[2]);
  for (int i = 0; i < 3; ++i) {
    if (kernel.requiredThreads[i] && kernel.requiredThreads[i] != spec.block[i])
      return fmt::format("the kernel requires {} threads in dimension {}, and is launched with {}", kernel.requiredThreads[i], i, spec.block[i]);
    if (kernel.requiredCluster[i] && kernel.requiredCluster[i] != clusterShape[i])
      return fmt::format("the kernel requires clusters of {} blocks in dimension {}, and is launched with {}", kernel.requiredCluster[i], i, clusterShape[i]);
    if (spec.grid[i] % clusterShape[i])
      return fmt::format("the grid's {} blocks in dimension {} are no multiple of the cluster's {}", spec.grid[i], i, clusterShape[i]);
  }
  if (kernel.maxThreads[0] && threads > uint64_t(kernel.maxThreads[0]) * kernel.maxThreads[1] * kernel.maxThreads[2])
    return fmt::format("a block of {} threads is more than the kernel's .maxntid", threads);
  if (clusterBlocks > 16)
    return fmt::format("a cluster of {} blocks: 16 are the most", clusterBlocks);
  if (clusterBlocks > 1 && device.computeCapability() < 90)
    return "clusters need compute capability 9.0";
  if (sharedBytes > device.maxSharedBytes())
    return fmt::format("{} bytes of shared memory: a block can have {}", sharedBytes, device.maxSharedBytes());
  if (spec.parameters.size() < kernel.parameterBytes)
    return fmt::format("{} bytes of parameters are given, the kernel takes {}", spec.parameters.size(), kernel.parameterBytes);
  return {};
}

LaunchResult Launch::run() {
  Time::time_point begin = Time::now();
  if (std::string text = problem(); !text.empty()) {
    Finding finding;
    finding.message = text;
    finding.cause = Finding::Cause::Launch;
    finding.function = kernel.name;
    result.findings.push_back(std::move(finding));
    result.failed = true;
    return std::move(result);
  }
  for (int i = 0; i < 3; ++i)
    clusterGrid[i] = spec.grid[i] / clusterShape[i];
  clusterCount = uint64_t(clusterGrid[0]) * clusterGrid[1] * clusterGrid[2];
  // Parameters lie where a tensor map may be read from: aligned to 64 bytes.
  std::vector<uint8_t> storage(kernel.parameterBytes + 64);
  parameterBase = (reinterpret_cast<uint64_t>(storage.data()) + 63) / 64 * 64;
  std::copy_n(spec.parameters.data(), kernel.parameterBytes, reinterpret_cast<uint8_t *>(parameterBase));
  device.memory().add(parameterBase, std::max(kernel.parameterBytes, 1u), true, "the kernel's parameters");

  size_t wanted = spec.threads > 0 ? size_t(spec.threads) : std::max(1u, std::thread::hardware_concurrency());
  wanted = size_t(std::min<uint64_t>(wanted, clusterCount));
  std::vector<std::thread> workers;
  for (size_t i = 1; i < wanted; ++i)
    workers.emplace_back([this] { work(); });
  work();
  for (std::thread &worker : workers)
    worker.join();

  device.memory().remove(parameterBase);
  std::sort(result.findings.begin(), result.findings.end(), [](const Finding &a, const Finding &b) {
    auto rank = [](const Finding &f) { return f.kind == Finding::Kind::Fault || f.kind == Finding::Kind::Deadlock ? 0 : 1; };
    return std::tuple(rank(a), a.ptxLine) < std::tuple(rank(b), b.ptxLine);
  });
  result.seconds = std::chrono::duration<double>(Time::now() - begin).count();
  return std::move(result);
}

void Launch::work() {
  Statistics statistics;
  try {
    runResident(statistics);
  } catch (LaunchFault &fault) {
    cancelled = true;
    std::lock_guard lock(mutex);
    if (!result.failed)
      result.findings.push_back(std::move(fault.finding));
    result.failed = true;
  }
  std::lock_guard lock(mutex);
  result.statistics += statistics;
}

// A thread keeps the clusters it has begun. One that only waits for memory lets the next one begin, so that a block may wait for any other of the grid.
void Launch::runResident(Statistics &statistics) {
  constexpr uint64_t budget = 1 << 18;
  std::list<Cluster> resident;
  uint64_t seenActivity = 0;
  Time::time_point lastProgress = Time::now();
  while (!isCancelled()) {
    bool allWait = true, any = false;
    for (auto at = resident.begin(); at != resident.end() && !isCancelled();) {
      uint64_t effectsBefore = at->globalEffects;
      Cluster::Result outcome = at->run(budget);
      any = true;
      if (outcome != Cluster::Result::Waiting || at->globalEffects != effectsBefore)
        activity.fetch_add(1, std::memory_order_relaxed);
      if (outcome == Cluster::Result::Done) {
        ++finished;
        at = resident.erase(at);
        allWait = false;
        continue;
      }
      allWait &= outcome == Cluster::Result::Waiting;
      ++at;
    }
    if (spec.instructionLimit && totalWarpInstructions(statistics) > spec.instructionLimit) {
      Finding finding;
      finding.message = fmt::format("more than {} instructions of warps", spec.instructionLimit);
      finding.function = kernel.name;
      throw LaunchFault{std::move(finding)};
    }
    if (allWait && next.load() < clusterCount) {
      if (uint64_t index = next++; index < clusterCount) {
        resident.emplace_back(*this, statistics, index);
        continue;
      }
    }
    if (resident.empty()) {
      if (next.load() >= clusterCount)
        return;
      continue;
    }
    if (!any || !allWait)
      continue;
    // All that is here waits for other threads' clusters.
    if (uint64_t now = activity.load(std::memory_order_relaxed); now != seenActivity) {
      seenActivity = now;
      lastProgress = Time::now();
    } else if (std::chrono::duration<double>(Time::now() - lastProgress).count() > spec.stuckSeconds) {
      Finding finding;
      finding.kind = Finding::Kind::Deadlock;
      finding.cause = Finding::Cause::Hang;
      finding.function = kernel.name;
      finding.message = fmt::format("no block has gone on for {} seconds; ", spec.stuckSeconds) + resident.front().describeWaiting();
      throw LaunchFault{std::move(finding)};
    }
    std::this_thread::yield();
  }
}

uint64_t Launch::totalWarpInstructions(const Statistics &statistics) {
  uint64_t total = 0;
  for (uint64_t count : statistics.warpInstructions)
    total += count;
  return total;
}

void Launch::add(Finding finding) {
  std::lock_guard lock(mutex);
  for (Finding &known : result.findings)
    if (known.kind == finding.kind && known.ptxLine == finding.ptxLine && known.function == finding.function) {
      ++known.times;
      return;
    }
  if (result.findings.size() < 200)
    result.findings.push_back(std::move(finding));
}

void Launch::locate(Finding &finding, const Function &function, const Instr &i) const {
  finding.function = function.name;
  finding.ptxLine = i.line;
  const SourcePlace &place = module.parsed->places[i.place];
  if (!place.line)
    return;
  finding.sourceLine = place.line;
  finding.sourceColumn = place.column;
  if (auto file = module.parsed->files.find(place.file); file != module.parsed->files.end())
    finding.file = file->second;
}

LaunchResult EmulatedDevice::launch(const Module &module, const Function &kernel, const LaunchSpec &spec) {
  return std::make_unique<Launch>(*this, module, kernel, spec)->run();
}

} // namespace tk::emulated
