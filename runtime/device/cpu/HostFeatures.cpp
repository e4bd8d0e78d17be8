// See HostFeatures.h. On x86 the words of CPUID that name models and instruction sets (Intel SDM volume 2A, CPUID), and what the system saves of the registers.
#include "runtime/device/cpu/HostFeatures.h"
#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace tk::runtime {

#if defined(__x86_64__)
static std::string read() {
  unsigned a, b, c, d;
  std::string text;
  auto add = [&](unsigned word) { text += fmt::format("{:08x}", word); };
  __cpuid(0, a, b, c, d);
  add(b), add(c), add(d); // the vendor
  unsigned most = a;
  __cpuid(1, a, b, c, d);
  constexpr unsigned osxsave = 1u << 27;
  bool saves = c & osxsave;
  add(a), add(c), add(d); // b holds the number of the core
  for (unsigned leaf : {0u, 1u, 2u})
    if (most >= 7 && __get_cpuid_count(7, leaf, &a, &b, &c, &d))
      add(a), add(b), add(c), add(d);
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    add(c), add(d);
  if (saves) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    add(low), add(high);
  }
  return text;
}
#else
static std::string read() { return fmt::format("{:x} {:x}", getauxval(AT_HWCAP), getauxval(AT_HWCAP2)); }
#endif

const std::string &hostFeatures() {
  static const std::string &features = *new std::string(read());
  return features;
}

} // namespace tk::runtime
