// Control flow: PTX ISA 9.7.12.
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Decoder.h"
#include "runtime/device/emulated/Launch.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

namespace {

Outcome branch(Warp &warp, const Instr &i, uint32_t mask) { return warp.branch(mask, i.target); }

Outcome branchByTable(Warp &warp, const Instr &i, uint32_t mask) {
  const std::vector<uint32_t> &table = warp.function().branchTables[i.target];
  std::array<uint32_t, 32> targets = {};
  forEachLane(mask, [&](int lane) {
    uint32_t index = warp.at<uint32_t>(i.a)[lane];
    if (index >= table.size())
      warp.fault(i, 1u << lane, fmt::format("index {} into a list of {} branch targets", index, table.size()));
    targets[size_t(lane)] = table[index];
  });
  return warp.branchMany(targets, mask);
}

Outcome call(Warp &warp, const Instr &i, uint32_t mask) {
  const Function &callee = warp.launch.module.functions[i.target];
  if (!callee.isDefined)
    warp.fault(i, mask, fmt::format("a call of `{}`, which has no body", callee.name));
  return warp.call(i, callee, mask);
}

Outcome callIndirect(Warp &warp, const Instr &i, uint32_t mask) {
  uint64_t address = warp.at<uint64_t>(i.a)[std::countr_zero(mask)];
  uint32_t same = 0;
  forEachLane(mask, [&](int lane) { same |= uint32_t(warp.at<uint64_t>(i.a)[lane] == address) << lane; });
  warp.keepOnly(same, mask);
  mask = same;
  const std::vector<Function> &functions = warp.launch.module.functions;
  if ((address & windowMask) != functionWindow || (address & ~windowMask) >= functions.size())
    warp.fault(i, mask, fmt::format("a call of 0x{:x}, which is no function", address));
  const Function &callee = functions[address & ~windowMask];
  if (callee.isEntry || !callee.isDefined || callee.parameters.size() + callee.results.size() != i.count)
    warp.fault(i, mask, fmt::format("a call of `{}` with other parameters than it has", callee.name));
  return warp.call(i, callee, mask);
}

Outcome returns(Warp &warp, const Instr &, uint32_t mask) { return warp.returnFrom(mask); }
Outcome exits(Warp &warp, const Instr &, uint32_t mask) { return warp.exitLanes(mask); }
Outcome trap(Warp &warp, const Instr &i, uint32_t mask) { warp.fault(i, mask, "the kernel executed a trap"); }
Outcome sleep(Warp &warp, const Instr &, uint32_t) {
  warp.block.cluster.pollsMemory = true;
  return Outcome::Yield;
}
void nothing(Warp &, const Instr &, uint32_t) {}

} // namespace

void decodeBra(Decoding &d) {
  d.take("uni");
  d.expectOperands(1, 1);
  d.i.kind = Class::Control;
  d.i.target = d.label(d.operand(0).name);
  d.i.control = &branch;
}

void decodeBrx(Decoding &d) {
  if (!d.take("idx"))
    d.fail(".idx is missing");
  d.take("uni");
  d.expectOperands(2, 2);
  d.i.kind = Class::Control;
  d.i.a = d.source(0, Type::U32);
  d.i.target = d.branchTable(d.operand(1).name);
  d.i.control = &branchByTable;
}

// call (results), function, (arguments) [, prototype]
void decodeCall(Decoding &d) {
  d.take("uni");
  d.i.kind = Class::Control;
  size_t at = 0;
  std::vector<int32_t> results, offsets;
  auto addAll = [&](const Operand &list, std::vector<int32_t> &into) {
    for (const Operand &part : list.parts)
      into.push_back(int32_t(d.localOffsetOf(part)));
  };
  if (d.operand(0).kind == Operand::Kind::List)
    addAll(d.operand(at++), results);
  const Operand &target = d.operand(at++);
  if (at < d.operands() && d.operand(at).kind == Operand::Kind::List)
    addAll(d.operand(at++), offsets);
  size_t arguments = offsets.size();
  offsets.insert(offsets.end(), results.begin(), results.end());
  d.list(offsets);
  int index = d.functionNamed(target);
  if (index == -1)
    d.fail("there is no function `" + std::string(target.name) + "`");
  if (index == -2) {
    d.i.a = d.source(target, Type::B64);
    d.i.control = &callIndirect;
    d.function().callsIndirectly = true;
    return;
  }
  const ParsedFunction &callee = d.module().parsed->functions[size_t(index)];
  if (callee.isEntry || callee.parameters.size() != arguments || callee.results.size() != results.size())
    d.fail(fmt::format("`{}` takes {} arguments and gives {} results", callee.name, callee.parameters.size(), callee.results.size()));
  d.function().callees.push_back(index);
  d.i.target = uint32_t(index);
  d.i.control = &call;
}

void decodeRet(Decoding &d) {
  d.take("uni");
  d.i.kind = Class::Control;
  d.i.control = &returns;
}
void decodeExit(Decoding &d) {
  d.i.kind = Class::Control;
  d.i.control = &exits;
}
void decodeTrap(Decoding &d) {
  d.i.kind = Class::Control;
  d.i.control = &trap;
}
void decodeNanosleep(Decoding &d) {
  d.takeType();
  d.source(0, Type::U32);
  d.i.kind = Class::Control;
  d.i.control = &sleep;
}
void decodePmevent(Decoding &d) {
  d.take("mask");
  d.i.kind = Class::Control;
  d.i.run = &nothing;
}

} // namespace tk::emulated
