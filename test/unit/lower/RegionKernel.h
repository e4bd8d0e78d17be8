// Kernels in ttg as text, taken through the end of the GPU pipeline to PTX and executed on the emulated device.
#pragma once
#include "Catch.h"
#include "runtime/device/emulated/EmulatedDevice.h"
#include <cstring>
#include <string>

namespace tk::lower::test {

class RegionKernel {
public:
  /// The function is `k`. `laidOut`: the tiles of the text have layouts; else they are assigned for `warps` warps. `maxRegisters`: the launch option.
  RegionKernel(const std::string &text, const std::string &target, bool laidOut = true, unsigned warps = 4, unsigned maxRegisters = 0);

  template <typename T> T *array(const std::vector<T> &values) {
    T *memory = reinterpret_cast<T *>(device.memory().allocate(values.size() * sizeof(T)));
    std::memcpy(memory, values.data(), values.size() * sizeof(T));
    return memory;
  }
  /// Runs and expects that nothing is found fault with. Parameters are pointers and numbers, in the order of the kernel's.
  template <typename... Parameters> void run(uint32_t programs, Parameters... values) {
    std::vector<uint8_t> buffer;
    auto add = [&](auto value) {
      size_t at = (buffer.size() + alignof(decltype(value)) - 1) / alignof(decltype(value)) * alignof(decltype(value));
      buffer.resize(at + sizeof(value));
      std::memcpy(buffer.data() + at, &value, sizeof(value));
    };
    (add(values), ...);
    launch(programs, buffer);
  }

  std::string ptx, remarks; // remarks: one a line, without places
  unsigned warps = 0;       // of the block
  uint64_t sharedBytes = 0;

private:
  void launch(uint32_t programs, const std::vector<uint8_t> &parameters);
  emulated::EmulatedDevice device;
};

/// What lowering says of a kernel that it refuses; empty when it takes it.
std::string refusalOf(const std::string &text, const std::string &target);

/// What ptxas says against the text; empty when it takes it. Null when there is no ptxas.
std::optional<std::string> ptxasVerdict(const std::string &ptx, const std::string &target);

} // namespace tk::lower::test
