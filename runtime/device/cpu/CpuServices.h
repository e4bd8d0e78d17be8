// The functions that compiled CPU code calls back: a table passed to every kernel, so that objects need no symbol resolution. Layout is part of the ABI (version first).
#pragma once
#include <cstdint>

extern "C" {
/// One element to print.
struct TkCpuPrinted {
  const char *prefix;
  uint64_t bits;     // the value, zero-extended; floats as the bits of `dtype`'s register: fp32, or fp64 for fp64
  int64_t index[8];  // of the element
  int32_t program[3];
  int32_t operand;   // of several, from 0; -1: the only one
  uint8_t rank;      // 0: a scalar
  uint8_t kind;      // 0 unsigned, 1 signed, 2 fp32, 3 fp64, 4 pointer, 5 no value (the prefix alone)
  uint8_t width;     // bits of an integer, or of the element in memory when printed as hex
  uint8_t hex;       // print the bits
};

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
  /// One element of device_print.
  void (*printElement)(void *context, const TkCpuPrinted *item);
};
}
