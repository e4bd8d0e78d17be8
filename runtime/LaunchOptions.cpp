// See LaunchOptions.h.
#include "runtime/LaunchOptions.h"
#include <fmt/format.h>

namespace tk::runtime {

namespace {
/// What is wrong with a value, or nothing.
std::string problem(std::string_view name, int64_t value) {
  if (name == "num_warps" && (value < 1 || value > 32 || (value & (value - 1))))
    return fmt::format("must be 1, 2, 4, 8, 16 or 32, found {}", value);
  if (name == "num_stages" && (value < 1 || value > 16))
    return fmt::format("must lie between 1 and 16, found {}", value);
  if (name == "enable_fp_fusion" && value != 0 && value != 1)
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

void LaunchOptions::appendKey(std::string &key) const {
#define LAUNCH_OPTION(field, text, type, otherwise) key += static_cast<char>(field); // all are below 128
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
}

} // namespace tk::runtime
