// The environment variables that tkc reads, in one place.
//
//   TKC_PTXAS         NVIDIA's assembler: a path, or `none` for the driver's own. Unset: `ptxas` of PATH, where there is one.
//   TKC_CUDA_DRIVER   NVIDIA's driver library, instead of libcuda.so.1
//   TKC_TUNE          how @triton.autotune is served (tk/tune.h): `on`, `pin` (never measure) or `check` (compare the configurations' results)
//   TKC_TUNE_FILE     files of tuning results, separated by colons: the first is read and written, the others are read. Unset: one in the disk cache's folder
//   TKC_CACHE_DIR     the folder of the disk cache, or `none` for no cache. Unset: tkc in $XDG_CACHE_HOME or in ~/.cache
//   TKC_CACHE_SIZE    what the cache may hold, in MiB. Unset: 1024
//   TKC_CACHE_LAYERS  folders, separated by colons, that are read after the cache and never written
#pragma once
#include <string>
#include <vector>

namespace tk::runtime {

struct Environment {
  std::string ptxas;       // an executable file; empty: there is none
  std::string cudaDriver;  // empty: the system's
  std::string tuneMode;    // as it is written; empty: unset
  std::string tuneFile;
  std::string temporaries; // a folder for temporary files

  std::string cacheFolder;    // empty: no disk cache
  std::string cacheMebibytes; // as written; empty: the default
  std::vector<std::string> cacheLayers;
};

/// As it was when it was first asked for. Thread-safe.
const Environment &environment();

} // namespace tk::runtime
