// See TensorMaps.h. A map holds addresses and shapes, nothing of a context, so one serves every device and context.
#include "runtime/device/cuda/TensorMaps.h"
#include "tk/error.h"
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tk::cuda {

namespace {
/// All that a map depends on, without gaps, so that it compares as bytes.
struct Facts {
  uint64_t address;
  int64_t shape[TensorDescriptor::maxRank], strides[TensorDescriptor::maxRank];
  int32_t block[TensorDescriptor::maxRank];
  uint8_t dtype, rank, swizzle, fill;
};
static_assert(sizeof(Facts) == 112);

struct Kept {
  Facts facts = {}; // rank 0: none
  TensorMap map = {};
};

Facts factsOf(const TensorDescriptor &tensor, const runtime::ArgumentSlot &slot) {
  Facts facts = {};
  facts.address = reinterpret_cast<uintptr_t>(tensor.data);
  std::memcpy(facts.shape, tensor.shape.data(), sizeof facts.shape);
  std::memcpy(facts.strides, tensor.strides.data(), sizeof facts.strides);
  std::memcpy(facts.block, tensor.block.data(), sizeof facts.block);
  facts.dtype = static_cast<uint8_t>(tensor.dtype), facts.rank = static_cast<uint8_t>(tensor.rank);
  facts.swizzle = slot.map.swizzle, facts.fill = slot.map.nanFill;
  return facts;
}

size_t placeOf(const Facts &facts) {
  uint64_t words[sizeof(Facts) / 8], state = 0;
  std::memcpy(words, &facts, sizeof facts);
  for (uint64_t word : words)
    state = (state ^ word) * 0x9e3779b97f4a7c15;
  return state >> 59; // of 32
}

TensorMapDataType typeOf(DType type) {
  switch (type) {
  case DType::I16:
  case DType::U16: return TensorMapDataType::U16;
  case DType::I32: return TensorMapDataType::I32;
  case DType::U32: return TensorMapDataType::U32;
  case DType::I64: return TensorMapDataType::I64;
  case DType::U64: return TensorMapDataType::U64;
  case DType::F16: return TensorMapDataType::F16;
  case DType::BF16: return TensorMapDataType::BF16;
  case DType::F32: return TensorMapDataType::F32;
  case DType::F64: return TensorMapDataType::F64;
  default: return TensorMapDataType::U8; // bytes: integers, booleans, fp8
  }
}

void encode(const Driver &driver, const TensorDescriptor &tensor, const runtime::ArgumentSlot &slot, TensorMap &map) {
  std::vector<int32_t> box(tensor.block.begin(), tensor.block.begin() + tensor.rank);
  if (tensor.dtype != slot.dtype || box != slot.map.box)
    throw Error(ErrorKind::User, fmt::format("parameter `{}` is a descriptor of {} in blocks of ({}), but one of {} in blocks of ({}) is given", slot.name,
                                             spelling(slot.dtype), fmt::join(slot.map.box, ", "), spelling(tensor.dtype), fmt::join(box, ", ")));
  if (!driver.tensorMapEncodeTiled)
    throw Error(ErrorKind::Device, fmt::format("parameter `{}`: the driver has no tensor maps: it is older than CUDA 12", slot.name));
  // The driver counts axes from the contiguous one.
  uint64_t dims[TensorDescriptor::maxRank], strides[TensorDescriptor::maxRank];
  uint32_t extents[TensorDescriptor::maxRank], steps[TensorDescriptor::maxRank];
  for (unsigned axis = 0; axis < tensor.rank; ++axis) {
    unsigned from = tensor.rank - 1 - axis;
    dims[axis] = static_cast<uint64_t>(tensor.shape[from]), extents[axis] = static_cast<uint32_t>(tensor.block[from]), steps[axis] = 1;
    if (axis > 0)
      strides[axis - 1] = static_cast<uint64_t>(tensor.strides[from]) * bytesOf(tensor.dtype);
  }
  Result result = driver.tensorMapEncodeTiled(&map, typeOf(tensor.dtype), tensor.rank, tensor.data, dims, strides, extents, steps, TensorMapInterleave::None,
                                              static_cast<TensorMapSwizzle>(slot.map.swizzle), TensorMapL2Promotion::Bytes128,
                                              slot.map.nanFill ? TensorMapFill::NanRequestZeroFma : TensorMapFill::Zero);
  if (result != Result::Success)
    throw Error(ErrorKind::Device, fmt::format("parameter `{}`: the driver refuses a tensor map: {}", slot.name, describe(driver, result)));
}
} // namespace

void tensorMap(const Driver &driver, const TensorDescriptor &tensor, const runtime::ArgumentSlot &slot, TensorMap &map) {
  thread_local Kept kept[32];
  Facts facts = factsOf(tensor, slot);
  Kept &place = kept[placeOf(facts)];
  if (std::memcmp(&place.facts, &facts, sizeof facts) != 0) {
    place.facts.rank = 0; // not valid until it is whole
    encode(driver, tensor, slot, place.map);
    place.facts = facts;
  }
  map = place.map;
}

} // namespace tk::cuda
