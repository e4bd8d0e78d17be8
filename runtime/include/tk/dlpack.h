// Exchange of arrays with other libraries in one process, by the DLPack ABI (https://dmlc.github.io/dlpack/latest/c_api.html, version 1).
//
//   kernel.launch(stream, tk::grid(rows), tk::fromDLPack(tensor), out, n);
//   DLManagedTensor *given = tk::toDLPack(std::move(array));   // its consumer calls given->deleter(given)
//
// The structs are declared here, under names of our own, so that no header of DLPack's is needed; their layout is the ABI's.
// Nothing here synchronizes: producer and consumer agree on a stream. Whether a kernel writes to a tensor that is read-only is the caller's to know.
#pragma once
#include "tk/argument.h"
#include "tk/device.h"

// What dlpack.h calls them.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace tk {
namespace dlpack {

enum class DeviceType : int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, Rocm = 10, RocmHost = 11, CudaManaged = 13 };
enum class TypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Complex = 5, Bool = 6, F8E4M3FN = 10, F8E4M3FNUZ = 11, F8E5M2 = 12, F8E5M2FNUZ = 13 };

struct Place {
  DeviceType type;
  int32_t ordinal;
};
struct Type {
  TypeCode code;
  uint8_t bits;
  uint16_t lanes;
};
struct Tensor {
  void *data;
  Place device;
  int32_t rank;
  Type dtype;
  int64_t *shape, *strides; // strides count elements; null: contiguous and row-major
  uint64_t byteOffset;      // from data to the first element
};
struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *self);
};
struct Version {
  uint32_t major, minor;
};
struct ManagedTensorVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags; // 1: read only, 2: a copy
  Tensor tensor;
};
constexpr Version version = {1, 0};

} // namespace dlpack

/// Where the elements are, with shape and strides. Error(User) for an element type that kernels don't have, for vectors (lanes), a malformed tensor, and, in
/// the versioned form, another major version.
ArrayView viewOf(const dlpack::Tensor &tensor);

/// A pointer to the first element, with the element type, the device, and how much memory there is. Kernels take strides as arguments of their own: viewOf has
/// them. Errors as of viewOf; Error(User) as well for a device that kernels can't run on, Error(Device) for a GPU that is not there.
Argument fromDLPack(const dlpack::Tensor &tensor);
Argument fromDLPack(const dlpack::ManagedTensor *tensor);
Argument fromDLPack(const dlpack::ManagedTensorVersioned *tensor);
inline Argument fromDLPack(const ::DLManagedTensor *tensor) { return fromDLPack(reinterpret_cast<const dlpack::ManagedTensor *>(tensor)); }
inline Argument fromDLPack(const ::DLManagedTensorVersioned *tensor) { return fromDLPack(reinterpret_cast<const dlpack::ManagedTensorVersioned *>(tensor)); }

/// Gives an array away: its memory is freed by the tensor's deleter, on any thread. Error(User) for an element type that DLPack lacks and for memory of an
/// emulated device; the array is then as it was.
dlpack::ManagedTensor *toDLPack(DeviceArray &&array);
dlpack::ManagedTensor *toDLPack(Array &&array);
dlpack::ManagedTensorVersioned *toDLPackVersioned(DeviceArray &&array);
dlpack::ManagedTensorVersioned *toDLPackVersioned(Array &&array);

} // namespace tk
