#include "Reference.h"
#include <algorithm>
#include <cmath>
#include <map>

static void piTimes(mpfr_t result, double factor) {
  mpfr_const_pi(result, MPFR_RNDN);
  mpfr_mul_d(result, result, factor, MPFR_RNDN);
}

/// e^(x^2) erfc(x); far out, where erfc leaves MPFR's range, by the asymptotic series.
static void erfcx(mpfr_t result, const mpfr_t x) {
  if (mpfr_cmp_d(x, 1e3) > 0) {
    Exact square, pi;
    mpfr_sqr(square.value, x, MPFR_RNDN);
    mpfr_mul_2ui(square.value, square.value, 1, MPFR_RNDN);
    mpfr_set_ui(result, 1, MPFR_RNDN);
    for (int k = 10; k >= 1; --k) { // 1 - 1/(2x^2) (1 - 3/(2x^2) (1 - 5/(2x^2) (...)))
      mpfr_mul_si(result, result, 1 - 2 * k, MPFR_RNDN);
      mpfr_div(result, result, square.value, MPFR_RNDN);
      mpfr_add_ui(result, result, 1, MPFR_RNDN);
    }
    piTimes(pi.value, 1);
    mpfr_sqrt(pi.value, pi.value, MPFR_RNDN);
    mpfr_div(result, result, x, MPFR_RNDN);
    mpfr_div(result, result, pi.value, MPFR_RNDN);
    return;
  }
  Exact square;
  mpfr_set_prec(square.value, 400);
  mpfr_sqr(square.value, x, MPFR_RNDN);
  mpfr_exp(square.value, square.value, MPFR_RNDN);
  mpfr_erfc(result, x, MPFR_RNDN);
  mpfr_mul(result, result, square.value, MPFR_RNDN);
}

/// The sum of (x/2)^(n + 2k) / (k! (n + k)!).
static void besselI(mpfr_t result, unsigned n, const mpfr_t x) {
  if (mpfr_inf_p(x) || mpfr_nan_p(x)) {
    mpfr_set(result, x, MPFR_RNDN);
    if (n % 2 == 0)
      mpfr_abs(result, result, MPFR_RNDN);
    return;
  }
  if (mpfr_cmpabs(x, Exact(1500).value) > 0) {
    mpfr_set_inf(result, n % 2 ? mpfr_sgn(x) : 1);
    return;
  }
  Exact term, square;
  mpfr_div_2ui(term.value, x, 1, MPFR_RNDN);
  mpfr_sqr(square.value, term.value, MPFR_RNDN);
  if (n == 0)
    mpfr_set_ui(term.value, 1, MPFR_RNDN);
  mpfr_set(result, term.value, MPFR_RNDN);
  for (unsigned k = 1; k < 4000; ++k) {
    mpfr_mul(term.value, term.value, square.value, MPFR_RNDN);
    mpfr_div_ui(term.value, term.value, k * (k + n), MPFR_RNDN);
    mpfr_add(result, result, term.value, MPFR_RNDN);
    if (mpfr_zero_p(term.value) || mpfr_get_exp(term.value) < mpfr_get_exp(result) - 150)
      break;
  }
}

/// Two steps of Newton's method from `near` for the y with erf(y) = x (`tail`: erfc(y) = x).
static void inverse(mpfr_t result, const mpfr_t x, bool tail, double near) {
  mpfr_set_d(result, near, MPFR_RNDN);
  if (!std::isfinite(near) || near == 0)
    return;
  Exact error, slope;
  for (int step = 0; step < 2; ++step) {
    (tail ? mpfr_erfc : mpfr_erf)(error.value, result, MPFR_RNDN);
    mpfr_sub(error.value, error.value, x, MPFR_RNDN);
    mpfr_sqr(slope.value, result, MPFR_RNDN);
    mpfr_exp(slope.value, slope.value, MPFR_RNDN);
    mpfr_mul(error.value, error.value, slope.value, MPFR_RNDN);
    piTimes(slope.value, 0.25);
    mpfr_sqrt(slope.value, slope.value, MPFR_RNDN);
    mpfr_mul(error.value, error.value, slope.value, MPFR_RNDN);
    (tail ? mpfr_add : mpfr_sub)(result, result, error.value, MPFR_RNDN);
  }
}

using Unary = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
using Binary = int (*)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static const std::map<std::string, Unary> unary = {
    {"exp", mpfr_exp},     {"exp2", mpfr_exp2},   {"exp10", mpfr_exp10}, {"expm1", mpfr_expm1}, {"log", mpfr_log},     {"log2", mpfr_log2},   {"log10", mpfr_log10},
    {"log1p", mpfr_log1p}, {"sin", mpfr_sin},     {"cos", mpfr_cos},     {"tan", mpfr_tan},     {"sinpi", mpfr_sinpi}, {"cospi", mpfr_cospi}, {"asin", mpfr_asin},
    {"acos", mpfr_acos},   {"atan", mpfr_atan},   {"sinh", mpfr_sinh},   {"cosh", mpfr_cosh},   {"tanh", mpfr_tanh},   {"asinh", mpfr_asinh}, {"acosh", mpfr_acosh},
    {"atanh", mpfr_atanh}, {"rsqrt", mpfr_rec_sqrt}, {"cbrt", mpfr_cbrt}, {"erf", mpfr_erf},    {"erfc", mpfr_erfc},   {"tgamma", mpfr_gamma}, {"j0", mpfr_j0},
    {"j1", mpfr_j1},       {"y0", mpfr_y0},       {"y1", mpfr_y1}};
static const std::map<std::string, Binary> binary = {{"pow", mpfr_pow}, {"atan2", mpfr_atan2}, {"hypot", mpfr_hypot}};

bool reference(const std::string &function, mpfr_t result, const mpfr_t x, const mpfr_t y, double near) {
  if (function == "rsqrt" && mpfr_zero_p(x)) // MPFR has +infinity for -0, IEEE 754 has not
    return mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1), true;
  if (function == "rsqrt" && mpfr_zero_p(x)) // IEEE 754's sign; MPFR gives +inf for -0
    return mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1), true;
  if (auto it = unary.find(function); it != unary.end())
    return it->second(result, x, MPFR_RNDN), true;
  if (auto it = binary.find(function); it != binary.end())
    return it->second(result, x, y, MPFR_RNDN), true;
  Exact t;
  if (function == "rcbrt")
    return mpfr_cbrt(t.value, x, MPFR_RNDN), mpfr_ui_div(result, 1, t.value, MPFR_RNDN), true;
  if (function == "rhypot")
    return mpfr_hypot(t.value, x, y, MPFR_RNDN), mpfr_ui_div(result, 1, t.value, MPFR_RNDN), true;
  if (function == "lgamma") {
    int sign;
    return mpfr_lgamma(result, &sign, x, MPFR_RNDN), true;
  }
  if (function == "erfcx")
    return erfcx(result, x), true;
  if (function == "normcdf") {
    mpfr_sqrt_ui(t.value, 2, MPFR_RNDN);
    mpfr_div(t.value, x, t.value, MPFR_RNDN);
    mpfr_neg(t.value, t.value, MPFR_RNDN);
    mpfr_erfc(result, t.value, MPFR_RNDN);
    return mpfr_div_2ui(result, result, 1, MPFR_RNDN), true;
  }
  if (function == "erfinv" || function == "erfcinv" || function == "normcdfinv") {
    bool normal = function == "normcdfinv", tail = function != "erfinv";
    bool below = mpfr_cmp_si(x, tail ? 0 : -1) < 0, above = mpfr_cmp_si(x, normal ? 1 : tail ? 2 : 1) > 0;
    if (mpfr_nan_p(x) || below || above)
      return mpfr_set_nan(result), true;
    mpfr_mul_2ui(t.value, x, normal ? 1 : 0, MPFR_RNDN);
    inverse(result, t.value, tail, normal ? -near * std::sqrt(0.5) : near);
    if (normal) {
      mpfr_sqrt_ui(t.value, 2, MPFR_RNDN);
      mpfr_mul(result, result, t.value, MPFR_RNDN);
      mpfr_neg(result, result, MPFR_RNDN);
    }
    return true;
  }
  if (function == "cyl_bessel_i0" || function == "cyl_bessel_i1")
    return besselI(result, function.back() - '0', x), true;
  return false;
}

double ulpDistance(double got, const mpfr_t exact, int precision, int minExponent, int maxExponent) {
  if (mpfr_nan_p(exact) || std::isnan(got))
    return mpfr_nan_p(exact) && std::isnan(got) ? 0 : INFINITY;
  if (mpfr_inf_p(exact))
    return got == mpfr_get_d(exact, MPFR_RNDN) ? 0 : INFINITY;
  Exact difference;
  if (std::isinf(got)) {
    // As good as 2^maxExponent, the first power of two out of range; beyond it, right.
    if (std::signbit(got) != (mpfr_sgn(exact) < 0) || mpfr_zero_p(exact))
      return INFINITY;
    if (mpfr_get_exp(exact) > maxExponent)
      return 0;
    mpfr_set_ui_2exp(difference.value, 1, maxExponent, MPFR_RNDN);
    mpfr_copysign(difference.value, difference.value, exact, MPFR_RNDN);
    mpfr_sub(difference.value, difference.value, exact, MPFR_RNDN);
  } else {
    mpfr_sub_d(difference.value, exact, got, MPFR_RNDN);
  }
  if (mpfr_zero_p(exact))
    return got == 0 ? 0 : INFINITY;
  mpfr_abs(difference.value, difference.value, MPFR_RNDN);
  long exponent = std::max<long>(mpfr_get_exp(exact) - 1, minExponent);
  exponent = std::min<long>(exponent, maxExponent - 1);
  mpfr_mul_2si(difference.value, difference.value, precision - 1 - exponent, MPFR_RNDN);
  return mpfr_get_d(difference.value, MPFR_RNDU);
}
