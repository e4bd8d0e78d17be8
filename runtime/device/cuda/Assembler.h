// PTX text to a cubin: by NVIDIA's ptxas, a program that some machines have, or by the linker in the driver, which every machine with a GPU has.
#pragma once
#include "runtime/device/cuda/CudaDriver.h"
#include <optional>
#include <string>

namespace tk::cuda {

/// What a thread of an assembled kernel takes.
struct CodeUse {
  unsigned registers = 0;
  unsigned stackBytes = 0;                  // of local memory; spilled registers are part of it
  unsigned spillStores = 0, spillLoads = 0; // bytes moved by the spilling code
  unsigned barriers = 0;                    // of a block: hardware barriers, of which there are 16
};

struct Assembled {
  std::string cubin;          // empty after a failure
  std::string log;            // what the assembler said
  std::optional<CodeUse> use; // where the log tells
};

/// Reads the report that ptxas writes with --verbose about the only kernel of a file. Empty for text that is none.
std::optional<CodeUse> readUse(const std::string &log);

/// Runs the program. `target`: sm_90a and the like. `source` names the code in messages.
Assembled runPtxas(const std::string &program, const std::string &ptx, const std::string &target);
/// For the device of the current context.
Assembled linkWithDriver(const Driver &driver, const std::string &ptx, const std::string &source);
/// The name after `.target`: sm_90a. Empty for text that is no PTX.
std::string targetOf(const std::string &ptx);

} // namespace tk::cuda
