// Integer arithmetic: PTX ISA 9.7.1 and 9.7.2.
#include "runtime/device/emulated/FloatOps.h"
#include "runtime/device/emulated/Lanes.h"

namespace tk::emulated {

namespace {

template <typename T> using Wide =
    std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>,
                       std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                          std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                                             std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>>;
template <typename T> using Unsigned = std::make_unsigned_t<T>;

template <typename T> T saturatedAdd(T a, T b) {
  T sum;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()) : sum;
}
template <typename T> T saturatedSub(T a, T b) {
  T difference;
  return __builtin_sub_overflow(a, b, &difference) ? (b < 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min()) : difference;
}
template <typename T> T highMul(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (sizeof(T) * 8)); }
template <typename T> T lowMul(T a, T b) { return T(Unsigned<Wide<T>>(a) * Unsigned<Wide<T>>(b)); }
template <> uint64_t lowMul(uint64_t a, uint64_t b) { return a * b; }
template <> int64_t lowMul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
template <typename T> T sum(T a, T b) { return T(Unsigned<T>(Unsigned<T>(a) + Unsigned<T>(b))); }
template <typename T> T difference(T a, T b) { return T(Unsigned<T>(Unsigned<T>(a) - Unsigned<T>(b))); }

// Division by zero gives all ones (as hardware does; the ISA leaves it open); the most negative number by -1 gives itself.
template <typename T> T quotient(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if (std::is_signed_v<T> && b == T(-1))
    return T(Unsigned<T>(0) - Unsigned<T>(a));
  return T(a / b);
}
template <typename T> T remainder(T a, T b) {
  if (b == 0)
    return a;
  if (std::is_signed_v<T> && b == T(-1))
    return 0;
  return T(a % b);
}

/// The two 16-bit halves on their own.
template <typename T, auto Op> uint32_t eachHalf(uint32_t a, uint32_t b) {
  return uint32_t(uint16_t(Op(T(uint16_t(a)), T(uint16_t(b))))) | uint32_t(uint16_t(Op(T(uint16_t(a >> 16)), T(uint16_t(b >> 16))))) << 16;
}

// The carry flag CC.CF of extended-precision arithmetic is one predicate a warp, in a register of the function (Decoder).
enum CarryFlags : uint32_t { takesCarry = 1, givesCarry = 2, subtracts = 4 };

template <typename T> void carry(Warp &warp, const Instr &i, uint32_t mask) {
  Word<T> *d = warp.at<Word<T>>(i.d);
  const Word<T> *a = warp.at<Word<T>>(i.a), *b = warp.at<Word<T>>(i.b);
  uint32_t &flag = warp.predicate(i.e);
  uint32_t in = i.flags & takesCarry ? flag : 0, out = 0;
  forEachLane(mask, [&](int lane) {
    T x = T(a[lane]), y = T(b[lane]);
    unsigned __int128 wide;
    bool carryIn = in >> lane & 1;
    if (i.flags & subtracts) {
      wide = (unsigned __int128)(x)-y - carryIn;
      out |= uint32_t(wide >> 127 & 1) << lane; // a borrow
    } else {
      wide = (unsigned __int128)(x) + y + carryIn;
      out |= uint32_t(wide >> (sizeof(T) * 8) & 1) << lane;
    }
    d[lane] = T(wide);
  });
  if (i.flags & givesCarry)
    flag = (flag & ~mask) | out;
}

// mad.{hi,lo}.cc and madc: the product's half plus c, plus the carry.
template <typename T, bool High> void carryMad(Warp &warp, const Instr &i, uint32_t mask) {
  Word<T> *d = warp.at<Word<T>>(i.d);
  const Word<T> *a = warp.at<Word<T>>(i.a), *b = warp.at<Word<T>>(i.b), *c = warp.at<Word<T>>(i.c);
  uint32_t &flag = warp.predicate(i.e);
  uint32_t in = i.flags & takesCarry ? flag : 0, out = 0;
  forEachLane(mask, [&](int lane) {
    Unsigned<T> product = Unsigned<T>(High ? highMul<T>(T(a[lane]), T(b[lane])) : lowMul<T>(T(a[lane]), T(b[lane])));
    unsigned __int128 wide = (unsigned __int128)(product) + Unsigned<T>(T(c[lane])) + (in >> lane & 1);
    out |= uint32_t(wide >> (sizeof(T) * 8) & 1) << lane;
    d[lane] = Unsigned<T>(wide);
  });
  if (i.flags & givesCarry)
    flag = (flag & ~mask) | out;
}

void decodeCarry(Decoding &d, bool takes, bool subtract) {
  bool gives = d.take("cc");
  Type type = d.takeType();
  d.takeOperands(Class::Integer, type, 2);
  d.i.e = d.carryFlag();
  d.i.flags = (takes ? takesCarry : 0u) | (gives ? givesCarry : 0u) | (subtract ? subtracts : 0u);
  d.i.run = type == Type::U32 || type == Type::S32 ? &carry<uint32_t> : type == Type::U64 || type == Type::S64 ? &carry<uint64_t> : nullptr;
}

void decodeMultiply(Decoding &d, Type type, bool adds, bool takes) {
  int part = d.takeOneOf({"lo", "hi", "wide"});
  bool gives = d.take("cc"), saturates = d.take("sat");
  d.i.kind = Class::Integer;
  if (part < 0)
    d.fail("one of .lo .hi .wide is missing");
  if (part == 2) {
    Type wide = type == Type::U16 ? Type::U32 : type == Type::S16 ? Type::S32 : type == Type::U32 ? Type::U64 : type == Type::S32 ? Type::S64 : Type::None;
    if (wide == Type::None)
      d.fail("there is no .wide of this type");
    d.expectOperands(adds ? 4 : 3, adds ? 4 : 3);
    d.i.d = d.destination(0, wide);
    d.i.a = d.source(1, type);
    d.i.b = d.source(2, type);
    if (adds)
      d.i.c = d.source(3, wide);
    d.i.run = forInteger(type, [&](auto x) -> Handler {
      using T = decltype(x);
      using W = Wide<T>;
      if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
        if (adds)
          return &ternary<W, T, T, W, [](T a, T b, W c) { return sum<W>(W(Unsigned<W>(a) * Unsigned<W>(b)), c); }>;
        return &binary<W, T, T, [](T a, T b) { return W(Unsigned<W>(a) * Unsigned<W>(b)); }>;
      }
      return nullptr;
    });
    return;
  }
  d.takeOperands(Class::Integer, type, adds ? 3 : 2);
  if (gives || takes) {
    d.i.e = d.carryFlag();
    d.i.flags = (takes ? takesCarry : 0u) | (gives ? givesCarry : 0u);
    d.i.run = forInteger(type, [&](auto x) -> Handler {
      using T = decltype(x);
      if constexpr (sizeof(T) >= 4)
        return part == 1 ? &carryMad<T, true> : &carryMad<T, false>;
      return nullptr;
    });
    return;
  }
  if (saturates) { // mad.hi.sat.s32
    if (!adds || part != 1 || type != Type::S32)
      d.fail("only mad.hi.sat.s32 saturates");
    d.i.run = &ternary<int32_t, int32_t, int32_t, int32_t, [](int32_t a, int32_t b, int32_t c) { return saturatedAdd(highMul(a, b), c); }>;
    return;
  }
  d.i.run = forInteger(type, [&](auto x) -> Handler {
    using T = decltype(x);
    if constexpr (sizeof(T) >= 2) {
      if (adds)
        return part == 1 ? &ternary<T, T, T, T, [](T a, T b, T c) { return sum<T>(highMul<T>(a, b), c); }>
                         : &ternary<T, T, T, T, [](T a, T b, T c) { return sum<T>(lowMul<T>(a, b), c); }>;
      return part == 1 ? &binary<T, T, T, highMul<T>> : &binary<T, T, T, lowMul<T>>;
    }
    return nullptr;
  });
}

// 24-bit factors, 48-bit product: bits 47..16 or 31..0.
template <typename T, bool High> T mul24(T a, T b) {
  using W = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  W x = std::is_signed_v<T> ? W(int32_t(uint32_t(a) << 8) >> 8) : W(uint32_t(a) & 0xFFFFFF);
  W y = std::is_signed_v<T> ? W(int32_t(uint32_t(b) << 8) >> 8) : W(uint32_t(b) & 0xFFFFFF);
  return T(High ? (x * y) >> 16 : x * y);
}

void decode24(Decoding &d, bool adds) {
  int part = d.takeOneOf({"lo", "hi"});
  bool saturates = d.take("sat");
  Type type = d.takeType();
  d.takeOperands(Class::Integer, type, adds ? 3 : 2);
  if (part < 0)
    d.fail("one of .lo .hi is missing");
  auto choose = [&](auto x) -> Handler {
    using T = decltype(x);
    if (!adds)
      return part ? &binary<T, T, T, mul24<T, true>> : &binary<T, T, T, mul24<T, false>>;
    if (saturates) {
      if constexpr (std::is_signed_v<T>)
        return part ? &ternary<T, T, T, T, [](T a, T b, T c) { return saturatedAdd(mul24<T, true>(a, b), c); }> : Handler(nullptr);
      return nullptr;
    }
    return part ? &ternary<T, T, T, T, [](T a, T b, T c) { return sum<T>(mul24<T, true>(a, b), c); }>
                : &ternary<T, T, T, T, [](T a, T b, T c) { return sum<T>(mul24<T, false>(a, b), c); }>;
  };
  d.i.run = type == Type::S32 ? choose(int32_t{}) : type == Type::U32 ? choose(uint32_t{}) : nullptr;
}

template <typename A, typename B> uint32_t dot4(uint32_t a, uint32_t b, uint32_t c) {
  for (int k = 0; k < 4; ++k)
    c += uint32_t(int32_t(A(a >> (8 * k))) * int32_t(B(b >> (8 * k))));
  return c;
}
// Two 16-bit halves of a with two bytes of b, the low or the high pair.
template <typename A, typename B, bool High> uint32_t dot2(uint32_t a, uint32_t b, uint32_t c) {
  for (int k = 0; k < 2; ++k)
    c += uint32_t(int32_t(A(a >> (16 * k))) * int32_t(B(b >> (8 * k + (High ? 16 : 0)))));
  return c;
}

} // namespace

void decodeAdd(Decoding &d) {
  bool gives = d.take("cc");
  bool saturates = d.take("sat");
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloatAdd(d, type, saturates, false);
  if (gives) {
    d.takeOperands(Class::Integer, type, 2);
    d.i.e = d.carryFlag();
    d.i.flags = givesCarry;
    d.i.run = registerBytes(type) == 8 ? &carry<uint64_t> : registerBytes(type) == 4 && bytesOf(type) == 4 ? &carry<uint32_t> : nullptr;
    return;
  }
  d.takeOperands(Class::Integer, type, 2);
  if (type == Type::U16x2 || type == Type::S16x2)
    d.i.run = &binary<uint32_t, uint32_t, uint32_t, eachHalf<uint16_t, sum<uint16_t>>>;
  else if (saturates)
    d.i.run = type == Type::S32 ? &binary<int32_t, int32_t, int32_t, saturatedAdd<int32_t>> : nullptr;
  else
    d.i.run = forInteger(type, [](auto x) -> Handler { return &binary<decltype(x), decltype(x), decltype(x), sum<decltype(x)>>; });
}

void decodeSub(Decoding &d) {
  bool gives = d.take("cc");
  bool saturates = d.take("sat");
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloatAdd(d, type, saturates, true);
  d.takeOperands(Class::Integer, type, 2);
  if (gives) {
    d.i.e = d.carryFlag();
    d.i.flags = givesCarry | subtracts;
    d.i.run = registerBytes(type) == 8 ? &carry<uint64_t> : registerBytes(type) == 4 && bytesOf(type) == 4 ? &carry<uint32_t> : nullptr;
  } else if (saturates) {
    d.i.run = type == Type::S32 ? &binary<int32_t, int32_t, int32_t, saturatedSub<int32_t>> : nullptr;
  } else {
    d.i.run = forInteger(type, [](auto x) -> Handler { return &binary<decltype(x), decltype(x), decltype(x), difference<decltype(x)>>; });
  }
}

void decodeAddc(Decoding &d) { decodeCarry(d, true, false); }
void decodeSubc(Decoding &d) { decodeCarry(d, true, true); }

void decodeMul(Decoding &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloatMul(d, type);
  decodeMultiply(d, type, false, false);
}
void decodeMad(Decoding &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloatFma(d, type);
  decodeMultiply(d, type, true, false);
}
void decodeMadc(Decoding &d) {
  Type type = d.takeType();
  decodeMultiply(d, type, true, true);
}
void decodeMul24(Decoding &d) { decode24(d, false); }
void decodeMad24(Decoding &d) { decode24(d, true); }

void decodeSad(Decoding &d) {
  Type type = d.takeType();
  d.takeOperands(Class::Integer, type, 3);
  d.i.run = forInteger(type, [](auto x) -> Handler {
    using T = decltype(x);
    return &ternary<T, T, T, T, [](T a, T b, T c) { return sum<T>(c, a < b ? difference<T>(b, a) : difference<T>(a, b)); }>;
  });
}

void decodeDiv(Decoding &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloatDiv(d, type);
  d.takeOperands(Class::Integer, type, 2);
  d.i.run = forInteger(type, [](auto x) -> Handler { return &binary<decltype(x), decltype(x), decltype(x), quotient<decltype(x)>>; });
}

void decodeRem(Decoding &d) {
  Type type = d.takeType();
  d.takeOperands(Class::Integer, type, 2);
  d.i.run = forInteger(type, [](auto x) -> Handler { return &binary<decltype(x), decltype(x), decltype(x), remainder<decltype(x)>>; });
}

void decodeAbs(Decoding &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloatSign(d, type, true);
  d.takeOperands(Class::Integer, type, 1);
  if (!isSigned(type))
    d.fail("abs takes signed types");
  d.i.run = forInteger(type, [](auto x) -> Handler {
    using T = decltype(x);
    return &unary<T, T, [](T a) { return a < 0 ? difference<T>(0, a) : a; }>;
  });
}

void decodeNeg(Decoding &d) {
  Type type = d.takeType();
  if (isFloat(type))
    return decodeFloatSign(d, type, false);
  d.takeOperands(Class::Integer, type, 1);
  d.i.run = forInteger(type, [](auto x) -> Handler {
    using T = decltype(x);
    return &unary<T, T, [](T a) { return difference<T>(0, a); }>;
  });
}

static void decodeIntegerExtreme(Decoding &d, Type type, bool wantsMax) {
  bool relu = d.take("relu");
  d.takeOperands(Class::Integer, type, 2);
  auto pick = [&](auto x) -> Handler {
    using T = decltype(x);
    if (relu) {
      if constexpr (std::is_same_v<T, int32_t>)
        return wantsMax ? &binary<T, T, T, [](T a, T b) { return std::max(std::max(a, b), 0); }>
                        : &binary<T, T, T, [](T a, T b) { return std::max(std::min(a, b), 0); }>;
      return nullptr;
    }
    return wantsMax ? &binary<T, T, T, [](T a, T b) { return std::max(a, b); }> : &binary<T, T, T, [](T a, T b) { return std::min(a, b); }>;
  };
  auto halves = [&](auto x) -> Handler {
    using T = decltype(x);
    using U = uint32_t;
    if (relu)
      return wantsMax ? &binary<U, U, U, eachHalf<T, [](T a, T b) { return std::max(std::max(a, b), T(0)); }>>
                      : &binary<U, U, U, eachHalf<T, [](T a, T b) { return std::max(std::min(a, b), T(0)); }>>;
    return wantsMax ? &binary<U, U, U, eachHalf<T, [](T a, T b) { return std::max(a, b); }>>
                    : &binary<U, U, U, eachHalf<T, [](T a, T b) { return std::min(a, b); }>>;
  };
  d.i.run = type == Type::U16x2 ? halves(uint16_t{}) : type == Type::S16x2 ? halves(int16_t{}) : forInteger(type, pick);
}

void decodeMin(Decoding &d) {
  Type type = d.takeType();
  isFloat(type) ? decodeFloatExtreme(d, type, false) : decodeIntegerExtreme(d, type, false);
}
void decodeMax(Decoding &d) {
  Type type = d.takeType();
  isFloat(type) ? decodeFloatExtreme(d, type, true) : decodeIntegerExtreme(d, type, true);
}

void decodeDp4a(Decoding &d) {
  Type a = d.takeType(), b = d.takeType();
  d.takeOperands(Class::Integer, Type::B32, 3);
  if (isSigned(a))
    d.i.run = isSigned(b) ? &ternary<uint32_t, uint32_t, uint32_t, uint32_t, dot4<int8_t, int8_t>>
                          : &ternary<uint32_t, uint32_t, uint32_t, uint32_t, dot4<int8_t, uint8_t>>;
  else
    d.i.run = isSigned(b) ? &ternary<uint32_t, uint32_t, uint32_t, uint32_t, dot4<uint8_t, int8_t>>
                          : &ternary<uint32_t, uint32_t, uint32_t, uint32_t, dot4<uint8_t, uint8_t>>;
}

void decodeDp2a(Decoding &d) {
  int part = d.takeOneOf({"lo", "hi"});
  Type a = d.takeType(), b = d.takeType();
  d.takeOperands(Class::Integer, Type::B32, 3);
  auto choose = [&](auto x, auto y) -> Handler {
    return part == 1 ? &ternary<uint32_t, uint32_t, uint32_t, uint32_t, dot2<decltype(x), decltype(y), true>>
                     : &ternary<uint32_t, uint32_t, uint32_t, uint32_t, dot2<decltype(x), decltype(y), false>>;
  };
  if (isSigned(a))
    d.i.run = isSigned(b) ? choose(int16_t{}, int8_t{}) : choose(int16_t{}, uint8_t{});
  else
    d.i.run = isSigned(b) ? choose(uint16_t{}, int8_t{}) : choose(uint16_t{}, uint8_t{});
  if (part < 0)
    d.fail("one of .lo .hi is missing");
}

} // namespace tk::emulated
