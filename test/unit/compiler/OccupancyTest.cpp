// Blocks on a multiprocessor: the worked example of Occupancy.h, and what each bound does at its edges.
#include "compiler/target/nvidia/Occupancy.h"
#include "Catch.h"
#include <string>

using tk::nvidia::Occupancy;
using tk::nvidia::occupancyOf;

namespace {
struct Case {
  unsigned sm, warps;
  uint64_t sharedBytes;
  unsigned registers, blocks;
  const char *bound;
};

const Case kCases[] = {
    {90, 4, 20000, 38, 11, "shared memory"}, // the worked example
    {90, 4, 0, 0, 16, "warps"},              // registers not known
    {90, 1, 0, 16, 32, "blocks"},
    {90, 4, 0, 255, 2, "registers"},
    {90, 8, 0, 255, 1, "registers"},
    {90, 16, 0, 255, 0, "registers"}, // a launch is refused
    {90, 4, 232448, 32, 1, "shared memory"},
    {90, 4, 115712, 32, 2, "shared memory"}, // 114 KiB with what the system takes: half
    {90, 4, 115713, 32, 1, "shared memory"},
    {75, 4, 65536, 64, 1, "shared memory"}, // nothing for the system
    {75, 4, 32768, 64, 2, "shared memory"},
    {75, 8, 0, 32, 4, "warps"},
    {75, 1, 0, 32, 16, "blocks"},
    {80, 32, 0, 32, 2, "warps"},
    {86, 32, 0, 32, 1, "warps"}, // 48 warps hold one block of 32
    {86, 4, 101376, 32, 1, "shared memory"},
    {89, 1, 0, 32, 24, "blocks"},
    {100, 4, 0, 128, 4, "registers"},
    {120, 2, 0, 40, 24, "warps"},
    {120, 4, 0, 168, 3, "registers"},
};
} // namespace

TEST_CASE("blocks on a multiprocessor", "[occupancy]") {
  for (const Case &expected : kCases) {
    INFO("sm_" << expected.sm << ", " << expected.warps << " warps, " << expected.sharedBytes << " bytes, " << expected.registers << " registers");
    Occupancy found = occupancyOf(expected.sm, expected.warps, expected.sharedBytes, expected.registers);
    CHECK(found.blocks == expected.blocks);
    CHECK(std::string(found.bound) == expected.bound);
    CHECK(found.warps == expected.blocks * expected.warps);
    CHECK(found.warps <= found.maxWarps);
  }
}

TEST_CASE("more of anything never makes more blocks", "[occupancy]") {
  for (unsigned sm : {75u, 80u, 86u, 89u, 90u, 100u, 120u})
    for (unsigned warps = 1; warps <= 32; warps *= 2) {
      unsigned before = ~0u;
      for (unsigned registers = 1; registers <= 255; ++registers) {
        unsigned blocks = occupancyOf(sm, warps, 1024, registers).blocks;
        CHECK(blocks <= before);
        before = blocks;
      }
      before = ~0u;
      for (uint64_t bytes = 0; bytes < 65536; bytes += 64) {
        unsigned blocks = occupancyOf(sm, warps, bytes, 32).blocks;
        CHECK(blocks <= before);
        before = blocks;
      }
    }
}

TEST_CASE("what no GPU is has no blocks", "[occupancy]") {
  CHECK(occupancyOf(61, 4, 0, 32).blocks == 0);
  CHECK(occupancyOf(90, 0, 0, 32).blocks == 0);
  CHECK(occupancyOf(90, 4, uint64_t(1) << 40, 32).blocks == 0);
}
