// Between the C API and the C++ API: what handles hold, and the one place where exceptions become statuses.
//
//   tk_status tk_stream_synchronize(const tk_stream *stream, tk_error **error) {
//     return guarded(error, [&] { checked(stream, "stream").value.synchronize(); });
//   }
#pragma once
#include "tk/capi.h"
#include "tk/device.h"
#include "tk/kernel.h"
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct tk_error {
  tk_status kind;
  std::string message;
};
struct tk_stream {
  tk::Stream value;
};
struct tk_event {
  tk::Event value;
};
struct tk_array {
  tk::DeviceArray value;
};
struct tk_module {
  tk::Module value;
  std::vector<std::string> kernelNames; // what tk_module_kernel_name gives pointers to
};
struct tk_kernel {
  tk::Kernel value;
};
struct tk_launcher {
  tk::Launcher value;
};
struct tk_tune_report {
  tk::TuneReport value;
};

namespace tk::capi {

/// Says what the exception that is being handled says. For `catch (...)`. Never throws.
tk_status report(tk_error **error) noexcept;

/// Runs the body of an entry point.
template <typename Body> tk_status guarded(tk_error **error, Body &&body) noexcept {
  if (error)
    *error = nullptr;
  try {
    body();
    return TK_OK;
  } catch (...) {
    return report(error);
  }
}

/// The same for one that makes something: `*result` is what the body gives, or null.
template <typename T, typename Body> tk_status made(T **result, tk_error **error, Body &&body) noexcept {
  if (result)
    *result = nullptr;
  return guarded(error, [&] {
    if (!result)
      throw Error(ErrorKind::User, "the place for the result is null");
    *result = body();
  });
}

/// What a pointer of the caller's points to.
template <typename T> T &checked(T *pointer, const char *name) {
  if (!pointer)
    throw Error(ErrorKind::User, fmt::format("`{}` is null", name));
  return *pointer;
}
/// The text, which must be there.
inline const char *checkedText(const char *text, const char *name) { return &checked(text, name); }

/// An enumerator of the caller's that has `count` values, from 0 on.
template <typename T> T checkedEnum(int64_t value, int64_t count, const char *name) {
  if (value < 0 || value >= count)
    throw Error(ErrorKind::User, fmt::format("`{}` is {}: expected 0 to {}", name, value, count - 1));
  return static_cast<T>(value);
}
DType checkedType(int64_t dtype);

/// A struct of the caller's, perhaps of an older version of the header, whose fields beyond `size` keep what `defaults` says; or of a newer one, if it uses no
/// field that this version lacks.
template <typename T> T readSized(const T *given, T defaults, const char *name) {
  size_t size = checked(given, name).size;
  if (size < sizeof(size_t) || size > 4096)
    throw Error(ErrorKind::User, fmt::format("`{}`: size is {}: set it to sizeof(*{})", name, size, name));
  for (size_t i = sizeof(T); i < size; ++i)
    if (reinterpret_cast<const char *>(given)[i])
      throw Error(ErrorKind::User,
                  fmt::format("`{}`: sets a field that this version of the library does not know: its size is {}, known are {} bytes", name, size, sizeof(T)));
  std::memcpy(&defaults, given, std::min(size, sizeof(T)));
  return defaults;
}
/// Fills what the caller's version of a struct has.
template <typename T> void writeSized(T *place, T value, const char *name) {
  size_t size = checked(place, name).size;
  if (size < sizeof(size_t) || size > 4096)
    throw Error(ErrorKind::User, fmt::format("`{}`: size is {}: set it to sizeof(*{})", name, size, name));
  value.size = size;
  std::memcpy(place, &value, std::min(size, sizeof(T)));
}

/// Throws what a callback reported, whose error object it takes. `what`: "the grid's function".
void passOn(tk_status status, tk_error *error, const char *what);

inline Device deviceOf(tk_device device) { return Device(static_cast<runtime::GpuDevice *>(const_cast<void *>(device.implementation))); }
inline tk_device handleOf(const Device &device) { return {device.implementation()}; }

/// The arguments of a call as the C++ API takes them. Few of them need no allocation, tuples do.
class ArgumentList {
public:
  ArgumentList(const tk_argument *arguments, size_t count);
  explicit ArgumentList(const tk_argument &argument) : ArgumentList(&argument, 1) {}
  const Argument *data() const { return many.empty() ? few : many.data(); }
  size_t size() const { return count; }

private:
  Argument convert(const tk_argument &argument, size_t position, unsigned depth);

  size_t count, elementsLeft = 65536;
  Argument few[24];
  std::vector<Argument> many;
  std::vector<std::unique_ptr<Argument[]>> tuples;
};
tk_argument handleOf(const Argument &argument);
/// Refers to `grid`.
Grid gridOf(const tk_grid &grid);

} // namespace tk::capi
