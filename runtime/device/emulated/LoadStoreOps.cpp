// ld, st and what goes with them: PTX ISA 9.7.9.8 to 9.7.9.16.
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/MemoryAccess.h"
#include <fmt/format.h>

namespace tk::emulated {

namespace {

// In Instr::target: what is moved.
struct Shape {
  uint32_t bytes : 8;         // of an element
  uint32_t registerBytes : 8; // that the register's type has
  uint32_t isSigned : 1, isStrong : 1, acquires : 1, releases : 1;
};
Shape shapeOf(const Instr &i) { return std::bit_cast<Shape>(i.target); }

uint64_t loadElement(const uint8_t *from, uint32_t bytes) {
  switch (bytes) {
  case 1: return __atomic_load_n(from, __ATOMIC_RELAXED);
  case 2: return __atomic_load_n(reinterpret_cast<const uint16_t *>(from), __ATOMIC_RELAXED);
  case 4: return __atomic_load_n(reinterpret_cast<const uint32_t *>(from), __ATOMIC_RELAXED);
  default: return __atomic_load_n(reinterpret_cast<const uint64_t *>(from), __ATOMIC_RELAXED);
  }
}
void storeElement(uint8_t *to, uint32_t bytes, uint64_t value) {
  switch (bytes) {
  case 1: return __atomic_store_n(to, uint8_t(value), __ATOMIC_RELAXED);
  case 2: return __atomic_store_n(reinterpret_cast<uint16_t *>(to), uint16_t(value), __ATOMIC_RELAXED);
  case 4: return __atomic_store_n(reinterpret_cast<uint32_t *>(to), uint32_t(value), __ATOMIC_RELAXED);
  default: return __atomic_store_n(reinterpret_cast<uint64_t *>(to), value, __ATOMIC_RELAXED);
  }
}

// One lane: memory to registers, or registers to memory.
template <bool Store> void moveLane(Warp &warp, const Instr &i, int lane, uint8_t *memory, Shape shape, const int32_t *list) {
  for (uint32_t k = 0; k < i.count; ++k, memory += shape.bytes) {
    if (list[k] < 0)
      continue;
    uint8_t *registers = warp.at<uint8_t>(list[k]);
    if (shape.bytes == 16) {
      uint64_t *pair = reinterpret_cast<uint64_t *>(registers) + lane * 2;
      for (int half = 0; half < 2; ++half)
        if (Store)
          storeElement(memory + half * 8, 8, pair[half]);
        else
          pair[half] = loadElement(memory + half * 8, 8);
      continue;
    }
    if constexpr (Store) {
      storeElement(memory, shape.bytes,
                   shape.registerBytes == 8 ? reinterpret_cast<uint64_t *>(registers)[lane] : reinterpret_cast<uint32_t *>(registers)[lane]);
    } else {
      uint64_t value = loadElement(memory, shape.bytes);
      if (shape.isSigned)
        value = uint64_t(int64_t(value << (64 - 8 * shape.bytes)) >> (64 - 8 * shape.bytes));
      if (shape.registerBytes == 8)
        reinterpret_cast<uint64_t *>(registers)[lane] = value;
      else
        reinterpret_cast<uint32_t *>(registers)[lane] = shape.registerBytes == 4 ? uint32_t(value) : uint32_t(value) & ((1u << (8 * shape.registerBytes)) - 1);
    }
  }
}

/// Whether a store of the lane's registers would change memory.
bool changes(Warp &warp, const Instr &i, int lane, const uint8_t *memory) {
  Shape shape = shapeOf(i);
  const int32_t *list = warp.listOf(i);
  uint32_t piece = std::min<uint32_t>(shape.bytes, 8), stride = shape.bytes == 16 ? 16 : shape.registerBytes == 8 ? 8 : 4;
  uint64_t kept = piece == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * piece)) - 1;
  for (uint32_t k = 0; k < i.count; ++k, memory += shape.bytes)
    for (uint32_t at = 0; at < shape.bytes && list[k] >= 0; at += piece) {
      uint64_t value = 0;
      std::memcpy(&value, warp.at<uint8_t>(list[k]) + size_t(lane) * stride + at, std::min(stride, 8u));
      if (loadElement(memory + at, piece) != (value & kept))
        return true;
    }
  return false;
}

template <bool Store> void inGlobal(Warp &warp, const Instr &i, uint32_t mask, const LaneAddresses &addresses) {
  Shape shape = shapeOf(i);
  uint32_t bytes = shape.bytes * i.count;
  checkGlobal(warp, i, mask, addresses, bytes, bytes, Store);
  if (i.space != Space::Const)
    countGlobal(warp, mask, addresses, bytes);
  const int32_t *list = warp.listOf(i);
  AccessHistory *history = i.space == Space::Const ? nullptr : warp.block.cluster.history.get();
  if constexpr (Store) {
    uint32_t times = ++warp.storeTimes[i.number];
    if (history)
      history->note(warp, i, mask, addresses.address, bytes, shape.isStrong ? Access::StrongWrite : Access::Write, times, &changes);
    bool changed = false;
    forEachLane(mask, [&](int lane) { changed = changed || changes(warp, i, lane, reinterpret_cast<const uint8_t *>(addresses.address[lane])); });
    if (changed)
      warp.noteGlobalEffect();
  } else if (history) {
    history->note(warp, i, mask, addresses.address, bytes, shape.isStrong ? Access::StrongRead : Access::Read);
  }
  // The common case without any questions.
  if (!Store && shape.bytes == 4 && shape.registerBytes == 4) {
    for (uint32_t k = 0; k < i.count; ++k) {
      if (list[k] < 0)
        continue;
      uint32_t *to = warp.at<uint32_t>(list[k]);
      forEachLane(mask, [&](int lane) { to[lane] = __atomic_load_n(reinterpret_cast<const uint32_t *>(addresses.address[lane]) + k, __ATOMIC_RELAXED); });
    }
    return;
  }
  forEachLane(mask, [&](int lane) { moveLane<Store>(warp, i, lane, reinterpret_cast<uint8_t *>(addresses.address[lane]), shape, list); });
}

template <bool Store> void inShared(Warp &warp, const Instr &i, uint32_t mask, const LaneAddresses &addresses) {
  Shape shape = shapeOf(i);
  uint32_t bytes = shape.bytes * i.count;
  const int32_t *list = warp.listOf(i);
  Access access = Store ? (shape.isStrong ? Access::StrongWrite : Access::Write) : (shape.isStrong ? Access::StrongRead : Access::Read);
  countShared(warp, mask, addresses, bytes);
  forEachLane(mask, [&](int lane) {
    Block &block = sharedBlock(warp, i, lane, addresses.address[lane], bytes, bytes);
    if (&block != &warp.block && i.space == Space::Shared)
      warp.fault(i, 1u << lane, "the address belongs to another block of the cluster: .shared::cluster is missing");
    uint32_t offset = sharedOffset(addresses.address[lane]);
    block.shared.note(warp, i, uint32_t(lane), offset, bytes, access);
    moveLane<Store>(warp, i, lane, block.shared.at(offset), shape, list);
  });
}

template <bool Store> void inLocal(Warp &warp, const Instr &i, uint32_t mask, const LaneAddresses &addresses) {
  Shape shape = shapeOf(i);
  const int32_t *list = warp.listOf(i);
  forEachLane(mask, [&](int lane) {
    moveLane<Store>(warp, i, lane, checkLocal(warp, i, lane, addresses.address[lane], shape.bytes * i.count, shape.bytes * i.count), shape, list);
  });
}

template <bool Store> void transfer(Warp &warp, const Instr &i, uint32_t mask) {
  LaneAddresses addresses;
  addressesOf(warp, i, i.a, mask, addresses);
  if (Store)
    warp.noteEffect();
  switch (i.space) {
  case Space::Global:
  case Space::Const: return inGlobal<Store>(warp, i, mask, addresses);
  case Space::Shared:
  case Space::SharedCluster: return inShared<Store>(warp, i, mask, addresses);
  case Space::Local: return inLocal<Store>(warp, i, mask, addresses);
  default: break;
  }
  ByWindow lanes = splitByWindow(warp, i, mask, addresses);
  if (lanes.global)
    inGlobal<Store>(warp, i, lanes.global, addresses);
  if (lanes.shared)
    inShared<Store>(warp, i, lanes.shared, addresses);
  if (lanes.local)
    inLocal<Store>(warp, i, lanes.local, addresses);
}

// Volatile, relaxed, acquire and release ones order what is around them, and are what loops spin on.
template <bool Store> Outcome strongTransfer(Warp &warp, const Instr &i, uint32_t mask) {
  Order &order = warp.block.order();
  if (Store) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    transfer<true>(warp, i, mask);
    order.release(warp.clockId, order.memory); // what is before it, and itself
    return Outcome::Next;
  }
  transfer<false>(warp, i, mask);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  order.acquire(warp.clockId, order.memory);
  int32_t first = warp.listOf(i)[0];
  uint64_t value = 0;
  if (first >= 0)
    forEachLane(mask, [&](int lane) { value = value * 31 + warp.at<uint32_t>(first)[lane]; });
  warp.notePoll(i, value);
  return warp.takeYield();
}

template <bool Store> void decodeTransfer(Decoding &d) {
  MemoryModifiers m = takeMemoryModifiers(d);
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  Type type = d.takeType();
  uint32_t count = vector < 0 ? 1 : 2u << vector;
  size_t expected = m.cacheHint ? 3 : 2;
  d.expectOperands(expected, expected);
  const Operand &address = d.operand(Store ? 0 : 1), &data = d.operand(Store ? 1 : 0);
  d.i.space = m.space;
  d.i.a = d.address(address, d.i.space);
  if (m.cacheHint)
    d.source(2, Type::B64);
  std::span<const Operand> parts(&data, 1);
  if (vector >= 0) {
    if (data.kind != Operand::Kind::Vector || data.parts.size() != count)
      d.fail(fmt::format("{} registers in braces belong here", count));
    parts = data.parts;
  }
  Shape shape = {};
  shape.bytes = uint32_t(bytesOf(type));
  shape.isSigned = !Store && isSigned(type);
  shape.isStrong = m.isStrong();
  std::vector<int32_t> offsets;
  int width = 0; // of the registers; constants beside them take it
  for (const Operand &part : parts)
    if (Type actual = d.registerType(part); actual != Type::None)
      width = bytesOf(actual);
  for (const Operand &part : parts) {
    int bytes;
    if (!Store && part.kind == Operand::Kind::Sink) {
      offsets.push_back(-1);
      continue;
    }
    bool isWide = part.kind == Operand::Kind::Integer && width == 8; // stored from a slot like the registers'
    offsets.push_back(Store ? d.sourceOfAnyWidth(part, isWide ? Type::B64 : type, bytes) : d.destinationOfAnyWidth(part, type, bytes));
    Type actual = d.registerType(part);
    if (actual == Type::None)
      width = width ? width : bytes;
    else if (bytesOf(actual) < bytesOf(type) || bytesOf(actual) != width)
      d.fail("a register is too narrow for the type, or of another size than the others");
  }
  shape.registerBytes = uint32_t(width ? width : 4);
  d.list(offsets);
  d.i.target = std::bit_cast<uint32_t>(shape);
  bool isShared = d.i.space == Space::Shared || d.i.space == Space::SharedCluster;
  d.i.kind = d.i.space == Space::Const ? Class::Parameter : d.i.space == Space::Local ? Class::Local : isShared ? Class::Shared : Class::Global;
  if (Store && d.i.space == Space::Const)
    d.fail("constants and kernel parameters can't be written");
  if (shape.bytes * count > 32)
    d.fail("at most 32 bytes are moved at once");
  if (Store && d.i.kind == Class::Global)
    d.i.number = ++d.module().stores;
  if (shape.isStrong)
    d.i.control = &strongTransfer<Store>;
  else
    d.i.run = &transfer<Store>;
}

void prefetch(Warp &, const Instr &, uint32_t) {}
void policy(Warp &warp, const Instr &i, uint32_t mask) {
  forEachLane(mask, [&](int lane) { warp.at<uint64_t>(i.d)[lane] = 0x10F0000000000000; });
}

} // namespace

void decodeLd(Decoding &d) { decodeTransfer<false>(d); }
void decodeSt(Decoding &d) {
  if (d.take("async"))
    return decodeStAsync(d);
  if (d.take("bulk"))
    return decodeStBulk(d);
  decodeTransfer<true>(d);
}

// Hints: nothing to do but to accept what exists. prefetch.tensormap too.
void decodePrefetch(Decoding &d) {
  while (!d.takeAny().empty()) {
  }
  d.i.kind = Class::Move;
  Space space = Space::Generic;
  for (size_t k = 0; k < d.operands(); ++k)
    if (d.operand(k).kind == Operand::Kind::Address)
      d.address(d.operand(k), space);
  d.i.run = &prefetch;
}
void decodeCreatepolicy(Decoding &d) {
  while (!d.takeAny().empty()) {
  }
  d.i.kind = Class::Move;
  d.i.d = d.destination(0, Type::B64);
  d.i.run = &policy;
}

} // namespace tk::emulated
