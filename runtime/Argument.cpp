// The parts of tk::Argument that don't have to be in its header.
#include "tk/argument.h"
#include "runtime/FloatBits.h"
#include <cstring>

namespace tk {

void Argument::setFloat(double value) {
  kind = Kind::Float;
  std::memcpy(&bits, &value, sizeof bits);
}

double Argument::number() const {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
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
