// Names of CPU targets: `cpu` (this host), or a level of x86-64, to which instruction sets may be added: `x86-64-v4+avx512vnni+avx512bf16`.
#pragma once
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tk::cpu {

struct TargetName {
  std::string base;
  std::vector<std::string> features; // as LLVM and the C compilers spell them
};

inline constexpr std::string_view targetBases[] = {"cpu", "x86-64-v3", "x86-64-v4"};
/// What code generation has a use for beyond the levels.
inline constexpr std::string_view targetFeatures[] = {"avxvnni", "avx512vnni", "avx512bf16"};

/// Nothing for any other name. `cpu` takes no additions: it has what the host has.
inline std::optional<TargetName> parseTarget(std::string_view name) {
  const auto holds = [](const auto &list, std::string_view item) { return std::find(std::begin(list), std::end(list), item) != std::end(list); };
  TargetName result;
  size_t end = name.find('+');
  result.base = name.substr(0, end);
  while (end != std::string_view::npos) {
    const size_t begin = end + 1;
    end = name.find('+', begin);
    result.features.emplace_back(name.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (!holds(targetFeatures, result.features.back()))
      return std::nullopt;
  }
  if (!holds(targetBases, result.base) || (result.base == "cpu" && !result.features.empty()))
    return std::nullopt;
  return result;
}

} // namespace tk::cpu
