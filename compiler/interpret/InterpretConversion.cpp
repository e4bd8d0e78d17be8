// Conversions between types: one rounding from the exact value, saturation to integers, and reinterpretation of bits.
#include "compiler/interpret/ErrorBound.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tk::interpret {
namespace {

template <Rounding rounding> void convertFloat(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  Format format = r.type.format;
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].f = roundTo(format, a[k].f, rounding);
  if (!a.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    double x = a[k].f, e = a.error(k);
    if (e == 0)
      continue;
    if (isNan(x) || e == infinity()) {
      r.errors[k] = infinity();
      continue;
    }
    e += e * 0x1p-30;
    r.errors[k] = std::fmax(distanceOf(r[k].f, roundTo(format, x - e, rounding)), distanceOf(r[k].f, roundTo(format, x + e, rounding)));
  }
  r.dropZeroErrors();
}

template <bool isSigned> void intToFloat(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  Format format = r.type.format;
  unsigned bits = a.type.bits;
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    if (format == Format::F64)
      r[k].f = isSigned ? double(signExtend(a[k].i, bits)) : double(a[k].i);
    else
      r[k].f = roundTo(format, roundToOdd(isSigned ? (long double)(signExtend(a[k].i, bits)) : (long double)(a[k].i)));
  }
  r.errors = a.errors;
}

/// Toward zero; out of range gives the nearest integer of the type, NaN gives 0.
template <bool isSigned> uint64_t toInteger(double value, unsigned bits) {
  if (isNan(value))
    return 0;
  double truncated = std::trunc(value), high = powerOfTwo(isSigned ? int(bits) - 1 : int(bits)), low = isSigned ? -high : 0;
  if (truncated >= high)
    return isSigned ? (uint64_t(1) << (bits - 1)) - 1 : ~uint64_t(0) >> (64 - bits);
  if (truncated <= low)
    return isSigned ? uint64_t(1) << (bits - 1) : 0;
  return (isSigned ? uint64_t(int64_t(truncated)) : uint64_t(truncated)) & (~uint64_t(0) >> (64 - bits));
}

template <bool isSigned> void floatToInt(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  unsigned bits = r.type.bits;
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].i = toInteger<isSigned>(a[k].f, bits);
  if (!a.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k) {
    double x = a[k].f, e = a.error(k);
    bool certain = e == 0 || (e != infinity() && !isNan(x) && toInteger<isSigned>(x - e, bits) == toInteger<isSigned>(x + e, bits));
    r.errors[k] = certain ? 0 : infinity();
  }
  r.dropZeroErrors();
}

template <bool isSigned> void resizeInt(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  unsigned bits = a.type.bits;
  uint64_t mask = r.type.mask();
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].i = (isSigned ? uint64_t(signExtend(a[k].i, bits)) : a[k].i) & mask;
  r.errors = a.errors;
}

/// Between types of one width; an inexact float has uncertain bits.
void bitcast(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  bool fromFloat = a.type.isFloat(), toFloat = r.type.isFloat();
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    uint64_t bits = fromFloat ? encode(a.type.format, a[k].f) : a[k].i;
    r[k] = toFloat ? Element{.f = decode(r.type.format, bits)} : Element{.i = bits};
  }
  if (!a.inexact())
    return;
  r.errors = a.errors;
  if (fromFloat && !(toFloat && r.type.format == a.type.format))
    for (double &e : r.errors)
      e = e == 0 ? 0 : infinity();
}

} // namespace

Handler selectConversion(Operation *op, Instruction &instruction) {
  if (auto convert = dyn_cast<tt::FpToFpOp>(op))
    return convert.getRounding() == tt::RoundingMode::RTZ ? convertFloat<Rounding::TowardZero> : convertFloat<Rounding::NearestEven>;
  if (auto convert = dyn_cast<arith::TruncFOp>(op)) {
    auto mode = convert.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    if (mode == arith::RoundingMode::toward_zero)
      return convertFloat<Rounding::TowardZero>;
    return mode == arith::RoundingMode::to_nearest_even ? convertFloat<Rounding::NearestEven> : nullptr;
  }
  return llvm::TypeSwitch<Operation *, Handler>(op)
#define HANDLER(Op, handler) .Case<Op>([](auto) -> Handler { return handler; })
      HANDLER(arith::ExtFOp, convertFloat<Rounding::NearestEven>) HANDLER(arith::SIToFPOp, intToFloat<true>) HANDLER(arith::UIToFPOp, intToFloat<false>)
      HANDLER(arith::FPToSIOp, floatToInt<true>) HANDLER(arith::FPToUIOp, floatToInt<false>) HANDLER(arith::ExtSIOp, resizeInt<true>) HANDLER(arith::ExtUIOp, resizeInt<false>)
      HANDLER(arith::TruncIOp, resizeInt<false>) HANDLER(arith::IndexCastOp, resizeInt<true>) HANDLER(arith::IndexCastUIOp, resizeInt<false>)
      HANDLER(arith::BitcastOp, bitcast) HANDLER(tt::BitcastOp, bitcast) HANDLER(tt::PtrToIntOp, bitcast) HANDLER(tt::IntToPtrOp, bitcast)
#undef HANDLER
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
