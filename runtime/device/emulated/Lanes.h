// Loops over the lanes of a warp, and registers as values of a type.
#pragma once
#include "runtime/device/emulated/Warp.h"
#include <bit>
#include <cmath>
#include <cstring>

namespace tk::emulated {

/// A register holds one word a lane.
template <typename T> using Word = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;

template <typename T> inline T fromWord(Word<T> word) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(word);
  else
    return static_cast<T>(word);
}
template <typename T> inline Word<T> toWord(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<Word<T>>(value);
  else
    return static_cast<Word<T>>(static_cast<std::make_unsigned_t<T>>(value));
}

/// f(lane) for every lane of the mask. With all lanes it is a plain loop, which vectorizes: lane i of the result depends on lane i of the operands alone.
template <typename F> [[gnu::always_inline]] inline void forLanes(uint32_t mask, F f) {
  if (mask == ~0u) {
#pragma clang loop vectorize(assume_safety)
    for (int lane = 0; lane < 32; ++lane)
      f(lane);
  } else {
    for (; mask; mask &= mask - 1)
      f(std::countr_zero(mask));
  }
}

/// d = Op(a), with the type of the result R and of the operand A.
template <typename R, typename A, auto Op> void unary(Warp &warp, const Instr &i, uint32_t mask) {
  Word<R> *d = warp.at<Word<R>>(i.d);
  const Word<A> *a = warp.at<Word<A>>(i.a);
  forLanes(mask, [=](int lane) { d[lane] = toWord<R>(Op(fromWord<A>(a[lane]))); });
}
template <typename R, typename A, typename B, auto Op> void binary(Warp &warp, const Instr &i, uint32_t mask) {
  Word<R> *d = warp.at<Word<R>>(i.d);
  const Word<A> *a = warp.at<Word<A>>(i.a);
  const Word<B> *b = warp.at<Word<B>>(i.b);
  forLanes(mask, [=](int lane) { d[lane] = toWord<R>(Op(fromWord<A>(a[lane]), fromWord<B>(b[lane]))); });
}
template <typename R, typename A, typename B, typename C, auto Op> void ternary(Warp &warp, const Instr &i, uint32_t mask) {
  Word<R> *d = warp.at<Word<R>>(i.d);
  const Word<A> *a = warp.at<Word<A>>(i.a);
  const Word<B> *b = warp.at<Word<B>>(i.b);
  const Word<C> *c = warp.at<Word<C>>(i.c);
  forLanes(mask, [=](int lane) { d[lane] = toWord<R>(Op(fromWord<A>(a[lane]), fromWord<B>(b[lane]), fromWord<C>(c[lane]))); });
}

/// f(value of the C++ type) for the integer types; the value's type is what counts.
template <typename F> Handler forInteger(Type type, F f) {
  switch (type) {
  case Type::U8: return f(uint8_t{});
  case Type::S8: return f(int8_t{});
  case Type::B16:
  case Type::U16: return f(uint16_t{});
  case Type::S16: return f(int16_t{});
  case Type::B32:
  case Type::U32: return f(uint32_t{});
  case Type::S32: return f(int32_t{});
  case Type::B64:
  case Type::U64: return f(uint64_t{});
  case Type::S64: return f(int64_t{});
  default: return nullptr;
  }
}

} // namespace tk::emulated
