// The C API: devices, streams, events, arrays.
#include "runtime/capi/Boundary.h"
#include "runtime/device/GpuDevice.h"
#include "tk/dlpack.h"
#include <map>
#include <mutex>

using namespace tk;
using namespace tk::capi;

namespace {
void checkBytes(const DeviceArray &array, const void *data, size_t bytes) {
  if (bytes != array.bytes())
    throw Error(ErrorKind::User, fmt::format("the array has {} bytes, `bytes` says {}", array.bytes(), bytes));
  if (bytes)
    checked(static_cast<const char *>(data), "data");
}

/// The stream in whose order an array is copied.
Stream streamFor(const DeviceArray &array, const tk_stream *stream) {
  if (!stream)
    return array.device().stream();
  if (stream->value.device() != array.device())
    throw Error(ErrorKind::User,
                fmt::format("the array lies in the memory of {}, but the stream is one of {}", array.device().name(), stream->value.device().name()));
  return stream->value;
}

std::vector<int64_t> shapeOf(const int64_t *shape, size_t rank) {
  if (rank > 64)
    throw Error(ErrorKind::User, fmt::format("an array of rank {}: at most 64", rank));
  if (rank)
    checked(shape, "shape");
  return std::vector<int64_t>(shape, shape + rank);
}
} // namespace

extern "C" {

tk_device tk_device_host(void) { return {nullptr}; }

tk_status tk_device_cuda(uint32_t ordinal, tk_device *device, tk_error **error) {
  return guarded(error, [&] { checked(device, "device") = handleOf(Device::cuda(ordinal)); });
}
tk_status tk_device_emulated(const char *target, tk_device *device, tk_error **error) {
  return guarded(error, [&] { checked(device, "device") = handleOf(Device::emulated(checkedText(target, "target"))); });
}
tk_status tk_device_best(tk_device *device, tk_error **error) {
  return guarded(error, [&] { checked(device, "device") = handleOf(Device::best()); });
}

tk_status tk_device_list(tk_device *devices, size_t capacity, size_t *count, tk_error **error) {
  return guarded(error, [&] {
    std::vector<Device> all = Device::list();
    checked(count, "count") = all.size();
    if (capacity)
      checked(devices, "devices");
    for (size_t i = 0; i < std::min(capacity, all.size()); ++i)
      devices[i] = handleOf(all[i]);
  });
}

int tk_device_is_host(tk_device device) { return deviceOf(device).isHost(); }
int tk_device_is_emulated(tk_device device) { return deviceOf(device).isEmulated(); }

const char *tk_device_name(tk_device device) {
  static std::mutex mutex;
  static std::map<const void *, std::string> &names = *new std::map<const void *, std::string>; // not destroyed: others may ask while the process ends
  try {
    std::lock_guard lock(mutex);
    std::string &name = names[device.implementation];
    if (name.empty())
      name = deviceOf(device).name();
    return name.c_str();
  } catch (...) {
    return "";
  }
}

uint32_t tk_device_architecture(tk_device device) { return deviceOf(device).architecture(); }
uint64_t tk_device_memory_bytes(tk_device device) { return deviceOf(device).memoryBytes(); }

tk_status tk_stream_default(tk_device device, tk_stream **stream, tk_error **error) {
  return made(stream, error, [&] { return new tk_stream{deviceOf(device).stream()}; });
}
tk_status tk_stream_new(tk_device device, tk_stream **stream, tk_error **error) {
  return made(stream, error, [&] { return new tk_stream{deviceOf(device).newStream()}; });
}
tk_status tk_stream_cuda(void *handle, tk_stream **stream, tk_error **error) {
  return made(stream, error, [&] { return new tk_stream{Stream::cuda(handle)}; });
}
void tk_stream_free(tk_stream *stream) { delete stream; }
tk_device tk_stream_device(const tk_stream *stream) { return stream ? handleOf(stream->value.device()) : tk_device_host(); }
void *tk_stream_handle(const tk_stream *stream) { return stream ? stream->value.handle() : nullptr; }
tk_status tk_stream_synchronize(const tk_stream *stream, tk_error **error) {
  return guarded(error, [&] { checked(stream, "stream").value.synchronize(); });
}

tk_status tk_event_new(tk_device device, tk_event **event, tk_error **error) {
  return made(event, error, [&] { return new tk_event{Event(deviceOf(device))}; });
}
void tk_event_free(tk_event *event) { delete event; }
tk_status tk_event_record(const tk_event *event, const tk_stream *stream, tk_error **error) {
  return guarded(error, [&] { checked(event, "event").value.record(checked(stream, "stream").value); });
}
tk_status tk_event_synchronize(const tk_event *event, tk_error **error) {
  return guarded(error, [&] { checked(event, "event").value.synchronize(); });
}
tk_status tk_event_wait(const tk_event *event, const tk_stream *stream, tk_error **error) {
  return guarded(error, [&] { checked(event, "event").value.wait(checked(stream, "stream").value); });
}
tk_status tk_event_seconds_since(const tk_event *event, const tk_event *start, double *seconds, tk_error **error) {
  return guarded(error, [&] { checked(seconds, "seconds") = checked(event, "event").value.secondsSince(checked(start, "start").value); });
}

tk_status tk_array_new(tk_device device, tk_dtype dtype, const int64_t *shape, size_t rank, tk_array **array, tk_error **error) {
  return made(array, error, [&] { return new tk_array{DeviceArray(deviceOf(device), checkedType(dtype), shapeOf(shape, rank))}; });
}
tk_status tk_array_load(tk_device device, const char *path, tk_array **array, tk_error **error) {
  return made(array, error, [&] { return new tk_array{DeviceArray(deviceOf(device), Array::load(checkedText(path, "path")))}; });
}
tk_status tk_array_save(const tk_array *array, const char *path, tk_error **error) {
  return guarded(error, [&] { checked(array, "array").value.toHost().save(checkedText(path, "path")); });
}
void tk_array_free(tk_array *array) { delete array; }

void *tk_array_data(const tk_array *array) { return array ? array->value.data() : nullptr; }
tk_dtype tk_array_dtype(const tk_array *array) { return array ? static_cast<tk_dtype>(array->value.dtype()) : TK_I1; }
size_t tk_array_rank(const tk_array *array) { return array ? array->value.shape().size() : 0; }
const int64_t *tk_array_shape(const tk_array *array) { return array ? array->value.shape().data() : nullptr; }
size_t tk_array_bytes(const tk_array *array) { return array ? array->value.bytes() : 0; }
tk_device tk_array_device(const tk_array *array) { return array ? handleOf(array->value.device()) : tk_device_host(); }

tk_status tk_array_copy_from(tk_array *array, const void *data, size_t bytes, const tk_stream *stream, tk_error **error) {
  return guarded(error, [&] {
    DeviceArray &to = checked(array, "array").value;
    checkBytes(to, data, bytes);
    Stream order = streamFor(to, stream);
    if (runtime::GpuDevice *gpu = to.device().implementation()) {
      gpu->copyIn(reinterpret_cast<uintptr_t>(to.data()), data, bytes, order.handle());
      return;
    }
    order.synchronize();
    if (bytes)
      std::memcpy(to.data(), data, bytes);
  });
}

tk_status tk_array_copy_to(const tk_array *array, void *data, size_t bytes, const tk_stream *stream, tk_error **error) {
  return guarded(error, [&] {
    const DeviceArray &from = checked(array, "array").value;
    checkBytes(from, data, bytes);
    Stream order = streamFor(from, stream);
    if (runtime::GpuDevice *gpu = from.device().implementation()) {
      gpu->copyOut(data, reinterpret_cast<uintptr_t>(from.data()), bytes, order.handle());
      return;
    }
    order.synchronize();
    if (bytes)
      std::memcpy(data, from.data(), bytes);
  });
}

tk_status tk_array_to_dlpack(tk_array *array, DLManagedTensor **tensor, tk_error **error) {
  return made(tensor, error, [&] {
    auto *result = reinterpret_cast<DLManagedTensor *>(toDLPack(std::move(checked(array, "array").value)));
    delete array;
    return result;
  });
}
tk_status tk_array_to_dlpack_versioned(tk_array *array, DLManagedTensorVersioned **tensor, tk_error **error) {
  return made(tensor, error, [&] {
    auto *result = reinterpret_cast<DLManagedTensorVersioned *>(toDLPackVersioned(std::move(checked(array, "array").value)));
    delete array;
    return result;
  });
}

} // extern "C"
