// A tensor in device memory with the block that a kernel moves at once: what Triton calls a tensor descriptor.
#pragma once
#include "tk/array.h"
#include <array>
#include <cstdint>
#include <vector>

namespace tk {

/// Does not own the memory. Axes are in row-major order: the last one is contiguous. Copy it freely; it must live until the launch that takes it returns.
struct TensorDescriptor {
  static constexpr unsigned maxRank = 5;
  void *data = nullptr; // divisible by 16
  DType dtype = DType::F32;
  unsigned rank = 0;
  std::array<int64_t, maxRank> shape = {}, strides = {}; // in elements; strides but the last are multiples of 16 bytes
  std::array<int32_t, maxRank> block = {};               // extents of a block, in elements

  TensorDescriptor() = default;
  /// Error(User) for a rank of 0 or over 5, extents that differ in number, a last stride that is not 1, an address or strides that are not multiples of 16
  /// bytes, extents of 0 or over 2^32, blocks of 0 or over 256 elements along an axis.
  TensorDescriptor(const ArrayView &tensor, const std::vector<int32_t> &block);
};

} // namespace tk
