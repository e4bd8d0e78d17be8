// The checks of tk::TensorDescriptor: what tensor copies demand (PTX ISA, "Tensor size, dimensions, and strides"; CUDA Driver API, cuTensorMapEncodeTiled).
#include "tk/descriptor.h"
#include "tk/error.h"
#include <fmt/format.h>

namespace tk {

TensorDescriptor::TensorDescriptor(const ArrayView &tensor, const std::vector<int32_t> &blockShape) : data(tensor.data), dtype(tensor.dtype) {
  auto refuse = [](const std::string &why) { throw Error(ErrorKind::User, "a tensor descriptor can't be made: " + why); };
  size_t count = tensor.shape.size();
  if (count < 1 || count > maxRank)
    refuse(fmt::format("the tensor has {} axes; 1 to {} are possible", count, maxRank));
  if (tensor.strides.size() != count || blockShape.size() != count)
    refuse(fmt::format("the tensor has {} axes, but there are {} strides and a block of {}", count, tensor.strides.size(), blockShape.size()));
  if (reinterpret_cast<uintptr_t>(data) % 16 != 0)
    refuse(fmt::format("its address {} is not divisible by 16", data));
  if (tensor.strides[count - 1] != 1)
    refuse(fmt::format("the last axis must be contiguous, but its stride is {}", tensor.strides[count - 1]));
  rank = static_cast<unsigned>(count);
  for (size_t axis = 0; axis < count; ++axis) {
    shape[axis] = tensor.shape[axis], strides[axis] = tensor.strides[axis], block[axis] = blockShape[axis];
    if (shape[axis] < 1 || shape[axis] > int64_t(1) << 32)
      refuse(fmt::format("axis {} has an extent of {}; 1 to 2^32 are possible", axis, shape[axis]));
    if (block[axis] < 1 || block[axis] > 256)
      refuse(fmt::format("the block has an extent of {} along axis {}; 1 to 256 are possible", block[axis], axis));
    if (axis + 1 < count && (strides[axis] < 0 || strides[axis] * bytesOf(dtype) % 16 != 0 || strides[axis] * bytesOf(dtype) >= int64_t(1) << 40))
      refuse(fmt::format("the stride of axis {} is {} bytes; it must be a multiple of 16 below 2^40", axis, strides[axis] * bytesOf(dtype)));
  }
}

} // namespace tk
