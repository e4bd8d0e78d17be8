// See tk/dlpack.h.
#include "tk/dlpack.h"
#include "runtime/device/GpuDevice.h"
#include <fmt/format.h>
#include <optional>
#include <type_traits>

namespace tk {

// The ABI's layout, by its document.
static_assert(sizeof(dlpack::Tensor) == 48 && offsetof(dlpack::Tensor, device) == 8 && offsetof(dlpack::Tensor, rank) == 16 &&
              offsetof(dlpack::Tensor, dtype) == 20 && offsetof(dlpack::Tensor, shape) == 24 && offsetof(dlpack::Tensor, byteOffset) == 40);
static_assert(sizeof(dlpack::ManagedTensor) == 64 && offsetof(dlpack::ManagedTensor, deleter) == 56);
static_assert(sizeof(dlpack::ManagedTensorVersioned) == 80 && offsetof(dlpack::ManagedTensorVersioned, flags) == 24 &&
              offsetof(dlpack::ManagedTensorVersioned, tensor) == 32);

namespace {
using dlpack::DeviceType;
using dlpack::TypeCode;

struct TypePair {
  DType type;
  TypeCode code;
};
constexpr TypePair typePairs[] = {
    {DType::I1, TypeCode::Bool},
    {DType::I8, TypeCode::Int},
    {DType::I16, TypeCode::Int},
    {DType::I32, TypeCode::Int},
    {DType::I64, TypeCode::Int},
    {DType::U8, TypeCode::UInt},
    {DType::U16, TypeCode::UInt},
    {DType::U32, TypeCode::UInt},
    {DType::U64, TypeCode::UInt},
    {DType::F16, TypeCode::Float},
    {DType::F32, TypeCode::Float},
    {DType::F64, TypeCode::Float},
    {DType::BF16, TypeCode::BFloat},
    {DType::F8E4M3FN, TypeCode::F8E4M3FN},
    {DType::F8E4M3FNUZ, TypeCode::F8E4M3FNUZ},
    {DType::F8E5M2, TypeCode::F8E5M2},
    {DType::F8E5M2FNUZ, TypeCode::F8E5M2FNUZ},
};

DType typeOf(const dlpack::Type &type) {
  if (type.lanes != 1)
    throw Error(ErrorKind::User, fmt::format("a DLPack tensor of vectors of {} elements: kernels take scalars", type.lanes));
  for (const TypePair &pair : typePairs)
    if (pair.code == type.code && type.bits == 8 * bytesOf(pair.type))
      return pair.type;
  throw Error(ErrorKind::User,
              fmt::format("a DLPack tensor whose elements have type code {} and {} bits: kernels have no such type", static_cast<int>(type.code), type.bits));
}

dlpack::Type typeOf(DType type) {
  for (const TypePair &pair : typePairs)
    if (pair.type == type)
      return {pair.code, static_cast<uint8_t>(8 * bytesOf(type)), 1};
  throw Error(ErrorKind::User, fmt::format("DLPack has no element type for {}", spelling(type)));
}

dlpack::Place placeOf(const Device &device) {
  if (device.isHost())
    return {DeviceType::Cpu, 0};
  if (device.isEmulated())
    throw Error(ErrorKind::User, fmt::format("memory of {} can't be given away by DLPack: copy it to the host", device.name()));
  return {DeviceType::Cuda, static_cast<int32_t>(device.implementation()->properties().ordinal)};
}

/// A tensor that is given away, and what it refers to.
template <typename Managed, typename Owner> struct Given {
  Managed managed = {};
  Owner owner;
  std::vector<int64_t> shape, strides;
};

template <typename Managed, typename Owner> Managed *give(Owner &owner, const Device &device) {
  auto given = std::make_unique<Given<Managed, Owner>>();
  dlpack::Tensor &tensor = given->managed.tensor;
  tensor.device = placeOf(device), tensor.dtype = typeOf(owner.dtype());
  given->shape = owner.shape(), given->strides.resize(given->shape.size());
  int64_t stride = 1;
  for (size_t axis = given->shape.size(); axis-- > 0; stride *= given->shape[axis])
    given->strides[axis] = stride;
  tensor.data = owner.data(), tensor.rank = static_cast<int32_t>(given->shape.size());
  tensor.shape = given->shape.data(), tensor.strides = given->strides.data();
  given->managed.context = given.get();
  given->managed.deleter = [](Managed *self) {
    if (self)
      delete static_cast<Given<Managed, Owner> *>(self->context);
  };
  if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>)
    given->managed.version = dlpack::version;
  given->owner = std::move(owner); // nothing fails from here on
  return &given.release()->managed;
}

template <typename Managed> const Managed &present(const Managed *tensor) {
  if (!tensor)
    throw Error(ErrorKind::User, "the DLPack tensor is null");
  return *tensor;
}
} // namespace

ArrayView viewOf(const dlpack::Tensor &tensor) {
  if (tensor.rank < 0 || tensor.rank > 64 || (tensor.rank > 0 && !tensor.shape))
    throw Error(ErrorKind::User, fmt::format("a malformed DLPack tensor: rank {}{}", tensor.rank, tensor.shape ? "" : ", no shape"));
  ArrayView view;
  view.dtype = typeOf(tensor.dtype);
  view.data = tensor.data ? static_cast<char *>(tensor.data) + tensor.byteOffset : nullptr;
  view.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  int64_t count = 1;
  for (int64_t extent : view.shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count))
      throw Error(ErrorKind::User, fmt::format("a malformed DLPack tensor: an extent of {}", extent));
  if (count && !tensor.data)
    throw Error(ErrorKind::User, fmt::format("a malformed DLPack tensor: {} elements, but no address", count));
  if (tensor.strides) {
    view.strides.assign(tensor.strides, tensor.strides + tensor.rank);
    return view;
  }
  view.strides.resize(view.shape.size());
  int64_t stride = 1;
  for (size_t axis = view.shape.size(); axis-- > 0; stride *= std::max<int64_t>(view.shape[axis], 1))
    view.strides[axis] = stride;
  return view;
}

Argument fromDLPack(const dlpack::Tensor &tensor) {
  Argument result(viewOf(tensor));
  switch (tensor.device.type) {
  case DeviceType::Cpu: result.memory = Argument::Memory::Host; return result;
  case DeviceType::CudaHost:
  case DeviceType::CudaManaged: return result; // the host and GPUs reach it
  case DeviceType::Cuda:
    if (tensor.device.ordinal < 0)
      throw Error(ErrorKind::User, fmt::format("a malformed DLPack tensor: GPU {}", tensor.device.ordinal));
    result.memory = Argument::Memory::Device, result.device = Device::cuda(static_cast<unsigned>(tensor.device.ordinal)).implementation();
    return result;
  case DeviceType::Rocm:
  case DeviceType::RocmHost: break;
  }
  throw Error(ErrorKind::User, fmt::format("a DLPack tensor on a device of type {}: kernels run on the host (1) and on NVIDIA's GPUs (2)",
                                           static_cast<int>(tensor.device.type)));
}

Argument fromDLPack(const dlpack::ManagedTensor *tensor) { return fromDLPack(present(tensor).tensor); }

Argument fromDLPack(const dlpack::ManagedTensorVersioned *tensor) {
  if (uint32_t major = present(tensor).version.major; major != dlpack::version.major)
    throw Error(ErrorKind::User, fmt::format("a tensor of DLPack's version {}.{}: expected {}", major, tensor->version.minor, dlpack::version.major));
  return fromDLPack(tensor->tensor);
}

dlpack::ManagedTensor *toDLPack(DeviceArray &&array) { return give<dlpack::ManagedTensor>(array, array.device()); }
dlpack::ManagedTensor *toDLPack(Array &&array) { return give<dlpack::ManagedTensor>(array, Device::host()); }
dlpack::ManagedTensorVersioned *toDLPackVersioned(DeviceArray &&array) { return give<dlpack::ManagedTensorVersioned>(array, array.device()); }
dlpack::ManagedTensorVersioned *toDLPackVersioned(Array &&array) { return give<dlpack::ManagedTensorVersioned>(array, Device::host()); }

} // namespace tk
