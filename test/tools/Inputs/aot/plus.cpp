// The header in C++, with a static object and an exception-free call.
#include "cases.h"
#include <cstdio>
#include <vector>

int main() {
  std::vector<float> x(1000, 2.0f);
  tk_aot_status status = scale(tk_aot_auto(), x.data(), static_cast<int32_t>(x.size()), 4.0f);
  std::printf("%d %g\n", static_cast<int>(status), static_cast<double>(x[999]));
}
