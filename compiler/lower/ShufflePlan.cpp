// See ShufflePlan.h.
//
// With R and R' the spans of the registers of both sides, lane j of the source may send any element of s_j = lane_j + R, chosen by its bit j, and lane i of the
// result take any of w_i = lane'_i + R'. One round serves all lanes when every w_i lies in the span of the s_j. So a space W is wanted that the w_i lie in, W +
// R' holding all lanes of the result; what W has in common with R must come from lanes of the source that tell nothing else apart. Without replication this is
// the common complement of R and R', which always exists. Of the many, the one is built that leaves lanes alone where it can: rounds then stay in their lane,
// and there is little to select.
#include "compiler/lower/ShufflePlan.h"
#include "compiler/lower/SharedPlan.h"
#include <bit>

using namespace tk;
using namespace tk::lower;
using namespace tk::ttg;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Images of lanes stand above those of registers.
static constexpr unsigned kLaneShift = 16;

/// The map from lane and warp bits to word numbers as choices, one for each dimension of its image.
static SmallVector<ShufflePlan::Choice> choicesOf(ArrayRef<uint32_t> lanes, ArrayRef<uint32_t> warps) {
  SmallVector<ShufflePlan::Choice> choices;
  LinearImages span;
  for (ArrayRef<uint32_t> group : {lanes, warps})
    for (uint32_t vector : group)
      if (span.add(vector, 1u << choices.size()))
        choices.push_back({vector, 0, 0});
  for (auto [bit, vector] : llvm::enumerate(lanes))
    for (uint32_t which = span.imageOf(vector); which; which &= which - 1)
      choices[std::countr_zero(which)].lanes |= 1u << bit;
  for (auto [bit, vector] : llvm::enumerate(warps))
    for (uint32_t which = span.imageOf(vector); which; which &= which - 1)
      choices[std::countr_zero(which)].warps |= 1u << bit;
  return choices;
}

namespace {
/// Counts instead of computing.
struct Counter {
  unsigned shuffles = 0, selects = 0;
  char source(uint32_t) { return 0; }
  char select(const ShufflePlan::Choice &, char, char) { return ++selects, 0; }
  char shuffle(char, uint32_t) { return ++shuffles, 0; }
};

/// A plan for words that hold `packed`.
class Planner {
public:
  Planner(const TileLayout &from, const TileLayout &to, ArrayRef<uint32_t> packed) : from(from), to(to) {
    plan.packed.assign(packed.begin(), packed.end());
    chooseWords();
  }

  std::optional<ShufflePlan> make() {
    auto isHeld = [&](uint32_t vector) { return held.contains(vector); };
    if (!llvm::all_of(plan.result, isHeld) || !llvm::all_of(to.lane, isHeld))
      return std::nullopt;
    for (auto [own, other] : llvm::zip(from.warp, to.warp))
      if (!isHeld(own ^ other))
        return std::nullopt;
    chooseCommonSpace();
    takeLanes();
    sendLanes();
    nameLanes();
    return plan;
  }

private:
  /// Bases of the words: those that both sides have are the same on both.
  void chooseWords() {
    LinearImages own, seen, wanted;
    for (uint32_t base : from.reg)
      own.add(base, 0);
    for (uint32_t base : plan.packed)
      seen.add(base, 0), wanted.add(base, 0);
    for (uint32_t base : to.reg)
      if (wanted.add(base, 0)) {
        plan.result.push_back(base);
        if (own.contains(base) && seen.add(base, 0))
          plan.source.push_back(base);
      }
    for (uint32_t base : from.reg)
      if (seen.add(base, 0))
        plan.source.push_back(base);
    plan.resultBits = plan.result.size();
    for (uint32_t base : plan.source)
      sourceSpan.add(base, 0);
    for (uint32_t base : plan.result)
      resultSpan.add(base, 0);
    held = sourceSpan;
    for (uint32_t base : from.lane)
      freeLanes += !held.add(base, 0);
  }

  /// Adds a vector that is not in W + R' yet to W. False when it is one of R, and no lane of the source is left that could choose it.
  bool offer(uint32_t vector) {
    if (sourceSpan.contains(vector)) {
      if (chosenByFreeLanes == freeLanes)
        return false;
      ++chosenByFreeLanes;
    }
    sourceSpan.add(vector, 0), resultSpan.add(vector, 0);
    common.push_back(vector);
    return true;
  }

  void chooseCommonSpace() {
    // Lanes that can stay: lane'_i ^ lane_i = r ^ r'.
    LinearImages registers; // the part of R'
    for (uint32_t base : plan.source)
      registers.add(base, 0);
    for (uint32_t base : plan.result)
      registers.add(base, base);
    for (auto [own, other] : llvm::zip(from.lane, to.lane))
      if (!resultSpan.contains(other) && registers.contains(own ^ other))
        offer(other ^ registers.imageOf(own ^ other));
    // Lanes that come from other lanes.
    for (uint32_t lane : to.lane)
      if (!resultSpan.contains(lane) && !sourceSpan.contains(lane))
        offer(lane);
    // Lanes that come from registers: chosen by lanes without meaning, else several registers arrive together, one for each value of some other lane bit.
    for (uint32_t lane : to.lane) {
      if (resultSpan.contains(lane) || offer(lane))
        continue;
      auto apart = [&](uint32_t base) { return !sourceSpan.contains(base); };
      const uint32_t *with = llvm::find_if(plan.result, apart);
      if (with == plan.result.end()) {
        // The source has more elements in this warp than the result: rounds bring some that nobody wants.
        plan.result.push_back(*llvm::find_if(from.lane, apart));
        with = &plan.result.back();
        resultSpan.add(*with, 0);
      }
      offer(lane ^ *with);
    }
  }

  /// T and the w_i. W and R' have nothing in common.
  void takeLanes() {
    LinearImages registers;
    for (uint32_t vector : common)
      registers.add(vector, 0);
    for (auto [bit, base] : llvm::enumerate(plan.result))
      registers.add(base, 1u << bit);
    for (uint32_t lane : to.lane) {
      takes.push_back(registers.imageOf(lane));
      taken.push_back(lane ^ TileLayout::apply(plan.result, takes.back()));
    }
    plan.takes = choicesOf(takes, {});
  }

  /// S and the s_j.
  void sendLanes() {
    LinearImages registers;
    for (uint32_t vector : common)
      registers.add(vector, 0);
    for (uint32_t lane : from.lane)
      if (!sourceSpan.contains(lane)) // its elements are sent only with constants of rounds
        sourceSpan.add(lane, 0), registers.add(lane, 0);
    for (uint32_t base : plan.source)
      registers.add(base, base);
    for (uint32_t lane : from.lane)
      sent.push_back(lane ^ registers.imageOf(lane));
    // Lanes that tell nothing apart choose what W has of R: a lane that can so keep its elements first.
    LinearImages own; // R
    for (uint32_t base : plan.source)
      own.add(base, 0);
    auto spanOf = [&](ArrayRef<uint32_t> vectors, size_t without) {
      LinearImages span;
      for (auto [bit, vector] : llvm::enumerate(vectors))
        if (bit != without)
          span.add(vector, 0);
      return span;
    };
    auto isIdle = [&](size_t bit) { return spanOf(sent, bit).contains(sent[bit]); };
    for (size_t bit = 0; bit < sent.size(); ++bit)
      if (!spanOf(sent, sent.size()).contains(taken[bit]) && own.contains(taken[bit] ^ from.lane[bit]) && isIdle(bit))
        sent[bit] = taken[bit];
    for (uint32_t vector : taken) {
      LinearImages part; // that no lane tells apart
      for (uint32_t other : sent)
        part.add(other, 0);
      if (part.contains(vector))
        continue;
      for (uint32_t base : plan.source)
        part.add(base, base);
      size_t bit = 0;
      while (!isIdle(bit))
        ++bit;
      sent[bit] ^= part.imageOf(vector);
    }
  }

  /// Lanes and words of every round, and what warps change of them.
  void nameLanes() {
    LinearImages lanes, words;
    for (auto [bit, base] : llvm::enumerate(plan.source))
      words.add(base, 1u << bit);
    LinearImages registers = words;
    for (auto [bit, vector] : llvm::enumerate(sent)) {
      lanes.add(vector, 1u << bit);
      words.add(vector, 1u << (kLaneShift + bit));
    }
    plan.staysInLane = true;
    SmallVector<uint32_t> sends, sendsOfWarp;
    for (size_t bit = 0; bit < sent.size(); ++bit) {
      sends.push_back(registers.imageOf(sent[bit] ^ from.lane[bit]));
      plan.laneOfLane.push_back(taken[bit] == sent[bit] ? 1u << bit : lanes.imageOf(taken[bit]));
      plan.staysInLane &= plan.laneOfLane.back() == 1u << bit;
    }
    constexpr uint32_t kWord = (1u << kLaneShift) - 1;
    for (uint32_t base : plan.result) {
      plan.sourceOfRound.push_back(words.imageOf(base) & kWord);
      plan.laneOfRound.push_back(words.imageOf(base) >> kLaneShift);
    }
    for (auto [own, other] : llvm::zip(from.warp, to.warp)) {
      sendsOfWarp.push_back(words.imageOf(own ^ other) & kWord);
      plan.laneOfWarp.push_back(words.imageOf(own ^ other) >> kLaneShift);
      plan.staysInLane &= plan.laneOfWarp.back() == 0;
    }
    plan.sends = choicesOf(sends, sendsOfWarp);
  }

  const TileLayout &from, &to;
  ShufflePlan plan;
  LinearImages sourceSpan, resultSpan; // W + R, W + R'
  LinearImages held;                   // what a warp has of the source
  unsigned freeLanes = 0, chosenByFreeLanes = 0;
  SmallVector<uint32_t> common;      // W
  SmallVector<uint32_t> takes;       // T
  SmallVector<uint32_t> taken, sent; // w_i, s_j
};
} // namespace

std::optional<ShufflePlan> lower::planShuffles(const TileLayout &from, const TileLayout &to, unsigned elementBytes) {
  if (from.lane.size() != to.lane.size() || from.warp.size() != to.warp.size())
    return std::nullopt;
  // Registers that both sides have fill words, as many as fit: neighbours of the result, which are often those of the source.
  SmallVector<uint32_t> packed;
  LinearImages own, seen;
  for (uint32_t base : from.reg)
    own.add(base, 0);
  for (uint32_t base : to.reg)
    if ((elementBytes << packed.size()) < 4 && own.contains(base) && seen.add(base, 0))
      packed.push_back(base);
  while (true) {
    if (std::optional<ShufflePlan> plan = Planner(from, to, packed).make()) {
      Counter counter;
      Shuffles<char, Counter> shuffles(*plan, counter);
      for (uint32_t number = 0; number < 1u << plan->resultBits; ++number)
        shuffles.word(number);
      unsigned words = elementBytes > 4 ? elementBytes / 4 : 1;
      plan->shuffles = counter.shuffles * words, plan->selects = counter.selects * words;
      return plan;
    }
    if (packed.empty())
      return std::nullopt;
    packed.pop_back();
  }
}
