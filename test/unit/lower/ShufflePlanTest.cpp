// Conversions within warps as mathematics: the steps of a plan, executed on the indices of the elements, bring every register its element; and what they cost.
#include "compiler/lower/ShufflePlan.h"
#include "Catch.h"
#include "compiler/lower/Scratch.h"
#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace tk;
using namespace tk::ttg;
using namespace tk::lower;

namespace {
/// Every thread's word, as the index of its first element.
using Words = std::vector<uint32_t>;

/// Executes a plan for all lanes and warps.
struct Simulation {
  const ShufflePlan &plan;
  const TileLayout &from;
  unsigned shuffles = 0, selects = 0;

  unsigned lanes() const { return 1u << from.lane.size(); }
  unsigned threads() const { return lanes() << from.warp.size(); }

  Words source(uint32_t number) {
    Words words(threads());
    for (unsigned thread = 0; thread < threads(); ++thread)
      words[thread] = TileLayout::apply(plan.source, number) ^ from.indexOf(0, thread % lanes(), thread / lanes());
    return words;
  }
  Words select(const ShufflePlan::Choice &choice, const Words &odd, const Words &even) {
    ++selects;
    Words words(threads());
    for (unsigned thread = 0; thread < threads(); ++thread) {
      unsigned ones = std::popcount((thread % lanes()) & choice.lanes) + std::popcount((thread / lanes()) & choice.warps);
      words[thread] = ones % 2 ? odd[thread] : even[thread];
    }
    return words;
  }
  Words shuffle(const Words &value, uint32_t round) {
    ++shuffles;
    Words words(threads());
    for (unsigned thread = 0; thread < threads(); ++thread) {
      unsigned lane = thread % lanes(), warp = thread / lanes(), distance = TileLayout::apply(plan.laneOfRound, round);
      unsigned other = plan.staysInLane ? lane ^ distance : TileLayout::apply(plan.laneOfLane, lane) ^ TileLayout::apply(plan.laneOfWarp, warp) ^ distance;
      words[thread] = value[other % lanes() + warp * lanes()];
    }
    return words;
  }
};

std::set<uint32_t> registersOf(const TileLayout &layout) {
  std::set<uint32_t> indices;
  for (unsigned i = 0; i < layout.registers(); ++i)
    indices.insert(layout.indexOfRegister(i));
  return indices;
}

void prove(const TileLayout &from, const TileLayout &to, const ShufflePlan &plan) {
  // Words hold registers that are there.
  std::set<uint32_t> own = registersOf(from);
  for (uint32_t number = 0; number < 1u << plan.source.size(); ++number)
    for (uint32_t k = 0; k < 1u << plan.packed.size(); ++k)
      REQUIRE(own.contains(TileLayout::apply(plan.source, number) ^ TileLayout::apply(plan.packed, k)));
  Simulation simulation{plan, from};
  Shuffles<Words, Simulation> shuffles(plan, simulation);
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> places;
  for (uint32_t number = 0; number < 1u << plan.resultBits; ++number)
    for (uint32_t k = 0; k < 1u << plan.packed.size(); ++k) {
      uint32_t inWord = TileLayout::apply(plan.packed, k);
      REQUIRE(places.try_emplace(TileLayout::apply(plan.result, number) ^ inWord, number, inWord).second);
    }
  for (unsigned reg = 0; reg < to.registers(); ++reg) {
    auto place = places.find(to.indexOfRegister(reg));
    REQUIRE(place != places.end());
    Words words = shuffles.word(place->second.first);
    for (unsigned thread = 0; thread < simulation.threads(); ++thread)
      REQUIRE((words[thread] ^ place->second.second) == to.indexOf(reg, thread % simulation.lanes(), thread / simulation.lanes()));
  }
  REQUIRE(simulation.shuffles <= plan.shuffles);
  REQUIRE(simulation.selects <= plan.selects);
}

/// Whether each warp has what it wants, element by element.
bool staysInWarps(const TileLayout &from, const TileLayout &to) {
  for (unsigned warp = 0; warp < 1u << from.warp.size(); ++warp) {
    std::set<uint32_t> held;
    for (unsigned reg = 0; reg < from.registers(); ++reg)
      for (unsigned lane = 0; lane < 1u << from.lane.size(); ++lane)
        held.insert(from.indexOf(reg, lane, warp));
    for (unsigned reg = 0; reg < to.registers(); ++reg)
      for (unsigned lane = 0; lane < 1u << to.lane.size(); ++lane)
        if (!held.contains(to.indexOf(reg, lane, warp)))
          return false;
  }
  return true;
}

/// Registers and lanes whose bases are drawn from the sums of `vectors`, or, where `exact`, are these in another order; the rest repeats.
TileLayout drawn(std::mt19937 &random, std::vector<uint32_t> vectors, unsigned registerBits, unsigned laneBits, bool exact) {
  TileLayout layout;
  std::shuffle(vectors.begin(), vectors.end(), random);
  auto draw = [&] {
    uint32_t sum = 0;
    if (exact && !vectors.empty()) {
      sum = vectors.back();
      vectors.pop_back();
    } else if (!exact) {
      for (uint32_t vector : vectors)
        sum ^= random() % 2 ? vector : 0;
    }
    return sum;
  };
  for (unsigned i = 0; i < registerBits; ++i)
    layout.reg.push_back(draw());
  for (unsigned i = 0; i < laneBits; ++i)
    layout.lane.push_back(draw());
  std::shuffle(layout.reg.begin(), layout.reg.end(), random);
  std::shuffle(layout.lane.begin(), layout.lane.end(), random);
  return layout;
}
} // namespace

TEST_CASE("whatever two layouts of the same warps' elements, each register gets its element") {
  std::mt19937 random(11);
  unsigned replicated = 0, packed = 0, extended = 0;
  for (unsigned trial = 0; trial < 6000; ++trial) {
    unsigned laneBits = 1 + random() % 6, warpBits = random() % 3, bytes = 1u << random() % 4, dimensions = random() % 9;
    std::vector<uint32_t> held;
    for (unsigned i = 0; i < dimensions; ++i)
      held.push_back(1u << (i + warpBits));
    if (random() % 2) // no permutation
      for (unsigned i = 0; i + 1 < dimensions; ++i)
        held[i] ^= random() % 3 == 0 ? held[i + 1 + random() % (dimensions - i - 1)] : 0;
    unsigned registerBits = dimensions > laneBits ? dimensions - laneBits + random() % 2 : random() % 3;
    TileLayout from = drawn(random, held, registerBits, laneBits, true);
    TileLayout to = drawn(random, held, random() % 5, laneBits, random() % 3);
    for (unsigned i = 0; i < warpBits; ++i) {
      uint32_t own = random() % 2 ? 1u << i : 0, moved = own;
      for (uint32_t vector : held)
        moved ^= random() % 4 == 0 ? vector : 0;
      from.warp.push_back(own), to.warp.push_back(moved);
    }
    CAPTURE(trial, from.reg, from.lane, from.warp, to.reg, to.lane, to.warp, bytes);
    REQUIRE(staysInWarps(from, to));
    std::optional<ShufflePlan> plan = planShuffles(from, to, bytes);
    REQUIRE(plan);
    prove(from, to, *plan);
    replicated += registersOf(from).size() << laneBits > 1u << dimensions;
    packed += !plan->packed.empty();
    extended += plan->result.size() > plan->resultBits;
  }
  // The draw reaches all of it.
  CHECK(replicated > 100);
  CHECK(packed > 100);
  CHECK(extended > 20);
}

TEST_CASE("a plan is found exactly where no element comes from another warp") {
  std::mt19937 random(12);
  unsigned staying = 0;
  for (unsigned trial = 0; trial < 4000; ++trial) {
    unsigned laneBits = 1 + random() % 3, warpBits = 1 + random() % 2, dimensions = 2 + random() % 4;
    std::vector<uint32_t> all;
    for (unsigned i = 0; i < dimensions; ++i)
      all.push_back(1u << i);
    TileLayout from = drawn(random, all, 1 + random() % 2, laneBits + warpBits, random() % 2),
               to = drawn(random, all, 1 + random() % 2, laneBits + warpBits, random() % 2);
    for (TileLayout *layout : {&from, &to})
      while (layout->warp.size() < warpBits)
        layout->warp.push_back(layout->lane.pop_back_val());
    std::optional<ShufflePlan> plan = planShuffles(from, to, 4);
    CAPTURE(trial, from.reg, from.lane, from.warp, to.reg, to.lane, to.warp);
    REQUIRE(plan.has_value() == staysInWarps(from, to));
    staying += plan.has_value();
    if (plan)
      prove(from, to, *plan);
  }
  CHECK(staying > 200);
  CHECK(staying < 3800);
}

TEST_CASE("what a conversion within a warp costs") {
  auto costs = [](const TileLayout &from, const TileLayout &to, unsigned bytes) {
    std::optional<ShufflePlan> plan = planShuffles(from, to, bytes);
    REQUIRE(plan);
    prove(from, to, *plan);
    return std::pair(plan->shuffles, plan->selects);
  };
  using Cost = std::pair<unsigned, unsigned>;
  // A bit of the lane and one of the register change places: half of the words stay.
  CHECK(costs({{1}, {2, 4, 8, 16, 32}, {}}, {{2}, {1, 4, 8, 16, 32}, {}}, 4) == Cost(1, 4));
  CHECK(costs({{1, 64}, {2, 4, 8, 16, 32}, {}}, {{2, 64}, {1, 4, 8, 16, 32}, {}}, 4) == Cost(2, 8));
  CHECK(costs({{1, 64}, {2, 4, 8, 16, 32}, {}}, {{2, 64}, {1, 4, 8, 16, 32}, {}}, 8) == Cost(4, 16));
  // What both sides keep side by side shares a word.
  CHECK(costs({{64, 1}, {2, 4, 8, 16, 32}, {}}, {{64, 2}, {1, 4, 8, 16, 32}, {}}, 2) == Cost(1, 4));
  CHECK(costs({{1, 64}, {2, 4, 8, 16, 32}, {}}, {{64, 2}, {1, 4, 8, 16, 32}, {}}, 1) == Cost(1, 4));
  // Two bits of each.
  CHECK(costs({{1, 2}, {4, 8, 16, 32, 64}, {}}, {{4, 8}, {1, 2, 16, 32, 64}, {}}, 4) == Cost(3, 16));
  // Lanes that change places among themselves choose nothing; a bit that goes around over lanes and a register is chosen on both sides.
  CHECK(costs({{32}, {1, 2, 4, 8, 16}, {}}, {{32}, {2, 1, 4, 16, 8}, {}}, 4) == Cost(2, 0));
  CHECK(costs({{1}, {2, 4, 8, 16, 32}, {}}, {{4}, {1, 2, 8, 16, 32}, {}}, 4) == Cost(2, 4));
  // Every lane gets what one lane has; every register what the lanes have.
  CHECK(costs({{}, {1, 2, 4, 8, 0}, {}}, {{}, {0, 1, 2, 4, 8}, {}}, 4) == Cost(1, 0));
  CHECK(costs({{}, {1, 2, 4, 8, 16}, {}}, {{1, 2}, {0, 0, 4, 8, 16}, {}}, 4) == Cost(4, 0));
  // Of what every lane has in registers each takes its own; where only the warp decides, too.
  CHECK(costs({{1, 2}, {0, 0, 4, 8, 16}, {}}, {{}, {1, 2, 4, 8, 16}, {}}, 4) == Cost(0, 3));
  CHECK(costs({{32}, {1, 2, 4, 8, 16}, {0}}, {{}, {1, 2, 4, 8, 16}, {32}}, 4) == Cost(0, 1));
  // Two lanes want different registers of one lane, which sends both.
  CHECK(costs({{1}, {2, 4, 8, 16, 32}, {0}}, {{}, {1, 2, 4, 8, 16}, {32}}, 4) == Cost(2, 3));
}

TEST_CASE("shuffles are chosen where they are cheaper") {
  auto kindOf = [](const TileLayout &from, const TileLayout &to, unsigned indexBits) { return planConversion(from, to, indexBits, 4).kind; };
  auto exchanged = [](unsigned registerBits, unsigned bits) {
    TileLayout from = blockedLayout({int64_t(32) << registerBits}, {0}, registerBits, 5, 0), to = from;
    for (unsigned i = 0; i < bits; ++i)
      std::swap(to.reg[i], to.lane[i]);
    return std::pair(from, to);
  };
  // Each bit is two selects a word: of few words two barriers would be most of the cost.
  for (unsigned bits = 1; bits <= 5; ++bits)
    for (unsigned registerBits = bits; registerBits <= 6; ++registerBits) {
      auto [from, to] = exchanged(registerBits, bits);
      CHECK(kindOf(from, to, registerBits + 5) == (bits == 1 && registerBits <= 2 ? ConversionPlan::Kind::Shuffles : ConversionPlan::Kind::Shared));
    }
  // Lanes that change places select nothing.
  TileLayout turned = blockedLayout({1024}, {0}, 5, 5, 0), lanes = turned;
  std::rotate(lanes.lane.begin(), lanes.lane.begin() + 2, lanes.lane.end());
  CHECK(kindOf(turned, lanes, 10) == ConversionPlan::Kind::Shuffles);
  // From warp to warp there is no other way.
  CHECK(kindOf({{}, {1, 2, 4, 8, 16}, {32}}, {{}, {32, 2, 4, 8, 16}, {1}}, 6) == ConversionPlan::Kind::Shared);
}
