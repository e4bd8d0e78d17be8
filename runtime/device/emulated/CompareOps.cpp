// Comparison and selection: PTX ISA 9.7.6 and, for halves, 9.7.7.
#include "runtime/device/emulated/FloatOps.h"
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/NumberFormats.h"
#include <fmt/format.h>

namespace tk::emulated {

namespace {

enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <Compare C, typename T> bool compare(T a, T b) {
  // The unordered forms also hold when an operand is NaN; `ne` of NaN is false.
  if constexpr (C == Compare::Eq)
    return a == b;
  else if constexpr (C == Compare::Ne)
    return a < b || a > b;
  else if constexpr (C == Compare::Lt)
    return a < b;
  else if constexpr (C == Compare::Le)
    return a <= b;
  else if constexpr (C == Compare::Gt)
    return a > b;
  else if constexpr (C == Compare::Ge)
    return a >= b;
  else if constexpr (C == Compare::Equ)
    return !(a < b || a > b);
  else if constexpr (C == Compare::Neu)
    return !(a == b);
  else if constexpr (C == Compare::Ltu)
    return !(a >= b);
  else if constexpr (C == Compare::Leu)
    return !(a > b);
  else if constexpr (C == Compare::Gtu)
    return !(a <= b);
  else if constexpr (C == Compare::Geu)
    return !(a < b);
  else if constexpr (C == Compare::Num)
    return a == a && b == b;
  else
    return a != a || b != b;
}

// How the result combines with predicate c, and which lanes of p and q it goes to.
enum SetpFlags : uint32_t { combineShift = 0, negatesC = 4, flush = 8 };

template <typename T, Compare C> uint32_t compareLanes(Warp &warp, const Instr &i, uint32_t mask) {
  const Word<T> *a = warp.at<Word<T>>(i.a), *b = warp.at<Word<T>>(i.b);
  uint32_t result = 0;
  auto value = [&](Word<T> word) {
    T x = fromWord<T>(word);
    if constexpr (std::is_same_v<T, float>)
      if (i.flags & flush)
        x = std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
    return x;
  };
  if (mask == ~0u) {
    for (int lane = 0; lane < 32; ++lane)
      result |= uint32_t(compare<C>(value(a[lane]), value(b[lane]))) << lane;
  } else {
    forEachLane(mask, [&](int lane) { result |= uint32_t(compare<C>(value(a[lane]), value(b[lane]))) << lane; });
  }
  return result;
}

// Halves are compared as floats; a pair gives two results.
template <bool Brain, bool Pair, Compare C> uint32_t compareHalves(Warp &warp, const Instr &i, uint32_t mask, uint32_t &high) {
  const uint32_t *a = warp.at<uint32_t>(i.a), *b = warp.at<uint32_t>(i.b);
  uint32_t low = 0;
  high = 0;
  auto value = [&](uint32_t word) {
    uint16_t bits = uint16_t(word);
    if ((i.flags & flush) && !(bits & (Brain ? 0x7F80 : 0x7C00)))
      bits &= 0x8000;
    return Brain ? bfloatToFloat(bits) : halfToFloat(bits);
  };
  forEachLane(mask, [&](int lane) {
    low |= uint32_t(compare<C>(value(a[lane]), value(b[lane]))) << lane;
    if (Pair)
      high |= uint32_t(compare<C>(value(a[lane] >> 16), value(b[lane] >> 16))) << lane;
  });
  return low;
}

// p takes result op c, q takes !result op c.
uint32_t combine(uint32_t flags, uint32_t result, uint32_t c) {
  switch (flags & 3) {
  case 1: return result & c;
  case 2: return result | c;
  case 3: return result ^ c;
  default: return result;
  }
}
void writePredicates(Warp &warp, const Instr &i, uint32_t mask, uint32_t first, uint32_t second) {
  uint32_t c = i.c < 0 ? 0 : warp.predicate(i.c);
  if (i.flags & negatesC)
    c = ~c;
  uint32_t &p = warp.predicate(i.d);
  p = (p & ~mask) | (combine(i.flags, first, c) & mask);
  if (i.d2 >= 0) {
    uint32_t &q = warp.predicate(i.d2);
    q = (q & ~mask) | (combine(i.flags, second, c) & mask);
  }
}

template <typename T, Compare C> void setp(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t result = compareLanes<T, C>(warp, i, mask);
  writePredicates(warp, i, mask, result, ~result);
}
template <bool Brain, bool Pair, Compare C> void setpHalf(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t high, low = compareHalves<Brain, Pair, C>(warp, i, mask, high);
  writePredicates(warp, i, mask, low, Pair ? high : ~low);
}

// set: all ones or 1.0 per lane, by i.imm (the value of true in each half or word).
void writeSet(Warp &warp, const Instr &i, uint32_t mask, uint32_t low, uint32_t high, bool pair) {
  uint32_t c = i.c < 0 ? 0 : warp.predicate(i.c);
  if (i.flags & negatesC)
    c = ~c;
  low = combine(i.flags, low, c);
  high = combine(i.flags, high, c);
  uint32_t *d = warp.at<uint32_t>(i.d);
  uint32_t yes = uint32_t(i.imm);
  forEachLane(mask, [&](int lane) {
    uint32_t value = low >> lane & 1 ? (pair ? yes & 0xFFFF : yes) : 0;
    if (pair && (high >> lane & 1))
      value |= yes & 0xFFFF0000;
    d[lane] = value;
  });
}
template <typename T, Compare C> void set(Warp &warp, const Instr &i, uint32_t mask) { writeSet(warp, i, mask, compareLanes<T, C>(warp, i, mask), 0, false); }
template <bool Brain, bool Pair, Compare C> void setHalf(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t high, low = compareHalves<Brain, Pair, C>(warp, i, mask, high);
  writeSet(warp, i, mask, low, high, Pair);
}

template <Compare C> Handler handlerFor(Type type, bool isSetp) {
  constexpr bool forIntegers = C <= Compare::Ge;
  switch (type) {
  case Type::F32: return isSetp ? &setp<float, C> : &set<float, C>;
  case Type::F64: return isSetp ? &setp<double, C> : &set<double, C>;
  case Type::F16: return isSetp ? &setpHalf<false, false, C> : &setHalf<false, false, C>;
  case Type::F16x2: return isSetp ? &setpHalf<false, true, C> : &setHalf<false, true, C>;
  case Type::BF16: return isSetp ? &setpHalf<true, false, C> : &setHalf<true, false, C>;
  case Type::BF16x2: return isSetp ? &setpHalf<true, true, C> : &setHalf<true, true, C>;
  default: break;
  }
  if constexpr (forIntegers)
    return forInteger(type, [&](auto x) -> Handler { return isSetp ? &setp<decltype(x), C> : &set<decltype(x), C>; });
  return nullptr;
}

Handler handlerOf(Compare compare, Type type, bool isSetp) {
  switch (compare) {
  case Compare::Eq: return handlerFor<Compare::Eq>(type, isSetp);
  case Compare::Ne: return handlerFor<Compare::Ne>(type, isSetp);
  case Compare::Lt:
  case Compare::Lo: return handlerFor<Compare::Lt>(type, isSetp);
  case Compare::Le:
  case Compare::Ls: return handlerFor<Compare::Le>(type, isSetp);
  case Compare::Gt:
  case Compare::Hi: return handlerFor<Compare::Gt>(type, isSetp);
  case Compare::Ge:
  case Compare::Hs: return handlerFor<Compare::Ge>(type, isSetp);
  case Compare::Equ: return handlerFor<Compare::Equ>(type, isSetp);
  case Compare::Neu: return handlerFor<Compare::Neu>(type, isSetp);
  case Compare::Ltu: return handlerFor<Compare::Ltu>(type, isSetp);
  case Compare::Leu: return handlerFor<Compare::Leu>(type, isSetp);
  case Compare::Gtu: return handlerFor<Compare::Gtu>(type, isSetp);
  case Compare::Geu: return handlerFor<Compare::Geu>(type, isSetp);
  case Compare::Num: return handlerFor<Compare::Num>(type, isSetp);
  case Compare::Nan: return handlerFor<Compare::Nan>(type, isSetp);
  }
  return nullptr;
}

Compare takeCompare(Decoding &d) {
  int which = d.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (which < 0)
    d.fail("the comparison is missing");
  return Compare(which);
}

/// The operands and modifiers that setp and set share; the result's operand is the caller's.
void takeCombine(Decoding &d, int combineWith, Type type) {
  d.i.kind = Class::Compare;
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, type);
  d.i.flags |= uint32_t(combineWith + 1) << combineShift;
  d.expectOperands(combineWith >= 0 ? 4 : 3, combineWith >= 0 ? 4 : 3);
  if (combineWith >= 0) {
    bool negated;
    d.i.c = d.predicate(d.operand(3), negated);
    d.i.flags |= negated ? negatesC : 0u;
  }
}

template <typename T> void select(Warp &warp, const Instr &i, uint32_t mask) {
  Word<T> *d = warp.at<Word<T>>(i.d);
  const Word<T> *a = warp.at<Word<T>>(i.a), *b = warp.at<Word<T>>(i.b);
  uint32_t p = warp.predicate(i.c);
  if (i.flags & negatesC)
    p = ~p;
  forLanes(mask, [=](int lane) { d[lane] = p >> lane & 1 ? a[lane] : b[lane]; });
}
void selectWide(Warp &warp, const Instr &i, uint32_t mask) {
  uint64_t *d = warp.at<uint64_t>(i.d);
  const uint64_t *a = warp.at<uint64_t>(i.a), *b = warp.at<uint64_t>(i.b);
  uint32_t p = warp.predicate(i.c);
  forEachLane(mask, [=](int lane) {
    const uint64_t *from = p >> lane & 1 ? a : b;
    uint64_t low = from[lane * 2], high = from[lane * 2 + 1];
    d[lane * 2] = low;
    d[lane * 2 + 1] = high;
  });
}

} // namespace

void decodeSetp(Decoding &d) {
  Compare compare = takeCompare(d);
  int combineWith = d.takeOneOf({"and", "or", "xor"});
  if (d.take("ftz"))
    d.i.flags |= flush;
  Type type = d.takeType();
  bool pair = d.operand(0).kind == Operand::Kind::Pair;
  d.i.d = d.destination(pair ? d.operand(0).parts[0] : d.operand(0), Type::Pred);
  if (pair)
    d.i.d2 = d.destination(d.operand(0).parts[1], Type::Pred);
  takeCombine(d, combineWith, type);
  d.i.run = handlerOf(compare, type, true);
}

void decodeSet(Decoding &d) {
  Compare compare = takeCompare(d);
  int combineWith = d.takeOneOf({"and", "or", "xor"});
  if (d.take("ftz"))
    d.i.flags |= flush;
  Type result = d.takeType(), type = d.takeType();
  d.i.d = d.destination(0, result);
  takeCombine(d, combineWith, type);
  switch (result) {
  case Type::F32: d.i.imm = 0x3F800000; break;
  case Type::F16: d.i.imm = 0x3C00; break;
  case Type::F16x2: d.i.imm = 0x3C003C00; break;
  case Type::BF16: d.i.imm = 0x3F80; break;
  case Type::BF16x2: d.i.imm = 0x3F803F80; break;
  case Type::U16:
  case Type::S16: d.i.imm = 0xFFFF; break;
  default: d.i.imm = 0xFFFFFFFF;
  }
  d.i.run = handlerOf(compare, type, false);
}

void decodeSelp(Decoding &d) {
  Type type = d.takeType();
  d.expectOperands(4, 4);
  d.i.kind = Class::Compare;
  bool negated;
  if (type == Type::Pred)
    d.fail("selp takes no predicates");
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, type);
  d.i.c = d.predicate(d.operand(3), negated);
  d.i.flags = negated ? negatesC : 0u;
  d.i.run = registerBytes(type) == 16 ? &selectWide : registerBytes(type) == 8 ? &select<uint64_t> : &select<uint32_t>;
}

// slct: a when c >= 0 (NaN is not), else b.
template <typename T, typename C> static void selectBySign(Warp &warp, const Instr &i, uint32_t mask) {
  Word<T> *d = warp.at<Word<T>>(i.d);
  const Word<T> *a = warp.at<Word<T>>(i.a), *b = warp.at<Word<T>>(i.b);
  const uint32_t *c = warp.at<uint32_t>(i.c);
  forEachLane(mask, [&](int lane) { d[lane] = fromWord<C>(c[lane]) >= 0 ? a[lane] : b[lane]; });
}
void decodeSlct(Decoding &d) {
  d.take("ftz"); // a flushed number has the same sign, and zero is not negative
  Type type = d.takeType(), by = d.takeType();
  d.expectOperands(4, 4);
  d.i.kind = Class::Compare;
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, type);
  d.i.c = d.source(3, by);
  if (by == Type::F32)
    d.i.run = registerBytes(type) == 8 ? &selectBySign<uint64_t, float> : &selectBySign<uint32_t, float>;
  else if (by == Type::S32)
    d.i.run = registerBytes(type) == 8 ? &selectBySign<uint64_t, int32_t> : &selectBySign<uint32_t, int32_t>;
}

} // namespace tk::emulated
