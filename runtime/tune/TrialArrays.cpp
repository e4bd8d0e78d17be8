// See TrialArrays.h.
#include "runtime/tune/TrialArrays.h"
#include "runtime/device/cpu/HostStream.h"
#include "tk/error.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace tk::runtime {

namespace {
[[noreturn]] void failLength(const TrialArray &array, const char *why) {
  throw Error(ErrorKind::User, fmt::format("parameter `{}` {}, but how long its array is is not known from a bare pointer: pass a tk::Array, tk::ArrayView or "
                                           "tk::DeviceArray",
                                           array.name, why));
}

/// What two configurations' results may differ by, relative to the larger of both values and the array's root mean square: they sum in different orders.
double toleranceOf(DType type) {
  switch (type) {
  case DType::F64: return std::ldexp(1, -38);
  case DType::F32: return std::ldexp(1, -12);
  case DType::F16: return std::ldexp(1, -8);
  case DType::BF16: return std::ldexp(1, -6);
  default: return isInteger(type) ? 0 : 0.25;
  }
}

/// The first difference between results, and how many there are.
std::string differenceOf(const std::string &name, const Array &first, const Array &other) {
  if (std::memcmp(first.data(), other.data(), first.bytes()) == 0)
    return "";
  const DType type = first.dtype();
  const bool integers = isInteger(type) || type == DType::I1;
  double squares = 0;
  for (int64_t i = 0; !integers && i < first.size(); ++i)
    if (double value = first.get(i); std::isfinite(value))
      squares += value * value;
  const double usual = std::sqrt(squares / static_cast<double>(first.size()));
  int64_t differing = 0, worst = 0;
  double most = -1;
  for (int64_t i = 0; i < first.size(); ++i) {
    double excess = 0;
    if (integers) {
      excess = first.getInteger(i) == other.getInteger(i) ? 0 : 1;
    } else {
      const double a = first.get(i), b = other.get(i);
      if (a == b || (std::isnan(a) && std::isnan(b)))
        continue;
      const double bound = toleranceOf(type) * std::max({std::fabs(a), std::fabs(b), usual});
      excess = std::isfinite(a) && std::isfinite(b) ? (std::fabs(a - b) > bound ? std::fabs(a - b) / bound : 0) : std::numeric_limits<double>::infinity();
    }
    if (excess > 0 && ++differing && excess > most)
      most = excess, worst = i;
  }
  if (!differing)
    return "";
  auto text = [&](const Array &array) { return integers ? fmt::format("{}", array.getInteger(worst)) : fmt::format("{:.9g}", array.get(worst)); };
  return fmt::format("`{}`[{}] is {} and {}; {} of {} elements differ", name, worst, text(first), text(other), differing, first.size());
}
} // namespace

void zeroArrays(const Stream &stream, const std::vector<TrialArray> &arrays) {
  GpuDevice *gpu = stream.device().implementation();
  auto *queue = gpu ? nullptr : static_cast<HostStream *>(stream.handle());
  for (const TrialArray &array : arrays) {
    if (!array.zero || !array.address)
      continue;
    if (!array.bytes) // not the driver's allocation either: others may use the rest of it
      failLength(array, "is set to zero before each launch (reset_to_zero)");
    if (gpu) {
      gpu->fill(array.address, 0, array.bytes, stream.handle());
      continue;
    }
    auto fill = [address = array.address, bytes = array.bytes] { std::memset(reinterpret_cast<void *>(address), 0, bytes); };
    if (queue)
      queue->enqueue(fill);
    else
      fill();
  }
}

/// A copy of an array, on its device.
struct TrialArrays::Kept {
  Kept(const TrialArray &array, const Stream &stream) : gpu(stream.device().implementation()), stream(stream), array(array) {
    if (gpu) {
      address = gpu->allocate(array.bytes);
      gpu->copy(address, array.address, array.bytes, stream.handle());
    } else {
      copy.reset(new char[array.bytes]);
      std::memcpy(copy.get(), reinterpret_cast<const void *>(array.address), array.bytes);
    }
  }
  ~Kept() {
    try {
      if (gpu) {
        gpu->synchronize(stream.handle());
        gpu->free(address);
      }
    } catch (const Error &) { // its context is gone
    }
  }
  Kept(const Kept &) = delete;
  Kept &operator=(const Kept &) = delete;
  void putBack() const {
    if (gpu)
      gpu->copy(array.address, address, array.bytes, stream.handle());
    else
      std::memcpy(reinterpret_cast<void *>(array.address), copy.get(), array.bytes);
  }

  GpuDevice *gpu;
  Stream stream;
  TrialArray array;
  DeviceAddress address = 0;
  std::unique_ptr<char[]> copy;
};

TrialArrays::TrialArrays(const Stream &stream, std::vector<TrialArray> list, bool check)
    : stream(stream), gpu(stream.device().implementation()), arrays(std::move(list)), check(check) {
  stream.synchronize(); // what was put there before is part of what is kept
  std::erase_if(arrays, [](const TrialArray &array) { return !array.address; });
  for (TrialArray &array : arrays) {
    const bool keeps = array.restore || (check && array.compare);
    if (array.zero && !array.bytes)
      failLength(array, "is set to zero before each trial (reset_to_zero)");
    if (keeps && !array.bytes && gpu) {
      auto [base, bytes] = gpu->allocationOf(array.address);
      array.bytes = base + bytes - array.address;
    }
    if (keeps && !array.bytes)
      failLength(array, array.restore ? "is read and written by the kernel, so that trials change what the launch must find" : "holds results to be compared");
    kept.push_back(keeps ? std::make_unique<Kept>(array, stream) : nullptr);
    anyChange |= keeps || array.zero;
  }
}

TrialArrays::~TrialArrays() {
  try {
    restore();
  } catch (const Error &) { // the device is lost, and the arrays with it
  }
}

void TrialArrays::prepare() {
  restored = false;
  if (!anyChange)
    return;
  if (!gpu)
    stream.synchronize();
  for (const auto &copy : kept)
    if (copy && !copy->array.zero)
      copy->putBack();
  zeroArrays(stream, arrays);
  if (!gpu)
    stream.synchronize(); // so that it is not part of the run's time
}

std::string TrialArrays::difference() {
  if (!check)
    return "";
  stream.synchronize();
  std::string text;
  for (size_t i = 0, result = 0; i < arrays.size(); ++i) {
    const TrialArray &array = arrays[i];
    if (!array.compare)
      continue;
    Array values(array.type, {static_cast<int64_t>(array.bytes / bytesOf(array.type))});
    if (gpu)
      gpu->copyOut(values.data(), array.address, values.bytes(), stream.handle());
    else
      std::memcpy(values.data(), reinterpret_cast<const void *>(array.address), values.bytes());
    if (!hasReference)
      reference.push_back(std::move(values));
    else if (text.empty())
      text = differenceOf(array.name, reference[result], values);
    ++result;
  }
  hasReference = true;
  return text;
}

void TrialArrays::restore() {
  if (std::exchange(restored, true))
    return;
  stream.synchronize();
  for (const auto &copy : kept)
    if (copy)
      copy->putBack();
  stream.synchronize();
}

} // namespace tk::runtime
