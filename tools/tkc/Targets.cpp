// See Targets.h.
#include "tools/tkc/Targets.h"
#include "lang/syntax/Diagnostic.h"
#include "tools/tkc/Failure.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::tool {

namespace {
struct Target {
  const char *name;
  bool isGpu;
};
constexpr Target targets[] = {{"cpu", false},    {"x86-64-v3", false}, {"x86-64-v4", false}, {"cuda", true},    {"sm_75", true},   {"sm_80", true},
                              {"sm_86", true},   {"sm_89", true},      {"sm_90a", true},     {"sm_100a", true}, {"sm_120a", true}, {"hip", true},
                              {"gfx90a", true},  {"gfx942", true},     {"gfx950", true},     {"gfx1100", true}, {"gfx1201", true}};
} // namespace

void checkTarget(const std::string &target) {
  if (target.find(',') != std::string::npos)
    throw Failure(Status::Usage, "several targets at once are not supported yet: name one");
  auto found = std::find_if(std::begin(targets), std::end(targets), [&](const Target &candidate) { return target == candidate.name; });
  if (found == std::end(targets)) {
    std::vector<std::string> names;
    for (const Target &candidate : targets)
      names.push_back(candidate.name);
    std::string near = lang::nearest(target, names);
    throw Failure(Status::Usage, fmt::format("unknown target `{}`{}", target, near.empty() ? ": expected cpu, x86-64-v3 or x86-64-v4" : fmt::format("; did you mean `{}`?", near)));
  }
  if (found->isGpu)
    throw Failure(Status::Device, fmt::format("target `{}` is not available in this version, which has the CPU targets alone; nor is `--emulate` there yet, which will run GPU code without a GPU", target));
}

void checkRunnable(const std::string &target) {
  bool right = true;
#if defined(__x86_64__)
  if (target == "x86-64-v3")
    right = __builtin_cpu_supports("x86-64-v3");
  if (target == "x86-64-v4")
    right = __builtin_cpu_supports("x86-64-v4");
#else
  right = target == "cpu";
#endif
  if (!right)
    throw Failure(Status::Device, fmt::format("this machine can't execute code for `{}`; `tkc compile` can still make it", target));
}

} // namespace tk::tool
