// atom and red: PTX ISA 9.7.13.5 and 9.7.13.6. Atomic between all host threads, so that blocks may wait for each other.
#include "runtime/device/emulated/AtomicOperation.h"
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/MemoryAccess.h"
#include "runtime/device/emulated/NumberFormats.h"
#include <fmt/format.h>

namespace tk::emulated {

namespace {

using Operation = AtomicOperation;
struct Shape {
  uint32_t operation : 4;
  uint32_t bytes : 5; // of an element
  uint32_t isSigned : 1, isFlushing : 1, acquires : 1, releases : 1, returns : 1;
};
Shape shapeOf(const Instr &i) { return std::bit_cast<Shape>(i.target); }

template <typename T> T combineInteger(Operation operation, T old, T value, T other, bool isSigned) {
  using S = std::make_signed_t<T>;
  switch (operation) {
  case Operation::And: return old & value;
  case Operation::Or: return old | value;
  case Operation::Xor: return old ^ value;
  case Operation::Exch: return value;
  case Operation::Cas: return old == value ? other : old;
  case Operation::Add: return old + value;
  case Operation::Inc: return old >= value ? T(0) : T(old + 1);
  case Operation::Dec: return old == 0 || old > value ? value : T(old - 1);
  case Operation::Min: return isSigned ? T(std::min(S(old), S(value))) : std::min(old, value);
  case Operation::Max: return isSigned ? T(std::max(S(old), S(value))) : std::max(old, value);
  }
  return old;
}

uint16_t combineHalf(Operation operation, uint16_t old, uint16_t value, bool brain) {
  float a = brain ? bfloatToFloat(old) : halfToFloat(old), b = brain ? bfloatToFloat(value) : halfToFloat(value);
  if (operation == Operation::Add)
    return brain ? floatToBfloat(a + b) : floatToHalf(a + b);
  // Like min and max: a NaN loses, -0 is below +0.
  if (a != a)
    return b != b ? 0x7FFF : value;
  if (b != b)
    return old;
  bool oldWins = a == b ? bool(old & 0x8000) == (operation == Operation::Min) : (a < b) == (operation == Operation::Min);
  return oldWins ? old : value;
}

uint64_t combine(Type type, Shape shape, uint64_t old, uint64_t value, uint64_t other) {
  Operation operation = Operation(shape.operation);
  switch (type) {
  case Type::F32: {
    float a = std::bit_cast<float>(uint32_t(old)), b = std::bit_cast<float>(uint32_t(value)), sum = a + b;
    return sum != sum ? 0x7FFFFFFFu : std::bit_cast<uint32_t>(sum);
  }
  case Type::F64: return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(value));
  case Type::F16:
  case Type::BF16: return combineHalf(operation, uint16_t(old), uint16_t(value), type == Type::BF16);
  case Type::F16x2:
  case Type::BF16x2:
    return combineHalf(operation, uint16_t(old), uint16_t(value), type == Type::BF16x2) |
           uint32_t(combineHalf(operation, uint16_t(old >> 16), uint16_t(value >> 16), type == Type::BF16x2)) << 16;
  default: break;
  }
  switch (shape.bytes) {
  case 2: return combineInteger<uint16_t>(operation, uint16_t(old), uint16_t(value), uint16_t(other), shape.isSigned);
  case 4: return combineInteger<uint32_t>(operation, uint32_t(old), uint32_t(value), uint32_t(other), shape.isSigned);
  default: return combineInteger<uint64_t>(operation, old, value, other, shape.isSigned);
  }
}

/// Replaces what is there by what `combine` makes of it; returns what was there.
template <typename T> uint64_t exchange(Type type, Shape shape, uint8_t *memory, uint64_t value, uint64_t other) {
  T *place = reinterpret_cast<T *>(memory);
  T old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, T(combine(type, shape, old, value, other)), true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return old;
}
uint64_t update(Type type, Shape shape, uint8_t *memory, uint64_t value, uint64_t other) {
  return shape.bytes == 2   ? exchange<uint16_t>(type, shape, memory, value, other)
         : shape.bytes == 4 ? exchange<uint32_t>(type, shape, memory, value, other)
                            : exchange<uint64_t>(type, shape, memory, value, other);
}
void updateWide(Shape shape, uint8_t *memory, const uint64_t *value, const uint64_t *other, uint64_t *old) {
  auto *place = reinterpret_cast<unsigned __int128 *>(memory);
  auto join = [](const uint64_t *p) { return (unsigned __int128)(p[1]) << 64 | p[0]; };
  unsigned __int128 seen = *place, wanted;
  static std::mutex mutex; // one for all 128-bit atomics; nothing else of 128 bits is atomic
  std::lock_guard lock(mutex);
  seen = *place;
  wanted = Operation(shape.operation) == Operation::Cas ? (seen == join(value) ? join(other) : seen) : join(value);
  *place = wanted;
  old[0] = uint64_t(seen);
  old[1] = uint64_t(seen >> 64);
}

// The list: values, then for cas the replacements, then results (or -1), of `count` elements each.
void updateLane(Warp &warp, const Instr &i, int lane, uint8_t *memory, uint64_t &seen) {
  Shape shape = shapeOf(i);
  const int32_t *list = warp.listOf(i);
  bool isCas = Operation(shape.operation) == Operation::Cas;
  uint32_t count = uint32_t(i.count) / (isCas ? 3 : 2);
  auto get = [&](int32_t offset) -> uint64_t { return shape.bytes == 8 ? warp.at<uint64_t>(offset)[lane] : warp.at<uint32_t>(offset)[lane]; };
  for (uint32_t k = 0; k < count; ++k) {
    int32_t value = list[k], other = isCas ? list[count + k] : -1, result = list[(isCas ? 2 : 1) * count + k];
    if (shape.bytes == 16) {
      uint64_t old[2];
      updateWide(shape, memory, warp.at<uint64_t>(value) + lane * 2, other < 0 ? nullptr : warp.at<uint64_t>(other) + lane * 2, old);
      bool changed = std::memcmp(old, memory, sizeof(old)) != 0;
      if (result >= 0) {
        warp.at<uint64_t>(result)[lane * 2] = old[0];
        warp.at<uint64_t>(result)[lane * 2 + 1] = old[1];
      }
      seen = seen * 31 + old[0];
      if (changed)
        warp.noteGlobalEffect();
      continue;
    }
    uint64_t wanted = get(value), replacement = other < 0 ? 0 : get(other), old = update(i.type, shape, memory + k * shape.bytes, wanted, replacement);
    if (combine(i.type, shape, old, wanted, replacement) != old)
      warp.noteGlobalEffect();
    if (result >= 0) {
      if (shape.bytes == 8)
        warp.at<uint64_t>(result)[lane] = old;
      else
        warp.at<uint32_t>(result)[lane] = uint32_t(old);
    }
    seen = seen * 31 + old;
  }
}

Outcome atomic(Warp &warp, const Instr &i, uint32_t mask) {
  Shape shape = shapeOf(i);
  bool isCas = Operation(shape.operation) == Operation::Cas;
  uint32_t bytes = shape.bytes * (uint32_t(i.count) / (isCas ? 3 : 2));
  LaneAddresses addresses;
  addressesOf(warp, i, i.a, mask, addresses);
  ByWindow lanes;
  if (i.space == Space::Global)
    lanes.global = mask;
  else if (i.space == Space::Generic)
    lanes = splitByWindow(warp, i, mask, addresses);
  else
    lanes.shared = mask;
  if (lanes.local)
    warp.fault(i, lanes.local, "an atomic instruction on local memory");
  uint64_t seen = 0;
  if (lanes.global) {
    checkGlobal(warp, i, lanes.global, addresses, bytes, bytes, true);
    countGlobal(warp, lanes.global, addresses, bytes);
    if (AccessHistory *history = warp.block.cluster.history.get())
      history->note(warp, i, lanes.global, addresses.address, bytes, Access::StrongWrite);
    forEachLane(lanes.global, [&](int lane) { updateLane(warp, i, lane, reinterpret_cast<uint8_t *>(addresses.address[lane]), seen); });
  }
  if (lanes.shared) {
    countShared(warp, lanes.shared, addresses, bytes);
    forEachLane(lanes.shared, [&](int lane) {
      Block &block = sharedBlock(warp, i, lane, addresses.address[lane], bytes, bytes);
      uint32_t offset = sharedOffset(addresses.address[lane]);
      block.shared.note(warp, i, uint32_t(lane), offset, bytes, Access::StrongRead);
      block.shared.note(warp, i, uint32_t(lane), offset, bytes, Access::StrongWrite);
      updateLane(warp, i, lane, block.shared.at(offset), seen);
    });
  }
  Order &order = warp.block.order();
  order.release(warp.clockId, order.memory); // what is before it, and itself
  order.acquire(warp.clockId, order.memory);
  if (shape.returns)
    warp.notePoll(i, seen);
  return warp.takeYield();
}

} // namespace

uint64_t updateAtomically(AtomicOperation operation, Type type, uint8_t *memory, uint64_t value) {
  Shape shape = {};
  shape.operation = uint32_t(operation);
  shape.bytes = uint32_t(bytesOf(type));
  shape.isSigned = isSigned(type);
  return update(type, shape, memory, value, 0);
}

void decodeAtom(Decoding &d) {
  bool returns = d.statement.opcode == "atom";
  if (d.take("async"))
    return decodeRedAsync(d);
  MemoryModifiers m = takeMemoryModifiers(d);
  int operation = d.takeOneOf({"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max"});
  if (operation < 0)
    d.fail("the operation is missing");
  bool noFtz = d.take("noftz");
  (void)noFtz;
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  Type type = d.takeType();
  uint32_t count = vector < 0 ? 1 : 2u << vector;
  bool isCas = Operation(operation) == Operation::Cas;
  size_t expected = (returns ? 1 : 0) + 2 + (isCas ? 1 : 0) + (m.cacheHint ? 1 : 0);
  d.expectOperands(expected, expected);
  Shape shape = {};
  shape.operation = uint32_t(operation);
  shape.bytes = uint32_t(bytesOf(type));
  shape.isSigned = isSigned(type);
  shape.returns = returns;
  bool isReal = isFloat(type);
  bool isHalfType = type == Type::F16 || type == Type::BF16 || type == Type::F16x2 || type == Type::BF16x2;
  if (isReal && Operation(operation) != Operation::Add && !(isHalfType && (Operation(operation) == Operation::Min || Operation(operation) == Operation::Max)))
    d.fail("floats can only be added");
  if (shape.bytes == 1 || (shape.bytes == 16 && Operation(operation) != Operation::Exch && !isCas))
    d.fail("this combination of types and modifiers is not supported");
  d.i.type = type;
  d.i.kind = Class::Atomic;
  d.i.space = m.space;
  size_t at = returns ? 1 : 0;
  d.i.a = d.address(d.operand(at), d.i.space);
  if (d.i.space == Space::Const || d.i.space == Space::Local)
    d.fail("atomics work on global and shared memory");
  std::vector<int32_t> offsets;
  auto push = [&](const Operand &operand, bool isResult) {
    std::span<const Operand> parts(&operand, 1);
    if (vector >= 0 && operand.kind == Operand::Kind::Vector)
      parts = operand.parts;
    if (parts.size() != count)
      d.fail(fmt::format("{} registers in braces belong here", count));
    for (const Operand &part : parts)
      offsets.push_back(!isResult ? d.source(part, type) : part.kind == Operand::Kind::Sink ? -1 : d.destination(part, type));
  };
  push(d.operand(at + 1), false);
  if (isCas)
    push(d.operand(at + 2), false);
  if (returns)
    push(d.operand(0), true);
  else
    offsets.insert(offsets.end(), count, -1);
  d.list(offsets);
  d.i.target = std::bit_cast<uint32_t>(shape);
  d.i.control = &atomic;
}

} // namespace tk::emulated
