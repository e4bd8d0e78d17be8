// Layout conversions as mathematics: whatever two layouts, each destination register gets its element; and the places in shared memory keep lanes out of each other's banks.
#include "compiler/lower/Scratch.h"
#include "Catch.h"
#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace tk;
using namespace tk::ttg;
using namespace tk::lower;

namespace {
/// A layout whose bases are the bits of the index in random order, given to registers, lanes and warps; places that are left over repeat.
TileLayout randomLayout(std::mt19937 &random, unsigned indexBits, unsigned laneBits, unsigned warpBits, bool mixed) {
  std::vector<uint32_t> bits;
  for (unsigned i = 0; i < indexBits; ++i)
    bits.push_back(1u << i);
  std::shuffle(bits.begin(), bits.end(), random);
  if (mixed) // an invertible map that is no permutation
    for (unsigned i = 0; i + 1 < indexBits; ++i)
      if (random() % 3 == 0)
        bits[i] ^= bits[i + 1 + random() % (indexBits - i - 1)];
  TileLayout layout;
  size_t next = 0;
  unsigned first = random() % 4;
  while (next < bits.size() && next < first)
    layout.reg.push_back(bits[next++]);
  for (unsigned i = 0; i < laneBits; ++i)
    layout.lane.push_back(next < bits.size() ? bits[next++] : 0);
  for (unsigned i = 0; i < warpBits; ++i)
    layout.warp.push_back(next < bits.size() ? bits[next++] : 0);
  while (next < bits.size())
    layout.reg.push_back(bits[next++]);
  return layout;
}

unsigned roundOf(const ConversionPlan &plan, uint32_t index) {
  unsigned round = 0;
  for (size_t i = 0; i < plan.rounds.size(); ++i)
    round |= unsigned((index & plan.rounds[i]) != 0) << i;
  return round;
}

/// The largest number of different rows that one bank of 4 bytes is asked for when the lanes of warp 0 access `vector` elements at the places of register 0.
unsigned bankConflicts(const TileLayout &layout, const ConversionPlan &plan, unsigned elementBytes) {
  unsigned bytes = elementBytes << plan.vector.size(), lanes = bytes <= 4 ? 32 : 32 * 4 / bytes;
  std::map<unsigned, std::set<unsigned>> rows;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned offset = plan.offsetOf(layout.indexOf(0, lane, 0)) * elementBytes;
    for (unsigned byte = 0; byte < bytes; byte += 4)
      rows[(offset + byte) / 4 % 32].insert((offset + byte) / 128);
  }
  unsigned worst = 0;
  for (auto &[bank, found] : rows)
    worst = std::max<unsigned>(worst, found.size());
  return worst;
}
} // namespace

TEST_CASE("a conversion through shared memory gives every register its element") {
  std::mt19937 random(7);
  for (unsigned trial = 0; trial < 2000; ++trial) {
    unsigned indexBits = 1 + random() % 13, warpBits = random() % 4, bytes = 1u << random() % 4;
    TileLayout from = randomLayout(random, indexBits, 5, warpBits, trial % 2), to = randomLayout(random, indexBits, 5, warpBits, trial % 3 == 0);
    ConversionPlan plan = planConversion(from, to, indexBits, bytes);
    if (plan.kind != ConversionPlan::Kind::Shared)
      continue;
    // Places are distinct within a round, and below the size.
    std::map<std::pair<unsigned, uint32_t>, uint32_t> memory;
    for (uint32_t index = 0; index < 1u << indexBits; ++index) {
      REQUIRE(plan.offsetOf(index) < plan.elements);
      REQUIRE(memory.try_emplace({roundOf(plan, index), plan.offsetOf(index)}, index).second);
    }
    // What a thread of either side moves at once lies side by side, aligned, in one order.
    for (const TileLayout *layout : {&from, &to})
      for (unsigned reg = 0; reg < layout->registers(); ++reg) {
        uint32_t index = layout->indexOfRegister(reg), mask = TileLayout::apply(plan.vector, ~0u);
        if (index & mask)
          continue;
        for (unsigned k = 0; k < 1u << plan.vector.size(); ++k) {
          uint32_t neighbour = index ^ TileLayout::apply(plan.vector, k);
          REQUIRE(plan.offsetOf(neighbour) == plan.offsetOf(index) + k);
          bool held = false;
          for (unsigned other = 0; other < layout->registers(); ++other)
            held |= layout->indexOfRegister(other) == neighbour;
          REQUIRE(held);
        }
        REQUIRE(plan.offsetOf(index) % (1u << plan.vector.size()) == 0);
      }
  }
}

TEST_CASE("register renaming is chosen exactly when no element leaves its thread") {
  TileLayout a = blockedLayout({64, 64}, {1, 0}, 2, 5, 2), b = a;
  std::swap(b.reg[0], b.reg[3]);
  CHECK(planConversion(a, a, 12, 4).kind == ConversionPlan::Kind::Nothing);
  CHECK(planConversion(a, b, 12, 4).kind == ConversionPlan::Kind::Registers);
  CHECK(planConversion(a, blockedLayout({64, 64}, {0, 1}, 2, 5, 2), 12, 4).kind == ConversionPlan::Kind::Shared);
}

TEST_CASE("transpositions and matrix operands are free of bank conflicts") {
  for (unsigned bytes : {1u, 2u, 4u, 8u})
    for (int64_t rows : {32, 64, 128})
      for (int64_t columns : {32, 64, 128}) {
        int64_t shape[] = {rows, columns};
        unsigned bits = log2Of(rows * columns), vector = log2Of(16 / bytes);
        TileLayout byRows = blockedLayout(shape, {1, 0}, vector, 5, 2), byColumns = blockedLayout(shape, {0, 1}, vector, 5, 2);
        ConversionPlan plan = planConversion(byRows, byColumns, bits, bytes);
        REQUIRE(plan.kind == ConversionPlan::Kind::Shared);
        // An access of less than 4 bytes a lane shares banks by nature.
        if ((bytes << plan.vector.size()) >= 4) {
          CHECK(bankConflicts(byRows, plan, bytes) == 1);
          CHECK(bankConflicts(byColumns, plan, bytes) == 1);
        }
      }
}
