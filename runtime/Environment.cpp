// See Environment.h.
#include "runtime/Environment.h"
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace tk::runtime {

static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The first executable of this name in PATH.
static std::string inPath(const std::string &program) {
  std::string path = variable("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate = std::string(rest.substr(0, end)) + "/" + program;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (candidate.front() == '/' && access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return "";
}

const Environment &environment() {
  static const Environment result = [] {
    Environment read;
    read.ptxas = variable("TKC_PTXAS");
    if (read.ptxas.empty())
      read.ptxas = inPath("ptxas");
    else if (read.ptxas == "none")
      read.ptxas.clear();
    read.cudaDriver = variable("TKC_CUDA_DRIVER");
    read.tuneMode = variable("TKC_TUNE");
    read.tuneFile = variable("TKC_TUNE_FILE");
    read.temporaries = variable("TMPDIR");
    if (read.temporaries.empty())
      read.temporaries = P_tmpdir;
    return read;
  }();
  return result;
}

} // namespace tk::runtime
