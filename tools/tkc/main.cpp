// tkc: the command line of the project. A verb, its options, an exit status.
#include "lang/syntax/Diagnostic.h"
#include "tk/error.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/Verbs.h"
#include "llvm/Config/llvm-config.h"
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <new>

namespace tk::tool {
namespace {

struct VerbEntry {
  const char *name, *usage, *summary;
  int (*run)(const std::vector<std::string> &arguments);
};
constexpr VerbEntry verbs[] = {
    {"run", "FILE [NAME=VALUE ...]", "compile a kernel, launch it, check the result, measure the time", runVerb},
    {"compile", "FILE", "make an object file, or show a stage of the compilation", compileVerb},
    {"explain", "FILE", "show what the compiler made of each line, and what the kernel takes of a GPU", explainVerb},
    {"bench", "FILE[:KERNEL]", "measure a kernel's time, on several targets", benchVerb},
    {"tune", "FILE[:KERNEL]", "measure a kernel's configurations and keep the fastest", tuneVerb},
    {"check", "FILE...", "find errors", checkVerb},
    {"cache", "ACTION", "look at what compilations left on the disk, remove it, pack it", cacheVerb},
    {"devices", "", "list what kernels can run on here", devicesVerb},
};

std::string overview() {
  std::string text = "tkc: compiles and runs kernels written in .tk\n\nusage: tkc VERB ...\n\n";
  for (const VerbEntry &verb : verbs)
    text += fmt::format("  {:<28}{}\n", fmt::format("{} {}", verb.name, verb.usage), verb.summary);
  return text + "\n`tkc VERB --help` lists the options of a verb, `tkc --version` the version.\n"
                "Exit status: 0 right, 1 errors in the program, 2 usage, 3 verification failed, 4 device.\n";
}

int dispatch(const std::vector<std::string> &arguments) {
  if (arguments.empty()) {
    std::fputs(overview().c_str(), stderr);
    return static_cast<int>(Status::Usage);
  }
  const std::string &name = arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    std::fputs(overview().c_str(), stdout);
    return 0;
  }
  if (name == "--version") {
    fmt::print("tkc {} (LLVM {})\n", TKC_VERSION, LLVM_VERSION_STRING);
    return 0;
  }
  std::vector<std::string> names;
  for (const VerbEntry &verb : verbs) {
    if (name == verb.name)
      return verb.run({arguments.begin() + 1, arguments.end()});
    names.emplace_back(verb.name);
  }
  std::string near = lang::nearest(name, names);
  throw Failure(Status::Usage, near.empty() ? fmt::format("unknown verb `{}`: expected one of {}", name, fmt::join(names, ", "))
                                            : fmt::format("unknown verb `{}`; did you mean `{}`?", name, near));
}

/// Rendered diagnostics stand as they are, a single message gets its prefix.
int report(Status status, const std::string &text) {
  std::fflush(stdout);
  std::fputs((text.ends_with('\n') ? text : "tkc: error: " + text + "\n").c_str(), stderr);
  return static_cast<int>(status);
}

int guarded(const std::vector<std::string> &arguments) {
  try {
    int status = dispatch(arguments);
    if (std::fflush(stdout) != 0)
      return report(Status::Device, "writing to standard output failed");
    return status;
  } catch (const Failure &failure) {
    return report(failure.status(), failure.what());
  } catch (const Error &error) {
    switch (error.kind()) {
    case ErrorKind::User: return report(Status::Diagnostics, error.what());
    case ErrorKind::Device: return report(Status::Device, error.what());
    case ErrorKind::Internal: return report(Status::Diagnostics, std::string("internal error: ") + error.what());
    }
  } catch (const std::bad_alloc &) {
    return report(Status::Device, "out of memory");
  }
  return static_cast<int>(Status::Diagnostics);
}

} // namespace
} // namespace tk::tool

int main(int count, char **values) {
  std::vector<std::string> arguments(values + 1, values + count);
  return tk::tool::runContained([&] { return tk::tool::guarded(arguments); });
}
