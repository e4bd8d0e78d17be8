// mbarrier objects: PTX ISA 9.7.13.15. Eight bytes of shared memory stand for each; what they mean is kept beside them.
#pragma once
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Decoder.h"

namespace tk::emulated {

struct Mbarrier {
  uint32_t expected = 0, pending = 0; // arrivals of each phase, and those that the current one still needs
  int64_t transactions = 0;           // bytes that the current phase still needs
  uint64_t phase = 0;                 // phases that are complete
  uint32_t line = 0;                  // of the initialisation
  bool isWaitedFor = false;           // someone has found the current phase incomplete
  Clock arrived, complete;            // what those have seen who arrived; of the phases that are complete
};

/// Fails when there is none at the address.
Mbarrier &findMbarrier(Warp &warp, const Instr &i, int lane, Block &block, uint32_t offset);
void arriveAt(Warp &warp, const Instr &i, int lane, Block &block, Mbarrier &barrier, uint32_t count, bool releases);
/// Bytes have come; `clock` is what those who wait may rely on.
void completeTransactions(Mbarrier &barrier, uint64_t bytes, const Clock &clock, Cluster &cluster);
/// CopyOps.cpp: a lane's cp.async before the one with this number are complete, as of a moment of the warp's clock.
void finishThreadCopies(Warp &warp, int lane, uint64_t number, uint32_t moment);
/// BulkOps.cpp, for cp and cp.reduce.
void decodeBulk(Decoding &d, bool reduces);

} // namespace tk::emulated
