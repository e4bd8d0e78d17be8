// What a launch tells besides its results: the fault that ended it, findings that silicon would hide, and counts.
#pragma once
#include "runtime/device/emulated/Program.h"

namespace tk::emulated {

struct Finding {
  enum class Kind : uint8_t {
    Fault,            // ends the launch: what a GPU reports as an error, or would hang in
    Deadlock,         // ends the launch
    Race,             // two accesses to shared memory, one a write, that no barrier orders
    Uninitialised,    // a read of shared memory that nothing has written
    ProxyFence,       // generic and asynchronous accesses to the same bytes without fence.proxy.async between
    AsyncHazard,      // bytes of a transfer, or registers of a wgmma, touched while it is under way
    RegisterFence,    // registers of a wgmma used without wgmma.fence before it
    NonUniformBarrier // lanes of a warp have exited when the others come to an aligned barrier
  } kind = Kind::Fault;
  enum class Cause : uint8_t { Other, Launch, Address, Alignment, Hang, Assertion } cause = Cause::Other; // which error a driver makes of it
  std::string message;
  std::string function, file; // of the kernel's source, from .file and .loc; empty where there is none
  uint32_t ptxLine = 0, sourceLine = 0, sourceColumn = 0;
  uint32_t block[3] = {0, 0, 0};
  uint32_t thread = 0; // linear, in the block; the first one concerned
  uint64_t times = 1;
  std::string text() const; // everything in one or more lines
};
const char *nameOf(Finding::Kind kind);

struct Statistics {
  std::array<uint64_t, size_t(Class::Count)> threadInstructions = {}, warpInstructions = {};
  uint64_t globalRequests = 0, globalSectors = 0, globalBytes = 0;    // per warp and instruction; sectors of 32 bytes
  uint64_t sharedRequests = 0, sharedWavefronts = 0, sharedIdeal = 0; // wavefronts done, and those that no layout could avoid: more means bank conflicts
  uint64_t asyncBytes = 0, matrixOperations = 0;                      // multiply-adds
  uint64_t barriers = 0, divergentBranches = 0;
  uint64_t totalThreadInstructions() const;
  uint64_t bankConflicts() const { return sharedWavefronts - sharedIdeal; }
  Statistics &operator+=(const Statistics &other);
};

/// Thrown inside a launch; what the launch ends with.
struct LaunchFault {
  Finding finding;
};

} // namespace tk::emulated
