// The interpreter behind an interface without MLIR types: runs an elaborated kernel over host memory and gives each output element with the bound within which
// another correct execution must lie.
#pragma once
#include "compiler/Compiler.h"
#include <array>

namespace tk::interpret {

struct OracleArray {
  void *data = nullptr;           // copied by the caller beforehand: the oracle writes here
  uint64_t bytes = 0;
  DType dtype = DType::F32;
  std::string name;
  std::vector<double> bounds;     // out: one absolute error bound per element (empty for integers); in: initial bounds or empty
};

struct OracleLaunch {
  std::array<int32_t, 3> grid = {1, 1, 1};
  std::vector<uint64_t> arguments; // in the order of the kernel's slots; pointers are host addresses into `arrays`
  std::vector<OracleArray> *arrays = nullptr;
  std::vector<uint64_t> programs;  // linear indices; empty: all
  uint64_t operationLimit = UINT64_MAX;
};

struct OracleResult {
  bool ok = false, limitReached = false;
  std::string message;
  uint64_t operations = 0;
};

OracleResult runOracle(compiler::Compiler::Elaboration &kernel, const OracleLaunch &launch);
/// The run-time arguments of an elaborated kernel, in order.
const std::vector<compiler::ArgumentSlot> &slotsOf(compiler::Compiler::Elaboration &kernel);

} // namespace tk::interpret
