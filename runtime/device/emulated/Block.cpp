#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/Launch.h"
#include "runtime/device/emulated/Transfers.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

Block::Block(Cluster &cluster, uint32_t rank, const std::array<uint32_t, 3> &id)
    : cluster(cluster), launch(cluster.launch), rank(rank), id(id),
      shared(launch.sharedBytes, launch.spec.checks && launch.clusterBlocks * launch.warpsPerBlock < 500), async(std::make_unique<AsyncState>()) {
  threads = liveThreads = launch.threadsPerBlock;
  for (uint32_t w = 0; w < launch.warpsPerBlock; ++w) {
    uint32_t lanes = std::min(32u, threads - w * 32);
    warps.push_back(std::make_unique<Warp>(*this, w, lanes == 32 ? ~0u : (1u << lanes) - 1));
    warps.back()->registerCount = launch.kernel.maxRegisters ? launch.kernel.maxRegisters : std::min(65536 / (launch.warpsPerBlock * 32) / 8 * 8, 255u);
  }
}

Block::~Block() = default;

Order &Block::order() { return cluster.order; }

bool Block::arrive(Warp &warp, const Instr &i, uint32_t mask, uint32_t number, uint32_t expected, bool waits, bool aligned, uint32_t votes) {
  if (number >= barriers.size())
    warp.fault(i, mask, fmt::format("barrier {} does not exist; there are 16", number));
  if (expected % 32 || expected > ((threads + 31) / 32) * 32)
    warp.fault(i, mask, fmt::format("a barrier for {} threads: that must be a multiple of 32 of at most the block's {}", expected, threads));
  NamedBarrier &barrier = barriers[number];
  bool counted = expected != 0;
  if (barrier.arrived == 0) {
    barrier.expected = expected;
    barrier.counted = counted;
    barrier.line = i.line;
    barrier.votes = barrier.trueVotes = 0;
  } else if (barrier.counted != counted || barrier.expected != expected) {
    warp.fault(i, mask,
               fmt::format("barrier {} is used for {} threads here and for {} at line {}", number, counted ? std::to_string(expected) : "all",
                           barrier.counted ? std::to_string(barrier.expected) : "all", barrier.line));
  }
  // A barrier that is aligned counts whole warps.
  barrier.arrived += counted && aligned ? 32 : uint32_t(std::popcount(mask));
  barrier.votes += uint32_t(std::popcount(mask));
  barrier.trueVotes += uint32_t(std::popcount(votes));
  order().release(warp.clockId, barrier.clock);
  ++cluster.effects;
  ++warp.statistics.barriers;
  if (waits)
    barrier.waiters.push_back({&warp, &i, mask, warp.at<uint8_t>(0)});
  if (counted && barrier.arrived > barrier.expected)
    warp.fault(i, mask, fmt::format("{} threads come to barrier {}, which is for {}", barrier.arrived, number, barrier.expected));
  bool full = barrier.arrived >= (counted ? barrier.expected : liveThreads);
  completeIfFull(number);
  return full;
}

void Block::completeIfFull(uint32_t number) {
  NamedBarrier &barrier = barriers[number];
  if (!barrier.arrived || barrier.arrived < (barrier.counted ? barrier.expected : liveThreads))
    return;
  for (const NamedBarrier::Waiter &waiter : barrier.waiters) {
    order().acquire(waiter.warp->clockId, barrier.clock);
    // bar.red: what the vote came to.
    if (waiter.instr->d >= 0) {
      uint32_t *result = reinterpret_cast<uint32_t *>(waiter.registers + waiter.instr->d);
      if (waiter.instr->imm == 0) {
        forEachLane(waiter.mask, [&](int lane) { result[lane] = barrier.trueVotes; });
      } else {
        bool outcome = waiter.instr->imm == 1 ? barrier.trueVotes == barrier.votes : barrier.trueVotes > 0;
        *result = (*result & ~waiter.mask) | (outcome ? waiter.mask : 0);
      }
    }
  }
  std::vector<NamedBarrier::Waiter> waiters = std::move(barrier.waiters);
  uint32_t waiting = 0;
  for (const NamedBarrier::Waiter &waiter : waiters)
    waiting += uint32_t(std::popcount(waiter.mask));
  if (cluster.history && waiting == threads && cluster.blocks.size() == 1)
    cluster.history->allMet(order(), waiters.front().warp->clockId);
  barrier = NamedBarrier{};
  for (const NamedBarrier::Waiter &waiter : waiters)
    waiter.warp->wake(Group::State::Barrier, uint8_t(number));
}

void Block::threadsExited(Warp &warp, uint32_t count) {
  liveThreads -= count;
  if (!liveThreads)
    checkTransfersAtExit(warp);
  for (uint32_t i = 0; i < barriers.size(); ++i)
    completeIfFull(i);
  cluster.threadsExited();
}

} // namespace tk::emulated
