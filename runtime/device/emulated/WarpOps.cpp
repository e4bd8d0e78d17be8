// Lanes that exchange values: PTX ISA 9.7.9.6 (shfl), 9.7.13.7 to 9.7.13.12 (vote, match, activemask, redux, elect).
#include "runtime/device/emulated/Decoder.h"
#include "runtime/device/emulated/Lanes.h"
#include <fmt/format.h>

namespace tk::emulated {

namespace {

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

// c: bits 4..0 clamp value, 12..8 the mask that keeps a segment's bits of the lane.
void shuffle(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t *d = warp.at<uint32_t>(i.d);
  uint32_t source[32];
  std::memcpy(source, warp.at<uint32_t>(i.a), sizeof(source));
  const uint32_t *b = warp.at<uint32_t>(i.b), *c = warp.at<uint32_t>(i.c);
  uint32_t inRange = 0, result[32];
  forEachLane(mask, [&](int lane) {
    int offset = int(b[lane] & 31), clamp = int(c[lane] & 31), segment = int(c[lane] >> 8 & 31);
    int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment, from = lane;
    bool valid = false;
    switch (Shuffle(i.imm)) {
    case Shuffle::Up:
      from = lane - offset;
      valid = from >= highest;
      break;
    case Shuffle::Down:
      from = lane + offset;
      valid = from <= highest;
      break;
    case Shuffle::Butterfly:
      from = lane ^ offset;
      valid = from <= highest;
      break;
    case Shuffle::Index:
      from = lowest | (offset & ~segment);
      valid = from <= highest;
      break;
    }
    if (!valid)
      from = lane;
    // A lane that does not take part has nothing to give: the ISA leaves the value open, here it is no number that looks right.
    result[lane] = mask >> from & 1 ? source[from] : 0xBAD5BAD5u;
    inRange |= uint32_t(valid) << lane;
  });
  forEachLane(mask, [&](int lane) { d[lane] = result[lane]; });
  if (i.d2 >= 0) {
    uint32_t &p = warp.predicate(i.d2);
    p = (p & ~mask) | inRange;
  }
}

enum class Vote : uint8_t { All, Any, Uniform, Ballot };
void vote(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t p = warp.predicate(i.a);
  if (i.flags)
    p = ~p;
  p &= mask;
  if (Vote(i.imm) == Vote::Ballot) {
    forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = p; });
    return;
  }
  bool outcome = Vote(i.imm) == Vote::All ? p == mask : Vote(i.imm) == Vote::Any ? p != 0 : p == mask || p == 0;
  uint32_t &d = warp.predicate(i.d);
  d = (d & ~mask) | (outcome ? mask : 0);
}

template <typename T> void matchAny(Warp &warp, const Instr &i, uint32_t mask) {
  const T *a = warp.at<T>(i.a);
  uint32_t result[32];
  forEachLane(mask, [&](int lane) {
    result[lane] = 0;
    forEachLane(mask, [&](int other) { result[lane] |= uint32_t(a[other] == a[lane]) << other; });
  });
  forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = result[lane]; });
}
template <typename T> void matchAll(Warp &warp, const Instr &i, uint32_t mask) {
  const T *a = warp.at<T>(i.a);
  T first = a[std::countr_zero(mask)];
  bool all = true;
  forEachLane(mask, [&](int lane) { all &= a[lane] == first; });
  forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = all ? mask : 0; });
  if (i.d2 >= 0) {
    uint32_t &p = warp.predicate(i.d2);
    p = (p & ~mask) | (all ? mask : 0);
  }
}

enum class Reduce : uint8_t { Add, Min, Max, And, Or, Xor };
template <typename T> void reduce(Warp &warp, const Instr &i, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(i.a);
  T result = T(a[std::countr_zero(mask)]);
  forEachLane(mask & (mask - 1), [&](int lane) {
    T x = T(a[lane]);
    switch (Reduce(i.imm)) {
    case Reduce::Add: result = T(uint32_t(result) + uint32_t(x)); break;
    case Reduce::Min: result = std::min(result, x); break;
    case Reduce::Max: result = std::max(result, x); break;
    case Reduce::And: result &= x; break;
    case Reduce::Or: result |= x; break;
    case Reduce::Xor: result ^= x; break;
    }
  });
  forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = uint32_t(result); });
}
// redux.f32 (sm_100a): flags 1 .abs, 2 .NaN.
void reduceFloat(Warp &warp, const Instr &i, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(i.a);
  bool started = false, anyNan = false;
  float result = NAN;
  forEachLane(mask, [&](int lane) {
    float x = std::bit_cast<float>(i.flags & 1 ? a[lane] & 0x7FFFFFFFu : a[lane]);
    if (x != x) {
      anyNan = true;
      return;
    }
    bool better = Reduce(i.imm) == Reduce::Min ? x < result || (x == result && std::signbit(x)) : x > result || (x == result && !std::signbit(x));
    result = !started || better ? x : result;
    started = true;
  });
  uint32_t bits = !started || (anyNan && (i.flags & 2)) ? 0x7FFFFFFFu : std::bit_cast<uint32_t>(result);
  forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = bits; });
}

void activeMask(Warp &warp, const Instr &i, uint32_t mask) {
  forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = mask; });
}
void elect(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t leader = uint32_t(std::countr_zero(mask));
  if (i.d >= 0)
    forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = leader; });
  uint32_t &p = warp.predicate(i.d2);
  p = (p & ~mask) | 1u << leader;
}

/// The membermask is the last operand.
void takeMembers(Decoding &d, size_t operand) {
  if (!d.take("sync"))
    d.fail(".sync is missing");
  d.i.e = d.source(operand, Type::B32);
  d.i.isCollective = true;
  d.i.kind = Class::Warp;
}

} // namespace

void decodeShfl(Decoding &d) {
  d.expectOperands(5, 5);
  takeMembers(d, 4);
  d.i.imm = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (d.i.imm < 0)
    d.fail("the mode is missing");
  Type type = d.takeType();
  bool pair = d.operand(0).kind == Operand::Kind::Pair;
  d.i.d = d.destination(pair ? d.operand(0).parts[0] : d.operand(0), type);
  if (pair)
    d.i.d2 = d.destination(d.operand(0).parts[1], Type::Pred);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, Type::B32);
  d.i.c = d.source(3, Type::B32);
  d.i.run = &shuffle;
}

void decodeVote(Decoding &d) {
  d.expectOperands(3, 3);
  takeMembers(d, 2);
  d.i.imm = d.takeOneOf({"all", "any", "uni", "ballot"});
  Type type = d.takeType();
  if (d.i.imm < 0 || (type == Type::Pred) == (Vote(d.i.imm) == Vote::Ballot))
    d.fail("this combination of types and modifiers is not supported");
  bool negated;
  d.i.d = d.destination(0, type);
  d.i.a = d.predicate(d.operand(1), negated);
  d.i.flags = negated;
  d.i.run = &vote;
}

void decodeMatch(Decoding &d) {
  d.expectOperands(3, 3);
  takeMembers(d, 2);
  int all = d.takeOneOf({"any", "all"});
  Type type = d.takeType();
  bool pair = d.operand(0).kind == Operand::Kind::Pair;
  if (all < 0 || (pair && !all))
    d.fail("one of .any .all is missing, or a predicate stands with .any");
  d.i.d = d.destination(pair ? d.operand(0).parts[0] : d.operand(0), Type::B32);
  if (pair)
    d.i.d2 = d.destination(d.operand(0).parts[1], Type::Pred);
  d.i.a = d.source(1, type);
  if (registerBytes(type) == 8)
    d.i.run = all ? &matchAll<uint64_t> : &matchAny<uint64_t>;
  else
    d.i.run = all ? &matchAll<uint32_t> : &matchAny<uint32_t>;
}

void decodeRedux(Decoding &d) {
  d.expectOperands(3, 3);
  takeMembers(d, 2);
  d.i.imm = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  if (d.i.imm < 0)
    d.fail("the operation is missing");
  d.i.flags = (d.take("abs") ? 1u : 0u) | (d.take("NaN") ? 2u : 0u);
  Type type = d.takeType();
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  if (type == Type::F32)
    d.i.run = d.i.imm == 1 || d.i.imm == 2 ? &reduceFloat : nullptr;
  else
    d.i.run = type == Type::S32 ? &reduce<int32_t> : type == Type::U32 || type == Type::B32 ? &reduce<uint32_t> : nullptr;
  if (!d.i.run)
    d.fail("this combination of types and modifiers is not supported");
}

void decodeActivemask(Decoding &d) {
  d.takeType();
  d.expectOperands(1, 1);
  d.i.kind = Class::Warp;
  d.i.d = d.destination(0, Type::B32);
  d.i.run = &activeMask;
}

void decodeElect(Decoding &d) {
  d.expectOperands(2, 2);
  takeMembers(d, 1);
  const Operand &to = d.operand(0);
  if (to.kind != Operand::Kind::Pair)
    d.fail("a register and a predicate belong here");
  if (to.parts[0].kind != Operand::Kind::Sink)
    d.i.d = d.destination(to.parts[0], Type::B32);
  d.i.d2 = d.destination(to.parts[1], Type::Pred);
  d.i.run = &elect;
}

} // namespace tk::emulated
