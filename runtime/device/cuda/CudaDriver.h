// NVIDIA's driver, reached by dlopen: only the types and enumerators that tkc uses, and the table of entry points (CudaEntryPoints.def).
//
// No SDK is needed to build. Numbers are those of NVIDIA's CUDA driver API reference; they are part of the driver's binary interface. Names live in tk::cuda,
// so that a program may include cuda.h beside this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tk::cuda {

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextOpaque *;
using Module = struct ModuleOpaque *;
using Function = struct FunctionOpaque *;
using Stream = struct StreamOpaque *;
using Event = struct EventOpaque *;
using Graph = struct GraphOpaque *;
using GraphExec = struct GraphExecOpaque *;
using LinkState = struct LinkStateOpaque *;

/// Those that tkc acts on or that the emulated device gives; others pass through as numbers.
enum class Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  JitCompilerNotFound = 221,
  UnsupportedPtxVersion = 222,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  Assert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719, // what a trap becomes
  NotSupported = 801,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  Unknown = 999
};

enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxGridX = 5,
  MaxGridY = 6,
  MaxGridZ = 7,
  MaxSharedBytesPerBlock = 8,
  WarpSize = 10,
  MaxRegistersPerBlock = 12,
  ClockRateKhz = 13,
  MultiprocessorCount = 16,
  MemoryClockRateKhz = 36,
  MemoryBusBits = 37,
  L2Bytes = 38,
  MaxThreadsPerMultiprocessor = 39,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedBytesPerMultiprocessor = 81,
  PageableMemoryAccess = 88,
  MaxSharedBytesPerBlockOptin = 97,
  ClusterLaunch = 120
};

enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedBytes = 1, // static
  ConstBytes = 2,
  LocalBytes = 3, // per thread: stack and spills
  Registers = 4,
  PtxVersion = 5,
  BinaryVersion = 6,
  MaxDynamicSharedBytes = 8,
  PreferredSharedCarveout = 9,
  NonPortableClusterSizeAllowed = 14
};

/// Values are passed as void *: numbers as the pointer's bits.
enum class JitOption : int {
  InfoLogBuffer = 3,
  InfoLogBufferBytes = 4, // in: the buffer's size; out: what was written
  ErrorLogBuffer = 5,
  ErrorLogBufferBytes = 6,
  OptimizationLevel = 7,
  TargetFromContext = 8,
  Target = 9, // 10 * major + minor
  GenerateDebugInfo = 11,
  LogVerbose = 12,
  GenerateLineInfo = 13
};
enum class JitInputType : int { Cubin = 0, Ptx = 1 };

enum class PointerAttribute : int { Context = 1, MemoryType = 2, DevicePointer = 3, HostPointer = 4, DeviceOrdinal = 9 };
enum class MemoryType : unsigned { Host = 1, Device = 2, Array = 3, Unified = 4 };
enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };
enum class CaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };

constexpr unsigned streamDefault = 0, streamNonBlocking = 1;
constexpr unsigned eventDefault = 0, eventDisableTiming = 2;
constexpr unsigned hostAllocPortable = 1, hostAllocDeviceMap = 2, hostAllocWriteCombined = 4;

enum class LaunchAttributeId : int { Cooperative = 2, ClusterDimension = 4, ProgrammaticStreamSerialization = 6 };
union LaunchAttributeValue {
  char bytes[64];
  struct {
    unsigned x, y, z;
  } cluster;
  int programmaticStreamSerialization;
  int cooperative;
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[8 - sizeof(LaunchAttributeId)];
  LaunchAttributeValue value;
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

/// Opaque to the host; kernels take it by value as a parameter, or by address.
struct alignas(64) TensorMap {
  uint64_t words[16];
};
enum class TensorMapDataType : int { U8 = 0, U16 = 1, U32 = 2, I32 = 3, U64 = 4, I64 = 5, F16 = 6, F32 = 7, F64 = 8, BF16 = 9 };
enum class TensorMapInterleave : int { None = 0 };
enum class TensorMapSwizzle : int { None = 0, Bytes32 = 1, Bytes64 = 2, Bytes128 = 3 };
enum class TensorMapL2Promotion : int { None = 0, Bytes64 = 1, Bytes128 = 2, Bytes256 = 3 };
enum class TensorMapFill : int { Zero = 0, NanRequestZeroFma = 1 };

/// The entry points. Optional ones may be null. A plain table: the emulated device makes one of its own functions.
struct Driver {
#define CUDA_ENTRY(need, name, symbol, ...) Result (*name)(__VA_ARGS__) = nullptr;
#include "runtime/device/cuda/CudaEntryPoints.def"
#undef CUDA_ENTRY
};

/// Loads the driver's library, `path` or else libcuda.so.1, and fills the table; it is not initialised (`init`) yet. The library stays loaded for the life of
/// the process. Throws Error(Device) that names the library and what is missing: the file, or the required entry points.
const Driver &loadDriver(const std::string &path = {});

/// "CUDA_ERROR_INVALID_VALUE (1): invalid argument", from the driver's own texts where it has them.
std::string describe(const Driver &driver, Result result);

} // namespace tk::cuda
