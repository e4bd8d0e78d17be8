// What `tkc run` says of one execution, as lines for people or as one JSON value.
#pragma once
#include "tk/array.h"
#include "tools/tkc/Verify.h"
#include <optional>
#include <string>

namespace tk::tool {

struct RunReport {
  std::string kernel, target, arguments;
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::string place; // where it ran: "2 threads", "NVIDIA H200"
  std::optional<Verification> verification; // nothing: not asked for
  std::optional<BenchmarkResult> timing;
  std::vector<Count> counts;                // of an emulated device
  uint64_t bytes = 0;                       // inputs read once and outputs written once
};

/// "softmax  x=fp32[4096,1000] ...  grid 4096": what is run.
std::string titleLine(const RunReport &report);
/// The verified result, the time, the bytes per second, a line each.
std::string resultLines(const RunReport &report);
std::string toJson(const std::vector<RunReport> &reports);

/// "12.34 us"
std::string durationText(double seconds);
/// "64x2"
std::string gridText(const std::array<int64_t, 3> &grid);

/// An array's elements as nested rows; long axes are shortened in the middle.
std::string elementsText(const Array &array);

} // namespace tk::tool
