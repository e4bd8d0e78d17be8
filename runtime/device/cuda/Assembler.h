// PTX text to a cubin: by NVIDIA's ptxas, a program that some machines have, or by the linker in the driver, which every machine with a GPU has.
#pragma once
#include "runtime/device/cuda/CudaDriver.h"
#include <string>

namespace tk::cuda {

struct Assembled {
  std::string cubin; // empty after a failure
  std::string log;   // what the assembler said
};

/// Runs the program. `target`: sm_90a and the like. `source` names the code in messages.
Assembled runPtxas(const std::string &program, const std::string &ptx, const std::string &target);
/// For the device of the current context.
Assembled linkWithDriver(const Driver &driver, const std::string &ptx, const std::string &source);
/// The name after `.target`: sm_90a. Empty for text that is no PTX.
std::string targetOf(const std::string &ptx);

} // namespace tk::cuda
