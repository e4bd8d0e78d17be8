// mov with packing and unpacking, addresses between state spaces: PTX ISA 9.7.9.
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Decoder.h"
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/Launch.h"
#include <chrono>
#include <fmt/format.h>

namespace tk::emulated {

namespace {

void moveWide(Warp &warp, const Instr &i, uint32_t mask) {
  uint64_t *d = warp.at<uint64_t>(i.d);
  const uint64_t *a = warp.at<uint64_t>(i.a);
  forEachLane(mask, [&](int lane) {
    d[lane * 2] = a[lane * 2];
    d[lane * 2 + 1] = a[lane * 2 + 1];
  });
}
void movePredicate(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t &d = warp.predicate(i.d), a = warp.predicate(i.a);
  if (i.flags)
    a = ~a;
  d = (d & ~mask) | (a & mask);
}
// mov.u32 %r, 1 to a predicate is written setp; but `mov.pred p, 1` exists.

// Parts of `imm` bytes each, from or into one register of i.type; -1 in the list stands for `_`.
uint64_t getPart(const uint8_t *registers, int lane, int bytes) {
  if (bytes == 8)
    return reinterpret_cast<const uint64_t *>(registers)[lane];
  uint64_t value = reinterpret_cast<const uint32_t *>(registers)[lane];
  return bytes == 4 ? value : value & ((1u << (8 * bytes)) - 1);
}
void setPart(uint8_t *registers, int lane, int bytes, uint64_t value) {
  if (bytes == 8)
    reinterpret_cast<uint64_t *>(registers)[lane] = value;
  else
    reinterpret_cast<uint32_t *>(registers)[lane] = bytes == 4 ? uint32_t(value) : uint32_t(value & ((1u << (8 * bytes)) - 1));
}
// Registers hold 4, 8 or 16 bytes a lane, little-endian, so that parts are at byte offsets.
void packParts(Warp &warp, const Instr &i, uint32_t mask) {
  const int32_t *list = warp.listOf(i);
  int bytes = int(i.imm), whole = int(i.flags);
  forEachLane(mask, [&](int lane) {
    uint8_t value[16] = {};
    for (int k = 0; k < i.count; ++k) {
      uint64_t part = getPart(warp.at<uint8_t>(list[k]), lane, bytes);
      std::memcpy(value + k * bytes, &part, size_t(bytes));
    }
    std::memcpy(warp.at<uint8_t>(i.d) + lane * whole, value, size_t(whole));
  });
}
void unpackParts(Warp &warp, const Instr &i, uint32_t mask) {
  const int32_t *list = warp.listOf(i);
  int bytes = int(i.imm), whole = int(i.flags);
  forEachLane(mask, [&](int lane) {
    uint8_t value[16];
    std::memcpy(value, warp.at<uint8_t>(i.a) + lane * whole, size_t(whole));
    for (int k = 0; k < i.count; ++k) {
      uint64_t part = 0;
      std::memcpy(&part, value + k * bytes, size_t(bytes));
      if (list[k] >= 0)
        setPart(warp.at<uint8_t>(list[k]), lane, bytes, part);
    }
  });
}

// %clock and the like change: they are read when the instruction is executed.
enum class Changing : uint8_t { Clock, ClockHigh, Clock64, Time, TimeLow, TimeHigh };
void readClock(Warp &warp, const Instr &i, uint32_t mask) {
  uint64_t time = uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  uint64_t value = warp.executed;
  switch (Changing(i.imm)) {
  case Changing::Clock:
  case Changing::Clock64: break;
  case Changing::ClockHigh: value >>= 32; break;
  case Changing::Time:
  case Changing::TimeLow: value = time; break;
  case Changing::TimeHigh: value = time >> 32; break;
  }
  forEachLane(mask, [&](int lane) {
    if (i.flags == 8)
      warp.at<uint64_t>(i.d)[lane] = value;
    else
      warp.at<uint32_t>(i.d)[lane] = uint32_t(value);
  });
}

void decodePack(Decoding &d, Type type, const Operand &whole, const Operand &vector, bool packs) {
  int count = int(vector.parts.size()), bytes = bytesOf(type) / std::max(count, 1);
  if (count < 2 || count > 4 || bytes * count != bytesOf(type))
    d.fail("the parts don't make up the type");
  Type part = bytes == 1 ? Type::B8 : bytes == 2 ? Type::B16 : bytes == 4 ? Type::B32 : Type::B64;
  std::vector<int32_t> offsets;
  for (const Operand &operand : vector.parts) {
    if (!packs && operand.kind == Operand::Kind::Sink)
      offsets.push_back(-1);
    else
      offsets.push_back(packs ? d.source(operand, part) : d.destination(operand, part));
  }
  d.list(offsets);
  d.i.imm = bytes;
  d.i.flags = uint32_t(registerBytes(type));
  if (packs) {
    d.i.d = d.destination(whole, type);
    d.i.run = &packParts;
  } else {
    d.i.a = d.source(whole, type);
    d.i.run = &unpackParts;
  }
}

template <uint64_t Window> void toGeneric(Warp &warp, const Instr &i, uint32_t mask) {
  uint64_t *d = warp.at<uint64_t>(i.d);
  const uint64_t *a = warp.at<uint64_t>(i.a);
  forLanes(mask, [=](int lane) { d[lane] = a[lane] | Window; });
}
void fromGeneric(Warp &warp, const Instr &i, uint32_t mask) {
  uint64_t *d = warp.at<uint64_t>(i.d);
  const uint64_t *a = warp.at<uint64_t>(i.a);
  forLanes(mask, [=](int lane) { d[lane] = a[lane] & ~windowMask; });
}
void convertNarrow(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t *d = warp.at<uint32_t>(i.d);
  const uint32_t *a = warp.at<uint32_t>(i.a);
  forLanes(mask, [=](int lane) { d[lane] = a[lane]; });
}

void isInSpace(Warp &warp, const Instr &i, uint32_t mask) {
  uint32_t result = 0;
  forEachLane(mask, [&](int lane) {
    uint64_t address = warp.at<uint64_t>(i.a)[lane], window = address & windowMask;
    bool outcome = false;
    bool isParameter = address - warp.launch.parameterBase < warp.launch.kernel.parameterBytes;
    switch (i.imm) {
    case 0: outcome = window == 0 && address != 0 && !isParameter; break;
    case 1: outcome = window == sharedWindow && (address >> 24 & 0xFF) == warp.block.rank; break;
    case 2: outcome = window == sharedWindow; break;
    case 3: outcome = window == localWindow; break;
    case 4: outcome = false; break;
    case 5: outcome = isParameter; break;
    }
    result |= uint32_t(outcome) << lane;
  });
  uint32_t &p = warp.predicate(i.d);
  p = (p & ~mask) | result;
}

template <typename T> void mapAddress(Warp &warp, const Instr &i, uint32_t mask) {
  forEachLane(mask, [&](int lane) {
    uint32_t rank = warp.at<uint32_t>(i.b)[lane];
    if (rank >= warp.launch.clusterBlocks)
      warp.fault(i, 1u << lane, fmt::format("block {} of the cluster does not exist; it has {}", rank, warp.launch.clusterBlocks));
    T address = warp.at<T>(i.a)[lane];
    warp.at<T>(i.d)[lane] = (address & ~T(0xFF000000)) | T(rank) << 24;
  });
}
template <typename T> void rankOf(Warp &warp, const Instr &i, uint32_t mask) {
  forEachLane(mask, [&](int lane) { warp.at<uint32_t>(i.d)[lane] = uint32_t(warp.at<T>(i.a)[lane] >> 24 & 0xFF); });
}

} // namespace

void decodeMov(Decoding &d) {
  Type type = d.takeType();
  d.expectOperands(2, 2);
  d.i.kind = Class::Move;
  const Operand &to = d.operand(0), &from = d.operand(1);
  if (from.kind == Operand::Kind::Vector)
    return decodePack(d, type, to, from, true);
  if (to.kind == Operand::Kind::Vector)
    return decodePack(d, type, from, to, false);
  d.i.d = d.destination(to, type);
  if (type == Type::Pred) {
    bool negated;
    d.i.a = d.predicate(from, negated);
    d.i.flags = negated;
    d.i.run = &movePredicate;
    return;
  }
  if (from.kind == Operand::Kind::Special) {
    static constexpr std::pair<std::string_view, Changing> clocks[] = {
        {"%clock", Changing::Clock},      {"%clock_hi", Changing::ClockHigh},     {"%clock64", Changing::Clock64},
        {"%globaltimer", Changing::Time}, {"%globaltimer_lo", Changing::TimeLow}, {"%globaltimer_hi", Changing::TimeHigh}};
    for (auto [name, what] : clocks)
      if (from.name == name) {
        d.i.imm = int64_t(what);
        d.i.flags = uint32_t(registerBytes(type));
        d.i.run = &readClock;
        return;
      }
  }
  if (type == Type::F16 || type == Type::F16x2 || type == Type::BF16)
    type = registerBytes(type) == 4 && bytesOf(type) == 2 ? Type::B16 : Type::B32;
  d.i.a = d.source(from, type);
  d.i.run = registerBytes(type) == 16  ? &moveWide
            : registerBytes(type) == 8 ? &unary<uint64_t, uint64_t, [](uint64_t a) { return a; }>
                                       : &unary<uint32_t, uint32_t, [](uint32_t a) { return a; }>;
}

void decodeCvta(Decoding &d) {
  bool to = d.take("to");
  int space = d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"});
  Type type = d.takeType();
  d.expectOperands(2, 2);
  if (space < 0)
    d.fail("the state space is missing");
  d.i.kind = Class::Move;
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  if (registerBytes(type) == 4)
    d.i.run = &convertNarrow;
  else if (to)
    d.i.run = &fromGeneric;
  else
    d.i.run = space >= 1 && space <= 3 ? &toGeneric<sharedWindow> : space == 4 ? &toGeneric<localWindow> : &toGeneric<0>;
}

void decodeIsspacep(Decoding &d) {
  int space = d.takeOneOf({"global", "shared", "shared::cluster", "local", "const", "param", "shared::cta"});
  d.take("entry");
  if (space < 0)
    d.fail("the state space is missing");
  d.i.imm = space == 6 ? 1 : space;
  d.i.kind = Class::Compare;
  d.i.d = d.destination(0, Type::Pred);
  d.i.a = d.source(1, Type::U64);
  d.i.run = &isInSpace;
}

void decodeMapa(Decoding &d) {
  d.take("shared::cluster");
  Type type = d.takeType();
  d.expectOperands(3, 3);
  d.i.d = d.destination(0, type);
  d.i.a = d.source(1, type);
  d.i.b = d.source(2, Type::U32);
  d.i.run = registerBytes(type) == 8 ? &mapAddress<uint64_t> : &mapAddress<uint32_t>;
}

void decodeGetctarank(Decoding &d) {
  d.take("shared::cluster");
  Type type = d.takeType();
  d.expectOperands(2, 2);
  d.i.d = d.destination(0, Type::U32);
  d.i.a = d.source(1, type);
  d.i.run = registerBytes(type) == 8 ? &rankOf<uint64_t> : &rankOf<uint32_t>;
}

} // namespace tk::emulated
