#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Launch.h"
#include "runtime/device/emulated/Transfers.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

Cluster::Cluster(Launch &launch, Statistics &statistics, uint64_t index)
    : launch(launch), statistics(statistics), order(launch.clusterBlocks * launch.warpsPerBlock + 1), transfers(std::make_unique<Transfers>()) {
  if (launch.spec.checks)
    history = std::make_unique<AccessHistory>(launch.clusterBlocks * launch.warpsPerBlock + 1);
  const std::array<uint32_t, 3> &grid = launch.clusterGrid, &shape = launch.clusterShape;
  id = {uint32_t(index % grid[0]), uint32_t(index / grid[0] % grid[1]), uint32_t(index / grid[0] / grid[1])};
  for (uint32_t rank = 0; rank < launch.clusterBlocks; ++rank) {
    std::array<uint32_t, 3> block = {id[0] * shape[0] + rank % shape[0], id[1] * shape[1] + rank / shape[0] % shape[1],
                                     id[2] * shape[2] + rank / shape[0] / shape[1]};
    blocks.push_back(std::make_unique<Block>(*this, rank, block));
  }
}

Cluster::~Cluster() = default;

Cluster::Result Cluster::run(uint64_t budget) {
  constexpr uint32_t slice = 512;
  constexpr uint32_t idleLimit = 2000;
  uint64_t spent = 0;
  for (;;) {
    uint64_t before = effects, globalBefore = globalEffects;
    bool onlyPolled = true, done = true, ranOut = false;
    pollsMemory = false;
    for (auto &block : blocks) {
      for (auto &warp : block->warps) {
        if (warp->isDone())
          continue;
        done = false;
        if (!warp->isReady())
          continue;
        uint64_t from = warp->executed;
        warp->run(slice);
        spent += warp->executed - from;
        onlyPolled &= warp->onlyPolled();
        ranOut |= warp->ranOut();
      }
    }
    if (done) {
      finishTransfers();
      return Result::Done;
    }
    if (launch.isCancelled())
      return Result::Running;
    // A block whose threads share what one of them polls meets at barriers meanwhile; that changes nothing for others, nor for itself.
    bool waitsForOthers = pollsMemory && globalEffects == globalBefore && !ranOut;
    if ((onlyPolled && effects == before) || waitsForOthers) {
      if (applyTransfers()) {
        idleRounds = 0;
        continue;
      }
      if (!pollsMemory && (!anyReady() || ++idleRounds > idleLimit)) {
        Finding finding;
        finding.kind = Finding::Kind::Deadlock;
        finding.cause = Finding::Cause::Hang;
        finding.message = describeWaiting();
        finding.function = launch.kernel.name;
        std::copy(blocks[0]->id.begin(), blocks[0]->id.end(), finding.block);
        throw LaunchFault{std::move(finding)};
      }
      if (pollsMemory)
        return Result::Waiting;
    } else {
      idleRounds = 0;
    }
    if (spent > budget)
      return Result::Running;
  }
}

bool Cluster::anyReady() const {
  for (auto &block : blocks)
    for (auto &warp : block->warps)
      if (warp->isReady())
        return true;
  return false;
}

void Cluster::threadsExited() {
  if (arrivedThreads)
    completeBarrier();
}

uint32_t Cluster::liveThreads() const {
  uint32_t live = 0;
  for (auto &block : blocks)
    live += block->liveThreads;
  return live;
}

void Cluster::arriveBarrier(Warp &warp, uint32_t mask, bool releases) {
  arrivedThreads += uint32_t(std::popcount(mask));
  if (releases)
    order.release(warp.clockId, arrivedClock);
  ++effects;
  completeBarrier();
}

void Cluster::completeBarrier() {
  if (!arrivedThreads || arrivedThreads < liveThreads())
    return;
  arrivedThreads = 0;
  ++phase;
  completeClock = std::move(arrivedClock);
  arrivedClock = Clock{};
  for (auto &block : blocks)
    for (auto &warp : block->warps)
      warp->wake(Group::State::ClusterBarrier, 0);
}

std::string Cluster::describeWaiting() const {
  std::string text = "nothing can go on:";
  int lines = 0;
  for (auto &block : blocks) {
    for (auto &warp : block->warps)
      for (const Group &group : warp->groups) {
        if (++lines > 40)
          break;
        const std::vector<Instr> &code = group.frame->function->code;
        auto lineAt = [&](uint32_t pc) { return pc < code.size() ? code[pc].line : 0; };
        text += fmt::format("\n  block ({}, {}, {}) warp {} lanes {:08x}: ", block->id[0], block->id[1], block->id[2], warp->index, group.mask);
        switch (group.state) {
        case Group::State::Ready: text += fmt::format("polls at line {}", lineAt(group.pc)); break;
        case Group::State::Converge: text += fmt::format("wait for other lanes of the warp at line {}", lineAt(group.pc)); break;
        case Group::State::Barrier: text += fmt::format("wait at barrier {}, line {}", group.barrier, lineAt(group.pc - 1)); break;
        case Group::State::Warpgroup: text += fmt::format("wait for wgmma that other warps of the warpgroup have not begun, line {}", lineAt(group.pc)); break;
        case Group::State::Registers: text += fmt::format("wait for registers that other warps have not given back, line {}", lineAt(group.pc)); break;
        case Group::State::ClusterBarrier: text += fmt::format("wait at the cluster's barrier, line {}", lineAt(group.pc - 1)); break;
        }
      }
    for (size_t i = 0; i < block->barriers.size(); ++i)
      if (const NamedBarrier &barrier = block->barriers[i]; barrier.arrived)
        text += fmt::format("\n  block ({}, {}, {}) barrier {}: {} of {} threads have arrived, the first at line {}", block->id[0], block->id[1], block->id[2],
                            i, barrier.arrived, barrier.counted ? barrier.expected : block->liveThreads, barrier.line);
  }
  for (auto &block : blocks)
    for (auto &[offset, barrier] : block->async->mbarriers)
      text += fmt::format("\n  block ({}, {}, {}) mbarrier at byte {} (line {}): phase {}, {} of {} arrivals and {} bytes missing", block->id[0], block->id[1],
                          block->id[2], offset - sharedBase, barrier.line, barrier.phase, barrier.pending, barrier.expected, barrier.transactions);
  if (arrivedThreads)
    text += fmt::format("\n  the cluster's barrier: {} of {} threads have arrived", arrivedThreads, liveThreads());
  return text;
}

} // namespace tk::emulated
