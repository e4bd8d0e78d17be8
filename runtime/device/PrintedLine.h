// A line of device_print, the same on every device.
#pragma once
#include "runtime/device/cpu/CpuServices.h"
#include <string>

namespace tk::runtime {

/// "pid (0, 0, 0) idx (1, 2) x = : 3", without a line break.
std::string printedLine(const TkCpuPrinted &item);

} // namespace tk::runtime
