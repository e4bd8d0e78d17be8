// Our side of a row: buffers, launches, time by the device's events, and the check of the result.
#pragma once
#include "runtime/device/GpuDevice.h"
#include "test/bench/gpu/Rows.h"
#include "tk/tk.h"
#include <memory>
#include <string>
#include <vector>

namespace tk::bench {

/// How a row is repeated. The buffers of consecutive launches differ, so that no launch finds its inputs in the cache.
struct Repeats {
  unsigned sets = 1;      // of buffers
  unsigned launches = 10; // in one graph, a multiple of sets
  unsigned replays = 20;
};

class Work {
public:
  /// Fills the buffers. `samples`: the folder of the kernels.
  Work(const GpuRow &row, Device device, const std::string &samples, const Repeats &repeats);
  /// Compiles, loads and records the launches.
  void prepare(const Settings &config);
  /// Median seconds of a launch over `replays` replays of the graph.
  double time(unsigned replays);
  /// The result of one launch against float64 for a sample of elements: ||out - reference|| / ||reference||, NaN when something is not written.
  double error();
  KernelResources resources() const { return use; }

private:
  struct Buffer {
    DeviceArray array;
    uint32_t seed; // 0: a result
  };
  /// One result and the double that it should be.
  struct Sample {
    int64_t index;
    double reference;
  };
  void addBuffer(std::vector<Buffer> &set, DType dtype, std::vector<int64_t> shape, uint32_t seed);
  std::vector<Argument> arguments(const std::vector<Buffer> &set) const;
  Grid grid() const;
  std::vector<Sample> samples() const;
  double value(uint32_t seed, int64_t index) const;

  GpuRow row;
  Settings config;
  Device device;
  Stream stream;
  Kernel kernel;
  Repeats repeats;
  DType dtype = DType::F32;
  std::vector<std::vector<Buffer>> sets;
  std::unique_ptr<runtime::GpuGraph> graph;
  KernelResources use;
};

} // namespace tk::bench
