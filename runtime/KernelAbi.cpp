// The text form of a KernelAbi. One fact a line, words apart by one blank, strings in quotes with \", \\, \n and \xNN:
//
//   tkc-abi 1
//   entry "softmax"
//   place "softmax.tk" 3
//   arena 0                     cpu only, as `spins`
//   threads 128                 and cluster, shared, scratch: gpu only
//   cooperative                 gpu only, as `programmatic`
//   slot pointer fp32 1 w 0 "out"          kind, type, depth of the pointer, r w or rw or -, parameter (with its path, as in 2.0), name
//   slot scalar i32 0 r 3 "n_cols"
//   slot map bf16 128x64 3 zero 1 "a"      a tensor map: type, box, swizzle, fill, parameter, name
//   slot print
//   site print hex "x = " "softmax.tk" 7   print or assert, hex or plain, text, place
//   operand fp32 signed value 4 8          of the site above: type, signed or unsigned, value or pointer, extents
#include "runtime/KernelAbi.h"
#include "runtime/TextLine.h"
#include <fmt/format.h>

namespace tk::runtime {

namespace {
constexpr std::string_view versionLine = "tkc-abi 1";

std::string slotLine(const ArgumentSlot &slot) {
  if (slot.kind == ArgumentSlot::Kind::PrintBuffer)
    return "slot print\n";
  if (slot.kind == ArgumentSlot::Kind::Scratch)
    return "slot scratch\n";
  std::string box;
  for (int32_t extent : slot.map.box)
    box += fmt::format("{}{}", box.empty() ? "" : "x", extent);
  std::string parameter = std::to_string(slot.param);
  for (unsigned step : slot.path)
    parameter += "." + std::to_string(step);
  if (slot.kind == ArgumentSlot::Kind::TensorMap)
    return fmt::format("slot map {} {} {} {} {} {}\n", spelling(slot.dtype), box, slot.map.swizzle, slot.map.nanFill ? "nan" : "zero", parameter,
                       quoted(slot.name));
  const char *access = slot.read ? (slot.written ? "rw" : "r") : slot.written ? "w" : "-";
  return fmt::format("slot {} {} {} {} {} {}\n", slot.kind == ArgumentSlot::Kind::Pointer ? "pointer" : "scalar", spelling(slot.dtype), slot.pointerDepth,
                     access, parameter, quoted(slot.name));
}

void readSlot(TextLine &line, KernelAbi &abi) {
  ArgumentSlot slot;
  std::string_view kind = line.word();
  if (kind == "print" || kind == "scratch") {
    slot.kind = kind == "print" ? ArgumentSlot::Kind::PrintBuffer : ArgumentSlot::Kind::Scratch;
  } else if (kind == "map") {
    slot.kind = ArgumentSlot::Kind::TensorMap;
    line.dtype(slot.dtype);
    for (std::string_view box = line.word(); line.good && !box.empty();) {
      size_t end = std::min(box.find('x'), box.size());
      TextLine extent(box.substr(0, end));
      extent.number(slot.map.box.emplace_back());
      line.good &= extent.good && slot.map.box.back() > 0 && end + 1 != box.size();
      box.remove_prefix(std::min(end + 1, box.size()));
    }
    line.number(slot.map.swizzle);
    slot.map.nanFill = line.choice("nan", "zero");
    line.parameter(slot.param, slot.path);
    line.string(slot.name);
    line.good &= slot.map.swizzle <= 3 && slot.map.box.size() <= 5;
  } else {
    slot.kind = kind == "pointer" ? ArgumentSlot::Kind::Pointer : ArgumentSlot::Kind::Scalar;
    line.good &= kind == "pointer" || kind == "scalar";
    line.dtype(slot.dtype);
    line.number(slot.pointerDepth);
    std::string_view access = line.word();
    slot.read = access == "r" || access == "rw", slot.written = access == "w" || access == "rw";
    line.good &= slot.read || slot.written || access == "-";
    line.parameter(slot.param, slot.path);
    line.string(slot.name);
    line.good &= (slot.kind == ArgumentSlot::Kind::Pointer) == (slot.pointerDepth > 0);
  }
  abi.slots.push_back(std::move(slot));
}

void readSite(TextLine &line, KernelAbi &abi) {
  PrintSite site;
  site.isAssert = line.choice("assert", "print");
  site.hex = line.choice("hex", "plain");
  line.string(site.text);
  line.string(site.file);
  line.number(site.line);
  abi.printSites.push_back(std::move(site));
}

void readOperand(TextLine &line, KernelAbi &abi) {
  PrintOperand operand;
  line.dtype(operand.dtype);
  operand.isSigned = line.choice("signed", "unsigned");
  operand.isPointer = line.choice("pointer", "value");
  while (line.good && !line.atEnd())
    line.number(operand.shape.emplace_back());
  line.good &= !abi.printSites.empty();
  if (line.good)
    abi.printSites.back().operands.push_back(std::move(operand));
}

bool readLine(std::string_view text, KernelAbi &abi) {
  TextLine line(text);
  std::string_view what = line.word();
  if (what == "entry")
    line.string(abi.entry);
  else if (what == "place")
    line.string(abi.file), line.number(abi.line);
  else if (what == "arena")
    line.number(abi.arenaBytes);
  else if (what == "spins")
    abi.spins = true;
  else if (what == "threads")
    line.number(abi.threads);
  else if (what == "cluster")
    line.number(abi.clusterSize);
  else if (what == "shared")
    line.number(abi.sharedBytes);
  else if (what == "scratch")
    line.number(abi.scratchBytes);
  else if (what == "cooperative")
    abi.cooperative = true;
  else if (what == "programmatic")
    abi.programmatic = true;
  else if (what == "slot")
    readSlot(line, abi);
  else if (what == "site")
    readSite(line, abi);
  else if (what == "operand")
    readOperand(line, abi);
  else
    return false;
  return line.good && line.atEnd();
}
} // namespace

std::string toText(const KernelAbi &abi) {
  std::string text = fmt::format("{}\nentry {}\n", versionLine, quoted(abi.entry));
  if (!abi.file.empty())
    text += fmt::format("place {} {}\n", quoted(abi.file), abi.line);
  if (abi.threads == 0)
    text += fmt::format("arena {}\n{}", abi.arenaBytes, abi.spins ? "spins\n" : "");
  else
    text += fmt::format("threads {}\ncluster {}\nshared {}\nscratch {}\n", abi.threads, abi.clusterSize, abi.sharedBytes, abi.scratchBytes);
  text += fmt::format("{}{}", abi.cooperative ? "cooperative\n" : "", abi.programmatic ? "programmatic\n" : "");
  for (const ArgumentSlot &slot : abi.slots)
    text += slotLine(slot);
  for (const PrintSite &site : abi.printSites) {
    text +=
        fmt::format("site {} {} {} {} {}\n", site.isAssert ? "assert" : "print", site.hex ? "hex" : "plain", quoted(site.text), quoted(site.file), site.line);
    for (const PrintOperand &operand : site.operands) {
      text += fmt::format("operand {} {} {}", spelling(operand.dtype), operand.isSigned ? "signed" : "unsigned", operand.isPointer ? "pointer" : "value");
      for (int64_t extent : operand.shape)
        text += fmt::format(" {}", extent);
      text += '\n';
    }
  }
  return text;
}

bool parseKernelAbi(const std::string &text, KernelAbi &abi, std::string &error) {
  abi = KernelAbi();
  size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (++number == 1 ? line == versionLine : readLine(line, abi))
      continue;
    error = number == 1 ? fmt::format("expected `{}`, found `{}`", versionLine, line)
                        : fmt::format("line {} of the kernel's description can't be read: `{}`", number, line);
    return false;
  }
  if (abi.entry.empty())
    error = "the kernel's description names no entry point";
  return !abi.entry.empty();
}

} // namespace tk::runtime
