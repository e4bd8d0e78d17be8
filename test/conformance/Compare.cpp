// See Compare.h.
#include "test/conformance/Compare.h"
#include <cmath>
#include <fmt/format.h>

namespace tk::conformance {

std::string elementText(DType type, uint64_t bits) {
  if (!isFloat(type))
    return isUnsigned(type) ? fmt::format("{}", static_cast<uint64_t>(decodeInteger(type, bits))) : fmt::format("{}", static_cast<int64_t>(decodeInteger(type, bits)));
  return fmt::format("{:.9g} (0x{:0{}x})", decode(type, bits), bits, bitsOf(type) / 4);
}

namespace {
bool agrees(const Tolerance &tolerance, double further, double ulpsOnGpu, DType type, uint64_t want, uint64_t got) {
  if (want == got)
    return true;
  if (!isFloat(type) || tolerance.payload)
    return false;
  double wanted = decode(type, want), gotten = decode(type, got);
  if (std::isnan(wanted) || std::isnan(gotten))
    return std::isnan(wanted) && std::isnan(gotten);
  double ulps = tolerance.ulp + (type == DType::F32 ? ulpsOnGpu : 0);
  if (further > 0 && std::isfinite(wanted))
    ulps += further * std::fabs(wanted) / std::fabs(decode(type, want ^ 1) - wanted); // neighbours differ in their last bit
  if (ulps > 0 && ulpDistance(type, want, got) <= ulps)
    return true;
  double allowed = tolerance.absolute + tolerance.relative * std::fabs(wanted);
  return allowed > 0 && std::isfinite(wanted) && std::fabs(wanted - gotten) <= allowed;
}
} // namespace

std::string compare(const std::string &name, const Argument &argument, const Values &found, bool onGpu) {
  if (argument.check)
    return argument.check(found);
  if (!argument.expected)
    return "";
  const Values &expected = *argument.expected;
  size_t wrong = 0;
  std::string first;
  for (size_t i = 0; i < found.size(); ++i) {
    if (i < argument.unspecified.size() && argument.unspecified[i])
      continue;
    double further = onGpu && i < argument.onGpus.size() ? argument.onGpus[i] : 0;
    if (agrees(argument.tolerance, further, onGpu ? argument.ulpOnGpus : 0, found.dtype, expected.bits.at(i), found.bits[i]))
      continue;
    if (!wrong++)
      first = fmt::format("{}[{}]: expected {} found {}", name, i, elementText(found.dtype, expected.bits[i]), elementText(found.dtype, found.bits[i]));
  }
  return wrong > 1 ? fmt::format("{}, and {} of {} more elements", first, wrong - 1, found.size()) : first;
}

} // namespace tk::conformance
