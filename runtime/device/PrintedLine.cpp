// See PrintedLine.h.
#include "runtime/device/PrintedLine.h"
#include <bit>
#include <fmt/format.h>

namespace tk::runtime {

std::string printedLine(const TkCpuPrinted &item) {
  std::string line = fmt::format("pid ({}, {}, {})", item.program[0], item.program[1], item.program[2]);
  for (unsigned dim = 0; dim < item.rank; ++dim)
    line += fmt::format("{}{}{}", dim ? ", " : " idx (", item.index[dim], dim + 1u == item.rank ? ")" : "");
  line += fmt::format(" {}", item.prefix);
  if (item.operand >= 0)
    line += fmt::format(" (operand {})", item.operand);
  if (item.hex && item.kind < 4)
    line += fmt::format(": 0x{:0{}x}", item.bits, item.width / 4);
  else if (item.kind == 0)
    line += fmt::format(": {}", item.bits);
  else if (item.kind == 1)
    line += fmt::format(": {}", static_cast<int64_t>(item.bits << (64 - item.width)) >> (64 - item.width));
  else if (item.kind == 2)
    line += fmt::format(": {}", std::bit_cast<float>(static_cast<uint32_t>(item.bits)));
  else if (item.kind == 3)
    line += fmt::format(": {}", std::bit_cast<double>(item.bits));
  else if (item.kind == 4)
    line += fmt::format(": {:#x}", item.bits);
  return line;
}

} // namespace tk::runtime
