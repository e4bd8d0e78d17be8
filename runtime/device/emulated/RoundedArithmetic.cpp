// Arithmetic in the directed rounding modes, by the host's rounding mode. This file alone is compiled with -frounding-math.
#include "runtime/device/emulated/NumberFormats.h"
#include <cfenv>

namespace tk::emulated {

namespace {
class WithRounding {
public:
  explicit WithRounding(Rounding rounding) : before(std::fegetround()) {
    std::fesetround(rounding == Rounding::Zero   ? FE_TOWARDZERO
                    : rounding == Rounding::Down ? FE_DOWNWARD
                    : rounding == Rounding::Up   ? FE_UPWARD
                                                 : FE_TONEAREST);
  }
  ~WithRounding() { std::fesetround(before); }

private:
  int before;
};
} // namespace

template <typename T> T addRounded(T a, T b, Rounding rounding) {
  WithRounding mode(rounding);
  volatile T x = a, y = b, result = x + y;
  return result;
}
template <typename T> T mulRounded(T a, T b, Rounding rounding) {
  WithRounding mode(rounding);
  volatile T x = a, y = b, result = x * y;
  return result;
}
template <typename T> T fmaRounded(T a, T b, T c, Rounding rounding) {
  WithRounding mode(rounding);
  volatile T x = a, y = b, z = c, result = std::fma(T(x), T(y), T(z));
  return result;
}
template <typename T> T divRounded(T a, T b, Rounding rounding) {
  WithRounding mode(rounding);
  volatile T x = a, y = b, result = x / y;
  return result;
}
template <typename T> T sqrtRounded(T a, Rounding rounding) {
  WithRounding mode(rounding);
  volatile T x = a, result = std::sqrt(T(x));
  return result;
}
template <typename To, typename From> To integerRounded(From value, Rounding rounding) {
  WithRounding mode(rounding);
  volatile From x = value;
  volatile To result = To(From(x));
  return result;
}

#define INSTANTIATE(T)                             \
  template T addRounded(T, T, Rounding);           \
  template T mulRounded(T, T, Rounding);           \
  template T fmaRounded(T, T, T, Rounding);        \
  template T divRounded(T, T, Rounding);           \
  template T sqrtRounded(T, Rounding);             \
  template T integerRounded<T>(int64_t, Rounding); \
  template T integerRounded<T>(uint64_t, Rounding);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace tk::emulated
