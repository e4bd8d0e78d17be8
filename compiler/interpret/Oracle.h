// The interpreter behind an interface without MLIR types: runs an elaborated kernel over host memory and gives each output element with the bound within which
// another correct execution must lie.
#pragma once
#include "compiler/Compiler.h"
#include "compiler/interpret/Tolerances.h"
#include <array>
#include <functional>

namespace tk::interpret {

struct OracleArray {
  void *data = nullptr;           // copied by the caller beforehand: the oracle writes here
  uint64_t bytes = 0;
  DType dtype = DType::F32;
  std::string name;
  /// Out: one absolute error bound per element; infinity means that the element must not be compared. Integers have none (empty) or, when some element is uncertain, 0 and
  /// infinity. In: initial bounds, or empty.
  std::vector<double> bounds;
};

struct OracleLaunch {
  std::array<int32_t, 3> grid = {1, 1, 1};
  std::vector<uint64_t> arguments; // in the order of the kernel's slots; pointers are host addresses into `arrays`
  std::vector<OracleArray> *arrays = nullptr;
  std::vector<uint64_t> programs;  // linear indices; empty: all
  uint64_t operationLimit = UINT64_MAX;
  bool reportConflicts = false;    // as in Launch.h
  Tolerances tolerances;           // of the execution to compare with
  std::function<void(const std::string &line)> print; // device_print; dropped when not given, since the execution to compare with prints too
};

struct OracleResult {
  bool ok = false, limitReached = false;
  std::string message;
  uint64_t operations = 0;
  uint64_t uncertain = 0; // elements with an infinite bound
};

OracleResult runOracle(compiler::Compiler::Elaboration &kernel, const OracleLaunch &launch);
/// The run-time arguments of an elaborated kernel, in order.
const std::vector<compiler::ArgumentSlot> &slotsOf(compiler::Compiler::Elaboration &kernel);

} // namespace tk::interpret
