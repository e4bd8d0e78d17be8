// The one exception type of the C++ API.
//
// Every function of tk that can fail throws tk::Error. `what()` is complete by itself: for an error in a program it is the rendered diagnostics
// (file:line:col, the source line, notes), possibly several lines.
#pragma once
#include <stdexcept>
#include <string>

namespace tk {

enum class ErrorKind {
  User,    // the program or its use: source errors, wrong arguments, failed device assertions, malformed files
  Device,  // the device or the system: no such device, out of memory, a driver's error code
  Internal // a fault of tk itself
};

/// Visible in every library, so that all of a process catch the same type.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string &text) : std::runtime_error(text), errorKind(kind) {}
  ErrorKind kind() const noexcept { return errorKind; }

private:
  ErrorKind errorKind;
};

} // namespace tk
