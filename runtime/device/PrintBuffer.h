// How a GPU kernel's device_print and device_assert reach the host: a buffer of records in host memory that the device sees.
//
// The device takes a place by adding 1 to `count` and writes a record there, or nothing when the place lies past `capacity`: one record per element of each
// operand, one for a print without operands. An assertion's thread writes one record for its element too, puts the site's index plus 1 into `failed` where that
// was 0, fences and traps. The host reads the buffer when the stream has been synchronised. Layout is part of the kernels' ABI.
#pragma once
#include "runtime/KernelAbi.h"
#include <functional>
#include <string_view>

namespace tk::runtime {

struct PrintHeader {
  uint32_t capacity; // records that fit
  uint32_t count;    // records that were to be written; may exceed the capacity
  uint32_t failed;   // index of the assertion's site plus 1; 0: none failed
  uint32_t reserved;
};
static_assert(sizeof(PrintHeader) == 16);

struct PrintRecord {
  uint32_t site;
  int32_t program[3];
  uint32_t element; // row-major linear index in the tile; 0 for a scalar
  uint32_t operand;
  uint64_t bits; // see PrintOperand
};
static_assert(sizeof(PrintRecord) == 32);

constexpr size_t printBufferBytes(uint32_t capacity) { return sizeof(PrintHeader) + size_t(capacity) * sizeof(PrintRecord); }
void clearPrintBuffer(void *buffer, uint32_t capacity);

/// Prints what the device wrote, each line through `print` (null: standard output), ordered by program, place in the source, how often the program had come
/// there, operand and element, so that equal launches print equal text. `print` gets lines without a line break. Throws Error(User) for a failed assertion,
/// after the prints.
void readPrintBuffer(const void *buffer, const std::vector<PrintSite> &sites, const std::function<void(std::string_view)> &print);

} // namespace tk::runtime
