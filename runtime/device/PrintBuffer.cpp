// See PrintBuffer.h.
#include "runtime/device/PrintBuffer.h"
#include "runtime/FloatBits.h"
#include "runtime/device/PrintedLine.h"
#include "tk/error.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace tk::runtime {

namespace {
/// A record with what orders it.
struct Entry {
  PrintRecord record;
  uint64_t occurrence = 0; // how many records of the same place, operand and element the program had written before

  auto source() const { return std::tuple(record.program[2], record.program[1], record.program[0], record.site); }
  auto order() const { return std::tuple_cat(source(), std::tuple(occurrence, record.operand, record.element)); } // differs between any two
};

std::string lineOf(const PrintRecord &record, const PrintSite &site) {
  TkCpuPrinted item = {};
  item.prefix = site.text.c_str();
  std::copy(record.program, record.program + 3, item.program);
  item.hex = site.hex;
  item.operand = site.operands.size() > 1 ? static_cast<int32_t>(record.operand) : -1;
  item.kind = 5;
  if (site.operands.empty())
    return printedLine(item);

  const PrintOperand &operand = site.operands[record.operand];
  uint64_t rest = record.element;
  item.rank = static_cast<uint8_t>(operand.shape.size());
  for (size_t dim = operand.shape.size(); dim-- > 0; rest /= static_cast<uint64_t>(operand.shape[dim]))
    item.index[dim] = static_cast<int64_t>(rest % static_cast<uint64_t>(operand.shape[dim]));
  item.bits = record.bits;
  item.width = static_cast<uint8_t>(operand.isPointer ? 64 : operand.dtype == DType::I1 && !site.hex ? 1 : 8 * bytesOf(operand.dtype));
  if (operand.isPointer) {
    item.kind = 4;
  } else if (!isFloat(operand.dtype)) {
    item.kind = operand.isSigned ? 1 : 0;
  } else if (operand.dtype == DType::F64) {
    item.kind = 3;
  } else {
    item.kind = 2;
    if (!site.hex)
      item.bits = std::bit_cast<uint32_t>(static_cast<float>(decodeNumber(operand.dtype, record.bits)));
  }
  return printedLine(item);
}

bool isValid(const PrintRecord &record, const std::vector<PrintSite> &sites) {
  if (record.site >= sites.size())
    return false;
  const PrintSite &site = sites[record.site];
  return site.isAssert ||
         (site.operands.empty() ? record.operand == 0 : record.operand < site.operands.size() && site.operands[record.operand].shape.size() <= 8);
}

[[noreturn]] void fail(const PrintHeader &header, const std::vector<PrintSite> &sites, const std::vector<Entry> &entries) {
  if (header.failed > sites.size())
    throw Error(ErrorKind::Internal, fmt::format("the device reports that assertion {} failed, but the kernel has {} places", header.failed - 1, sites.size()));
  // Of the records that were written, the assertion of the lowest program; entries are sorted.
  auto first = std::find_if(entries.begin(), entries.end(), [&](const Entry &entry) { return sites[entry.record.site].isAssert; });
  const PrintSite &site = sites[first == entries.end() ? header.failed - 1 : first->record.site];
  std::string where = site.file.empty() ? "" : fmt::format("{}:{}: ", site.file, site.line);
  std::string program;
  if (first != entries.end())
    program = fmt::format(" [program ({}, {}, {})]", first->record.program[0], first->record.program[1], first->record.program[2]);
  throw Error(ErrorKind::User, fmt::format("device assertion failed: {}{}{}", where, site.text, program));
}
} // namespace

void clearPrintBuffer(void *buffer, uint32_t capacity) {
  PrintHeader header = {capacity, 0, 0, 0};
  std::memcpy(buffer, &header, sizeof(header));
}

void readPrintBuffer(const void *buffer, const std::vector<PrintSite> &sites, const std::function<void(std::string_view)> &print) {
  PrintHeader header;
  std::memcpy(&header, buffer, sizeof(header));
  std::vector<Entry> entries(std::min(header.count, header.capacity));
  using Counted = std::tuple<int32_t, int32_t, int32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Counted, uint64_t> seen;
  for (size_t i = 0; i < entries.size(); ++i) {
    PrintRecord &record = entries[i].record;
    std::memcpy(&record, static_cast<const char *>(buffer) + sizeof(PrintHeader) + i * sizeof(PrintRecord), sizeof(record));
    if (!isValid(record, sites))
      throw Error(ErrorKind::Internal,
                  fmt::format("the device wrote a print record of place {}, operand {}, which the kernel does not have", record.site, record.operand));
    entries[i].occurrence = seen[std::tuple_cat(entries[i].source(), std::tuple(record.operand, record.element))]++;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.order() < b.order(); });

  auto show = [&](const std::string &line) {
    if (print)
      print(line);
    else
      std::puts(line.c_str());
  };
  for (const Entry &entry : entries)
    if (!sites[entry.record.site].isAssert)
      show(lineOf(entry.record, sites[entry.record.site]));
  if (header.count > header.capacity)
    show(fmt::format("({} more lines were printed than the buffer of {} holds)", header.count - header.capacity, header.capacity));
  if (header.failed)
    fail(header, sites, entries);
}

} // namespace tk::runtime
