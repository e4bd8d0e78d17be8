// Runs cases on a GPU: one that is there, or an emulated one. The driver starts once and serves many cases.
#pragma once
#include "compiler/Compiler.h"
#include "runtime/device/GpuDevice.h"
#include "test/conformance/Memory.h"

namespace tk::conformance {

/// What one execution left behind.
struct Ran {
  std::vector<Memory> memory;
  std::vector<std::string> lines; // of device_print
  std::string failure;            // the launch's message when it failed
  std::string overrun;            // the buffer beside which memory was written
};

class GpuRunner {
public:
  /// `execution`: cuda for the GPU of this machine, or a target as in sm_90a for an emulated one. Throws tk::Error when there is none.
  explicit GpuRunner(const std::string &execution);
  const std::string &target() const { return compileTarget; }
  /// After a fault the device may be of no use to this process any more.
  bool isLost() const { return lost; }
  /// For the case's buffers, copies with space around them that must survive; `addressOf` a slot's parameter gives where a buffer is. Fills `ran`, whose memory
  /// is as it was before.
  using SlotBits = std::function<std::vector<uint64_t>(const std::function<uint64_t(unsigned parameter)> &addressOf)>;
  void run(const Case &testCase, const compiler::CompiledKernel &compiled, const SlotBits &slotBits, Ran &ran);

  static bool isGpu(const std::string &execution);

private:
  std::shared_ptr<runtime::GpuDevice> device;
  std::string compileTarget;
  std::vector<std::string> lines;
  bool lost = false;
};

} // namespace tk::conformance
