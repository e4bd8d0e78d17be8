// The parts of tk::Argument that don't have to be in its header.
#include "tk/argument.h"
#include "runtime/FloatBits.h"
#include <cstring>

namespace tk {

double Argument::number() const {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// From the lowest address to the end of the last element: what a kernel may touch.
Argument::Argument(const ArrayView &array) : Argument(pointer(array.data, array.dtype)) {
  uint64_t last = 0;
  for (size_t axis = 0; axis < array.shape.size(); ++axis) {
    int64_t stride = axis < array.strides.size() ? array.strides[axis] : 0;
    if (array.shape[axis] <= 0 || stride < 0)
      return; // nothing in it, or it starts elsewhere: unknown
    last += static_cast<uint64_t>(array.shape[axis] - 1) * static_cast<uint64_t>(stride);
  }
  bytes = (last + 1) * bytesOf(array.dtype);
}

Argument scalar(DType type, double value) {
  Argument result(value);
  if (isInteger(type))
    return scalar(type, decodeInteger(DType::I64, encodeNumber(DType::I64, value)));
  result.typed = true, result.type = type;
  return result;
}

Argument scalar(DType type, int64_t value) {
  if (isFloat(type))
    return scalar(type, static_cast<double>(value));
  Argument result(value);
  if (type == DType::I1)
    result.kind = Argument::Kind::Bool, result.bits = value != 0;
  else if (isUnsigned(type))
    result.kind = Argument::Kind::UInt;
  result.typed = true, result.type = type;
  return result;
}

} // namespace tk
