// See LaunchOptions.h.
#include "runtime/LaunchOptions.h"
#include <cstring>
#include <fmt/format.h>

namespace tk::runtime {

namespace {
/// What is wrong with a value, or nothing.
std::string problem(std::string_view name, int64_t value) {
  if (name == "num_warps" && (value < 1 || value > 32 || (value & (value - 1))))
    return fmt::format("must be 1, 2, 4, 8, 16 or 32, found {}", value);
  if (name == "num_stages" && (value < 1 || value > 16))
    return fmt::format("must lie between 1 and 16, found {}", value);
  if (name == "num_ctas" && value != 1)
    return fmt::format("must be 1, found {}: tiles that are spread over several blocks are not available yet", value);
  if (name == "maxnreg" && (value < 16 || value > 255))
    return fmt::format("must lie between 16 and 255, found {}", value);
  if ((name == "enable_fp_fusion" || name == "launch_cooperative_grid" || name == "launch_pdl" || name == "debug") && value != 0 && value != 1)
    return fmt::format("must be true or false, found {}", value);
  return "";
}
} // namespace

bool LaunchOptions::has(std::string_view name) {
#define LAUNCH_OPTION(field, text, type, otherwise) \
  if (name == text)                                 \
    return true;
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  return false;
}

std::string LaunchOptions::set(std::string_view name, int64_t value) {
  if (std::string wrong = problem(name, value); !wrong.empty())
    return wrong;
#define LAUNCH_OPTION(field, text, type, otherwise) \
  if (name == text)                                 \
    field = static_cast<type>(value);
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  return "";
}

std::string LaunchOptions::text() const {
  std::string result;
#define LAUNCH_OPTION(field, text, type, otherwise) \
  if (field != type{})                              \
    result += fmt::format("{}{}={}", result.empty() ? "" : ", ", text, field);
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  return result;
}

void LaunchOptions::appendKey(LaunchKey &key) const {
  const uint8_t values[] = {
#define LAUNCH_OPTION(field, text, type, otherwise) static_cast<uint8_t>(field), // all are below 256
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  };
  std::memcpy(key.room(sizeof values), values, sizeof values);
}

} // namespace tk::runtime
