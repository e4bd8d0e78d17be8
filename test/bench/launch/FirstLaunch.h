// What bench-launch and bench-start both do, so that the second finds what the first compiled: samples/softmax.tk, launched once.
#pragma once
#include "tk/tk.h"
#include <cmath>
#include <string>

namespace tk::bench {

/// Opens, loads, launches, and waits.
class FirstLaunch {
public:
  FirstLaunch(const Device &device, const std::string &file) {
    Stream stream = device.stream();
    Array host(DType::F32, {rows, columns});
    for (int64_t i = 0; i < rows * columns; ++i)
      host.as<float>()[i] = valueAt(i);
    x = DeviceArray(device, host), out = DeviceArray(device, DType::F32, {rows, columns});
    Kernel kernel = Module::fromFile(file).kernel("softmax");
    kernel.launch(stream, grid(rows), out, x, columns, columns, columns, meta("BLOCK", 1024));
    stream.synchronize();
    compiled = kernel.compiledCount();
  }
  size_t compiled = 0; // 0: everything was on the disk

  bool isRight() const {
    Array result = out.toHost();
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
        sum += std::exp(static_cast<double>(valueAt(i)));
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
        if (!(std::abs(result.as<float>()[i] * sum / std::exp(static_cast<double>(valueAt(i))) - 1) < 1e-5))
          return false;
    }
    return true;
  }

private:
  static constexpr int64_t rows = 64, columns = 1000;
  static float valueAt(int64_t i) { return static_cast<float>(i * 37 % 101) / 25; }
  DeviceArray x, out;
};

} // namespace tk::bench
