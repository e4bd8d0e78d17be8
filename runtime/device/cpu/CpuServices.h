// The functions that compiled CPU code calls back: a table passed to every kernel, so that objects need no symbol resolution. Layout is part of the ABI (version first).
#pragma once
#include <cstdint>

extern "C" {
struct TkCpuServices {
  uint32_t version; // 1
  uint32_t reserved;
  void *context; // passed to the functions below
  /// One finished line of device_print.
  void (*print)(void *context, const char *text, uint64_t length);
  /// A failed device_assert: message, file:line and the program. Returns; the kernel then ends its chunk.
  void (*assertFailed)(void *context, const char *message, const int32_t program[3]);
  /// A loop has spun: let other programs of the launch make progress. Returns when the caller should test again.
  void (*yield)(void *context);
};
}
