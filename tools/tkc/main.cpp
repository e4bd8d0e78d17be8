// tkc: the command line of the project. A verb, its options, an exit status.
#include "lang/syntax/Diagnostic.h"
#include "tk/error.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/Verbs.h"
#include "llvm/Config/llvm-config.h"
#include <cstdio>
#include <fmt/format.h>
#include <new>

namespace tk::tool {
namespace {

constexpr const char *overview = "tkc: compiles and runs kernels written in .tk\n"
                                 "\n"
                                 "usage: tkc VERB ...\n"
                                 "\n"
                                 "  run FILE [NAME=VALUE ...]   compile a kernel, launch it, check the result, measure the time\n"
                                 "  compile FILE                make an object file, or show a stage of the compilation\n"
                                 "  explain FILE                show what the compiler made of each line, and what the kernel takes of a GPU\n"
                                 "  check FILE...               find errors\n"
                                 "  cache ACTION                look at what compilations left on the disk, remove it, pack it\n"
                                 "  devices                     list what kernels can run on here\n"
                                 "\n"
                                 "`tkc VERB --help` lists the options of a verb, `tkc --version` the version.\n"
                                 "Exit status: 0 right, 1 errors in the program, 2 usage, 3 verification failed, 4 device.\n";

int dispatch(const std::vector<std::string> &arguments) {
  if (arguments.empty()) {
    std::fputs(overview, stderr);
    return static_cast<int>(Status::Usage);
  }
  const std::string &verb = arguments[0];
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (verb == "--help" || verb == "-h" || verb == "help") {
    std::fputs(overview, stdout);
    return 0;
  }
  if (verb == "--version") {
    fmt::print("tkc {} (LLVM {})\n", TKC_VERSION, LLVM_VERSION_STRING);
    return 0;
  }
  if (verb == "run")
    return runVerb(rest);
  if (verb == "compile")
    return compileVerb(rest);
  if (verb == "explain")
    return explainVerb(rest);
  if (verb == "check")
    return checkVerb(rest);
  if (verb == "cache")
    return cacheVerb(rest);
  if (verb == "devices")
    return devicesVerb(rest);
  std::string near = lang::nearest(verb, {"run", "compile", "explain", "check", "cache", "devices"});
  throw Failure(Status::Usage,
                fmt::format("unknown verb `{}`{}", verb,
                            near.empty() ? ": expected run, compile, explain, check, cache or devices" : fmt::format("; did you mean `{}`?", near)));
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
