// The C API: versions, errors, element types.
#include "runtime/capi/Boundary.h"
#include <exception>
#include <new>

using namespace tk;
using namespace tk::capi;

namespace {
/// Said when there is no memory to say anything else.
tk_error outOfMemory = {TK_ERROR_DEVICE, "out of memory"};

tk_status statusOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::User: return TK_ERROR_USER;
  case ErrorKind::Device: return TK_ERROR_DEVICE;
  case ErrorKind::Internal: return TK_ERROR_INTERNAL;
  }
  return TK_ERROR_INTERNAL;
}
ErrorKind kindOf(tk_status status) {
  return status == TK_ERROR_DEVICE ? ErrorKind::Device : status == TK_ERROR_INTERNAL ? ErrorKind::Internal : ErrorKind::User;
}

tk_error *makeError(tk_status kind, const char *message) noexcept {
  try {
    return new tk_error{kind, message};
  } catch (...) {
    return &outOfMemory;
  }
}

tk_status say(tk_error **error, tk_status kind, const char *message) noexcept {
  if (error)
    *error = makeError(kind, message);
  return kind;
}
} // namespace

namespace tk::capi {

tk_status report(tk_error **error) noexcept {
  try {
    throw;
  } catch (const Error &thrown) {
    return say(error, statusOf(thrown.kind()), thrown.what());
  } catch (const std::bad_alloc &) {
    if (error)
      *error = &outOfMemory;
    return TK_ERROR_DEVICE;
  } catch (const std::exception &thrown) {
    return say(error, TK_ERROR_INTERNAL, thrown.what());
  } catch (...) {
    return say(error, TK_ERROR_INTERNAL, "an exception of an unknown type, perhaps a callback's");
  }
}

void passOn(tk_status status, tk_error *error, const char *what) {
  if (status == TK_OK) {
    tk_error_free(error);
    return;
  }
  std::string message = error ? error->message : fmt::format("{} returned {}", what, static_cast<int>(status));
  tk_error_free(error);
  throw Error(kindOf(status), message);
}

DType checkedType(int64_t dtype) { return checkedEnum<DType>(dtype, static_cast<int64_t>(DType::F64) + 1, "dtype"); }

} // namespace tk::capi

// The enumerators are the C++ API's.
#define TK_DTYPE(name, spelling, bits, bytes) static_assert(static_cast<int>(DType::name) == TK_##name);
TK_DTYPES(TK_DTYPE)
#undef TK_DTYPE

extern "C" {

const char *tk_version(void) { return TKC_VERSION; }
uint32_t tk_abi_version(void) { return TK_ABI_VERSION; }

const char *tk_error_message(const tk_error *error) { return error ? error->message.c_str() : ""; }
tk_status tk_error_kind(const tk_error *error) { return error ? error->kind : TK_OK; }
tk_error *tk_error_new(tk_status kind, const char *message) { return makeError(statusOf(kindOf(kind)), message ? message : ""); }
void tk_error_free(tk_error *error) {
  if (error != &outOfMemory)
    delete error;
}

const char *tk_dtype_name(tk_dtype dtype) { return dtype >= TK_I1 && dtype <= TK_F64 ? spelling(static_cast<DType>(dtype)).data() : nullptr; }
size_t tk_dtype_bytes(tk_dtype dtype) { return dtype >= TK_I1 && dtype <= TK_F64 ? bytesOf(static_cast<DType>(dtype)) : 0; }

tk_status tk_dtype_parse(const char *name, tk_dtype *dtype, tk_error **error) {
  return guarded(error, [&] {
    DType type;
    checked(dtype, "dtype");
    if (!parseDType(checkedText(name, "name"), type))
      throw Error(ErrorKind::User, fmt::format("`{}` is no element type", name));
    *dtype = static_cast<tk_dtype>(type);
  });
}

} // extern "C"
