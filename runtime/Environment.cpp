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

/// The folder of the disk cache, empty when there is none. The base folders have to be absolute, as the XDG specification says; a home that isn't there is not
/// made.
static std::string cacheFolder() {
  std::string folder = variable("TKC_CACHE_DIR"), base = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!folder.empty())
    return folder == "none" ? "" : folder;
  if (base.starts_with('/'))
    return base + "/tkc";
  return home.starts_with('/') && access(home.c_str(), F_OK) == 0 ? home + "/.cache/tkc" : "";
}

static std::vector<std::string> foldersOf(const std::string &list) {
  std::vector<std::string> folders;
  for (size_t begin = 0; begin < list.size();) {
    size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin)
      folders.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
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
    read.cacheFolder = cacheFolder();
    read.cacheMebibytes = variable("TKC_CACHE_SIZE");
    read.cacheLayers = foldersOf(variable("TKC_CACHE_LAYERS"));
    return read;
  }();
  return result;
}

} // namespace tk::runtime
