// See Occupancy.h.
#include "compiler/target/nvidia/Occupancy.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include <algorithm>

namespace tk::nvidia {

namespace {
struct Multiprocessor {
  unsigned sm, warps, blocks, sharedBytes, reservedBytes, sharedUnit;
};
constexpr Multiprocessor multiprocessors[] = {
#define NVIDIA_MULTIPROCESSOR(sm, warps, blocks, sharedBytes, reservedBytes, sharedUnit) {sm, warps, blocks, sharedBytes, reservedBytes, sharedUnit},
#include "compiler/target/nvidia/Multiprocessors.def"
#undef NVIDIA_MULTIPROCESSOR
};
constexpr unsigned kRegisters = 65536, kParts = 4, kRegisterUnit = 256, kLanes = 32;

constexpr const Multiprocessor *find(unsigned sm) {
  for (const Multiprocessor &each : multiprocessors)
    if (each.sm == sm)
      return &each;
  return nullptr;
}

constexpr bool knowsAllTargets() {
  for (const Target &target : targets)
    if (!find(target.sm))
      return false;
  return true;
}
static_assert(knowsAllTargets(), "a row of Targets.def has none in Multiprocessors.def");

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
} // namespace

Occupancy occupancyOf(unsigned sm, unsigned warpsOfBlock, uint64_t sharedBytes, unsigned registers) {
  Occupancy result;
  const Multiprocessor *machine = find(sm);
  if (!machine || warpsOfBlock == 0)
    return result;
  result.maxWarps = machine->warps;
  result.byWarps = machine->warps / warpsOfBlock;
  result.byBlocks = machine->blocks;
  uint64_t shared = roundUp(sharedBytes + machine->reservedBytes, machine->sharedUnit);
  result.byShared = shared ? static_cast<unsigned>(std::min<uint64_t>(machine->sharedBytes / shared, machine->blocks)) : machine->blocks;
  result.byRegisters = machine->blocks;
  if (registers) {
    uint64_t ofWarp = roundUp(uint64_t(registers) * kLanes, kRegisterUnit);
    uint64_t warps = kRegisters / kParts / ofWarp * kParts;
    // A launch is refused as if each part took its share of the block's warps.
    bool fits = ofWarp * roundUp(warpsOfBlock, kParts) <= kRegisters;
    result.byRegisters = fits ? static_cast<unsigned>(std::min<uint64_t>(warps / warpsOfBlock, machine->blocks)) : 0;
  }
  result.blocks = std::min({result.byWarps, result.byBlocks, result.byShared, result.byRegisters});
  result.warps = result.blocks * warpsOfBlock;
  result.bound = result.blocks == result.byWarps                                               ? "warps"
                 : result.blocks == result.byRegisters && result.byRegisters < machine->blocks ? "registers"
                 : result.blocks == result.byShared && result.byShared < machine->blocks       ? "shared memory"
                                                                                               : "blocks";
  return result;
}

} // namespace tk::nvidia
