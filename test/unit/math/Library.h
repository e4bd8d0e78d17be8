// Functions of libdevice applied to arrays, compiled for the CPU.
#pragma once
#include "tk/tk.h"
#include <string>
#include <vector>

/// The kernel out[i] = expression(x[i], y[i], z[i]) with loads of `arity` arrays.
inline tk::Kernel elementwiseKernel(const std::string &expression, unsigned arity) {
  std::string text = "def k(x, y, z, out, n, BLOCK: constexpr):\n"
                     "    o = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                     "    m = o < n\n";
  const char *names[] = {"x", "y", "z"};
  for (unsigned i = 0; i < arity; ++i)
    text += std::string("    ") + names[i] + "v = load(" + names[i] + " + o, mask=m, other=1)\n";
  text += "    store(out + o, " + expression + ", mask=m)\n";
  return tk::Module::fromSource(text, "elementwise.tk").kernel("k");
}

/// libdevice.NAME of one, two or three arrays of equal length.
template <typename R, typename X, typename Y = X, typename Z = X>
std::vector<R> apply(const std::string &name, const std::vector<X> &x, const std::vector<Y> &y = {}, const std::vector<Z> &z = {}) {
  unsigned arity = z.empty() ? y.empty() ? 1 : 2 : 3;
  std::string call = "libdevice." + name + (arity == 1 ? "(xv)" : arity == 2 ? "(xv, yv)" : "(xv, yv, zv)");
  std::vector<R> out(x.size());
  constexpr int64_t block = 256;
  elementwiseKernel(call, arity).launch({}, tk::grid((static_cast<int64_t>(x.size()) + block - 1) / block), x.data(), y.empty() ? nullptr : y.data(),
                                        z.empty() ? nullptr : z.data(), out.data(), tk::i64(static_cast<int64_t>(x.size())), tk::meta("BLOCK", block));
  return out;
}
