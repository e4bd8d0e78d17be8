// Who has waited for whom: vector clocks over the warps of a cluster, and for the two proxies.
//
// A warp's clock advances with every release (a barrier it arrives at, a fence, an atomic). `seen[w]` is how much of warp w's past a warp has waited for. An
// access is remembered with the clock of its warp; another warp may touch the bytes when it has seen that clock. `fenced[w]` is the part of w's past that lies
// before a proxy fence on the path from it (PTX ISA 8.9.5, proxy-preserved base causality order).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tk::emulated {

struct Clock {
  std::vector<uint32_t> seen, fenced;
  void join(const Clock &other) {
    if (seen.size() < other.seen.size()) {
      seen.resize(other.seen.size());
      fenced.resize(other.seen.size());
    }
    for (size_t i = 0; i < other.seen.size(); ++i) {
      seen[i] = std::max(seen[i], other.seen[i]);
      fenced[i] = std::max(fenced[i], other.fenced[i]);
    }
  }
  bool empty() const { return seen.empty(); }
  void clear() {
    seen.clear();
    fenced.clear();
  }
};

class Order {
public:
  /// `actors`: the warps of the cluster, and one for all asynchronous transfers.
  explicit Order(uint32_t actors) : clocks(actors) {
    for (uint32_t i = 0; i < actors; ++i) {
      clocks[i].seen.resize(actors);
      clocks[i].fenced.resize(actors);
      clocks[i].seen[i] = 1;
    }
  }
  uint32_t now(uint32_t actor) const { return clocks[actor].seen[actor]; }
  bool hasSeen(uint32_t actor, uint32_t other, uint32_t clock) const { return clocks[actor].seen[other] >= clock; }
  bool hasFenced(uint32_t actor, uint32_t other, uint32_t clock) const { return clocks[actor].fenced[other] >= clock; }
  void release(uint32_t actor, Clock &into) {
    into.join(clocks[actor]);
    tick(actor);
  }
  void acquire(uint32_t actor, const Clock &from) {
    uint32_t own = now(actor);
    clocks[actor].join(from);
    clocks[actor].seen[actor] = own;
  }
  void tick(uint32_t actor) { ++clocks[actor].seen[actor]; }
  void proxyFence(uint32_t actor) {
    Clock &clock = clocks[actor];
    for (size_t i = 0; i < clock.seen.size(); ++i)
      clock.fenced[i] = std::max(clock.fenced[i], clock.seen[i]);
    tick(actor);
  }
  uint32_t asyncActor() const { return uint32_t(clocks.size()) - 1; }
  /// One clock for all atomic and fenced traffic through memory: coarse, so that it never invents a race.
  Clock memory;

private:
  std::vector<Clock> clocks;
};

} // namespace tk::emulated
