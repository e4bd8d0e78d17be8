// See Double.h. Uses libmvec's functions of four doubles where the processor has AVX2, libm's else.
#include "Double.h"
#include <cmath>
#include <cstring>
#include <immintrin.h>

#define VECTOR __attribute__((target("avx2")))
#define TK_NAMED(name) extern "C" VECTOR __m256d _ZGVdN4v_##name(__m256d);
TK_NAMED(exp)
TK_NAMED(exp2) TK_NAMED(exp10) TK_NAMED(expm1) TK_NAMED(log) TK_NAMED(log2) TK_NAMED(log10) TK_NAMED(log1p) TK_NAMED(sin) TK_NAMED(cos) TK_NAMED(tan)
    TK_NAMED(asin) TK_NAMED(acos) TK_NAMED(atan) TK_NAMED(sinh) TK_NAMED(cosh) TK_NAMED(tanh) TK_NAMED(asinh) TK_NAMED(acosh) TK_NAMED(atanh) TK_NAMED(erf)
        TK_NAMED(erfc) TK_NAMED(cbrt)
#undef TK_NAMED

            namespace tk::accuracy {

  namespace {
  VECTOR __m256d vector_sqrt(__m256d x) { return _mm256_sqrt_pd(x); }
  VECTOR __m256d vector_rsqrt(__m256d x) { return _mm256_div_pd(_mm256_set1_pd(1), _mm256_sqrt_pd(x)); }
  double exp10(double x) { return ::exp10(x); }
  double rsqrt(double x) { return 1 / std::sqrt(x); }

  template <__m256d (*function)(__m256d)> VECTOR void byVectors(const double *x, double *y, size_t count) {
    for (size_t i = 0; i < count; i += 4)
      _mm256_storeu_pd(y + i, function(_mm256_loadu_pd(x + i)));
  }

  template <double (*function)(double)> void byNumbers(const double *x, double *y, size_t count) {
    for (size_t i = 0; i < count; ++i)
      y[i] = function(x[i]);
  }

  struct Entry {
    const char *name;
    Function vectors, numbers;
  };
#define NAMED(name)                                                                          \
  {                                                                                          \
    #name, byVectors<_ZGVdN4v_##name>, byNumbers<static_cast<double (*)(double)>(std::name)> \
  }
  const Entry entries[] = {NAMED(exp),
                           NAMED(exp2),
                           NAMED(expm1),
                           NAMED(log),
                           NAMED(log2),
                           NAMED(log10),
                           NAMED(log1p),
                           NAMED(sin),
                           NAMED(cos),
                           NAMED(tan),
                           NAMED(asin),
                           NAMED(acos),
                           NAMED(atan),
                           NAMED(sinh),
                           NAMED(cosh),
                           NAMED(tanh),
                           NAMED(asinh),
                           NAMED(acosh),
                           NAMED(atanh),
                           NAMED(erf),
                           NAMED(erfc),
                           NAMED(cbrt),
                           {"exp10", byVectors<_ZGVdN4v_exp10>, byNumbers<exp10>},
                           {"sqrt", byVectors<vector_sqrt>, byNumbers<static_cast<double (*)(double)>(std::sqrt)>},
                           {"rsqrt", byVectors<vector_rsqrt>, byNumbers<rsqrt>}};
  } // namespace

  Function doubleFunction(const std::string &name) {
    for (const Entry &entry : entries)
      if (name == entry.name)
        return __builtin_cpu_supports("avx2") ? entry.vectors : entry.numbers;
    return nullptr;
  }

} // namespace tk::accuracy
