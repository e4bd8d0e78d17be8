// Exact results, to far more digits than either type has, from MPFR.
#pragma once
#include <mpfr.h>
#include <string>

/// A number of 160 bits.
class Exact {
public:
  Exact() { mpfr_init2(value, 160); }
  explicit Exact(double number) : Exact() { mpfr_set_d(value, number, MPFR_RNDN); }
  ~Exact() { mpfr_clear(value); }
  Exact(const Exact &) = delete;
  Exact &operator=(const Exact &) = delete;
  mpfr_t value;
};

/// `function` at (x, y) into `result`. `near` is a value close to the result, from which the inverse functions start. False when there is no such function.
bool reference(const std::string &function, mpfr_t result, const mpfr_t x, const mpfr_t y, double near);

/// The distance of `got` from `exact` in units of the last place of `exact` in a type of `precision` bits and least normal exponent `minExponent`.
/// Infinite where one of them is NaN, or infinite where rounding would not make it so, and the other is not.
double ulpDistance(double got, const mpfr_t exact, int precision, int minExponent, int maxExponent);
