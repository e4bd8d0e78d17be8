// A driver's table whose device is this process: memory is host memory, streams run at once, and kernels are C++ functions found by their entry's name. It
// keeps count of what is alive and fails where a test tells it to, so that the runtime's own decisions can be tested without a GPU.
#pragma once
#include "runtime/device/cuda/CudaDriver.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fake {

struct Block {
  unsigned x, y, z, threads, sharedBytes;
  void **parameters;
  template <typename T> T parameter(size_t index) const { return *static_cast<T *>(parameters[index]); }
};

/// One for the process; reset() before each test.
struct State {
  std::map<std::string, std::function<tk::cuda::Result(const Block &)>> kernels;
  std::map<std::string, tk::cuda::Result> failures;     // by the field of the table: what its calls return
  tk::cuda::Result pending = tk::cuda::Result::Success; // what the next synchronisation reports, and all after it
  int devices = 1, capability = 90, contexts = 0, modules = 0, streams = 0, events = 0, allocations = 0, loads = 0, links = 0;
  int refused = 0; // questions about the current context where there is none
  bool primaryIsAlive = false, numbersContexts = true;
  std::map<void *, tk::cuda::CaptureStatus> capturing; // by stream
  std::map<unsigned long long, size_t> sizes;          // of allocations, by address
  std::vector<std::pair<void *, void *>> waits;        // streams and the events that they wait for
  std::vector<std::string> calls;                      // launches, as text
  std::map<int, int> attributes;                       // of functions
};
State &state();
void reset();
const tk::cuda::Driver &driver();

/// A context of the caller's, made current.
tk::cuda::Context makeContext(int device = 0);
void setCurrent(tk::cuda::Context context);
tk::cuda::Context current();

} // namespace fake
