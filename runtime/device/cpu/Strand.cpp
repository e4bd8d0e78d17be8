// See Strand.h.
#include "runtime/device/cpu/Strand.h"
#include "runtime/device/PrintedLine.h"
#include <algorithm>
#include <cstdio>
#include <sched.h>

namespace tk::runtime {

namespace {
constexpr size_t strandStackBytes = 512 << 10, maxStrands = 1 << 14, maxIdleStrands = 64;
}

bool CpuLaunch::take(uint64_t &begin, uint64_t &end) {
  uint64_t current = next.load(std::memory_order_relaxed), size;
  do {
    if (current >= total || failed.load(std::memory_order_relaxed))
      return false;
    size = function.spins || programs ? 1 : std::max<uint64_t>(1, (total - current) / (2 * threads));
  } while (!next.compare_exchange_weak(current, current + size, std::memory_order_relaxed));
  begin = programs ? (*programs)[current] : current;
  end = begin + size;
  return true;
}

void CpuLaunch::fail(const char *message, const int32_t program[3]) {
  std::lock_guard lock(failureMutex);
  uint64_t index = static_cast<uint64_t>(program[0]) + static_cast<uint64_t>(grid[0]) * (static_cast<uint64_t>(program[1]) + static_cast<uint64_t>(grid[1]) * static_cast<uint64_t>(program[2]));
  if (index < failedProgram || failure.empty())
    failure = message, failedProgram = index;
  failed = true;
}

void CpuLaunch::failMemory() {
  std::lock_guard lock(failureMutex);
  outOfMemory = true;
  failed = true;
}

struct StrandScheduler::Strand {
  StrandScheduler *scheduler = nullptr;
  Fiber fiber;
  Arena arena;
  TkCpuServices services = {};
  jmp_buf giveUp; // in runChunk, for a yield after the launch has failed
};

StrandScheduler::StrandScheduler() : main(makeStrand()) {}
StrandScheduler::~StrandScheduler() = default;

std::unique_ptr<StrandScheduler::Strand> StrandScheduler::makeStrand() {
  auto strand = std::make_unique<Strand>();
  strand->scheduler = this;
  strand->services = {1, 0, strand.get(), print, assertFailed, yield, printElement};
  return strand;
}

void StrandScheduler::run(CpuLaunch &newLaunch) {
  launch = &newLaunch;
  ring.assign(1, main.get());
  position = fruitless = toStart = 0;
  runChunks(*main);
  // The others may still wait for programs on other threads.
  while (ring.size() > 1) {
    switchToNext(*main);
    sched_yield();
  }
  for (auto &strand : alive)
    if (idle.size() < maxIdleStrands)
      idle.push_back(std::move(strand));
  alive.clear();
  launch = nullptr;
}

void StrandScheduler::runChunks(Strand &strand) {
  for (uint64_t begin, end; launch->take(begin, end);) {
    runChunk(strand, begin, end);
    fruitless = toStart = 0;
    if (ring.size() > 1)
      switchToNext(strand); // what this chunk wrote may be what they wait for
  }
}

void StrandScheduler::runChunk(Strand &strand, uint64_t begin, uint64_t end) {
  CpuLaunch &launch = *strand.scheduler->launch;
  void *arena = strand.arena.get(launch.function.arenaBytes);
  if (!arena)
    return launch.failMemory();
  if (_setjmp(strand.giveUp) == 0)
    launch.function.entry(launch.slots, launch.grid, begin, end, arena, &strand.services);
}

void StrandScheduler::enterStrand(void *pointer) {
  auto &strand = *static_cast<Strand *>(pointer);
  StrandScheduler &scheduler = *strand.scheduler;
  scheduler.runChunks(strand);
  scheduler.switchToNext(strand, true);
}

bool StrandScheduler::startStrand(Strand &from) {
  if (ring.size() >= maxStrands)
    return false;
  std::unique_ptr<Strand> strand;
  if (idle.empty())
    strand = makeStrand();
  else
    strand = std::move(idle.back()), idle.pop_back();
  if (!strand->fiber.prepare(strandStackBytes, enterStrand, strand.get()))
    return false;
  Strand &started = *strand;
  alive.push_back(std::move(strand));
  ring.insert(ring.begin() + static_cast<ptrdiff_t>(++position), &started);
  started.fiber.switchFrom(from.fiber);
  return true;
}

void StrandScheduler::switchToNext(Strand &from, bool fromIsDone) {
  if (fromIsDone)
    ring.erase(ring.begin() + static_cast<ptrdiff_t>(position)); // main never ends this way, so the ring keeps at least it
  else
    ++position;
  if (position >= ring.size())
    position = 0;
  Strand &next = *ring[position];
  if (&next != &from)
    next.fiber.switchFrom(from.fiber, fromIsDone);
}

void StrandScheduler::yielded(Strand &strand) {
  if (++fruitless > ring.size() && toStart == 0) {
    fruitless = 0;
    toStart = ring.size();
    sched_yield();
  }
  bool started = false;
  if (toStart > 0 && launch->hasMore())
    --toStart, started = startStrand(strand);
  if (!started)
    switchToNext(strand);
}

void StrandScheduler::printElement(void *context, const TkCpuPrinted *item) {
  std::string line = printedLine(*item);
  print(context, line.data(), line.size());
}

void StrandScheduler::print(void *context, const char *text, uint64_t length) {
  CpuLaunch &launch = *static_cast<Strand *>(context)->scheduler->launch;
  std::string_view line(text, length);
  std::lock_guard lock(*launch.printMutex);
  if (*launch.print) {
    (*launch.print)(line);
    return;
  }
  std::fwrite(line.data(), 1, line.size(), stdout);
  if (line.empty() || line.back() != '\n')
    std::fputc('\n', stdout);
}

void StrandScheduler::assertFailed(void *context, const char *message, const int32_t program[3]) { static_cast<Strand *>(context)->scheduler->launch->fail(message, program); }

void StrandScheduler::yield(void *context) {
  auto &strand = *static_cast<Strand *>(context);
  CpuLaunch &launch = *strand.scheduler->launch;
  if (!launch.failed.load(std::memory_order_relaxed))
    strand.scheduler->yielded(strand);
  // Whatever this program waits for may never come now. Kernel code holds nothing that needs unwinding.
  if (launch.failed.load(std::memory_order_relaxed))
    _longjmp(strand.giveUp, 1);
}

} // namespace tk::runtime
