// A layout conversion within each warp, by shuffles: which word a lane sends in which round, and what becomes of it.
//
// A round gives every lane one word of another lane, but that lane sends one word only, whoever asks. The plan is linear over F2, like the layouts: lane l,
// warp w, round u.
//
//   lane l takes                    from lane        e = of(u) ^ D l ^ (warp)
//   the source's word               number           a(u) ^ S e ^ (warp)            chosen by who sends
//   as its own word                 number           u ^ T l                        chosen by who takes
//
// S and T are what makes any conversion within warps possible in rounds: where a bit of the lane and a bit of the register number change places, half of the
// lanes must send one register when the others send another one. Each independent bit of S (and of T) costs a select a word. Example, the transposition of the
// tile of 2 lanes with 2 words each:
//
//   lane 0: x0 x1      lane 0: x0 y0        S = T = 1: in round 0 both lanes keep the word of their own number, in round 1 they exchange the other one.
//   lane 1: y0 y1  ->  lane 1: x1 y1        One shuffle and four selects, and no shared memory.
#pragma once
#include "dialects/ttg/TileLayout.h"
#include <map>
#include <optional>

namespace tk::lower {

struct ShufflePlan {
  /// Images (as index) of the registers that one 32-bit word holds, lowest first: both sides have them.
  llvm::SmallVector<uint32_t> packed;
  /// Images of the bits of the source's word number and of the result's. The last bits of the latter may be nobody's: rounds that bring more than is wanted.
  llvm::SmallVector<uint32_t> source, result;
  unsigned resultBits = 0; // that are somebody's

  /// XOR of a constant over the words whose number is counted: `vector`, where the parity of the thread's masked number is odd.
  struct Choice {
    uint32_t vector, lanes, warps;
  };
  llvm::SmallVector<Choice> sends, takes; // S and T, one for each independent bit
  /// The lane that is read, of each bit of the round, lane and warp number; the source's word, of each bit of the round.
  llvm::SmallVector<uint32_t> laneOfRound, laneOfLane, laneOfWarp, sourceOfRound;
  /// A round of lane 0 reads the own lane: laneOfLane is the identity, and there is no laneOfWarp.
  bool staysInLane = false;

  unsigned shuffles = 0, selects = 0; // of 32 bits
  bool reads(uint32_t round) const { return !staysInLane || ttg::TileLayout::apply(laneOfRound, round); }
};

/// Null where an element comes from another warp. The two layouts have the same index.
std::optional<ShufflePlan> planShuffles(const ttg::TileLayout &from, const ttg::TileLayout &to, unsigned elementBytes);

/// The steps of a plan, in terms of a machine with
///   Value source(uint32_t word)
///   Value select(const ShufflePlan::Choice &choice, Value odd, Value even)
///   Value shuffle(Value value, uint32_t round)
/// The lowering, the count of what a plan costs and its proof (test/unit/lower) are such machines. Nothing is done twice, and nothing that no word needs.
template <class Value, class Machine> class Shuffles {
public:
  Shuffles(const ShufflePlan &plan, Machine &machine) : plan(plan), machine(machine) {}
  /// Word `number` of the result.
  Value word(uint32_t number) { return taken(plan.takes.size(), number); }

private:
  template <class Make> Value once(std::map<std::pair<size_t, uint32_t>, Value> &made, size_t step, uint32_t number, Make make) {
    if (auto found = made.find({step, number}); found != made.end())
      return found->second;
    Value value = make();
    made.emplace(std::pair(step, number), value);
    return value;
  }
  Value taken(size_t step, uint32_t number) {
    return once(takes, step, number, [&] {
      if (step == 0)
        return round(number);
      const ShufflePlan::Choice &choice = plan.takes[step - 1];
      Value odd = taken(step - 1, number ^ choice.vector), even = taken(step - 1, number);
      return machine.select(choice, odd, even);
    });
  }
  Value round(uint32_t number) {
    Value value = sent(plan.sends.size(), ttg::TileLayout::apply(plan.sourceOfRound, number));
    return plan.reads(number) ? machine.shuffle(value, number) : value;
  }
  Value sent(size_t step, uint32_t number) {
    return once(sends, step, number, [&] {
      if (step == 0)
        return machine.source(number);
      const ShufflePlan::Choice &choice = plan.sends[step - 1];
      Value odd = sent(step - 1, number ^ choice.vector), even = sent(step - 1, number);
      return machine.select(choice, odd, even);
    });
  }

  const ShufflePlan &plan;
  Machine &machine;
  std::map<std::pair<size_t, uint32_t>, Value> takes, sends;
};

} // namespace tk::lower
