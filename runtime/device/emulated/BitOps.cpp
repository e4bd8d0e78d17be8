// Logic, shifts and bit fields: PTX ISA 9.7.1 (bfe, bfi, brev, clz, popc, bfind, fns, szext, bmsk), 9.7.8 (logic and shift), 9.7.9.7 (prmt).
#include "runtime/device/emulated/Decoder.h"
#include "runtime/device/emulated/Lanes.h"

namespace tk::emulated {

namespace {

// Predicates: one word of bits for the warp.
enum PredicateFlags : uint32_t { negatesA = 1, negatesB = 2 };
template <auto Op> void onPredicates(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t a = warp.predicate(i.a), b = i.b < 0 ? 0 : warp.predicate(i.b);
  uint32_t result = Op(i.flags & negatesA ? ~a : a, i.flags & negatesB ? ~b : b);
  uint32_t &d = warp.predicate(i.d);
  d = (d & ~mask) | (result & mask);
}

template <auto Op> void decodeLogic(Decoding &d) {
  Type type = d.takeType();
  if (type == Type::Pred) {
    d.expectOperands(3, 3);
    d.i.kind = Class::Integer;
    bool negated;
    d.i.d = d.destination(0, type);
    d.i.a = d.predicate(d.operand(1), negated);
    d.i.flags |= negated ? negatesA : 0u;
    d.i.b = d.predicate(d.operand(2), negated);
    d.i.flags |= negated ? negatesB : 0u;
    d.i.run = &onPredicates<Op>;
    return;
  }
  d.takeOperands(Class::Integer, type, 2);
  if (registerBytes(type) == 8)
    d.i.run = &binary<uint64_t, uint64_t, uint64_t, Op>;
  else if (registerBytes(type) == 4)
    d.i.run = &binary<uint32_t, uint32_t, uint32_t, Op>;
}

template <typename T> T shiftLeft(T a, uint32_t b) { return b >= sizeof(T) * 8 ? T(0) : T(a << b); }
template <typename T> T shiftRight(T a, uint32_t b) { return b >= sizeof(T) * 8 ? T(std::is_signed_v<T> && a < 0 ? -1 : 0) : T(a >> b); }

// Position and length are the low bytes of b and c; past the top the field is filled with the sign, taken from the highest bit that is there (ISA 9.7.1.19).
template <typename T> T extractField(T value, uint32_t position, uint32_t length) {
  constexpr uint32_t top = sizeof(T) * 8 - 1;
  using U = std::make_unsigned_t<T>;
  position &= 0xFF;
  length &= 0xFF;
  bool sign = false;
  if (std::is_signed_v<T> && length)
    sign = U(value) >> std::min(position + length - 1, top) & 1;
  U result = 0;
  for (uint32_t k = 0; k <= top; ++k) {
    bool bit = k < length && position + k <= top ? bool(U(value) >> (position + k) & 1) : sign;
    result |= U(bit) << k;
  }
  return T(result);
}

template <typename T> T insertField(T field, T into, uint32_t position, uint32_t length) {
  constexpr uint32_t width = sizeof(T) * 8;
  position &= 0xFF;
  length &= 0xFF;
  if (position >= width || !length)
    return into;
  T mask = length >= width ? ~T(0) : T((T(1) << length) - 1);
  mask = T(mask << position);
  return T((into & ~mask) | (T(field << position) & mask));
}

template <typename T> void insertHandler(Warp &warp, const Instr &i, uint32_t mask) {
  Word<T> *d = warp.at<Word<T>>(i.d);
  const Word<T> *a = warp.at<Word<T>>(i.a), *b = warp.at<Word<T>>(i.b);
  const uint32_t *c = warp.at<uint32_t>(i.c), *e = warp.at<uint32_t>(i.d2);
  forEachLane(mask, [&](int lane) { d[lane] = insertField<T>(T(a[lane]), T(b[lane]), c[lane], e[lane]); });
}

template <typename T> uint32_t findTopBit(T a) {
  using U = std::make_unsigned_t<T>;
  U bits = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
  return bits ? uint32_t(sizeof(T) * 8 - 1 - uint32_t(std::countl_zero(bits))) : 0xFFFFFFFFu;
}
template <typename T> uint32_t shiftToTop(T a) {
  uint32_t position = findTopBit(a);
  return position == 0xFFFFFFFFu ? position : uint32_t(sizeof(T) * 8 - 1) - position;
}

// The offset-th set bit from `base` on, upwards or with a negative offset downwards; offset 0 asks whether bit `base` itself is set.
uint32_t findNth(uint32_t mask, uint32_t base, int32_t offset) {
  int step = offset < 0 ? -1 : 1, count = offset == 0 ? 1 : std::abs(offset);
  for (int position = int(base & 31); position >= 0 && position < 32; position += step) {
    if (mask >> position & 1) {
      if (--count == 0)
        return uint32_t(position);
    }
    if (offset == 0)
      break;
  }
  return 0xFFFFFFFFu;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector, int mode) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  auto byte = [&](uint32_t index) { return uint32_t(bytes >> (8 * (index & 7)) & 0xFF); };
  uint32_t result = 0, s = selector & 3;
  for (uint32_t k = 0; k < 4; ++k) {
    uint32_t value;
    switch (mode) {
    case 0: value = byte(s + k); break;                 // f4e
    case 1: value = byte(s - k + 8); break;             // b4e
    case 2: value = byte(s); break;                     // rc8
    case 3: value = byte(std::max(k, s)); break;        // ecl
    case 4: value = byte(std::min(k, s)); break;        // ecr
    case 5: value = byte((s & 1) * 2 + (k & 1)); break; // rc16
    default: {
      uint32_t nibble = selector >> (4 * k);
      value = byte(nibble & 7);
      if (nibble & 8)
        value = value & 0x80 ? 0xFF : 0;
    }
    }
    result |= value << (8 * k);
  }
  return result;
}
template <int Mode> uint32_t permuteIn(uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c, Mode); }

uint32_t lut(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < 8; ++k)
    if (table >> k & 1)
      result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return result;
}
void lop3(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t *d = warp.at<uint32_t>(i.d);
  const uint32_t *a = warp.at<uint32_t>(i.a), *b = warp.at<uint32_t>(i.b), *c = warp.at<uint32_t>(i.c);
  uint32_t table = uint32_t(i.imm), nonZero = 0;
  if (i.d2 < 0) {
    forLanes(mask, [=](int lane) { d[lane] = lut(a[lane], b[lane], c[lane], table); });
    return;
  }
  forEachLane(mask, [&](int lane) {
    uint32_t result = lut(a[lane], b[lane], c[lane], table);
    nonZero |= uint32_t(result != 0) << lane;
    d[lane] = result;
  });
  uint32_t q = warp.predicate(i.e);
  if (i.flags & 2)
    q = ~q;
  uint32_t outcome = i.flags & 1 ? nonZero & q : nonZero | q;
  uint32_t &p = warp.predicate(i.d2);
  p = (p & ~mask) | (outcome & mask);
}

template <bool Left, bool Wrap> uint32_t funnel(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t n = Wrap ? c & 31 : std::min(c, 32u);
  uint64_t both = uint64_t(b) << 32 | a;
  return Left ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
}

template <typename T, bool Wrap> T extend(T a, uint32_t b) { // szext: sign or zero extension from bit b
  constexpr uint32_t width = 32;
  if (Wrap)
    b &= 31;
  if (b >= width)
    return a;
  if (b == 0)
    return 0;
  return T(T(uint32_t(a) << (width - b)) >> (width - b));
}
template <bool Wrap> uint32_t bitMask(uint32_t a, uint32_t b) {
  if (Wrap)
    a &= 31, b &= 31;
  if (a >= 32 || b == 0)
    return 0;
  uint32_t ones = b >= 32 ? ~0u : (1u << b) - 1;
  return ones << a;
}

} // namespace

void decodeAnd(Decoding &d) {
  decodeLogic<[](auto a, auto b) { return a & b; }>(d);
}
void decodeOr(Decoding &d) {
  decodeLogic<[](auto a, auto b) { return a | b; }>(d);
}
void decodeXor(Decoding &d) {
  decodeLogic<[](auto a, auto b) { return a ^ b; }>(d);
}

void decodeNot(Decoding &d) {
  Type type = d.takeType();
  if (type == Type::Pred) {
    bool negated;
    d.expectOperands(2, 2);
    d.i.d = d.destination(0, type);
    d.i.a = d.predicate(d.operand(1), negated);
    d.i.flags = negated ? 0u : uint32_t(negatesA);
    d.i.run = &onPredicates<[](uint32_t a, uint32_t) { return a; }>;
    d.i.kind = Class::Integer;
    return;
  }
  d.takeOperands(Class::Integer, type, 1);
  d.i.run = bytesOf(type) == 2         ? &unary<uint16_t, uint16_t, [](uint16_t a) { return uint16_t(~a); }>
            : registerBytes(type) == 4 ? &unary<uint32_t, uint32_t, [](uint32_t a) { return ~a; }>
                                       : &unary<uint64_t, uint64_t, [](uint64_t a) { return ~a; }>;
}
void decodeCnot(Decoding &d) {
  Type type = d.takeType();
  d.takeOperands(Class::Integer, type, 1);
  d.i.run = registerBytes(type) == 4 ? &unary<uint32_t, uint32_t, [](uint32_t a) { return uint32_t(a == 0); }>
                                     : &unary<uint64_t, uint64_t, [](uint64_t a) { return uint64_t(a == 0); }>;
}

void decodeLop3(Decoding &d) {
  int combine = d.takeOneOf({"or", "and"});
  Type type = d.takeType();
  bool hasPredicate = d.operand(0).kind == Operand::Kind::Pair;
  d.expectOperands(combine >= 0 ? 6 : 5, combine >= 0 ? 6 : 5);
  d.i.kind = Class::Integer;
  d.i.d = d.destination(hasPredicate ? d.operand(0).parts[0] : d.operand(0), type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, type);
  d.i.c = d.source(3, type);
  d.i.imm = d.integer(4) & 0xFF;
  if (combine >= 0 && hasPredicate) {
    bool negated;
    d.i.d2 = d.destination(d.operand(0).parts[1], Type::Pred);
    d.i.e = d.predicate(d.operand(5), negated);
    d.i.flags = uint32_t(combine) | (negated ? 2u : 0u);
  }
  d.i.run = &lop3;
}

void decodeShl(Decoding &d) {
  Type type = d.takeType();
  d.expectOperands(3, 3);
  d.i.kind = Class::Integer;
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, Type::U32);
  d.i.run = bytesOf(type) == 2   ? &binary<uint16_t, uint16_t, uint32_t, shiftLeft<uint16_t>>
            : bytesOf(type) == 4 ? &binary<uint32_t, uint32_t, uint32_t, shiftLeft<uint32_t>>
            : bytesOf(type) == 8 ? &binary<uint64_t, uint64_t, uint32_t, shiftLeft<uint64_t>>
                                 : nullptr;
}
void decodeShr(Decoding &d) {
  Type type = d.takeType();
  d.expectOperands(3, 3);
  d.i.kind = Class::Integer;
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, Type::U32);
  d.i.run = forInteger(type, [](auto x) -> Handler { return &binary<decltype(x), decltype(x), uint32_t, shiftRight<decltype(x)>>; });
}
void decodeShf(Decoding &d) {
  bool left = d.take("l");
  if (!left && !d.take("r"))
    d.fail("one of .l .r is missing");
  bool wrap = d.take("wrap");
  if (!wrap && !d.take("clamp"))
    d.fail("one of .clamp .wrap is missing");
  d.takeOperands(Class::Integer, d.takeType(), 3);
  using U = uint32_t;
  d.i.run = left ? (wrap ? &ternary<U, U, U, U, funnel<true, true>> : &ternary<U, U, U, U, funnel<true, false>>)
                 : (wrap ? &ternary<U, U, U, U, funnel<false, true>> : &ternary<U, U, U, U, funnel<false, false>>);
}

void decodeBfe(Decoding &d) {
  Type type = d.takeType();
  d.expectOperands(4, 4);
  d.i.kind = Class::Integer;
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, Type::U32);
  d.i.c = d.source(3, Type::U32);
  d.i.run = forInteger(type, [](auto x) -> Handler {
    using T = decltype(x);
    return &ternary<T, T, uint32_t, uint32_t, extractField<T>>;
  });
}
void decodeBfi(Decoding &d) {
  Type type = d.takeType();
  d.expectOperands(5, 5);
  d.i.kind = Class::Integer;
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, type);
  d.i.c = d.source(3, Type::U32);
  d.i.d2 = d.source(4, Type::U32);
  d.i.run = registerBytes(type) == 8 ? &insertHandler<uint64_t> : &insertHandler<uint32_t>;
}
void decodeBrev(Decoding &d) {
  Type type = d.takeType();
  d.takeOperands(Class::Integer, type, 1);
  d.i.run = registerBytes(type) == 8 ? &unary<uint64_t, uint64_t, [](uint64_t a) { return uint64_t(__builtin_bitreverse64(a)); }>
                                     : &unary<uint32_t, uint32_t, [](uint32_t a) { return uint32_t(__builtin_bitreverse32(a)); }>;
}
template <auto Narrow, auto Wide> static void decodeCount(Decoding &d, Type type) {
  d.expectOperands(2, 2);
  d.i.kind = Class::Integer;
  d.i.d = d.destination(0, Type::U32);
  d.i.a = d.source(1, type);
  d.i.run = registerBytes(type) == 8 ? &unary<uint32_t, uint64_t, Wide> : &unary<uint32_t, uint32_t, Narrow>;
}
void decodeClz(Decoding &d) {
  decodeCount<[](uint32_t a) { return uint32_t(std::countl_zero(a)); }, [](uint64_t a) { return uint32_t(std::countl_zero(a)); }>(d, d.takeType());
}
void decodePopc(Decoding &d) {
  decodeCount<[](uint32_t a) { return uint32_t(std::popcount(a)); }, [](uint64_t a) { return uint32_t(std::popcount(a)); }>(d, d.takeType());
}
void decodeBfind(Decoding &d) {
  bool shift = d.take("shiftamt");
  Type type = d.takeType();
  d.expectOperands(2, 2);
  d.i.kind = Class::Integer;
  d.i.d = d.destination(0, Type::U32);
  d.i.a = d.source(1, type);
  d.i.run = forInteger(type, [&](auto x) -> Handler {
    using T = decltype(x);
    return shift ? &unary<uint32_t, T, shiftToTop<T>> : &unary<uint32_t, T, findTopBit<T>>;
  });
}
void decodeFns(Decoding &d) {
  d.takeOperands(Class::Integer, d.takeType(), 3);
  d.i.run = &ternary<uint32_t, uint32_t, uint32_t, int32_t, findNth>;
}
void decodeSzext(Decoding &d) {
  bool wrap = d.take("wrap");
  if (!wrap && !d.take("clamp"))
    d.fail("one of .clamp .wrap is missing");
  Type type = d.takeType();
  d.takeOperands(Class::Integer, type, 2);
  if (isSigned(type))
    d.i.run = wrap ? &binary<int32_t, int32_t, uint32_t, extend<int32_t, true>> : &binary<int32_t, int32_t, uint32_t, extend<int32_t, false>>;
  else
    d.i.run = wrap ? &binary<uint32_t, uint32_t, uint32_t, extend<uint32_t, true>> : &binary<uint32_t, uint32_t, uint32_t, extend<uint32_t, false>>;
}
void decodeBmsk(Decoding &d) {
  bool wrap = d.take("wrap");
  if (!wrap && !d.take("clamp"))
    d.fail("one of .clamp .wrap is missing");
  d.takeOperands(Class::Integer, d.takeType(), 2);
  d.i.run = wrap ? &binary<uint32_t, uint32_t, uint32_t, bitMask<true>> : &binary<uint32_t, uint32_t, uint32_t, bitMask<false>>;
}

void decodePrmt(Decoding &d) {
  Type type = d.takeType();
  int mode = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  d.takeOperands(Class::Integer, type, 3);
  using U = uint32_t;
  static constexpr Handler handlers[] = {&ternary<U, U, U, U, permuteIn<0>>, &ternary<U, U, U, U, permuteIn<1>>, &ternary<U, U, U, U, permuteIn<2>>,
                                         &ternary<U, U, U, U, permuteIn<3>>, &ternary<U, U, U, U, permuteIn<4>>, &ternary<U, U, U, U, permuteIn<5>>};
  d.i.run = mode < 0 ? &ternary<U, U, U, U, permuteIn<6>> : handlers[mode];
}

} // namespace tk::emulated
