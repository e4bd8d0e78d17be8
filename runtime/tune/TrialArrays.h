// The arrays of a launch while it is tried out: what trials must find in them, and what they leave there.
#pragma once
#include "runtime/device/GpuDevice.h"
#include "tk/device.h"
#include <string>
#include <vector>

namespace tk::runtime {

/// Memory that an argument points to, on the device of the stream.
struct TrialArray {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0; // from the address on; 0: unknown
  DType type = DType::I8;
  bool zero = false;    // before each run: zeros
  bool restore = false; // before each run, and after the last one: what was there at first
  bool compare = false; // results
};

/// Fills arrays with zeros, in the order of the stream: what reset_to_zero asks for before every launch. Throws Error(User) for an array of unknown length,
/// which names it.
void zeroArrays(const Stream &stream, const std::vector<TrialArray> &arrays);

/// Not thread-safe. Arrays that are restored, and in a check those that are compared, are kept in memory of the same device.
class TrialArrays {
public:
  /// Throws Error(User) for an array that must be restored, zeroed or compared and whose length is neither given nor known to the driver.
  TrialArrays(const Stream &stream, std::vector<TrialArray> arrays, bool check);
  /// Puts everything back.
  ~TrialArrays();
  TrialArrays(const TrialArrays &) = delete;
  TrialArrays &operator=(const TrialArrays &) = delete;

  /// Whether prepare() does anything.
  bool changes() const { return anyChange; }
  /// Before a run, in the order of the stream.
  void prepare();
  /// After a run, in a check: how the results differ from those of the first call, empty when they agree.
  std::string difference();
  /// Puts back what was there at first. The destructor does it as well, where it can.
  void restore();

private:
  struct Kept;
  Stream stream;
  GpuDevice *gpu;
  std::vector<TrialArray> arrays;
  std::vector<std::unique_ptr<Kept>> kept; // one per array, null where nothing is kept
  std::vector<Array> reference;            // results of the first trial
  bool check, anyChange = false, restored = true, hasReference = false;
};

} // namespace tk::runtime
