// The calling convention of a compiled kernel, as data: what a launch has to pass, in order, and what the code needs of the device. The just-in-time path,
// precompiled kernels and every device read the same description; toText and parseKernelAbi carry it in files.
//
// CPU: `void NAME(const uint64_t *slots, const int32_t grid[3], uint64_t begin, uint64_t end, void *arena, const void *services)` runs the programs with linear
// index begin <= i < end (x fastest); slot i holds the bits of argument i, zero-extended; `arena` has `arenaBytes` bytes aligned to 64, private to the call;
// `services` is runtime/device/cpu/CpuServices.h's table.
//
// GPU: one kernel parameter per slot, in order, of the slot's natural size and alignment (pointers 8 bytes, i1 and other kinds of 8 bits 1 byte, the rest their
// width), the hidden slots last. Programs are blocks: the grid comes from %ctaid and %nctaid, a block has (threads, 1, 1) threads.
#pragma once
#include "tk/dtype.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tk::runtime {

/// One parameter of the compiled entry point.
struct ArgumentSlot {
  enum class Kind : uint8_t {
    Scalar,
    Pointer,
    TensorMap,   // 128 bytes that describe a tensor to the copy engine (runtime/device/cuda/TensorMaps.h), by value; the launch gets a tk::TensorDescriptor
    PrintBuffer, // hidden: the address of a print buffer (runtime/device/PrintBuffer.h); there only when the kernel prints or asserts
    Scratch      // hidden: the address of `scratchBytes` for each program of the grid, not initialised
  };
  std::string name;   // "x" or "t[0]"
  unsigned param = 0; // index of the kernel's parameter
  std::vector<unsigned> path;
  DType dtype = DType::I32; // of the scalar, or of what the pointer points to
  unsigned pointerDepth = 0;
  bool read = false, written = false;
  Kind kind = Kind::Scalar;
  struct Map {
    std::vector<int32_t> box; // extents of a block, in the order of the tensor's axes
    uint8_t swizzle = 0;      // of shared memory: 0 none, 1 to 3 for 32, 64, 128 bytes
    bool nanFill = false;     // what lies outside of the tensor reads as NaN instead of 0
  } map; // of a TensorMap

  bool isHidden() const { return kind == Kind::PrintBuffer || kind == Kind::Scratch; }
  bool isPointer() const { return pointerDepth > 0 || isHidden(); }
  /// What it takes in a GPU kernel's parameter list, and its alignment there (64 bytes for a TensorMap).
  unsigned parameterBytes() const { return kind == Kind::TensorMap ? 128 : isPointer() ? 8 : bytesOf(dtype); }
};

/// A value of a device_print. What the device writes is the element as it lies in memory (fp16: its 16 bits), zero-extended; of a pointer its address.
struct PrintOperand {
  DType dtype = DType::I32;
  bool isSigned = true; // of an integer
  bool isPointer = false;
  std::vector<int64_t> shape; // empty: a scalar
  bool operator==(const PrintOperand &) const = default;
};

/// One device_print or device_assert of a kernel; records of the print buffer hold its index.
struct PrintSite {
  bool isAssert = false;
  bool hex = false;
  std::string text; // the prefix, or the assertion's message
  std::vector<PrintOperand> operands;
  std::string file;
  unsigned line = 0;
  bool operator==(const PrintSite &) const = default;
};

struct KernelAbi {
  std::string entry;
  std::vector<ArgumentSlot> slots;
  // The CPU:
  uint64_t arenaBytes = 0;
  bool spins = false; // calls the `yield` service: the runtime then runs one program a chunk, since a program may wait for any other
  // GPUs:
  unsigned threads = 0;      // of a block; 0: code for the CPU
  unsigned clusterSize = 1;  // blocks of a cluster, along x
  bool cooperative = false;  // all blocks run at the same time, or the launch fails
  bool programmatic = false; // may start before what precedes it on the stream has ended (programmatic dependent launch)
  uint64_t sharedBytes = 0;  // dynamic shared memory of a block
  uint64_t scratchBytes = 0; // global memory of a program (see Kind::Scratch)
  std::vector<PrintSite> printSites;
  std::string file; // where the kernel stands, for messages
  unsigned line = 0;
};

/// Text of one line per fact; the first names the version. Equal descriptions give equal text.
std::string toText(const KernelAbi &abi);
/// Reads it back. False with a message that names the line, for anything that toText does not write.
bool parseKernelAbi(const std::string &text, KernelAbi &abi, std::string &error);

} // namespace tk::runtime
