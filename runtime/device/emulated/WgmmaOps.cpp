// wgmma: PTX ISA 9.7.15. Four warps, the first of them a multiple of four, execute each instruction together; what it does comes later.
//
// Late, a product is computed when the warp waits for its group, from the registers and the shared memory as they are then; early, when it is issued. Until the
// wait its accumulators and its A registers belong to it, and so does what it reads of shared memory.
#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/Launch.h"
#include "runtime/device/emulated/MatrixElements.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <utility>

namespace tk::emulated {

namespace {

Warpgroup &warpgroupOf(Warp &warp) { return warp.block.async->warpgroups[warp.index / 4]; }

void needWarpgroup(Warp &warp, const Instr &i, uint32_t mask) {
  if (warp.initialLanes != ~0u || mask != ~0u)
    warp.fault(i, mask, "wgmma needs all 32 lanes of the warp");
  if (warp.index / 4 * 4 + 4 > warp.block.warpCount())
    warp.fault(i, mask,
               fmt::format("wgmma needs a warpgroup of four warps, and warp {} is in the last {} of its block", warp.index, warp.block.warpCount() % 4));
}

template <typename T> T uniform(Warp &warp, const Instr &i, int32_t offset, const char *what) {
  const T *value = warp.at<T>(offset);
  for (int lane = 1; lane < 32; ++lane)
    if (value[lane] != value[0])
      warp.fault(i, 1u << lane, fmt::format("the lanes give different {}", what));
  return value[0];
}

/// The operation that this warp's next wgmma is, begun by the first of the four warps.
Wgmma &takeOperation(Warp &warp, const Instr &i, uint64_t aDescriptor, uint64_t bDescriptor, bool accumulates, uint64_t &number) {
  Warpgroup &group = warpgroupOf(warp);
  number = warp.async->issuedWgmmas++;
  if (number - group.first == group.operations.size()) {
    Wgmma operation;
    operation.instr = &i;
    operation.aDescriptor = aDescriptor;
    operation.bDescriptor = bDescriptor;
    operation.accumulates = accumulates;
    std::vector<std::pair<uint32_t, uint32_t>> ranges = rangesOf(i, aDescriptor, bDescriptor);
    for (auto [begin, end] : ranges)
      if (!warp.block.shared.contains(begin, end - begin))
        warp.fault(i, ~0u,
                   fmt::format("a matrix descriptor names bytes {} to {} of shared memory, of which the block has {}", int64_t(begin) - int64_t(sharedBase),
                               int64_t(end) - int64_t(sharedBase) - 1, warp.block.shared.size()),
                   Finding::Cause::Address);
    operation.readSet = warp.block.shared.beginReading(warp, i, SharedMemory::manyLanes, std::move(ranges));
    group.operations.push_back(std::move(operation));
  } else {
    Wgmma &operation = group.operations[number - group.first];
    if (operation.instr != &i)
      warp.fault(i, ~0u, fmt::format("another warp of the warpgroup executes the wgmma of line {} at this time", operation.instr->line));
    if (operation.bDescriptor != bDescriptor || operation.aDescriptor != aDescriptor || operation.accumulates != accumulates)
      warp.fault(i, ~0u, "the warps of the warpgroup give different descriptors or a different scale-d");
    warp.block.shared.joinReading(warp, i, SharedMemory::manyLanes, operation.readSet);
  }
  Wgmma &operation = group.operations[number - group.first];
  operation.issued |= 1u << warp.index % 4;
  return operation;
}

void checkRegisters(Warp &warp, const Instr &i, uint8_t *registers) {
  Warp::AsyncState &async = *warp.async;
  if (!async.hasFenced)
    warp.report(Finding::Kind::RegisterFence, i, ~0u, "no wgmma.fence before the warp's first wgmma");
  async.hasFenced = true; // once is enough
  const Function &function = warp.function();
  const int32_t *list = warp.listOf(i);
  WgmmaShape shape = std::bit_cast<WgmmaShape>(i.target);
  size_t accumulators = shape.n / (i.type == Type::F16 ? 4u : 2u);
  std::vector<uint32_t> &touched = async.touched[registers];
  touched.resize(function.wgmmaRegisters.size());
  for (size_t x = 0; x < i.count; ++x) {
    auto found = function.wgmmaRegisters.find(list[x]);
    if (found == function.wgmmaRegisters.end())
      continue;
    if (uint32_t line = std::exchange(touched[found->second], 0))
      warp.report(
          Finding::Kind::RegisterFence, i, ~0u,
          fmt::format("no wgmma.fence between the access to {} of line {} and this wgmma", x < accumulators ? "an accumulator" : "a register of A", line));
  }
  for (const PendingWgmma &other : async.wgmmas) {
    if (other.registers != registers)
      continue;
    WgmmaShape its = std::bit_cast<WgmmaShape>(other.instr->target);
    size_t itsAccumulators = its.n / (other.instr->type == Type::F16 ? 4u : 2u);
    const int32_t *itsList = function.lists.data() + other.instr->list;
    bool sameShape = its.n == shape.n && its.k == shape.k && other.instr->type == i.type;
    auto overlaps = [](const int32_t *x, size_t countX, const int32_t *y, size_t countY) {
      return std::find_first_of(x, x + countX, y, y + countY) != x + countX;
    };
    if ((!sameShape && overlaps(list, accumulators, itsList, itsAccumulators)) ||
        overlaps(list, accumulators, itsList + itsAccumulators, other.instr->count - itsAccumulators) ||
        overlaps(list + accumulators, i.count - accumulators, itsList, itsAccumulators)) {
      warp.report(Finding::Kind::AsyncHazard, i, ~0u, fmt::format("registers of the wgmma of line {}, which is under way", other.instr->line));
      break;
    }
  }
}

void apply(Warp &warp, PendingWgmma &pending) {
  Warpgroup &group = warpgroupOf(warp);
  if (!std::exchange(pending.applied, true))
    multiply(warp, group.operations[pending.number - group.first], pending);
}

void issue(Warp &warp, const Instr &i, uint32_t mask) {
  needWarpgroup(warp, i, mask);
  uint32_t predicate = warp.predicate(i.c);
  if (i.flags & wgmmaNegatesPredicate)
    predicate = ~predicate;
  if (predicate != 0 && predicate != ~0u)
    warp.fault(i, mask, "the lanes give different values of scale-d");
  uint64_t aDescriptor = i.a >= 0 ? uniform<uint64_t>(warp, i, i.a, "descriptors") : 0, bDescriptor = uniform<uint64_t>(warp, i, i.b, "descriptors");
  PendingWgmma pending = {&i, &warp.function(), warp.at<uint8_t>(0), 0, warp.async->committedWgmmas};
  if (warp.launch.spec.checks)
    checkRegisters(warp, i, pending.registers);
  takeOperation(warp, i, aDescriptor, bDescriptor, predicate != 0, pending.number);
  if (warp.launch.spec.timing == AsyncTiming::Early)
    apply(warp, pending);
  warp.async->wgmmas.push_back(pending);
  warp.noteEffect();
  uint32_t first = warp.index / 4 * 4;
  for (uint32_t w = first; w < first + 4; ++w)
    warp.block.warps[w]->wake(Group::State::Warpgroup, 0);
}

Outcome wait(Warp &warp, const Instr &i, uint32_t mask) {
  needWarpgroup(warp, i, mask);
  Warp::AsyncState &async = *warp.async;
  Warpgroup &group = warpgroupOf(warp);
  auto isMeant = [&](const PendingWgmma &pending) { return pending.group + uint64_t(i.imm) < async.committedWgmmas; };
  for (const PendingWgmma &pending : async.wgmmas)
    if (isMeant(pending) && group.operations[pending.number - group.first].issued != 15) {
      // What the other warps have not begun can't be complete.
      Outcome outcome = warp.blockAt(Group::State::Warpgroup, mask);
      --warp.currentGroup().pc;
      return outcome;
    }
  std::erase_if(async.wgmmas, [&](PendingWgmma &pending) {
    if (!isMeant(pending))
      return false;
    apply(warp, pending);
    Wgmma &operation = group.operations[pending.number - group.first];
    operation.done |= 1u << warp.index % 4;
    warp.block.shared.endReading(operation.readSet, warp.block.order(), warp.clockId, SharedMemory::manyLanes, operation.done == 15);
    return true;
  });
  warp.block.order().tick(warp.clockId);
  while (!group.operations.empty() && group.operations.front().done == 15) {
    group.operations.pop_front();
    ++group.first;
  }
  warp.noteEffect();
  return Outcome::Next;
}

void commit(Warp &warp, const Instr &i, uint32_t mask) {
  needWarpgroup(warp, i, mask);
  ++warp.async->committedWgmmas;
}

void fence(Warp &warp, const Instr &i, uint32_t mask) {
  needWarpgroup(warp, i, mask);
  warp.async->hasFenced = true;
  warp.async->touched.clear();
}

/// The value of an immediate that must be one of two.
bool chooses(Decoding &d, size_t operand, int64_t no, int64_t yes) {
  int64_t value = d.integer(operand);
  if (value != no && value != yes)
    d.fail(fmt::format("operand {} must be {} or {}", operand + 1, no, yes));
  return value == yes;
}

void decodeMultiply(Decoding &d) {
  int n = 0, k = 0;
  if (d.take("sp"))
    d.fail("sparse forms are not supported");
  for (std::string_view word : d.statement.modifiers)
    if (word.starts_with("m64n") && d.take(word)) {
      size_t at = word.find('k');
      n = std::atoi(std::string(word.substr(4, at - 4)).c_str());
      k = at == word.npos ? 0 : std::atoi(std::string(word.substr(at + 1)).c_str());
      break;
    }
  bool saturates = d.take("satfinite"), isAnd = d.take("and"), counts = d.take("popc");
  Type dType = d.takeType(), a = d.takeType(), b = d.takeType();
  auto isByteFloat = [](Type type) { return type == Type::E4M3 || type == Type::E5M2; };
  auto isByte = [](Type type) { return type == Type::S8 || type == Type::U8; };
  bool isInteger = isByte(a) || a == Type::B1, is16 = a == Type::F16 || a == Type::BF16;
  bool pairs = isByteFloat(a) ? isByteFloat(b) : isByte(a) ? isByte(b) : a == b;
  bool results = isInteger                          ? dType == Type::S32
                 : a == Type::F16 || isByteFloat(a) ? dType == Type::F16 || dType == Type::F32
                                                    : (a == Type::BF16 || a == Type::TF32) && dType == Type::F32;
  if (!pairs || !results || (a == Type::B1) != (isAnd && counts) || isAnd != counts || (saturates && !isByte(a)))
    d.fail("this combination of types and modifiers is not supported");
  bool rightN = n >= 8 && n <= 256 && n % 8 == 0 && (!isInteger || n <= 32 || n % 16 == 0);
  if (!rightN || k != 256 / bitsOfElement(a))
    d.fail("there is no such shape for these types");
  bool fromRegisters = d.operand(1).kind == Operand::Kind::Vector;
  size_t count = isInteger ? 4 : !is16 ? 6 : fromRegisters ? 7 : 8;
  d.expectOperands(count, count);
  std::vector<int32_t> offsets;
  size_t accumulators = size_t(n) / (dType == Type::F16 ? 4 : 2);
  if (d.operand(0).kind != Operand::Kind::Vector || d.operand(0).parts.size() != accumulators)
    d.fail(fmt::format("{} registers of D belong in braces", accumulators));
  for (const Operand &part : d.operand(0).parts)
    offsets.push_back(d.destination(part, Type::B32));
  if (fromRegisters) {
    if (d.operand(1).parts.size() != 4)
      d.fail("4 registers of A belong in braces");
    for (const Operand &part : d.operand(1).parts)
      offsets.push_back(d.source(part, Type::B32));
  } else {
    d.i.a = d.source(1, Type::B64);
  }
  d.i.b = d.source(2, Type::B64);
  bool negated;
  d.i.c = d.predicate(d.operand(3), negated);
  d.list(offsets);
  d.i.flags = (negated ? wgmmaNegatesPredicate : 0u) | (saturates ? wgmmaSaturates : 0u) | (isInteger ? 0u : wgmmaIsFloat);
  if (!isInteger)
    d.i.flags |= (chooses(d, 4, 1, -1) ? wgmmaNegatesA : 0u) | (chooses(d, 5, 1, -1) ? wgmmaNegatesB : 0u);
  if (is16)
    d.i.flags |= (!fromRegisters && chooses(d, 6, 0, 1) ? wgmmaTransposesA : 0u) | (chooses(d, count - 1, 0, 1) ? wgmmaTransposesB : 0u);
  WgmmaShape shape = {uint32_t(n), uint32_t(k), uint32_t(a), uint32_t(b)};
  d.i.target = std::bit_cast<uint32_t>(shape);
  d.i.type = dType;
  for (int32_t offset : offsets)
    d.function().wgmmaRegisters.emplace(offset, uint32_t(d.function().wgmmaRegisters.size()));
  d.i.run = &issue;
}

} // namespace

void Warp::touchRegisters(const Instr &i) {
  const std::vector<uint32_t> &lists = frame->function->touched;
  std::vector<uint32_t> &lines = async->touched[registers];
  lines.resize(frame->function->wgmmaRegisters.size());
  for (uint32_t k = 0; k < lists[i.touches]; ++k) {
    uint32_t which = lists[i.touches + 1 + k];
    lines[which] = i.line;
    for (const PendingWgmma &pending : async->wgmmas) {
      if (pending.registers != registers)
        continue;
      const int32_t *list = pending.function->lists.data() + pending.instr->list;
      if (std::any_of(list, list + pending.instr->count, [&](int32_t offset) { return frame->function->wgmmaRegisters.at(offset) == which; })) {
        report(Finding::Kind::AsyncHazard, i, ~0u, fmt::format("a register of the wgmma of line {}, which is under way", pending.instr->line));
        break;
      }
    }
  }
}

void decodeWgmma(Decoding &d) {
  int what = d.takeOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  if (what < 0 || !d.take("sync") || !d.take("aligned"))
    d.fail("one of .mma_async .fence .commit_group .wait_group with .sync.aligned belongs here");
  d.i.isCollective = true;
  d.i.kind = what == 0 ? Class::Matrix : Class::Async;
  if (what == 0)
    return decodeMultiply(d);
  d.expectOperands(what == 3 ? 1 : 0, what == 3 ? 1 : 0);
  if (what == 3) {
    d.i.imm = d.integer(0);
    d.i.control = &wait;
    return;
  }
  d.i.run = what == 1 ? &fence : &commit;
}

} // namespace tk::emulated
