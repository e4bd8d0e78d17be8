#include "runtime/device/emulated/Warp.h"
#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Launch.h"
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

Warp::Warp(Block &block, uint32_t index, uint32_t lanes)
    : block(block), launch(block.launch), statistics(block.cluster.statistics), index(index), initialLanes(lanes), alive(lanes),
      clockId(block.rank * launch.warpsPerBlock + index), storeTimes(launch.module.stores + 1) {
  async = std::make_unique<AsyncState>();
  frame = enter(launch.kernel, nullptr, lanes);
  groups.push_back({Group::State::Ready, 0, 0, lanes, frame});
  use(0);
}

Warp::~Warp() = default;

bool Warp::isReady() const {
  for (const Group &group : groups)
    if (group.state == Group::State::Ready)
      return true;
  return false;
}

void Warp::run(uint32_t budget) {
  polled = true;
  exhausted = false;
  size_t yields = 0;
  std::array<uint64_t, size_t(Class::Count)> &threadCounts = statistics.threadInstructions, &warpCounts = statistics.warpInstructions;
  while (select()) {
    const Instr *code = frame->function->code.data();
    uint32_t active = groups[current].mask;
    bool again = true;
    while (again) {
      if (pc >= limit)
        break;
      if (budget-- == 0) {
        polled = false;
        exhausted = true;
        rotate = true;
        groups[current].pc = pc;
        return;
      }
      const Instr &i = code[pc];
      uint32_t mask = active;
      if (i.guard >= 0) {
        uint32_t p = *reinterpret_cast<const uint32_t *>(registers + i.guard);
        mask &= i.guardNegated ? ~p : p;
      }
      ++executed;
      ++warpCounts[size_t(i.kind)];
      threadCounts[size_t(i.kind)] += uint32_t(std::popcount(mask));
      if (i.touches && mask && launch.spec.checks) [[unlikely]]
        touchRegisters(i);
      if (!i.control && !i.isCollective) [[likely]] {
        if (mask)
          i.run(*this, i, mask);
        else if (i.number)
          ++storeTimes[i.number];
        ++pc;
        continue;
      }
      if (!mask) {
        storeTimes[i.number] += i.number != 0;
        ++pc;
        continue;
      }
      Outcome outcome = i.isCollective ? collective(i, mask) : i.control(*this, i, mask);
      switch (outcome) {
      case Outcome::Next:
        ++pc;
        active = groups[current].mask;
        break;
      case Outcome::Jumped: again = false; break;
      case Outcome::Blocked:
        polled = false;
        again = false;
        break;
      case Outcome::Yield: {
        groups[current].pc = ++pc;
        size_t ready = 0;
        for (const Group &group : groups)
          ready += group.state == Group::State::Ready;
        if (++yields >= ready)
          return;
        rotate = true;
        again = false;
        break;
      }
      }
    }
    if (again) // stopped at the limit
      groups[current].pc = pc;
  }
}

// The next group to run; false when none can.
bool Warp::select() {
  if (groups.size() == 1 && groups[0].state == Group::State::Ready) [[likely]] {
    use(0);
    return true;
  }
  // Those that stand at the same place become one.
  for (size_t i = 0; i < groups.size(); ++i) {
    auto mergeable = [](const Group &group) { return group.state == Group::State::Ready || group.state == Group::State::Converge; };
    if (!mergeable(groups[i]))
      continue;
    for (size_t k = i + 1; k < groups.size();) {
      if (mergeable(groups[k]) && groups[k].pc == groups[i].pc && groups[k].frame == groups[i].frame) {
        groups[i].mask |= groups[k].mask;
        groups[i].state = Group::State::Ready;
        groups.erase(groups.begin() + ptrdiff_t(k));
      } else {
        ++k;
      }
    }
  }
  for (;;) {
    size_t best = groups.size();
    if (rotate) {
      rotate = false;
      for (size_t k = 1; k <= groups.size() && best == groups.size(); ++k)
        if (groups[(turn + k) % groups.size()].state == Group::State::Ready)
          best = (turn + k) % groups.size();
    } else {
      for (size_t k = 0; k < groups.size(); ++k) {
        if (groups[k].state != Group::State::Ready)
          continue;
        if (best == groups.size() || groups[k].frame->depth > groups[best].frame->depth ||
            (groups[k].frame->depth == groups[best].frame->depth && groups[k].pc < groups[best].pc))
          best = k;
      }
    }
    if (best < groups.size()) {
      turn = best;
      use(best);
      return true;
    }
    if (!releaseWarpBarrier())
      return false;
  }
}

void Warp::use(size_t group) {
  current = group;
  const Group &running = groups[group];
  pc = running.pc;
  frame = running.frame;
  registers = frame->registers;
  limit = ~0u;
  if (groups.size() > 1)
    for (const Group &other : groups)
      if (other.frame == frame && other.pc > pc && (other.state == Group::State::Ready || other.state == Group::State::Converge))
        limit = std::min(limit, other.pc);
}

// bar.warp.sync may be executed by the lanes at different places.
bool Warp::releaseWarpBarrier() {
  for (Group &group : groups) {
    if (group.state != Group::State::Converge)
      continue;
    const Instr &i = group.frame->function->code[group.pc];
    if (!(i.flags & warpBarrierFlag))
      continue;
    auto maskOf = [&](const Group &g, const Instr &at) { return reinterpret_cast<const uint32_t *>(g.frame->registers + at.e)[std::countr_zero(g.mask)]; };
    uint32_t wanted = maskOf(group, i) & alive, here = 0;
    auto partakes = [&](const Group &g) {
      if (g.state != Group::State::Converge)
        return false;
      const Instr &at = g.frame->function->code[g.pc];
      return (at.flags & warpBarrierFlag) && (maskOf(g, at) & alive) == wanted;
    };
    for (const Group &g : groups)
      if (partakes(g))
        here |= g.mask;
    if (wanted & ~here)
      continue;
    for (Group &g : groups)
      if (partakes(g)) {
        ++g.pc;
        g.state = Group::State::Ready;
      }
    block.order().tick(clockId);
    return true;
  }
  return false;
}

Outcome Warp::waitForLanes(const Instr &i, uint32_t mask) {
  splitOff(mask);
  groups[current].state = Group::State::Converge;
  groups[current].pc = pc;
  return Outcome::Blocked;
}

// Lanes that name each other in a membermask execute together; without a membermask all do.
Outcome Warp::collective(const Instr &i, uint32_t mask) {
  if (i.e < 0) {
    if (alive & ~mask)
      return waitForLanes(i, mask);
    if (i.control)
      return i.control(*this, i, mask);
    i.run(*this, i, mask);
    return Outcome::Next;
  }
  const uint32_t *members = at<uint32_t>(i.e);
  for (uint32_t rest = mask; rest;) {
    int first = std::countr_zero(rest);
    uint32_t wanted = members[first], same = 0;
    forEachLane(rest, [&](int lane) { same |= uint32_t(members[lane] == wanted) << lane; });
    if (same & ~wanted)
      fault(i, same & ~wanted, fmt::format("the membermask 0x{:08x} does not name the executing lane", wanted));
    if (wanted & alive & ~same)
      return waitForLanes(i, mask);
    rest &= ~same;
  }
  for (uint32_t rest = mask; rest;) {
    uint32_t wanted = members[std::countr_zero(rest)], same = 0;
    forEachLane(rest, [&](int lane) { same |= uint32_t(members[lane] == wanted) << lane; });
    if (i.run)
      i.run(*this, i, same);
    rest &= ~same;
  }
  return Outcome::Next;
}

// The running group keeps the lanes of the mask; its others go on behind the instruction.
void Warp::splitOff(uint32_t mask) {
  uint32_t others = groups[current].mask & ~mask;
  if (!others)
    return;
  Group rest = groups[current];
  rest.mask = others;
  rest.pc = pc + 1;
  groups[current].mask = mask;
  groups.push_back(rest);
}

Outcome Warp::blockAt(Group::State state, uint32_t mask, uint8_t barrier) {
  splitOff(mask);
  Group &group = groups[current];
  group.state = state;
  group.barrier = barrier;
  group.pc = pc + 1;
  return Outcome::Blocked;
}

void Warp::wake(Group::State state, uint8_t barrier) {
  for (Group &group : groups)
    if (group.state == state && group.barrier == barrier)
      group.state = Group::State::Ready;
}

Outcome Warp::branch(uint32_t taken, uint32_t target) {
  Group &group = groups[current];
  if (taken == group.mask) {
    if (groups.size() == 1) [[likely]] {
      pc = target - 1; // the loop adds one
      return Outcome::Next;
    }
    group.pc = target;
    return Outcome::Jumped;
  }
  ++statistics.divergentBranches;
  splitOff(taken);
  groups[current].pc = target;
  return Outcome::Jumped;
}

Outcome Warp::branchMany(const std::array<uint32_t, 32> &targets, uint32_t mask) {
  splitOff(mask);
  uint32_t rest = mask;
  bool first = true;
  while (rest) {
    uint32_t target = targets[size_t(std::countr_zero(rest))], same = 0;
    forEachLane(rest, [&](int lane) { same |= uint32_t(targets[size_t(lane)] == target) << lane; });
    rest &= ~same;
    if (first) {
      groups[current].mask = same;
      groups[current].pc = target;
      first = false;
    } else {
      Group other = groups[current];
      other.mask = same;
      other.pc = target;
      groups.push_back(other);
      ++statistics.divergentBranches;
    }
  }
  return Outcome::Jumped;
}

void Warp::keepOnly(uint32_t part, uint32_t mask) {
  splitOff(mask);
  if (part == mask)
    return;
  splitOff(part);
  groups.back().pc = pc;
}

void Warp::copyLocal(uint32_t from, uint32_t to, uint32_t bytes, uint32_t mask) {
  forEachLane(mask, [&](int lane) { std::memcpy(localMemory(lane) + to, localMemory(lane) + from, bytes); });
}

// The list of a call: offsets of the argument variables, then of the result variables, in the caller's local memory.
Outcome Warp::call(const Instr &i, const Function &callee, uint32_t mask) {
  splitOff(mask);
  Frame *caller = frame;
  if (caller->depth > 2000)
    fault(i, mask, "calls are nested too deeply");
  Frame *called = enter(callee, caller, mask);
  called->returnTo = pc + 1;
  called->call = &i;
  const int32_t *list = caller->function->lists.data() + i.list;
  for (size_t k = 0; k < callee.parameters.size(); ++k)
    copyLocal(caller->localBase + uint32_t(list[k]), called->localBase + callee.parameters[k].offset, callee.parameters[k].bytes, mask);
  groups[current].frame = called;
  groups[current].pc = 0;
  return Outcome::Jumped;
}

Outcome Warp::returnFrom(uint32_t mask) {
  if (!frame->caller)
    return exitLanes(mask);
  splitOff(mask);
  Frame *called = frame, *caller = frame->caller;
  const int32_t *list = caller->function->lists.data() + called->call->list + called->function->parameters.size();
  for (size_t k = 0; k < called->function->results.size(); ++k)
    copyLocal(called->localBase + called->function->results[k].offset, caller->localBase + uint32_t(list[k]), called->function->results[k].bytes, mask);
  groups[current].frame = caller;
  groups[current].pc = called->returnTo;
  called->lanes &= ~mask;
  return Outcome::Jumped;
}

void Warp::dropLanes(Frame *from, uint32_t lanes) {
  for (; from; from = from->caller)
    from->lanes &= ~lanes;
}

Outcome Warp::exitLanes(uint32_t mask) {
  dropLanes(frame, mask);
  alive &= ~mask;
  groups[current].mask &= ~mask;
  bool gone = groups[current].mask == 0;
  if (gone) {
    groups.erase(groups.begin() + ptrdiff_t(current));
    current = 0;
  }
  // Those that waited for the lanes need not any longer.
  for (Group &group : groups)
    if (group.state == Group::State::Converge)
      group.state = Group::State::Ready;
  noteEffect();
  block.threadsExited(*this, uint32_t(std::popcount(mask)));
  polled = false;
  return gone ? Outcome::Jumped : Outcome::Next;
}

Frame *Warp::enter(const Function &function, Frame *caller, uint32_t lanes) {
  OwnedFrame *result = nullptr;
  for (auto &candidate : frames)
    if (candidate->lanes == 0 && candidate->function == &function) {
      result = candidate.get();
      break;
    }
  if (!result) {
    frames.push_back(std::make_unique<OwnedFrame>());
    result = frames.back().get();
    result->memory.reset(new (kFrameAlignment) uint8_t[function.frameBytes + 64]);
    // What is read before it is written is no number that looks right.
    std::memset(result->memory.get(), 0xCD, function.frameBytes + 64);
  }
  result->function = &function;
  result->registers = result->memory.get();
  result->caller = caller;
  result->depth = caller ? caller->depth + 1 : 0;
  result->lanes = lanes;
  result->localBase = caller ? caller->localBase + (caller->function->localBytes + 15) / 16 * 16 : 16;
  growLocal(result->localBase + function.localBytes);
  for (const Constant &constant : function.constants)
    fill(*result, constant);
  return result;
}

void Warp::growLocal(uint32_t bytes) {
  if (bytes <= localStride)
    return;
  uint32_t stride = (bytes + bytes / 2 + 63) / 64 * 64;
  std::vector<uint8_t> grown(size_t(stride) * 32, 0xCD);
  for (size_t lane = 0; localStride && lane < 32; ++lane)
    std::memcpy(grown.data() + lane * stride, local.data() + lane * localStride, localStride);
  local = std::move(grown);
  localStride = stride;
}

void Warp::notePoll(const Instr &i, uint64_t value) {
  auto known = std::find_if(polls.begin(), polls.end(), [&](const Poll &poll) { return poll.at == &i; });
  if (known == polls.end())
    known = polls.begin() + ptrdiff_t(nextPoll++ % polls.size());
  if (known->at != &i || known->value != value) {
    *known = {&i, value, 0};
    return;
  }
  if (++known->times >= 8) {
    wantsYield = true;
    block.cluster.pollsMemory = true;
  }
}

void Warp::noteEffect() { ++block.cluster.effects; }
void Warp::noteGlobalEffect() {
  noteEffect();
  ++block.cluster.globalEffects;
}

} // namespace tk::emulated
