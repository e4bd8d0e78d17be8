// What is run, and what came of it: memory regions, a launch, its result. No MLIR type appears here.
#pragma once
#include "compiler/interpret/Tolerances.h"
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
  bool reportConflicts = false; // a store of different values to one place by several elements is a fault, not just uncertain
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

} // namespace tk::interpret
