// How one thread runs chunks of a launch: strands.
//
// A strand is a stack on which chunks run one after another. A thread starts with one, on its own stack. When the code of a strand yields, it stays where it is and the
// thread goes on with another strand: one that yielded earlier, or a new one that takes the next chunk. Every strand that exists on a thread yields once before new ones
// are started (the lock that they wait for may just be held elsewhere); then as many are started as there are, so that a barrier over n programs costs n log n switches.
#pragma once
#include "runtime/device/cpu/Arena.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cpu/Fiber.h"
#include <csetjmp>
#include <string>

namespace tk::runtime {

/// What the threads of one launch share.
struct CpuLaunch {
  CpuFunction function;
  const uint64_t *slots = nullptr;
  int32_t grid[3] = {1, 1, 1};
  uint64_t total = 0;
  const std::vector<uint64_t> *programs = nullptr; // total entries, or null: program i is i
  unsigned threads = 1;
  const std::function<void(std::string_view)> *print = nullptr;
  std::mutex *printMutex = nullptr;

  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex failureMutex;
  std::string failure;
  uint64_t failedProgram = UINT64_MAX;
  bool outOfMemory = false;

  /// The next chunk [begin, end) of programs; false when there is none or the launch has failed.
  bool take(uint64_t &begin, uint64_t &end);
  bool hasMore() const { return !failed.load(std::memory_order_relaxed) && next.load(std::memory_order_relaxed) < total; }
  /// Records an assertion's failure; the one of the lowest program is kept.
  void fail(const char *message, const int32_t program[3]);
  void failMemory();
};

/// The strands of one thread. Kept between launches with their arenas.
class StrandScheduler {
public:
  StrandScheduler();
  ~StrandScheduler();
  /// Runs chunks until the launch has no more and every strand of this thread has ended.
  void run(CpuLaunch &launch);

private:
  struct Strand;
  static void enterStrand(void *strand);
  static void print(void *context, const char *text, uint64_t length);
  static void printElement(void *context, const TkCpuPrinted *item);
  static void assertFailed(void *context, const char *message, const int32_t program[3]);
  static void yield(void *context);

  void runChunks(Strand &strand);
  static void runChunk(Strand &strand, uint64_t begin, uint64_t end);
  void yielded(Strand &strand);
  bool startStrand(Strand &from);
  void switchToNext(Strand &from, bool fromIsDone = false);
  std::unique_ptr<Strand> makeStrand();

  CpuLaunch *launch = nullptr;
  std::unique_ptr<Strand> main;
  std::vector<Strand *> ring;                  // the strands that exist, in the order of their turns; main among them
  std::vector<std::unique_ptr<Strand>> alive, idle;
  size_t position = 0;                         // of the running strand in the ring
  size_t fruitless = 0;                        // yields since a chunk ended
  size_t toStart = 0;                          // new strands that may be started now
};

} // namespace tk::runtime
