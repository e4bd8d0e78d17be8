// Executes tt directly: the oracle.
//
// Plain and obviously right: one value per element, one program after another, one operation after another, no vectors and no code of the CPU target or the standard
// library. Math functions are libm's in a wider type. Floating-point values are kept as the double that holds the rounded value of their type, beside a bound on the absolute
// error that another correct execution may have (see ErrorBound in Tile.h).
#pragma once
#include "compiler/interpret/Tolerances.h"
#include "dialects/tt/TT.h"
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tk::interpret {

/// A range of memory that the program may access. Loads and stores outside every region are reported as faults.
struct Region {
  void *data = nullptr;
  uint64_t bytes = 0;
  std::string name;
  double *bounds = nullptr; // optional: one error bound per `elementBytes` bytes, carried through memory; written by stores
  uint32_t elementBytes = 0;
};

/// A run-time argument: the bits of a scalar in the low bits, or an address.
using Argument = uint64_t;

struct Launch {
  std::array<int32_t, 3> grid = {1, 1, 1};
  std::vector<Argument> arguments;
  std::vector<Region> regions;
  /// Programs to run by linear index (x fastest); empty: all.
  std::vector<uint64_t> programs;
  uint64_t operationLimit = UINT64_MAX; // elements computed before giving up
  bool checkRegions = true;
  Tolerances tolerances;
  std::function<void(const std::string &line)> print; // device_print; default stdout
};

struct Result {
  enum Status { Ok, Fault, AssertFailed, LimitReached } status = Ok;
  std::string message;                 // with file:line of the op for Fault and AssertFailed
  std::array<int32_t, 3> program = {}; // where it happened
  uint64_t operations = 0;
  uint64_t uncertain = 0; // elements of the regions with bounds that must not be compared: their bound is infinite
};

/// Runs the public function of `module` named `kernel` (unlowered or optimised tt; tt.call is followed). Thread-safe for distinct memory.
Result run(mlir::ModuleOp module, llvm::StringRef kernel, const Launch &launch);

} // namespace tk::interpret
