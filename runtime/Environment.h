// The environment variables that tkc reads, in one place.
//
//   TKC_PTXAS         NVIDIA's assembler: a path, or `none` for the driver's own. Unset: `ptxas` of PATH, where there is one.
//   TKC_CUDA_DRIVER   NVIDIA's driver library, instead of libcuda.so.1
#pragma once
#include <string>

namespace tk::runtime {

struct Environment {
  std::string ptxas;       // an executable file; empty: there is none
  std::string cudaDriver;  // empty: the system's
  std::string temporaries; // a folder for temporary files
};

/// As it was when it was first asked for. Thread-safe.
const Environment &environment();

} // namespace tk::runtime
