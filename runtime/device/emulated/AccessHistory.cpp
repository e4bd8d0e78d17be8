#include "runtime/device/emulated/AccessHistory.h"
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Launch.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

static constexpr uint32_t laneBits = 6, laneMask = (1u << laneBits) - 1;

// ---------------------------------------------------------------------------------------------------------------------
// Cells

void AccessHistory::forget() {
  if (slots.empty() || ++generation == 0) {
    slots.assign(std::max<size_t>(slots.size(), 256), {});
    generation = 1;
  }
  pieces.clear();
  cells.clear();
  records.assign(1, {}); // number 0 is none
  lists.clear();
  freeLists.clear();
  asyncClock = 0;
}

void AccessHistory::grow() {
  std::vector<Slot> old(slots.size() * 4);
  old.swap(slots);
  for (const Slot &slot : old)
    if (slot.generation == generation) {
      size_t at = size_t(slot.key * 0x9E3779B97F4A7C15 >> 32) & (slots.size() - 1);
      while (slots[at].generation == generation)
        at = (at + 1) & (slots.size() - 1);
      slots[at] = slot;
    }
}

/// The piece with the number, whose cells have at most 1 << shift bytes.
uint32_t AccessHistory::pieceOf(uint64_t key, uint32_t shift) {
  size_t at = size_t(key * 0x9E3779B97F4A7C15 >> 32) & (slots.size() - 1);
  while (slots[at].generation == generation && slots[at].key != key)
    at = (at + 1) & (slots.size() - 1);
  if (slots[at].generation == generation) {
    uint32_t found = slots[at].piece;
    if (pieces[found].shift > shift)
      split(pieces[found], shift);
    return found;
  }
  uint32_t added = uint32_t(pieces.size());
  slots[at] = {key, generation, added};
  pieces.push_back({uint32_t(cells.size()), shift});
  cells.resize(cells.size() + (size_t(1) << (kPieceBits - shift)));
  if (pieces.size() * 2 > slots.size())
    grow();
  return added;
}

/// Narrower cells with the same history; the wider ones are lost until all is forgotten.
void AccessHistory::split(Piece &piece, uint32_t shift) {
  uint32_t first = uint32_t(cells.size()), count = 1u << (kPieceBits - shift), times = piece.shift - shift;
  cells.resize(cells.size() + count);
  for (uint32_t k = 0; k < count; ++k) {
    cells[first + k] = cells[piece.firstCell + (k >> times)];
    uint32_t &read = cells[first + k].read;
    if ((read & kReadersMark) && (k & ((1u << times) - 1))) { // a list has one owner
      uint32_t copy = newList();
      std::copy_n(lists.begin() + ptrdiff_t(size_t(read & ~kReadersMark) * actors), actors, lists.begin() + ptrdiff_t(size_t(copy) * actors));
      read = kReadersMark | copy;
    }
  }
  piece = {first, shift};
}

uint32_t AccessHistory::newList() {
  if (!freeLists.empty()) {
    uint32_t list = freeLists.back();
    freeLists.pop_back();
    std::fill_n(lists.begin() + ptrdiff_t(size_t(list) * actors), actors, 0);
    return list;
  }
  lists.resize(lists.size() + actors);
  return uint32_t(lists.size() / actors) - 1;
}

/// f(cell, address of its first byte) over the bytes, whose bounds are multiples of 1 << shift.
template <typename F> void AccessHistory::forCells(Accessing &a, uint64_t address, uint64_t bytes, uint32_t shift, F f) {
  for (uint64_t end = address + bytes; address < end;) {
    uint64_t key = address >> kPieceBits, stop = std::min(end, (key + 1) << kPieceBits);
    if (key != a.key) { // lanes are neighbours, mostly
      a.key = key;
      a.piece = pieces[pieceOf(key, shift)];
    }
    uint32_t at = a.piece.firstCell + (uint32_t(address & ((1u << kPieceBits) - 1)) >> a.piece.shift);
    for (; address < stop; address += uint64_t(1) << a.piece.shift)
      f(cells[at++], address);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Accesses

/// What most lanes ask one after another, as they meet the same record.
AccessHistory::Standing AccessHistory::standingOf(uint32_t word, Accessing &a) const {
  uint32_t number = word >> laneBits;
  if (number != a.asked) {
    const Record &before = records[number];
    a.asked = number;
    a.standing = before.actor == a.actor                                 ? before.clock < a.now ? Standing::Ordered : Standing::SameMoment
                 : a.order->hasSeen(a.actor, before.actor, before.clock) ? Standing::Ordered
                                                                         : Standing::Unordered;
  }
  return a.standing;
}

bool AccessHistory::isOrdered(uint32_t word, Accessing &a) const {
  Standing standing = standingOf(word, a);
  return standing == Standing::Ordered || (standing == Standing::SameMoment && (word & laneMask) == a.lane);
}

/// Which of two threads that store in one execution of a statement wins is left open, and no race. Executions of an instruction are told apart by their number,
/// as all warps come to a statement equally often; the instructions of one statement, that an unrolled loop repeats, are not.
bool AccessHistory::isOneStatement(uint32_t word, const Accessing &a) const {
  const Record &before = records[word >> laneBits], &now = records[a.record];
  if (before.instr == now.instr)
    return before.times == now.times;
  const std::vector<SourcePlace> &places = a.warp->launch.module.parsed->places;
  const SourcePlace &x = places[before.instr->place], &y = places[now.instr->place];
  return x.line && x.file == y.file && x.line == y.line && x.column == y.column && x.inlinedFile == y.inlinedFile && x.inlinedLine == y.inlinedLine;
}

void AccessHistory::addReader(Cell &cell, Accessing &a) {
  uint32_t mine = a.record << laneBits | a.lane;
  // What took the place of an older read of this warp stands for it: who has waited for the one has waited for the other.
  auto instead = [&](uint32_t before) {
    return standingOf(before, a) == Standing::SameMoment && (before & laneMask) != a.lane ? a.record << laneBits | kManyLanes : mine;
  };
  if (cell.read & kReadersMark) {
    uint32_t &entry = lists[size_t(cell.read & ~kReadersMark) * actors + a.actor];
    entry = entry ? instead(entry) : mine;
  } else if (!cell.read || standingOf(cell.read, a) != Standing::Unordered) {
    cell.read = cell.read ? instead(cell.read) : mine;
  } else {
    uint32_t list = newList();
    lists[size_t(list) * actors + records[cell.read >> laneBits].actor] = cell.read;
    lists[size_t(list) * actors + a.actor] = mine;
    cell.read = kReadersMark | list;
  }
}

void AccessHistory::noteCell(Cell &cell, Accessing &a, uint64_t address) {
  auto races = [&](uint32_t word, const char *what) {
    if (!a.what) {
      a.what = what;
      a.other = word;
      a.address = address;
    }
    a.otherLanes |= 1u << a.lane;
  };
  uint32_t write = cell.write;
  if (write && !(a.isStrong && records[write >> laneBits].isStrong) && !isOrdered(write, a)) {
    if (!a.isWrite)
      races(write, "a read of global memory that no barrier orders after the write");
    else if (!isOneStatement(write, a) && !(a.changes && !a.changes(*a.warp, *a.instr, int(a.lane), reinterpret_cast<const uint8_t *>(address))))
      races(write, "a write to global memory that no barrier orders after the write");
  }
  if (!a.isWrite) {
    if (a.isRecorded)
      addReader(cell, a);
    return;
  }
  constexpr const char *afterRead = "a write to global memory that no barrier orders after the read";
  if (cell.read & kReadersMark) {
    uint32_t list = cell.read & ~kReadersMark;
    const uint32_t *entries = &lists[size_t(list) * actors];
    for (uint32_t actor = 0; actor < actors; ++actor)
      if (entries[actor] && !isOrdered(entries[actor], a)) {
        races(entries[actor], afterRead);
        break;
      }
    freeLists.push_back(list);
  } else if (cell.read && !isOrdered(cell.read, a)) {
    races(cell.read, afterRead);
  }
  cell.read = 0;
  cell.write = a.record << laneBits | a.lane;
}

AccessHistory::Accessing AccessHistory::begin(Warp &warp, const Instr &i, Access access, uint32_t times, Changes changes) {
  if (records.size() >= kMostRecords || cells.size() >= kMostCells)
    forget();
  Accessing a = {};
  a.warp = &warp;
  a.instr = &i;
  a.order = &warp.block.order();
  a.actor = warp.clockId;
  a.now = a.order->now(a.actor);
  a.isWrite = access == Access::Write || access == Access::StrongWrite || access == Access::AsyncWrite;
  a.isStrong = access == Access::StrongRead || access == Access::StrongWrite;
  a.isRecorded = access != Access::StrongRead && access != Access::AsyncRead;
  a.changes = changes;
  a.record = uint32_t(records.size());
  records.push_back({&i, a.now, times, a.actor, a.isStrong});
  return a;
}

void AccessHistory::note(Warp &warp, const Instr &i, uint32_t mask, const uint64_t *addresses, uint32_t bytes, Access access, uint32_t times, Changes changes) {
  Accessing a = begin(warp, i, access, times, changes);
  uint32_t shift = uint32_t(std::countr_zero(std::min(bytes, 16u)));
  forEachLane(mask, [&](int lane) {
    a.lane = uint32_t(lane);
    forCells(a, addresses[lane], bytes, shift, [&](Cell &cell, uint64_t address) { noteCell(cell, a, address); });
  });
  if (a.what) [[unlikely]]
    complain(a);
}

static uint32_t shiftOf(const AccessHistory::Ranges &ranges) {
  uint64_t bits = 16;
  for (auto [first, bytes] : ranges)
    bits |= first | bytes;
  return uint32_t(std::countr_zero(bits));
}

void AccessHistory::noteRanges(Warp &warp, const Instr &i, uint32_t lane, const Ranges &ranges, Access access, uint32_t moment) {
  Accessing a = begin(warp, i, access, 0, nullptr);
  if (moment)
    records.back().clock = moment;
  a.lane = lane;
  uint32_t shift = shiftOf(ranges);
  for (auto [first, bytes] : ranges)
    forCells(a, first, bytes, shift, [&](Cell &cell, uint64_t address) { noteCell(cell, a, address); });
  if (a.what)
    complain(a);
}

void AccessHistory::endAsyncRead(Warp &warp, const Instr &i, uint32_t lane, const Ranges &ranges) {
  noteRanges(warp, i, lane, ranges, Access::AsyncRead); // what was written meanwhile
  Accessing a = begin(warp, i, Access::Read, 0, nullptr);
  a.actor = records.back().actor = a.order->asyncActor();
  a.now = records.back().clock = asyncClock = a.order->now(a.actor);
  a.lane = kManyLanes;
  uint32_t shift = shiftOf(ranges);
  for (auto [first, bytes] : ranges)
    forCells(a, first, bytes, shift, [&](Cell &cell, uint64_t) { addReader(cell, a); });
}

void AccessHistory::complain(const Accessing &a) {
  const Record &other = records[a.other >> laneBits];
  const Launch &launch = a.warp->launch;
  std::string who;
  if (uint32_t lane = a.other & laneMask; lane < 32)
    who = fmt::format(" by thread {}", other.actor % a.warp->block.warpCount() * 32 + lane);
  Finding where; // of the other one
  launch.locate(where, launch.kernel, *other.instr);
  who += fmt::format(" of line {}", where.ptxLine);
  if (where.sourceLine)
    who += fmt::format(" ({}:{}:{})", where.file.empty() ? "source" : where.file, where.sourceLine, where.sourceColumn);
  Memory::Range range;
  std::string place = launch.device.memory().find(a.address, range) ? fmt::format("byte {} of its allocation", a.address - range.begin) : "its place";
  a.warp->report(Finding::Kind::Race, *a.instr, a.otherLanes, fmt::format("{}{}, at {}: `debug_barrier()` between the two would", a.what, who, place));
}

} // namespace tk::emulated
