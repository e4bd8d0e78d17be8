// First contents of arrays, reproducible: each value depends on the seed and its index alone, whatever the number of threads.
//
//   kind      floats                          integers
//   zeros     0                               0
//   ones      1                               1
//   rand      uniform in [0, 1)               uniform in 0..9 (i1: both values)
//   randn     standard normal                 round(3 * normal), saturated; unsigned: its magnitude; i1: both values
//   arange    start + index * step            the same, wrapped to the type's width
//   randint   uniform integers in [lo, hi)    the same
//   full      the value                       the value, which must fit
#pragma once
#include "tk/array.h"
#include <string_view>

namespace tk::runtime {

class ThreadPool;

struct Initializer {
  enum Kind : uint8_t { Zeros, Ones, Rand, Randn, Arange, Randint, Full } kind = Zeros;
  double first = 0, second = 0; // arange: start, step; randint: lo, hi; full: the value
  uint64_t seed = 0;
};

/// From a kind's name and its parameters (`arange` takes none, a step, or start and step; `randint` (hi) or (lo, hi); `full` (v)).
/// Throws Error(User) that says what was expected.
Initializer makeInitializer(std::string_view kind, const std::vector<double> &parameters, uint64_t seed);
/// The seed of an array that was given none: from its name.
uint64_t seedOfName(std::string_view name);
/// Fills an array; values are computed in double and rounded once. Throws Error(User) when a value can't stand in the type. `pool` may be null.
void fill(Array &array, const Initializer &initializer, ThreadPool *pool = nullptr);

} // namespace tk::runtime
