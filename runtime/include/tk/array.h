// Host arrays of any element type: owned memory with a shape, and their files.
//
// An Array is contiguous in row-major order, aligned to 64 bytes (large ones to a page), movable, and copied by clone() alone.
// Elements of fp16, bf16, fp8 and i1 are stored as kernels see them: i1 takes a byte, 0 or 1. Not thread-safe to modify.
#pragma once
#include "tk/dtype.h"
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tk {

/// Elements somewhere else: what a launch needs to know of an array. Strides count elements. Does not own.
struct ArrayView {
  void *data = nullptr;
  DType dtype = DType::F32;
  std::vector<int64_t> shape, strides;
};

class Array {
public:
  Array() = default;
  Array(Array &&) = default;
  Array &operator=(Array &&) = default;
  /// Zeros. Throws Error(User) for a negative extent or a size past 2^63 bytes, Error(Device) when memory is short.
  Array(DType dtype, std::vector<int64_t> shape);

  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return extents; }
  /// Row-major strides in elements.
  std::vector<int64_t> strides() const;
  int64_t size() const { return count; }
  size_t bytes() const { return static_cast<size_t>(count) * bytesOf(type); }
  void *data() const { return memory.get(); }
  template <typename T> T *as() const { return static_cast<T *>(memory.get()); }
  ArrayView view() const { return {memory.get(), type, extents, strides()}; }
  Array clone() const;

  /// One element by its linear index, as a double (exact for every type but 64-bit integers) or as an integer (truncated).
  double get(int64_t index) const;
  int64_t getInteger(int64_t index) const;
  /// Converts as a kernel's store would: round to nearest even, fp8 saturates, integers wrap.
  void set(int64_t index, double value);
  void setInteger(int64_t index, int64_t value);

  /// Reads an .npy file. Types that numpy lacks are stored as raw bytes (V1, V2) or integers of their size: `as` then names them, else it must be null
  /// or equal to the file's type. Throws Error(User) for anything malformed.
  static Array load(const std::string &path, const DType *as = nullptr);
  /// Writes an .npy file (bf16 as V2, fp8 as V1).
  void save(const std::string &path) const;

private:
  DType type = DType::F32;
  std::vector<int64_t> extents;
  int64_t count = 0;
  std::shared_ptr<void> memory;
};

} // namespace tk
