// st.async and red.async: PTX ISA 9.7.9.12 and 9.7.13.7. A thread's registers go to the shared memory of a block of the cluster, and an mbarrier there is told.
// And st.bulk (9.7.9.13), which clears shared memory at once.
#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/BulkOperands.h"
#include "runtime/device/emulated/Launch.h"
#include <cstring>
#include <fmt/format.h>

namespace tk::emulated {

namespace {

// The list: the target's place, the mbarrier's, the registers. imm: the operation of a reduction, or -1.
void sendRegisters(Warp &warp, const Instr &i, uint32_t mask) {
  const int32_t *list = warp.listOf(i), *values = list + 2 * placeWords;
  uint32_t count = uint32_t(i.count - 2 * placeWords), each = uint32_t(bytesOf(i.type)), bytes = count * each;
  forEachLane(mask, [&](int lane) {
    SharedPlace target = sharedAt(warp, i, list, lane, bytes, bytes), barrier = sharedAt(warp, i, list + placeWords, lane, 8, 8);
    if (target.block != barrier.block)
      warp.fault(i, 1u << lane, "the mbarrier is in another block's shared memory than the target", Finding::Cause::Address);
    Transfer transfer;
    transfer.instr = &i;
    transfer.warp = &warp;
    transfer.lane = lane;
    transfer.isRead = true;
    transfer.data.resize(bytes);
    for (uint32_t k = 0; k < count; ++k) {
      uint64_t value = each == 8 ? warp.at<uint64_t>(values[k])[lane] : warp.at<uint32_t>(values[k])[lane];
      std::memcpy(transfer.data.data() + k * each, &value, each);
    }
    transfer.pieces = {{0, reinterpret_cast<uint64_t>(target.block->shared.at(target.offset)), bytes}};
    transfer.targets = {{target.block, target.offset, bytes}};
    transfer.arrivals = {{barrier.block, barrier.offset, bytes}};
    transfer.type = i.type;
    if (i.imm >= 0)
      transfer.reduction = AtomicOperation(i.imm);
    startTransfer(std::move(transfer));
  });
}

void clearShared(Warp &warp, const Instr &i, uint32_t mask) {
  LaneAddresses addresses;
  addressesOf(warp, i, i.a, mask, addresses);
  if (i.space == Space::Generic)
    splitByWindow(warp, i, mask, addresses);
  warp.noteEffect();
  forEachLane(mask, [&](int lane) {
    uint64_t bytes = warp.at<uint64_t>(i.b)[lane];
    if (bytes % 8 || bytes > (1u << 24))
      warp.fault(i, 1u << lane, fmt::format("st.bulk of {} bytes: that must be a multiple of 8", bytes));
    Block &block = sharedBlock(warp, i, lane, addresses.address[lane], uint32_t(bytes), 8);
    uint32_t offset = sharedOffset(addresses.address[lane]);
    block.shared.note(warp, i, uint32_t(lane), offset, uint32_t(bytes), Access::Write);
    std::memset(block.shared.at(offset), 0, bytes);
  });
}

void decodeSend(Decoding &d, bool reduces) {
  d.i.kind = Class::Async;
  for (std::string_view word : {"weak", "relaxed", "cluster", "shared::cluster"})
    d.take(word);
  if (!d.take("mbarrier::complete_tx::bytes"))
    d.fail("only the form with .mbarrier::complete_tx::bytes is supported");
  int vector = d.takeOneOf({"v2", "v4"});
  d.i.imm = -1;
  if (reduces) {
    static constexpr std::pair<std::string_view, AtomicOperation> operations[] = {
        {"and", AtomicOperation::And}, {"or", AtomicOperation::Or},   {"xor", AtomicOperation::Xor}, {"add", AtomicOperation::Add},
        {"inc", AtomicOperation::Inc}, {"dec", AtomicOperation::Dec}, {"min", AtomicOperation::Min}, {"max", AtomicOperation::Max}};
    for (auto [name, operation] : operations)
      if (d.i.imm < 0 && d.take(name))
        d.i.imm = int64_t(operation);
  }
  Type type = d.takeType();
  int bytes = bytesOf(type);
  bool isLogic = d.i.imm >= 0 && d.i.imm <= int64_t(AtomicOperation::Xor),
       counts = d.i.imm == int64_t(AtomicOperation::Inc) || d.i.imm == int64_t(AtomicOperation::Dec);
  bool fits = !reduces  ? bytes == 4 || bytes == 8
              : isLogic ? type == Type::B32
              : counts  ? type == Type::U32
                        : type == Type::U32 || type == Type::S32 || (type == Type::U64 && d.i.imm == int64_t(AtomicOperation::Add));
  if (!fits || (reduces && (d.i.imm < 0 || vector >= 0)))
    d.fail("this combination of types and modifiers is not supported");
  d.expectOperands(3, 3);
  int64_t operation = d.i.imm;
  std::vector<int32_t> list;
  pushPlace(d, 0, Space::SharedCluster, list);
  pushPlace(d, 2, Space::SharedCluster, list);
  const Operand &value = d.operand(1);
  std::span<const Operand> parts(&value, 1);
  if (vector >= 0)
    parts = value.parts;
  if (parts.size() != (vector < 0 ? 1u : 2u << vector))
    d.fail("the number of registers is not that of the vector");
  for (const Operand &part : parts)
    list.push_back(d.source(part, type));
  d.list(list);
  d.i.imm = operation;
  d.i.type = type;
  d.i.run = &sendRegisters;
}

} // namespace

void decodeStAsync(Decoding &d) { decodeSend(d, false); }
void decodeRedAsync(Decoding &d) { decodeSend(d, true); }

void decodeStBulk(Decoding &d) {
  d.take("weak");
  d.i.space = d.take("shared::cta") ? Space::Shared : Space::Generic;
  d.expectOperands(3, 3);
  d.i.a = d.address(d.operand(0), d.i.space);
  d.i.b = d.source(1, Type::U64);
  if (d.integer(2) != 0)
    d.fail("only zero can be stored");
  d.i.kind = Class::Shared;
  d.i.run = &clearShared;
}

} // namespace tk::emulated
