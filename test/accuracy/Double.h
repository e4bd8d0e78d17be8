// The functions of Functions.def in fp64: the reference for fp32.
//
// The system's vector mathematics is off by at most 4 ulp of fp64, which is 2^-27 ulp of fp32, so the error that is measured against it is right to eight
// digits. What it can't decide are results within 2^-27 ulp of the bound itself; the largest error found is therefore confirmed with MPFR
// (test/unit/math/Reference.h).
#pragma once
#include <cstddef>
#include <string>

namespace tk::accuracy {

using Function = void (*)(const double *x, double *y, size_t count);

/// Null when there is none of this name. Counts are multiples of 4.
Function doubleFunction(const std::string &name);

} // namespace tk::accuracy
