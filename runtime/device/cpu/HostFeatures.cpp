// See HostFeatures.h. On x86 the words of CPUID that name models and instruction sets (Intel SDM volume 2A, CPUID), and what the system saves of the registers.
#include "runtime/device/cpu/HostFeatures.h"
#include <cstring>
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

static std::string readName() {
  unsigned words[12] = {};
  for (unsigned i = 0; i < 3; ++i)
    if (unsigned *four = words + 4 * i; !__get_cpuid(0x80000002 + i, four, four + 1, four + 2, four + 3))
      return "";
  return std::string(reinterpret_cast<const char *>(words), strnlen(reinterpret_cast<const char *>(words), sizeof words));
}
#else
static std::string readName() { return ""; }
static std::string read() { return fmt::format("{:x} {:x}", getauxval(AT_HWCAP), getauxval(AT_HWCAP2)); }
#endif

const std::string &hostFeatures() {
  static const std::string &features = *new std::string(read());
  return features;
}

const std::string &hostName() {
  static const std::string &name = *[] {
    std::string text = readName();
    const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
    return new std::string(begin == std::string::npos ? "CPU" : text.substr(begin, end - begin + 1));
  }();
  return name;
}

} // namespace tk::runtime
