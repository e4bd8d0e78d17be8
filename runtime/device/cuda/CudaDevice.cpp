// What is peculiar to NVIDIA's driver: see DriverDevice.h for the rest.
//
// Code comes as PTX text and is made a cubin before it is loaded, by ptxas where there is one (it is newer than the driver's assembler as often as not, and
// shows its log), else by the driver's linker, so that what is kept is the same kind of thing either way. More than 48 KiB of shared memory has to be asked
// for, function by function. Clusters need the extended launch call, which drivers before CUDA 11.8 don't have.
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/Environment.h"
#include "runtime/device/DriverDeviceCalls.h"
#include "runtime/device/cuda/Assembler.h"
#include "runtime/device/cuda/TensorMaps.h"
#include <sys/stat.h>

namespace tk::runtime {

namespace {
struct CudaApi {
  using Driver = cuda::Driver;
  using Device = cuda::Device;
  using DevicePointer = cuda::DevicePointer;
  using Context = cuda::Context;
  using Module = cuda::Module;
  using Function = cuda::Function;
  using Stream = cuda::Stream;
  using Event = cuda::Event;
  using Graph = cuda::Graph;
  using GraphExec = cuda::GraphExec;
  using Result = cuda::Result;
  using CaptureStatus = cuda::CaptureStatus;
  static constexpr Result success = Result::Success;
  static constexpr cuda::CaptureMode captureMode = cuda::CaptureMode::ThreadLocal;
  static constexpr unsigned streamFlags = cuda::streamNonBlocking;
  static constexpr unsigned hostAllocMapped = cuda::hostAllocDeviceMap | cuda::hostAllocPortable;

  static std::string describe(const Driver &driver, Result result) { return cuda::describe(driver, result); }
  static bool isSticky(Result result) { return result >= Result::IllegalAddress && result <= Result::LaunchFailed && result != Result::LaunchOutOfResources; }
  static bool isCaptureConflict(Result result) { return static_cast<int>(result) >= 900 && static_cast<int>(result) <= 909; }

  static Result readProperties(const Driver &driver, Device device, GpuProperties &facts);
  static GpuImage assemble(const Driver &driver, const GpuImage &image, const GpuProperties &facts, const KernelAbi &abi);
  static std::string assemblerIdentity(const Driver &driver, const GpuProperties &facts);
  static std::string foreign(const Driver &driver, uint64_t address, const GpuProperties &facts);
  using TensorMap = cuda::TensorMap;
  static void tensorMap(const Driver &driver, const TensorDescriptor &tensor, const ArgumentSlot &slot, TensorMap &map) {
    cuda::tensorMap(driver, tensor, slot, map);
  }
  static Result loadModule(const Driver &driver, Module *module, const GpuImage &image) {
    return driver.moduleLoadDataEx(module, image.bytes.c_str(), 0, nullptr, nullptr);
  }
  static Result allowSharedBytes(const Driver &driver, Function function, const KernelAbi &abi);
  static Result launch(const Driver &driver, Function function, const KernelAbi &abi, const std::array<int64_t, 3> &grid, Stream stream, void **parameters);
  static GpuKernelUse use(const Driver &driver, Function function, const KernelAbi &abi);
};

CudaApi::Result CudaApi::readProperties(const Driver &driver, Device device, GpuProperties &facts) {
  char name[256] = {};
  Result result = driver.deviceGetName(name, sizeof(name) - 1, device);
  facts.name = name;
  size_t bytes = 0;
  if (result == success)
    result = driver.deviceTotalMem(&bytes, device);
  facts.memoryBytes = bytes;
  if (result == success)
    result = driver.driverGetVersion(&facts.driverVersion);
  auto ask = [&](cuda::DeviceAttribute attribute) {
    int value = 0;
    if (result == success)
      result = driver.deviceGetAttribute(&value, attribute, device);
    return static_cast<unsigned>(value);
  };
  using Attribute = cuda::DeviceAttribute;
  facts.architecture = 10 * ask(Attribute::ComputeCapabilityMajor) + ask(Attribute::ComputeCapabilityMinor);
  facts.multiprocessors = ask(Attribute::MultiprocessorCount);
  facts.warpSize = ask(Attribute::WarpSize);
  facts.maxThreads = ask(Attribute::MaxThreadsPerBlock);
  facts.maxSharedBytes = ask(Attribute::MaxSharedBytesPerBlockOptin);
  facts.l2Bytes = ask(Attribute::L2Bytes);
  facts.clockKhz = ask(Attribute::ClockRateKhz);
  facts.memoryClockKhz = ask(Attribute::MemoryClockRateKhz);
  facts.memoryBusBits = ask(Attribute::MemoryBusBits);
  facts.pageableAccess = ask(Attribute::PageableMemoryAccess);
  return result;
}

/// Lines before and after one another, without a line break at the end.
std::string joined(const std::string &first, const std::string &second) {
  std::string text = first + (first.empty() || second.empty() || first.ends_with('\n') ? "" : "\n") + second;
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

GpuImage CudaApi::assemble(const Driver &driver, const GpuImage &image, const GpuProperties &facts, const KernelAbi &abi) {
  if (image.kind == GpuImage::Kind::Binary || facts.emulated)
    return image;
  const std::string &ptxas = environment().ptxas;
  std::string failure;
  if (!ptxas.empty()) {
    // Code for exactly one compute capability names it; other code is assembled for the device.
    std::string target = cuda::targetOf(image.bytes);
    cuda::Assembled assembled = cuda::runPtxas(ptxas, image.bytes, target.ends_with('a') ? target : fmt::format("sm_{}", facts.architecture));
    if (!assembled.cubin.empty())
      return {GpuImage::Kind::Binary, std::move(assembled.cubin)};
    failure = fmt::format("`{}`: {}", ptxas, assembled.log);
  }
  cuda::Assembled assembled = cuda::linkWithDriver(driver, image.bytes, abi.entry);
  if (!assembled.cubin.empty())
    return {GpuImage::Kind::Binary, std::move(assembled.cubin)};
  throw Error(ErrorKind::Internal, fmt::format("the code of kernel `{}` can't be assembled for {}:\n{}", abi.entry, facts.name,
                                               joined(failure, "the driver's assembler: " + assembled.log)));
}

/// ptxas by its file, since asking it for its version takes longer than loading what it has made.
std::string CudaApi::assemblerIdentity(const Driver &, const GpuProperties &facts) {
  if (facts.emulated)
    return "emulated";
  const std::string &ptxas = environment().ptxas;
  struct stat file;
  if (!ptxas.empty() && stat(ptxas.c_str(), &file) == 0)
    return fmt::format("ptxas {} {} driver {}", file.st_size, file.st_mtime, facts.driverVersion);
  return fmt::format("driver {}", facts.driverVersion);
}

std::string CudaApi::foreign(const Driver &driver, uint64_t address, const GpuProperties &facts) {
  cuda::DevicePointer usable = 0;
  if (facts.pageableAccess || driver.pointerGetAttribute(&usable, cuda::PointerAttribute::DevicePointer, address) != Result::InvalidValue)
    return "";
  int ordinal = 0;
  if (driver.pointerGetAttribute(&ordinal, cuda::PointerAttribute::DeviceOrdinal, address) != success || ordinal == static_cast<int>(facts.ordinal))
    return "host memory that the driver does not know";
  return fmt::format("the memory of GPU {}, to which this context has no access", ordinal);
}

CudaApi::Result CudaApi::allowSharedBytes(const Driver &driver, Function function, const KernelAbi &abi) {
  constexpr uint64_t always = 48 << 10;
  if (abi.sharedBytes > always)
    if (Result result = driver.funcSetAttribute(function, cuda::FunctionAttribute::MaxDynamicSharedBytes, static_cast<int>(abi.sharedBytes)); result != success)
      return result;
  constexpr unsigned portableCluster = 8;
  return abi.clusterSize > portableCluster ? driver.funcSetAttribute(function, cuda::FunctionAttribute::NonPortableClusterSizeAllowed, 1) : success;
}

CudaApi::Result CudaApi::launch(const Driver &driver, Function function, const KernelAbi &abi, const std::array<int64_t, 3> &grid, Stream stream,
                                void **parameters) {
  auto x = static_cast<unsigned>(grid[0]), y = static_cast<unsigned>(grid[1]), z = static_cast<unsigned>(grid[2]);
  auto shared = static_cast<unsigned>(abi.sharedBytes);
  if (abi.clusterSize == 1 && !abi.cooperative && !abi.programmatic)
    return driver.launchKernel(function, x, y, z, abi.threads, 1, 1, shared, stream, parameters, nullptr);
  if (!driver.launchKernelEx)
    return Result::NotSupported;
  cuda::LaunchAttribute attributes[3] = {};
  unsigned count = 0;
  auto add = [&](cuda::LaunchAttributeId id) -> cuda::LaunchAttributeValue & {
    attributes[count].id = id;
    return attributes[count++].value;
  };
  if (abi.clusterSize > 1)
    add(cuda::LaunchAttributeId::ClusterDimension).cluster = {abi.clusterSize, 1, 1};
  if (abi.cooperative)
    add(cuda::LaunchAttributeId::Cooperative).cooperative = 1;
  if (abi.programmatic)
    add(cuda::LaunchAttributeId::ProgrammaticStreamSerialization).programmaticStreamSerialization = 1;
  cuda::LaunchConfig config = {x, y, z, abi.threads, 1, 1, shared, stream, attributes, count};
  return driver.launchKernelEx(&config, function, parameters, nullptr);
}

GpuKernelUse CudaApi::use(const Driver &driver, Function function, const KernelAbi &abi) {
  GpuKernelUse use;
  driver.funcGetAttribute(&use.registers, cuda::FunctionAttribute::Registers, function);
  driver.funcGetAttribute(&use.spillBytes, cuda::FunctionAttribute::LocalBytes, function);
  driver.funcGetAttribute(&use.staticSharedBytes, cuda::FunctionAttribute::SharedBytes, function);
  if (driver.occupancyMaxActiveBlocksPerMultiprocessor)
    driver.occupancyMaxActiveBlocksPerMultiprocessor(&use.blocksPerMultiprocessor, function, static_cast<int>(abi.threads), abi.sharedBytes);
  return use;
}
} // namespace

std::vector<std::shared_ptr<GpuDevice>> openCudaDevices(const cuda::Driver &driver, bool emulated, uint32_t printCapacity) {
  int count = 0;
  if (cuda::Result result = driver.deviceGetCount(&count); result != cuda::Result::Success)
    throw Error(ErrorKind::Device, "the devices can't be counted: " + cuda::describe(driver, result));
  std::vector<std::shared_ptr<GpuDevice>> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal)
    devices.push_back(std::make_shared<DriverDevice<CudaApi>>(driver, DriverDevice<CudaApi>::Options{static_cast<unsigned>(ordinal), emulated, printCapacity}));
  return devices;
}

const std::vector<std::shared_ptr<GpuDevice>> &cudaDevices(std::string *why) {
  struct Found {
    std::vector<std::shared_ptr<GpuDevice>> devices;
    std::string why;
  };
  // Never destroyed: at the end of a process the driver may be gone before this.
  static const Found &found = *[] {
    auto *result = new Found;
    try {
      const cuda::Driver &driver = cuda::loadDriver(environment().cudaDriver);
      if (cuda::Result code = driver.init(0); code != cuda::Result::Success)
        throw Error(ErrorKind::Device, "NVIDIA's driver does not start: " + cuda::describe(driver, code));
      result->devices = openCudaDevices(driver);
      if (result->devices.empty())
        result->why = "NVIDIA's driver knows no device";
    } catch (const Error &error) {
      result->why = error.what();
    }
    return result;
  }();
  if (why)
    *why = found.why;
  return found.devices;
}

GpuDevice &currentCudaDevice() {
  std::string why;
  const auto &devices = cudaDevices(&why);
  if (devices.empty())
    throw Error(ErrorKind::Device, why);
  const cuda::Driver &driver = cuda::loadDriver(environment().cudaDriver);
  cuda::Context context = nullptr;
  cuda::Device device = 0;
  if (driver.ctxGetCurrent(&context) != cuda::Result::Success || !context || driver.ctxGetDevice(&device) != cuda::Result::Success)
    return *devices[0];
  return *devices.at(static_cast<size_t>(device)); // handles of devices are their numbers
}

} // namespace tk::runtime
