// How bounds go through rounding, and the loops that apply a function to every element (see ErrorBound in Tile.h).
//
// A function is computed twice: without bounds on the fast path; with them it also gives the radius within which the unrounded result of another execution lies.
#pragma once
#include "compiler/interpret/Machine.h"
#include <cmath>

namespace tk::interpret {

/// Adds the rounding of the machine's free bracketing to a radius.
inline double withFreeRounding(Format format, double exact, double radius) { return radius + 2 * infoOf(format).unitRoundoff() * std::fabs(exact); }

/// The bound of round(exact) when another execution rounds some value within `radius` of `exact`. For fp64 `exact` is itself rounded already.
inline double boundAfterRounding(Format format, double exact, double radius) {
  if (radius == 0)
    return 0;
  if (isNan(exact) || isNan(radius) || radius == infinity())
    return infinity();
  if (isInfinite(exact))
    return 0;
  radius += radius * 0x1p-30; // the radius itself was rounded
  if (format == Format::F64) {
    double bound = radius + 0x1p-52 * std::fabs(exact);
    return isInfinite(std::fabs(exact) + bound) ? infinity() : bound;
  }
  double rounded = roundResult(format, exact), low = roundResult(format, exact - radius), high = roundResult(format, exact + radius);
  double below = rounded == low ? 0 : rounded - low, above = rounded == high ? 0 : high - rounded;
  return std::fmax(below, above);
}

/// Whether a NaN result is one in every execution: an exact NaN came in, or everything was exact.
inline bool isCertainNan(double a, double ea) { return isNan(a) && ea == 0; }

/// Rounds results whose radii stand in `tile.errors`, and replaces the radii by bounds.
inline void settle(Machine &m, Tile &tile) {
  Format format = tile.type.format;
  for (size_t i = 0; i < tile.size(); ++i) {
    double exact = tile[i].f, radius = tile.errors[i];
    if (m.freeRounding && isFinite(exact))
      radius = withFreeRounding(format, exact, radius);
    tile.errors[i] = boundAfterRounding(format, exact, radius);
    tile[i].f = isNan(exact) ? quietNan() : roundResult(format, exact);
  }
  tile.dropZeroErrors();
}

/// One rounding per element; Op::value(a, b) is the result before it, Op::radius(a, ea, b, eb, value) the radius.
template <typename Op> void floatBinary(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  size_t count = r.size();
  if (!a.inexact() && !b.inexact() && !m.freeRounding) {
    for (size_t k = 0; k < count; ++k)
      r[k].f = Op::value(a[k].f, b[k].f);
    roundResults(r.type.format, &r.elements.data()->f, count);
    return;
  }
  r.addErrors();
  for (size_t k = 0; k < count; ++k) {
    double x = a[k].f, y = b[k].f, ex = a.error(k), ey = b.error(k), value = Op::value(x, y);
    r[k].f = value;
    if (ex == 0 && ey == 0)
      continue;
    if (isNan(value))
      r.errors[k] = isCertainNan(x, ex) || isCertainNan(y, ey) ? 0 : infinity();
    else
      r.errors[k] = Op::radius(x, ex, y, ey, value);
  }
  settle(m, r);
}

/// The bound of a sum of finite addends whose magnitudes add up to `magnitude`, whose bounds add up to `propagated` and which are multiples of 2^lowestBit, when
/// another execution adds them in any order with `roundings` roundings (those of this execution included).
inline double boundOfSum(Format format, double sum, double roundings, double magnitude, double propagated, int lowestBit) {
  const FormatInfo &info = infoOf(format);
  if (isNan(sum) || isNan(propagated) || !(magnitude + propagated <= info.maxFinite))
    return infinity();
  // Multiples of 2^lowestBit of at most mantissaBits + 1 bits add up without rounding, in any order.
  if (propagated == 0 && magnitude <= std::ldexp(1.0, std::min(lowestBit, 2000) + info.mantissaBits + 1))
    return 0;
  return propagated + roundings * info.unitRoundoff() * (magnitude + propagated) * (1 + 0x1p-30);
}

/// |a - b| where equal infinities are no distance, and NaN is an infinite one.
inline double distanceOf(double a, double b) {
  if (a == b)
    return 0;
  double distance = std::fabs(a - b);
  return isNan(distance) ? infinity() : distance;
}

} // namespace tk::interpret
