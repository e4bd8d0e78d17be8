// Runs an elaborated kernel over the caller's arrays, each of them a region with bounds.
#include "compiler/interpret/Oracle.h"
#include "compiler/Elaboration.h"
#include "compiler/interpret/Interpreter.h"
#include <algorithm>

namespace tk::interpret {

OracleResult runOracle(compiler::Compiler::Elaboration &kernel, const OracleLaunch &launch) {
  Launch inner;
  inner.grid = launch.grid;
  inner.arguments.assign(launch.arguments.begin(), launch.arguments.end());
  inner.programs = launch.programs;
  inner.operationLimit = launch.operationLimit;
  inner.reportConflicts = launch.reportConflicts;
  inner.tolerances = launch.tolerances;
  inner.print = launch.print ? launch.print : [](const std::string &) {};
  std::vector<OracleArray> none;
  std::vector<OracleArray> &arrays = launch.arrays ? *launch.arrays : none;
  for (OracleArray &array : arrays) {
    uint32_t width = bytesOf(array.dtype);
    array.bounds.resize(array.bytes / width, 0);
    inner.regions.push_back({array.data, array.bytes, array.name, array.bounds.data(), width});
  }
  Result result = run(*kernel.elaborated.module, kernel.kernel, inner);
  for (OracleArray &array : arrays)
    if (!isFloat(array.dtype) && std::none_of(array.bounds.begin(), array.bounds.end(), [](double bound) { return bound != 0; }))
      array.bounds.clear();
  return {result.status == Result::Ok, result.status == Result::LimitReached, result.message, result.operations, result.uncertain};
}

const std::vector<compiler::ArgumentSlot> &slotsOf(compiler::Compiler::Elaboration &kernel) { return kernel.slots; }

} // namespace tk::interpret
