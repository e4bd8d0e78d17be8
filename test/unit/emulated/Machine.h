// Runs handwritten PTX on the emulated device and looks at what it left in memory.
#pragma once
#include "Catch.h"
#include "runtime/device/emulated/EmulatedDevice.h"
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

/// One device, one module, its kernels launched one after another.
class Machine {
public:
  explicit Machine(std::string_view ptx, int capability = 90, std::string_view target = "sm_90a") : device(capability) {
    std::string text = fmt::format(".version 8.6\n.target {}\n.address_size 64\n", target);
    text += ptx;
    module = device.load(text);
  }
  template <typename T> T *array(const std::vector<T> &values) {
    T *memory = reinterpret_cast<T *>(device.memory().allocate(values.size() * sizeof(T)));
    std::memcpy(memory, values.data(), values.size() * sizeof(T));
    return memory;
  }
  template <typename T> T *zeros(size_t count) { return array(std::vector<T>(count)); }

  /// Parameters in the order of the kernel's, laid out by their own alignment.
  template <typename... Parameters> LaunchResult launch(std::string_view kernel, LaunchSpec spec, Parameters... values) {
    std::vector<uint8_t> buffer;
    auto add = [&](auto value) {
      size_t at = (buffer.size() + alignof(decltype(value)) - 1) / alignof(decltype(value)) * alignof(decltype(value));
      buffer.resize(at + sizeof(value));
      std::memcpy(buffer.data() + at, &value, sizeof(value));
    };
    (add(values), ...);
    spec.parameters = buffer;
    const Function *function = module->find(kernel);
    REQUIRE(function);
    return device.launch(*module, *function, spec);
  }

  EmulatedDevice device;
  std::unique_ptr<Module> module;
};

/// A kernel `k(ptr out, ptr in)` around a body: %tid in %r0, %out and %in point to this thread's 8 bytes (32 bytes apart: 4 words each of input).
/// The body may use %r1..%r63, %rd1..%rd63, %f, %fd, %h (16 bits) and %p1..%p15.
inline std::string kernelOf(std::string_view body, std::string_view before = "") {
  return fmt::format(R"({}
.visible .entry k(.param .u64 pout, .param .u64 pin) {{
  .reg .pred %p<16>;
  .reg .b16 %h<64>;
  .reg .b32 %r<64>;
  .reg .f32 %f<64>;
  .reg .b64 %rd<64>;
  .reg .f64 %fd<64>;
  .reg .b64 %out, %in;
  ld.param.u64 %out, [pout];
  ld.param.u64 %in, [pin];
  mov.u32 %r0, %tid.x;
  mad.wide.u32 %out, %r0, 16, %out;
  mad.wide.u32 %in, %r0, 32, %in;
{}
  ret;
}})",
                     before, body);
}

/// Runs a body for one warp; `inputs` gives the words of a lane, and the two 64-bit words that the lane stored come back.
struct Lane {
  uint64_t word[2];
  uint32_t low() const { return uint32_t(word[0]); }
  float real() const {
    float value;
    std::memcpy(&value, word, 4);
    return value;
  }
  double wide() const {
    double value;
    std::memcpy(&value, word, 8);
    return value;
  }
};
struct Input {
  uint64_t word[4];
};
inline std::vector<Lane> runBody(std::string_view body, const std::vector<Input> &inputs, std::string_view before = "", LaunchResult *result = nullptr) {
  Machine machine(kernelOf(body, before));
  std::vector<Input> padded = inputs;
  padded.resize(32, inputs.empty() ? Input{} : inputs.back());
  Input *in = machine.array(padded);
  Lane *out = machine.zeros<Lane>(32);
  LaunchResult outcome = machine.launch("k", {.block = {32, 1, 1}, .threads = 1}, out, in);
  if (result)
    *result = outcome;
  else
    REQUIRE(outcome.text() == "");
  return {out, out + 32};
}

} // namespace tk::emulated
